"""The best linear recurrence for delayed recall: no model of N_h hidden units has a smaller expected loss.

The kernel of a recurrence with characteristic polynomial P is ``a_s = sum_j c_j b_{s-j}``, j = 0..N_h - 1, b the
impulse response of 1/P. For a fixed P the loss is quadratic in c, so only the N_h numbers in P are searched
(variable projection). Losses are in units of p nu a step with a target::

    sum_t [ (1 - beta) |c_t|^2 + beta (sum c_t)^2 ] / (T - k),   c_s = a_s - [s = k],  s < t,   beta = p mu^2 / nu
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.signal import lfilter

from workbench.errors import ParameterError
from workbench.methods.superposition import ranges

LAGS_A_DELAY = 40  # the best kernels decay about as (k / (k + 1))^(s / 2): what is left out is below 1e-16
SPREADS = (0.3, 0.7, 1.2)  # first guesses: distance of neighbouring poles, in units of pi / (k + 1)
RADIUS = 0.8
RANDOM_STARTS = 3
TIE = 1e-9
GROWTH = 100  # decimal digits by which a kernel may grow during a sequence


@dataclass(frozen=True)
class LinearOptimum:
    """The linear model of least expected loss.

    Attributes
    ----------
    loss
        In units of p nu (T - k), or p nu for a late step: a model that answers 0 has 1.
    rho
        Spectral radius of W_h.
    theta
        Turn a step in radians, the angle of the largest complex eigenvalue; nan if all are real.
    kernel
        ``a_s``, shape (S,): T lags, or as many as matter.
    poles
        Eigenvalues of W_h, complex, shape (N_h,), the largest first.
    """

    loss: float
    rho: float
    theta: float
    kernel: np.ndarray
    poles: np.ndarray


def optimal_linear(
    k: int, n_hidden: int, *, p: float = 0.0, mu: float = 0.0, nu: float = 1.0, T: int | None = None
) -> LinearOptimum:
    """Return the linear model of one feature that has the least expected loss.

    Parameters
    ----------
    k
        Delay in steps, at least 0.
    n_hidden
        N_h, at least 1.
    p
        Activity; 0 stands for the limit of rare inputs.
    mu, nu
        Mean and raw second moment of an active input. The defaults, or p = 0, leave out all that comes from means.
    T
        None for a step late in a sequence, else the sum over t = 1..T from rest; at least ``k + 1``, and
        ``k + 1 + N_h`` if N_h <= k: in a shorter sequence ever faster growing kernels have ever smaller losses.

    Returns
    -------
    LinearOptimum
        Without means a kernel and its mirror image ``(-1)^s a_s`` are equally good; the slower one is returned.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    Notes
    -----
    With N_h > k the loss is exactly 0: W_h shifts, and the input leaves after k steps. Otherwise the search runs
    from several spectra, always the same ones; for T = None it is kept to decaying kernels by reflection
    coefficients, for finite T a kernel may grow. Cost O(T N_h^2) a trial, O(k N_h^2) for T = None; some 50 ms
    for k = 5, N_h = 2. An independent search finds nothing better for k up to 8 and N_h up to 4; that the least of
    all minima is found is not proven.

    A tied readout ``w_y = w_k`` reaches the same loss: hidden units may be mixed, h -> S h, and there is a
    symmetric positive definite ``Q = S^T S`` with ``Q w_k = w_y`` exactly if ``w_k . w_y = a_k > 0``.

    For N_h = 1 without means the loss is ``1 - (k/(k+1))^k / (k+1)`` at ``W_h^2 = k/(k+1)``. The paper's
    appendix D calls the optimum for N_h = 2 a spiral sink.

    Examples
    --------
    >>> best = optimal_linear(2, 2)
    >>> round(best.loss, 6), round(best.rho**2, 4), round(2 * math.degrees(best.theta), 2)
    (0.5625, 0.5, 90.0)
    """
    k, n_hidden = ranges.whole("k", k, 0), ranges.whole("n_hidden", n_hidden, 1)
    problem = _Problem(k, n_hidden, _mean_share(p, mu, nu), _horizon(T, k, n_hidden))
    if n_hidden > k:
        return LinearOptimum(0.0, 0.0, math.nan, problem.target, np.zeros(n_hidden, complex))
    found = [minimize(problem.loss, x, jac=True, method="BFGS", options={"gtol": 1e-8}) for x in problem.starts()]
    least = min(trial.fun for trial in found)
    equals = [problem.optimum(trial.x, trial.fun) for trial in found if trial.fun <= least + TIE]
    return max(equals, key=lambda best: np.real(best.poles).sum())


def _mean_share(p: float, mu: float, nu: float) -> float:
    """Return beta, the part of E[x^2] in p nu that a mean makes, (p mu)^2."""
    ranges.moments(mu, nu)
    if not 0 <= p <= 1:
        raise ParameterError(f"p = {p} is not allowed: it takes 0 <= p <= 1, 0 for the limit of rare inputs")
    return p * mu**2 / nu


def _horizon(T: int | None, k: int, n_hidden: int) -> int | None:
    T = ranges.horizon(T, k)
    if T is not None and n_hidden <= k and k + n_hidden >= T:
        raise ParameterError(
            f"T = {T} is too short for k = {k} and n_hidden = {n_hidden}: no loss is the least, growing kernels come "
            f"as near to 0 as you like; take T of at least k + 1 + n_hidden = {k + 1 + n_hidden}"
        )
    return T


class _Problem:
    """The loss of the best kernel as a function of stretched reflection coefficients of P."""

    def __init__(self, k: int, n_hidden: int, beta: float, T: int | None) -> None:
        self.k, self.n_hidden, self.beta, self.T = k, n_hidden, beta, T
        lags = T or LAGS_A_DELAY * (k + 1)
        self.impulse, self.target = (1.0 * (np.arange(lags) == s) for s in (0, k))
        # How many steps see each lag, for every step with a target.
        self.steps = np.ones(lags) if T is None else (T - np.arange(lags)) / (T - k)
        # Reflection coefficients below 1 make a kernel decay; larger ones are allowed if it cannot overflow.
        self.limit = 1.0 if T is None else min(max(10 ** (GROWTH / (n_hidden * T)) - 1, 1.0), 3.0)

    def starts(self) -> list[np.ndarray]:
        """Return first guesses: poles spread evenly around a slow one, and random reflection coefficients."""
        place = np.arange(self.n_hidden) - (self.n_hidden - 1) / 2
        turns = [np.exp(1j * math.pi * spread / (self.k + 1) * place) for spread in SPREADS]
        guesses = [_step_down(np.poly(RADIUS * turn).real) for turn in turns]
        guesses += list(np.random.default_rng(0).uniform(-0.9, 0.9, (RANDOM_STARTS, self.n_hidden)))
        return [self.limit * np.arctanh(guess / self.limit) for guess in guesses]

    def polynomial(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return P, from its leading 1 on, and the derivatives of its other coefficients by x, one a row."""
        stretched = np.tanh(x / self.limit)
        polynomial, slopes = _step_up(self.limit * stretched)
        return polynomial, slopes * (1 - stretched**2)[:, None]

    def kernel(self, polynomial: np.ndarray) -> np.ndarray:
        """Return the best kernel with this P."""
        response = lfilter([1.0], polynomial, self.impulse)
        basis = np.stack([np.append(np.zeros(j), response[: len(response) - j]) for j in range(self.n_hidden)], axis=1)
        return basis @ np.linalg.lstsq(self.rows(basis), self.rows(self.target))[0]

    def rows(self, errors: np.ndarray) -> np.ndarray:
        """Return what the loss of `errors`, lags first, is the sum of squares of."""
        own = (np.sqrt((1 - self.beta) * self.steps) * errors.T).T
        if self.T is None:
            return np.concatenate([own, np.sqrt(self.beta) * errors.sum(axis=0, keepdims=True)])
        return np.concatenate([own, np.sqrt(self.beta / (self.T - self.k)) * errors.cumsum(axis=0)])

    def slope(self, errors: np.ndarray) -> np.ndarray:
        """Return half the derivative of the loss by the kernel."""
        own = (1 - self.beta) * self.steps * errors
        if self.T is None:
            return own + self.beta * errors.sum()
        return own + self.beta / (self.T - self.k) * errors.cumsum()[::-1].cumsum()[::-1]

    def loss(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the loss and its gradient; c is optimal, so that only P's own effect on the kernel counts."""
        polynomial, slopes = self.polynomial(x)
        kernel = self.kernel(polynomial)
        errors = kernel - self.target
        twice, slope = lfilter([1.0], polynomial, kernel), self.slope(errors)
        by_coefficient = [-2 * slope[i:] @ twice[:-i] for i in range(1, self.n_hidden + 1)]
        return float(errors @ slope), slopes @ np.array(by_coefficient)

    def optimum(self, x: np.ndarray, loss: float) -> LinearOptimum:
        polynomial, _ = self.polynomial(x)
        poles = sorted(np.roots(polynomial).astype(complex), key=lambda pole: (-abs(pole), -pole.imag))
        turning = [float(np.angle(pole)) for pole in poles if pole.imag > 0]
        theta = turning[0] if turning else math.nan
        return LinearOptimum(float(loss), float(abs(poles[0])), theta, self.kernel(polynomial), np.array(poles))


def _step_up(reflections: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the polynomial of reflection coefficients (Levinson) and the derivatives of all coefficients but the 1."""
    polynomial, slopes = np.ones(1), np.zeros((0, 1))
    for value in reflections:
        grown, grown_slopes = np.append(polynomial, 0), np.pad(slopes, ((0, 0), (0, 1)))
        slopes = np.vstack([grown_slopes + value * grown_slopes[:, ::-1], grown[::-1]])
        polynomial = grown + value * grown[::-1]
    return polynomial, slopes[:, 1:]


def _step_down(polynomial: np.ndarray) -> np.ndarray:
    """Return the reflection coefficients of a polynomial with all roots inside the unit circle."""
    reflections = []
    while len(polynomial) > 1:
        last = polynomial[-1]
        reflections.append(last)
        polynomial = (polynomial - last * polynomial[::-1])[:-1] / (1 - last**2)
    return np.array(reflections[::-1])
