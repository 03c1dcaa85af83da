"""The best linear recurrence for delayed recall: no model of N_h hidden units has a smaller expected loss.

The kernel of a recurrence with characteristic polynomial P is ``a_s = sum_j c_j b_{s-j}``, j = 0..N_h - 1, b the
impulse response of 1/P. For a fixed P the loss is quadratic in c, so only the N_h numbers in P are searched
(variable projection). Losses are in units of p nu a step with a target::

    sum_t [ (1 - beta) |c_t|^2 + beta (sum c_t)^2 ] / (T - k),   c_s = a_s - [s = k],  s < t,   beta = p mu^2 / nu
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from workbench.errors import ParameterError
from workbench.methods.superposition import _jit_optimum as _jit
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
    With N_h > k the loss is exactly 0: W_h shifts, and the input leaves after k steps. Otherwise BFGS, compiled, runs
    from several spectra, always the same ones; for T = None it is kept to decaying kernels by reflection
    coefficients, for finite T a kernel may grow. An independent search finds nothing better for k up to 8 and N_h up
    to 4; that the least of all minima is found is not proven.

    Cost O(T N_h^2) a trial, O(k N_h^2) for T = None: some 0.3 ms for k = 5, N_h = 2, T = 20, and 0.6 ms for T = None.

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
        return LinearOptimum(0.0, 0.0, math.nan, problem.target(), np.zeros(n_hidden, complex))
    found = [problem.search(start) for start in problem.starts()]
    least = min(loss for loss, _ in found)
    slowest = min((trial for trial in found if trial[0] <= least + TIE), key=lambda trial: trial[1][1])
    return problem.optimum(*slowest)


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
        self.k, self.n_hidden = k, n_hidden
        lags = T or LAGS_A_DELAY * (k + 1)
        # Weights of c_s^2 and of (c_0 + .. + c_s)^2 in the loss.
        if T is None:
            self.own, self.running = np.full(lags, 1 - beta), beta * (np.arange(lags) == lags - 1)
        else:
            self.own, self.running = (1 - beta) * (T - np.arange(lags)) / (T - k), np.full(lags, beta / (T - k))
        # Reflection coefficients below 1 make a kernel decay; larger ones are allowed if it cannot overflow.
        self.limit = 1.0 if T is None else min(max(10 ** (GROWTH / (n_hidden * T)) - 1, 1.0), 3.0)

    def starts(self) -> np.ndarray:
        """Return first guesses, one a row."""
        return self.limit * np.arctanh(_guesses(self.k, self.n_hidden) / self.limit)

    def search(self, start: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the minimum of the loss that is found from `start`, and P there, from its leading 1 on."""
        x = start.copy()
        loss = _jit.search(x, self.limit, self.k, self.own, self.running)
        polynomial = np.empty(self.n_hidden + 1)
        _jit.step_up(x, self.limit, polynomial, np.empty((self.n_hidden, self.n_hidden + 1)))
        return loss, polynomial

    def target(self) -> np.ndarray:
        return 1.0 * (np.arange(len(self.own)) == self.k)

    def optimum(self, loss: float, polynomial: np.ndarray) -> LinearOptimum:
        kernel = _jit.least_errors(polynomial, self.k, self.own, self.running)[0] + self.target()
        poles = sorted(np.roots(polynomial).astype(complex), key=lambda pole: (-abs(pole), -pole.imag))
        turning = [float(np.angle(pole)) for pole in poles if pole.imag > 0]
        theta = turning[0] if turning else math.nan
        return LinearOptimum(loss, float(abs(poles[0])), theta, kernel, np.array(poles))


@cache
def _guesses(k: int, n_hidden: int) -> np.ndarray:
    """Return reflection coefficients to start from: of poles spread evenly around a slow one, and random ones."""
    place = np.arange(n_hidden) - (n_hidden - 1) / 2
    turns = [np.exp(1j * math.pi * spread / (k + 1) * place) for spread in SPREADS]
    spread = [_step_down(np.poly(RADIUS * turn).real) for turn in turns]
    return np.vstack([spread, np.random.default_rng(0).uniform(-0.9, 0.9, (RANDOM_STARTS, n_hidden))])


def _step_down(polynomial: np.ndarray) -> np.ndarray:
    """Return the reflection coefficients of a polynomial with all roots inside the unit circle."""
    reflections = []
    while len(polynomial) > 1:
        last = polynomial[-1]
        reflections.append(last)
        polynomial = (polynomial - last * polynomial[::-1])[:-1] / (1 - last**2)
    return np.array(reflections[::-1])
