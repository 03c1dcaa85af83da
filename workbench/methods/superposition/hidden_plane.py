"""The plane of two hidden units: feature directions, readout and spiral of a network, in a basis that shows them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from workbench.errors import ParameterError, nearest
from workbench.methods.superposition.model import DelayRecall

UPRIGHT, CANONICAL, RAW = BASES = ("readout up", "canonical", "as trained")
POINTS_A_STEP = 12
LEAST_RADIUS = 1e-9


@dataclass(frozen=True)
class Plane:
    """What one network has in its hidden plane.

    Attributes
    ----------
    tips
        Feature directions w_0 .. w_2k.
    path
        The curve W_h^s w_0 for s between 0 and 2k, where W_h rotates and no ReLU is in the way; else the
        directions themselves.
    arc
        From the direction of w_0 along that of W_h^s w_0 to w_k: in the canonical basis a circle's part of k theta,
        in others an ellipse's. Empty where W_h does not rotate or a ReLU is in the way.
    readout
        The direction of w_y, of length 1; directions w with w_y . w <= 0 are those that it reads as zero or less.
        Nan where w_y is zero.
    basis
        The basis that the coordinates belong to, one of `BASES`.
    """

    tips: Float[np.ndarray, "S 2"]
    path: Float[np.ndarray, "n 2"]
    arc: Float[np.ndarray, "m 2"]
    readout: Float[np.ndarray, "2"]
    basis: str

    def in_units_of(self, length: float) -> "Plane":
        """Return the same plane with all lengths but that of the readout divided by `length`."""
        return replace(self, tips=self.tips / length, path=self.path / length, arc=self.arc / length)

    def half_plane(self, far: float) -> Float[np.ndarray, "4 2"]:
        """Return the corners of a rectangle that is filled by what the readout reads as zero or less, `far` away."""
        n = self.readout
        across = np.array([-n[1], n[0]])
        return far * np.array([across, -across, -across - n, across - n])

    def readout_line(self, far: float) -> Float[np.ndarray, "2 2"]:
        """Return the ends of the line along the readout, `far` away to both sides."""
        return far * np.array([-self.readout, self.readout])

    def arc_of(self, radius: float) -> Float[np.ndarray, "m 2"]:
        """Return the arc, of a size at which it ends at `radius` from the origin."""
        size = float(np.linalg.norm(self.arc[-1:]))
        return radius / max(size, LEAST_RADIUS) * self.arc


def plane(model: DelayRecall, basis: str = UPRIGHT) -> Plane:
    """Return the hidden plane of a network of two units and one feature.

    Parameters
    ----------
    model
        One network.
    basis
        ``"as trained"``: the coordinates are the two units. ``"readout up"``: turned, and mirrored where W_h turns
        clockwise, so that the readout points up; lengths and angles are kept. ``"canonical"``: W_h is r R(theta),
        w_k points up and keeps its length, so that k theta is the angle from w_0 to w_k; where the eigenvalues are
        real there is none, and the readout points up.

    Returns
    -------
    Plane

    Raises
    ------
    ParameterError
        If the basis is not known, or the model is not one network of two units and one feature.

    Notes
    -----
    Directions change by a matrix B, the readout by its inverse transposed, so that w_y . w is what it was.

    Examples
    --------
    >>> turn = np.array([[0.0, 0.5], [-0.5, 0.0]])
    >>> found = plane(DelayRecall("ssm", k=1, W_x=[[[2.0], [0.0]]], W_h=turn[None]))
    >>> found.tips.round(3).tolist()
    [[2.0, 0.0], [0.0, 1.0], [-0.5, 0.0]]
    >>> found.readout.tolist()
    [0.0, 1.0]
    """
    if not isinstance(basis, str) or basis not in BASES:
        raise ParameterError(f"basis = {basis!r} is not known{nearest(str(basis), BASES)}")
    if (model.n_models, model.n_hidden, model.n_features) != (1, 2, 1):
        sizes = f"{model.n_models} networks, {model.n_hidden} units, {model.n_features} features"
        raise ParameterError(f"the model has {sizes}: a plane is of one network of 2 units and 1 feature")
    tips, w_y, W_h = model.impulse(2 * model.k)[0, :, :, 0], model.readout[0, :, 0], model.W_h[0]
    rotation = _rotation(W_h)
    if basis == CANONICAL and rotation is None:
        basis = UPRIGHT
    B = {UPRIGHT: _upright, CANONICAL: _canonical, RAW: lambda *_: np.eye(2)}[basis](W_h, w_y, tips[model.k])
    path, arc = tips, np.empty((0, 2))
    if rotation is not None and not model.relu_h:
        r, theta, S = rotation
        path = _spiral(r, theta, S, tips[0], np.linspace(0, 2 * model.k, 2 * model.k * POINTS_A_STEP + 1))
        arc = _spiral(1.0, theta, S, tips[model.k], np.linspace(-model.k, 0, model.k * POINTS_A_STEP + 1))
    return Plane(tips @ B.T, path @ B.T, arc @ B.T, _unit(np.linalg.inv(B).T @ w_y), basis)


def _rotation(W_h: np.ndarray) -> Any:
    """Return r, theta > 0 and S with W_h S = S r R(theta), or None where the eigenvalues are real."""
    eigenvalues, vectors = np.linalg.eig(W_h)
    if not np.imag(eigenvalues).any():
        return None
    first = int(np.argmax(np.imag(eigenvalues)))
    v = vectors[:, first]
    return abs(eigenvalues[first]), np.angle(eigenvalues[first]), np.stack([np.real(v), -np.imag(v)], axis=1)


def _spiral(r: float, theta: float, S: np.ndarray, start: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return where S r R(theta) S^-1, applied as often as `times` say, takes `start`."""
    z = complex(*np.linalg.solve(S, start)) * (r * np.exp(1j * theta)) ** times
    return np.stack([z.real, z.imag], axis=1) @ S.T


def _upright(W_h: np.ndarray, w_y: np.ndarray, _: np.ndarray) -> np.ndarray:
    B = _turned_up(w_y)
    clockwise = W_h[1, 0] < W_h[0, 1]
    return np.diag([-1.0, 1.0]) @ B if clockwise and _rotation(W_h) is not None else B


def _canonical(W_h: np.ndarray, _: np.ndarray, w_k: np.ndarray) -> np.ndarray:
    inverse = np.linalg.inv(_rotation(W_h)[2])
    z_k = inverse @ w_k
    length = np.linalg.norm(z_k)
    scale = np.linalg.norm(w_k) / length if length else 1.0
    return scale * _turned_up(z_k) @ inverse


def _turned_up(w: np.ndarray) -> np.ndarray:
    """Return the rotation that takes w to the second axis, the identity where w is zero."""
    x, y = _unit(w) if w.any() else (0.0, 1.0)
    return np.array([[y, -x], [x, y]])


def _unit(w: np.ndarray) -> np.ndarray:
    return w / np.linalg.norm(w) if w.any() else np.full(2, np.nan)
