"""Read-outs of where a delayed-recall network keeps its features in the hidden space, and how fast it turns them.

Feature directions are the columns of W_s, s steps after the input; what output i reads of feature j then is
A_s[i, j] = w_y,i . w_s,j. Directions with s < k are intermediate, s = k is the output, later ones are to be forgotten.
A direction that every output reads as zero or less costs a ReLU readout nothing: it lies in the
interference-free space.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Complex, Float, Int

from workbench.errors import DataError, ParameterError
from workbench.methods.superposition import ranges
from workbench.methods.superposition.model import DelayRecall
from workbench.methods.superposition.undefined import ratio

RECALLED = 0.05
KEPT = 0.5


@dataclass(frozen=True)
class Geometry:
    """Geometry of M models with delay k, N_h hidden units and N_x features.

    A model is dead if it recalls no feature, that is if every A_k[i, i] is below 0.05.

    Attributes
    ----------
    rho
        Spectral radius max |eigenvalue| of W_h.
    theta
        Turn a step, in radians, between 0 and pi: the angle of the complex pair of eigenvalues. It is nan where
        N_h is not 2 (`eigenvalues` has all pairs), where the eigenvalues are real, and for dead models.
    ktheta
        Angle in degrees swept from w_0 to w_k in the basis where W_h is a scaled rotation: k theta, not wrapped,
        so that it may pass 360; nan where `theta` is.
    free_fraction
        Share of the intermediate directions of recalled features that every recalled feature's output reads as
        zero or less; nan for dead models and for k = 0.
    sharpness
        |W_{k+1}| / |W_k| over the recalled features, Frobenius norms: 0 is forgetting at once; nan for dead models.
    first_norm
        |W_0|, Frobenius norm.
    kept
        Number of features with A_k[i, i] > 0.5.
    dead
        Whether the model recalls nothing.
    angles
        Angles in degrees between the feature directions w_{s,i}, s = 0..k; row s N_x + i; nan where one is zero.
    eigenvalues
        Of W_h; for the nonlinear kind those of its linear part.
    kernel
        A_s for s = 0..2k+1.
    """

    rho: Float[np.ndarray, " M"]
    theta: Float[np.ndarray, " M"]
    ktheta: Float[np.ndarray, " M"]
    free_fraction: Float[np.ndarray, " M"]
    sharpness: Float[np.ndarray, " M"]
    first_norm: Float[np.ndarray, " M"]
    kept: Int[np.ndarray, " M"]
    dead: Bool[np.ndarray, " M"]
    angles: Float[np.ndarray, "M n n"]
    eigenvalues: Complex[np.ndarray, "M N_h"]
    kernel: Float[np.ndarray, "M S N_x N_x"]


def geometry(model: DelayRecall, *, slack: float = 0.0) -> Geometry:
    """Return the geometry of each model's feature directions.

    Parameters
    ----------
    model
        One or many networks.
    slack
        A_s[i, j] counts as zero or less up to this share of A_k[j, j]; trained models often leave a direction just
        orthogonal to the readout, on either side of zero.

    Returns
    -------
    Geometry

    Raises
    ------
    DataError
        If feature directions overflow.
    ParameterError
        If `slack` is negative or not below 1.

    Notes
    -----
    `rho`, `theta` and `ktheta` do not change under h -> S h for any invertible S; the kernel, and with it
    `free_fraction`, `kept` and `dead`, only if the readout is changed along or, for a tied readout, if S is
    orthogonal. Cost O(M k N_h^2 N_x) for the directions and O(M k^2 N_x^2 N_h) for the angles.

    Examples
    --------
    >>> turn = np.radians(45)
    >>> W_h = 0.7 * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    >>> W_x = np.array([[0.0], [2.0]])
    >>> found = geometry(DelayRecall(kind="ssm", n_hidden=2, k=6, W_x=W_x[None], W_h=W_h[None]), slack=1e-9)
    >>> found.ktheta.round(6).tolist(), found.free_fraction.round(6).tolist()
    ([270.0], [0.833333])
    """
    if not (ranges.is_number(slack) and 0 <= slack < 1):
        raise ParameterError(f"slack = {slack!r} is not allowed: it takes a number, at least 0 and below 1")
    k = model.k
    W, A = _directions(model)
    recall = np.diagonal(A[:, k], axis1=-2, axis2=-1)
    recalled = recall >= RECALLED
    dead = np.logical_not(recalled.any(axis=1))
    eigenvalues = np.linalg.eigvals(model.W_h).astype(complex)
    theta = np.where(dead, np.nan, _turn(eigenvalues))
    return Geometry(
        rho=np.abs(eigenvalues).max(axis=1),
        theta=theta,
        ktheta=np.degrees(k * theta),
        free_fraction=_free_fraction(A[:, :k], recall, recalled, slack),
        sharpness=ratio(_norm(W[:, k + 1], recalled), _norm(W[:, k], recalled)),
        first_norm=_norm(W[:, 0], np.ones_like(recalled)),
        kept=(recall > KEPT).sum(axis=1),
        dead=dead,
        angles=_angles(W[:, : k + 1]),
        eigenvalues=eigenvalues,
        kernel=A,
    )


def angle_histogram(
    angles: Float[np.ndarray, "*models n n"], *, bins: int = 18
) -> tuple[Float[np.ndarray, " bins"], Float[np.ndarray, " edges"]]:
    """Return the shares of the pairs of directions whose angle lies in each of `bins` equal parts of 0 to 180 degrees.

    Parameters
    ----------
    angles
        `Geometry.angles`, or some models of it; each pair is counted once, pairs that are nan are left out.
    bins
        Number of parts.

    Returns
    -------
    shares, edges
        Shares with sum 1 (all nan if there is no pair), and the bins + 1 edges in degrees.

    Raises
    ------
    ParameterError
        If `bins` is below 1, or `angles` is no square matrices of numbers.

    Examples
    --------
    >>> shares, edges = angle_histogram(np.array([[0.0, 90.0], [90.0, 0.0]]), bins=4)
    >>> shares.tolist(), edges.tolist()
    ([0.0, 0.0, 1.0, 0.0], [0.0, 45.0, 90.0, 135.0, 180.0])
    """
    bins, angles = ranges.whole("bins", bins, 1), ranges.numbers("angles", angles)
    if angles.ndim < 2 or angles.shape[-1] != angles.shape[-2]:
        raise ParameterError(f"angles has shape {angles.shape}: it takes (..., n, n), as `Geometry.angles` is")
    rows, columns = np.triu_indices(angles.shape[-1], 1)
    pairs = angles[..., rows, columns]
    counts, edges = np.histogram(pairs[np.isfinite(pairs)], bins, (0.0, 180.0))
    return ratio(counts.astype(float), np.full(bins, float(counts.sum()))), edges


def _directions(model: DelayRecall) -> tuple[np.ndarray, np.ndarray]:
    """Return W_s and A_s for s = 0..2k+1."""
    S = 2 * model.k + 1
    with np.errstate(over="ignore", invalid="ignore"):
        W, A = model.impulse(S), model.kernel(S)
    broken = np.flatnonzero(~np.isfinite(A).all(axis=(1, 2, 3)))
    if broken.size:
        raise DataError(
            f"the feature directions of model {broken[0]} overflow within {S} steps "
            f"({broken.size} of {model.n_models} models): leave it out, or train it with a smaller lr"
        )
    return W, A


def _turn(eigenvalues: np.ndarray) -> np.ndarray:
    """Return the angle of the complex pair of each 2 x 2 matrix, else nan."""
    if eigenvalues.shape[1] != 2:
        return np.full(len(eigenvalues), np.nan)
    turning = np.imag(eigenvalues[:, 0]) != 0
    return np.where(turning, np.abs(np.angle(eigenvalues[:, 0])), np.nan)


def _free_fraction(before: np.ndarray, recall: np.ndarray, recalled: np.ndarray, slack: float) -> np.ndarray:
    """Return the share of recalled columns of A_s, s < k, without an entry above zero in a recalled row."""
    read = (before > slack * np.maximum(recall, 0)[:, None, None, :]) & recalled[:, None, :, None]
    free = ~read.any(axis=2) & recalled[:, None, :]
    return ratio(free.sum(axis=(1, 2)), before.shape[1] * recalled.sum(axis=1))


def _norm(W: np.ndarray, features: np.ndarray) -> np.ndarray:
    """Return the Frobenius norm of the columns of W that are among the features, for each model."""
    return np.sqrt((W**2 * features[:, None, :]).sum(axis=(1, 2)))


def _angles(W: np.ndarray) -> np.ndarray:
    """Return the angles in degrees between all columns of all W_s of each model."""
    columns = np.moveaxis(W, 2, 3).reshape(len(W), -1, W.shape[2])
    length = np.linalg.norm(columns, axis=2, keepdims=True)
    unit = ratio(columns, np.broadcast_to(length, columns.shape))
    return np.degrees(np.arccos(np.clip(unit @ np.swapaxes(unit, 1, 2), -1.0, 1.0)))
