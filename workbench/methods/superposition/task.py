"""What delayed-recall networks are trained on: sparse inputs or windows of a series, and the loss of saying 0."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.errors import DataError
from workbench.methods.superposition import ranges
from workbench.methods.superposition.amplitudes import amplitude_law
from workbench.methods.superposition.model import DelayRecall
from workbench.methods.superposition.sequences import NO_SERIES
from workbench.methods.superposition.series import own_series


@dataclass(frozen=True, eq=False)
class Task:
    """Inputs of M networks.

    Attributes
    ----------
    p
        Activities (M,), which do not count where there is a series.
    code
        What compiled loops call the law of the amplitudes.
    series
        Own series (time, N_x), of length 0 if there is none.
    null
        Expected loss of a sequence, summed over its steps, of a network that says 0, (M,).
    T
        Steps of a sequence.
    """

    p: np.ndarray
    code: int
    series: np.ndarray
    null: np.ndarray
    T: int

    @property
    def inputs(self) -> tuple[np.ndarray, int, np.ndarray, np.ndarray]:
        """What the compiled loops take."""
        return self.p, self.code, self.series, self.null


def make_task(
    model: DelayRecall, p: float | Sequence[float] | np.ndarray, T: int | None, amplitude: str, data: Any
) -> Task:
    """Return the task of `model`.

    Parameters
    ----------
    model, p, T, amplitude, data
        As for `fit`.

    Raises
    ------
    ParameterError, DataError
        If a parameter or the series is not allowed; see `fit`.

    Notes
    -----
    The targets of a network with delay k are the first T - k inputs of a sequence. Saying 0 costs their squares:
    p nu (T - k) times the summed importance, or their mean over all windows of the series.

    Examples
    --------
    >>> task = make_task(DelayRecall("linear", k=2), 0.3, None, "uniform", None)
    >>> task.T, task.null  # 6 targets of p nu = 0.1
    (8, array([0.6]))
    """
    steps = default_steps(model.k, model.n_features) if T is None else ranges.whole("T", T, least=model.k + 2)
    law = amplitude_law(amplitude)
    activities = ranges.activities(p, model.n_models)
    targets = steps - model.k
    if data is None:
        null = activities * law.second_moment * targets * model.importance.sum()
        return Task(activities, law.code, NO_SERIES, null, steps)
    series = _series(data, model.n_features, steps)
    null = _silence(series, steps, targets, model.importance)
    return Task(activities, law.code, series, np.full(model.n_models, null), steps)


def default_steps(k: int, n_features: int) -> int:
    """Return how many steps a sequence has by default.

    Examples
    --------
    >>> default_steps(4, 1), default_steps(4, 5), default_steps(0, 1)
    (16, 14, 2)
    """
    return max(4 * k, k + 2) if n_features == 1 else 3 * k + 2


def _silence(series: np.ndarray, T: int, targets: int, importance: np.ndarray) -> float:
    """Return the mean over all windows of the weighted squares of their targets."""
    windows = len(series) - T + 1
    times_met = np.convolve(np.ones(windows), np.ones(targets))
    null = float(times_met @ (series[: len(times_met)] ** 2 @ importance)) / windows
    if null == 0:
        raise DataError("the series is all zero where targets lie: there is nothing to recall")
    return null


def _series(data: Any, n_features: int, T: int) -> np.ndarray:
    series = own_series(data, least=T + 1)
    if np.shape(data) != (len(series), n_features):
        raise DataError(f"the series has shape {np.shape(data)}: it takes (time, {n_features})")
    return series
