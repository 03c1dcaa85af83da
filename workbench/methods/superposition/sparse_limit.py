"""The loss of a ReLU readout when inputs are rare, and the spiral that is best there (the paper's Eq. 6).

For p -> 0 at most one input is active at a time, so an answer is ``relu(a_s x_{t-s})`` for one s, and in units
of p nu the loss is ``(relu(a_k) - 1)^2 + sum_{s != k} relu(a_s)^2``. Directions ``w_s`` in the half-space
``w_y . w_s <= 0`` cost nothing: the interference-free space.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from workbench.errors import ParameterError
from workbench.methods.superposition import ranges

FREE_DELAY = 3  # the longest delay at which a quarter turn a step keeps all earlier directions free
RADII = np.linspace(0.05, 0.98, 48)
ANGLES = np.linspace(0.0, math.pi, 361)
NEGLIGIBLE = 1e-17


@dataclass(frozen=True)
class SpiralOptimum:
    """The best isotropic spiral for rare inputs.

    Attributes
    ----------
    loss
        In units of p nu.
    r, theta
        Contraction and turn (radians) a step. ``r = 0`` stands for a loss approached as r -> 0, but not reached.
    """

    loss: float
    r: float
    theta: float


def sparse_relu_loss(A: ArrayLike, k: int, *, importance: ArrayLike | None = None) -> np.ndarray | float:
    """Return the loss of a ReLU readout in the limit of rare, non-negative inputs, in units of p nu.

    Parameters
    ----------
    A
        A scalar kernel of shape (S,), or kernels of shape (..., S, N_x, N_x), zero beyond.
    k
        Delay in steps, at least 0.
    importance
        Weight of each feature's squared error, shape (N_x,); ones if None.

    Returns
    -------
    ndarray or float
        The loss of each model; a float for one model. What is left out is of order p.

    Raises
    ------
    DataError
        If `A` is not of such a shape or not finite, or `importance` does not fit.
    ParameterError
        If `k` is not a whole number of at least 0.

    Notes
    -----
    Cost O(S N_x^2) a model. The paper's Eq. 6.

    Examples
    --------
    Only what points along the readout interferes.

    >>> sparse_relu_loss([-5.0, 0.5, 1.0], 2)
    0.25
    """
    A = ranges.kernel(A, ranges.whole("k", k, 0), None)
    weights = ranges.weights(importance, A.shape[-1])
    answers, i = np.maximum(A, 0), np.arange(A.shape[-1])
    answers[..., k, i, i] -= 1
    loss = (answers**2).sum(axis=(-1, -3)) @ weights
    return loss if A.ndim > 3 else float(loss)


def isotropic_kernel(k: int, r: float, theta: float, S: int) -> np.ndarray:
    """Return the tied kernel of a logarithmic spiral, of the size that is best for rare inputs.

    Parameters
    ----------
    k
        Delay in steps, at least 0.
    r
        Contraction a step, above 0.
    theta
        Turn a step, in radians.
    S
        Last lag.

    Returns
    -------
    ndarray, shape (S + 1,)
        ``a_s = b_s / q`` with ``b_s = r^(s-k) cos((s-k) theta)`` and ``q = sum_s relu(b_s)^2``; the loss is
        ``1 - 1/q``.

    Raises
    ------
    ParameterError
        If `k`, `r`, `theta` or `S` is out of range.

    Examples
    --------
    >>> a = isotropic_kernel(4, 0.715, np.deg2rad(270.8 / 4), 80)
    >>> round(sparse_relu_loss(a, 4), 3)
    0.285
    """
    if not (ranges.is_number(r) and r > 0 and ranges.is_number(theta)):
        raise ParameterError(f"r = {r!r}, theta = {theta!r}: both must be finite numbers, and r above 0")
    k, S = ranges.whole("k", k, 0), ranges.whole("S", S, k)
    if max(-k * math.log(r), (S - k) * math.log(r)) > math.log(ranges.LARGEST):
        raise ParameterError(f"r = {r!r} is not allowed for k = {k}, S = {S}: r^(s-k) overflows; take one nearer to 1")
    shape = _spiral(k, r, float(theta), S)
    return shape / np.sum(np.maximum(shape, 0) ** 2)


def optimal_spiral(k: int) -> SpiralOptimum:
    """Return the isotropic spiral of least loss for rare inputs and a ReLU readout.

    Parameters
    ----------
    k
        Delay in steps, at least 0.

    Returns
    -------
    SpiralOptimum
        Up to k = 3 the loss tends to 0 with r: at a quarter turn a step, the turn to which the best one tends
        as r -> 0, no earlier direction answers. From k = 4 on an optimum exists.

    Raises
    ------
    ParameterError
        If `k` is not a whole number of at least 0.

    Notes
    -----
    The best turn sweeps about 270 degrees from ``w_0`` to ``w_k``: the longest direction, ``w_0``, comes to lie
    just outside the half-space that interferes. A grid over r and theta, refined by the simplex method.
    The spiral is isotropic in the basis of a tied readout; without that restriction, ellipses of any size
    push the loss to 0 for every k, and only a finite p (composition interference) keeps them bounded.

    Examples
    --------
    >>> best = optimal_spiral(4)
    >>> round(best.loss, 4), round(best.r, 3), round(4 * math.degrees(best.theta), 1)
    (0.2847, 0.716, 270.8)
    """
    if ranges.whole("k", k, 0) <= FREE_DELAY:
        return SpiralOptimum(0.0, 0.0, math.pi / 2)
    table = np.array([_loss(k, r, ANGLES) for r in RADII])
    i, j = np.unravel_index(np.argmin(table), table.shape)
    found = minimize(
        lambda x: float(_loss(k, min(max(x[0], RADII[0]), RADII[-1]), x[1])),
        (RADII[i], ANGLES[j]),
        method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-15},
    )
    return SpiralOptimum(float(found.fun), float(found.x[0]), float(found.x[1]))


def _spiral(k: int, r: float, theta: float | np.ndarray, S: int) -> np.ndarray:
    after = np.arange(S + 1) - k
    return r ** after.astype(float) * np.cos(np.multiply.outer(theta, after))


def _loss(k: int, r: float, theta: float | np.ndarray) -> np.ndarray | float:
    """Return 1 - 1/q, with as many lags as matter."""
    lags = k + math.ceil(math.log(NEGLIGIBLE) / (2 * math.log(r)))
    return 1 - 1 / np.sum(np.maximum(_spiral(k, r, theta, lags), 0) ** 2, axis=-1)
