"""Exact losses searched with scipy and memory simulated with reservoirpy: what the benchmark times ours against."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

STARTS = 6
SIMULATED = 20_000
MEAN, SECOND = 0.5, 1 / 3  # of an amplitude uniform on [0, 1]


@dataclass(frozen=True)
class Search:
    """Linear models to find, one for each delay and activity: N_h hidden units, one feature, T = 4k."""

    delays: tuple[int, ...]
    activities: tuple[float, ...]
    n_hidden: int = 2

    @staticmethod
    def steps(k: int) -> int:
        """Return T."""
        return 4 * k


@dataclass(frozen=True, eq=False)
class Reservoir:
    """A linear reservoir of N units, W_h (N, N) a scaled rotation and W_x (N, 1), and a series to run it on."""

    W_h: np.ndarray
    W_x: np.ndarray
    series: np.ndarray
    lags: int

    @classmethod
    def drawn(cls, units: int, lags: int) -> "Reservoir":
        """Return one whose memory is spread over `lags` delays: of the inputs before them it keeps a hundredth."""
        rng = np.random.default_rng(0)
        rotation = np.linalg.qr(rng.standard_normal((units, units)))[0]
        W_x = rng.standard_normal((units, 1)) / np.sqrt(units)
        return cls(0.1 ** (1 / lags) * rotation, W_x, rng.uniform(-1, 1, (SIMULATED, 1)), lags)


def moments(p: float) -> tuple[float, float]:
    """Return the variance and the squared mean of an input, in units of p nu."""
    squared_mean = (p * MEAN) ** 2 / (p * SECOND)
    return 1 - squared_mean, squared_mean


def minimized(given: Search) -> np.ndarray:
    """Return the least loss found by BFGS over all weights, from several starts, (delays, activities)."""
    rng = np.random.default_rng(0)
    return np.array([[_least(k, given.n_hidden, p, rng) for p in given.activities] for k in given.delays])


def _least(k: int, N_h: int, p: float, rng: np.random.Generator) -> float:
    T = Search.steps(k)
    target = 1.0 * (np.arange(T) == k)
    variance, squared_mean = moments(p)

    def loss(weights: np.ndarray) -> float:
        W_h, direction, w_y = weights[: N_h**2].reshape(N_h, N_h), weights[N_h**2 : -N_h], weights[-N_h:]
        kernel = np.empty(T)
        for s in range(T):
            kernel[s] = w_y @ direction
            direction = W_h @ direction
        errors = kernel - target
        return (variance * np.cumsum(errors**2).sum() + squared_mean * (np.cumsum(errors) ** 2).sum()) / (T - k)

    def start() -> np.ndarray:
        W_h = 0.5 * np.eye(N_h) + 0.3 / np.sqrt(N_h) * rng.standard_normal((N_h, N_h))
        return np.concatenate([W_h.ravel(), 0.3 * rng.standard_normal(2 * N_h)])

    return min(minimize(loss, start(), method="BFGS", options={"gtol": 1e-5}).fun for _ in range(STARTS))


def simulated_capacity(given: Reservoir) -> np.ndarray:
    """Return reservoirpy's estimate of how much of the inputs of 1 .. lags steps ago is recalled, (lags,)."""
    from reservoirpy import nodes, observables

    units = len(given.W_h)
    reservoir = nodes.Reservoir(W=given.W_h, Win=given.W_x, bias=np.zeros(units), lr=1.0, activation="identity")
    model = reservoir >> nodes.Ridge(ridge=1e-9)
    return np.asarray(observables.memory_capacity(model, given.lags, as_list=True, series=given.series))
