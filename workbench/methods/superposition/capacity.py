"""What a linear recurrence can recall at all: the least squares optimum of every delay (Jaeger's memory capacity)."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_discrete_lyapunov

from workbench.errors import DataError
from workbench.methods.superposition import ranges

UNREACHED = 1e-12  # variance, relative to the largest, below which a direction counts as one no input reaches


def linear_capacity(W_h: ArrayLike, W_x: ArrayLike, K: int) -> np.ndarray:
    """Return how much of the input of each delay the best linear readout returns, for zero-mean white input.

    Parameters
    ----------
    W_h
        Recurrent weights, (N_h, N_h), of spectral radius below 1.
    W_x
        Input weights, (N_h,) or (N_h, N_x).
    K
        Number of delays, at least 1.

    Returns
    -------
    ndarray, shape (K,)
        ``R2[k] = sum_j w_kj^T P^+ w_kj`` for the delays 0..K - 1, ``w_kj`` the columns of ``W_h^k W_x``; between 0
        and N_x. For one feature it is the coefficient of determination, and ``1 - R2[k]`` the least loss.

    Raises
    ------
    DataError
        If the weights are not finite, do not fit each other, or do not decay.
    ParameterError
        If `K` is not a whole number of at least 1.

    Notes
    -----
    P = ``sum_s W_s W_s^T``, the covariance of the states, solves ``P = W_h P W_h^T + W_x W_x^T``. Over all delays
    R2 adds up to the rank of P: to N_h, if inputs reach every direction of the hidden space, otherwise less; the
    pseudo-inverse leaves the others out. Cost O(N_h^6) for N_h < 10, else O(N_h^3), and O(K N_h^2 N_x).
    H. Jaeger, "Short term memory in echo state networks", 2002.

    Examples
    --------
    >>> linear_capacity([[0.0, 0.0], [1.0, 0.0]], [1.0, 0.0], 4)  # a shift holds two inputs
    array([1., 1., 0., 0.])
    """
    W_h, direction = _weights(W_h, W_x)
    K = ranges.whole("K", K, 1)
    P = solve_discrete_lyapunov(W_h, direction @ direction.T)
    precision = np.linalg.pinv((P + P.T) / 2, rcond=UNREACHED, hermitian=True)
    recalled = np.empty(K)
    for k in range(K):
        recalled[k] = np.sum(direction * (precision @ direction))
        direction = W_h @ direction
    return recalled


def _weights(W_h: ArrayLike, W_x: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    W_h, W_x = ranges.numbers("W_h", W_h, DataError), ranges.numbers("W_x", W_x, DataError)
    W_x = W_x[:, None] if W_x.ndim == 1 else W_x
    if W_h.ndim != 2 or W_h.shape[0] != W_h.shape[1] or W_x.ndim != 2 or len(W_x) != len(W_h) or not W_x.size:
        raise DataError(
            f"W_h of shape {W_h.shape}, W_x of shape {W_x.shape}: give (N_h, N_h), and (N_h,) or (N_h, N_x)"
        )
    if not (np.isfinite(W_h).all() and np.isfinite(W_x).all()):
        raise DataError("W_h or W_x holds values that are not finite: the model has diverged")
    if (rho := float(abs(np.linalg.eigvals(W_h)).max())) >= 1:
        raise DataError(f"W_h has the spectral radius {rho:.6g}: states grow without end; it must be below 1")
    return W_h, W_x
