"""What an own series is like beside the sparse, independent inputs of the theory: activity, moments, dependence."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.stats import norm

from workbench.methods.superposition import ranges
from workbench.methods.superposition.series import channel_names, own_series
from workbench.methods.superposition.undefined import ratio

LEVEL = 0.05
FEW = 20  # active values below which activity and moments are rough
COINCIDENCES = 5  # expected under independence, below which a correlation says nothing
NAMED = 3  # channels that a warning names


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Activity, amplitudes and dependence of a series of N channels.

    Attributes
    ----------
    names
        Names of the channels.
    steps
        Number of time steps.
    p
        Activity: share of values that are not zero.
    mu, nu
        Mean and raw second moment of the values that are not zero; nan for a channel without any.
    negative
        Share of the power sum x^2 that is in negative values.
    correlation
        (L + 1, N, N): at [l, i, j] the correlation of channel i with channel j of l steps ago; nan for constant
        channels. Its diagonals are the autocorrelations.
    band
        Half width of the range in which 95 % of the correlations of independent inputs lie, 1.96 / sqrt(steps).
    warnings
        What is unlike the inputs of the theory, in words.
    """

    names: tuple[str, ...]
    steps: int
    p: Float[np.ndarray, " N"]
    mu: Float[np.ndarray, " N"]
    nu: Float[np.ndarray, " N"]
    negative: Float[np.ndarray, " N"]
    correlation: Float[np.ndarray, "L N N"]
    band: float
    warnings: tuple[str, ...]

    @cached_property
    def autocorrelation(self) -> Float[np.ndarray, "lags N"]:
        """Correlation of each channel with itself, lags 0 to L."""
        return np.diagonal(self.correlation, axis1=1, axis2=2)

    @cached_property
    def cross_correlation(self) -> Float[np.ndarray, "N N"]:
        """Correlation of each pair of channels at the lag, of either sign, where it is largest; nan on the diagonal."""
        both = np.concatenate([self.correlation, np.swapaxes(self.correlation[1:], 1, 2)])
        largest = _largest(both)[0]
        np.fill_diagonal(largest, np.nan)
        return largest

    def table(self) -> pd.DataFrame:
        """Return one row a channel: p, mu, nu, share of negative power, and the largest correlations."""
        own, lag = _largest(self.autocorrelation[1:])
        other, partner = _largest(self.cross_correlation)
        known = np.isfinite(other)
        return pd.DataFrame(
            {
                "p": self.p,
                "mu": self.mu,
                "nu": self.nu,
                "negative": self.negative,
                "autocorrelation": own,
                "at lag": lag + 1,
                "cross-correlation": other,
                "with": [self.names[j] if ok else "" for j, ok in zip(partner, known, strict=True)],
            },
            index=pd.Index(self.names, name="channel"),
        )


def diagnose(
    array: ArrayLike, *, names: Sequence[str] | None = None, max_lag: int = 10, threshold: float = 0.0
) -> Diagnosis:
    """Return activity, moments and dependence of a series, and where it departs from sparse independent inputs.

    Parameters
    ----------
    array
        The series, (time, channel); of one axis it is one channel.
    names
        Names of the channels; their numbers by default.
    max_lag
        Largest lag of the correlations, in steps.
    threshold
        Values of at most this magnitude count as zero.

    Returns
    -------
    Diagnosis

    Raises
    ------
    DataError
        If the series is no finite numbers, empty, all zero, or not longer than `max_lag` + 1.
    ParameterError
        If `max_lag` is below 1, `threshold` is negative, or there is not one name a channel.

    Notes
    -----
    A channel counts as dependent if a correlation is beyond what chance gives in one of 20 independent series, over
    all lags and pairs; it is not judged where fewer than 5 coincidences of active values are to be expected.
    Cost O(T N^2 L).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = diagnose(rng.random((2000, 2)) * (rng.random((2000, 2)) < 0.2), names=["a", "b"])
    >>> found.table()[["p", "mu"]].round(1).to_dict("list"), found.warnings
    ({'p': [0.2, 0.2], 'mu': [0.5, 0.5]}, ())
    """
    ranges.whole("max_lag", max_lag)
    series = own_series(array, least=max_lag + 2, threshold=threshold)
    labels = channel_names(names, series.shape[1])
    active = series != 0
    count, power = active.sum(axis=0), np.square(series).sum(axis=0)
    found = Diagnosis(
        names=labels,
        steps=len(series),
        p=count / len(series),
        mu=ratio(series.sum(axis=0), count),
        nu=ratio(power, count),
        negative=ratio(np.square(np.minimum(series, 0)).sum(axis=0), power),
        correlation=_correlation(series, max_lag),
        band=float(norm.isf(LEVEL / 2) / np.sqrt(len(series))),
        warnings=(),
    )
    constant = np.ptp(series, axis=0) == 0
    object.__setattr__(found, "warnings", (*_of_values(found, constant), *_of_dependence(found, constant)))
    return found


def _correlation(series: np.ndarray, max_lag: int) -> np.ndarray:
    """Return the correlations (L + 1, N, N) of channel i with channel j of l steps ago."""
    scaled = series / np.abs(series).max()
    centred = scaled - scaled.mean(axis=0)
    centred[:, np.ptp(series, axis=0) == 0] = 0.0
    length = np.linalg.norm(centred, axis=0)
    unit = ratio(centred, np.broadcast_to(length, centred.shape))
    return np.stack([unit[lag:].T @ unit[: len(unit) - lag] for lag in range(max_lag + 1)])


def _of_values(found: Diagnosis, constant: np.ndarray) -> list[str]:
    """Return what is to be said of the channels' values."""
    silent, full = found.p == 0, (found.p == 1) & ~constant
    few = (found.p * found.steps < FEW) & ~silent
    negative = found.negative > 0
    notes = []
    if silent.any():
        notes.append(f"{_channels(found, silent)} always zero: there is nothing to recall")
    if (constant & ~silent).any():
        notes.append(f"{_channels(found, constant & ~silent)} constant: every delay gives the same, leave it out")
    if full.any():
        notes.append(
            f"{_channels(found, full)} never zero, so that p = 1: if small values are noise or a background, "
            "subtract it or give a threshold up to which values count as zero"
        )
    if few.any():
        notes.append(f"{_channels(found, few)} active in fewer than {FEW} steps: p, mu and nu are rough")
    if negative.any():
        notes.append(
            f"{_channels(found, negative)} negative at times: a ReLU readout cannot return that and loses the share "
            f"'negative' of the power, {np.nanmax(found.negative):.0%} at most; use kind='linear' or split the signs"
        )
    return notes


def _of_dependence(found: Diagnosis, constant: np.ndarray) -> list[str]:
    """Return what is to be said of dependence in time and between channels."""
    judged = found.steps * np.outer(found.p, found.p) >= COINCIDENCES
    own, lag = _largest(np.where(np.diagonal(judged), found.autocorrelation[1:], np.nan))
    other = np.where(judged, found.cross_correlation, np.nan)
    lags = len(found.correlation) - 1
    in_time = np.abs(own) > _limit(found, lags * len(own))
    between = np.abs(other) > _limit(found, (2 * lags + 1) * max(other.size - len(own), 2) // 2)
    unjudged = ~np.diagonal(judged) & (found.p > 0) & ~constant
    notes = []
    if in_time.any():
        i = int(np.nanargmax(np.abs(own)))
        notes.append(
            f"{_channels(found, in_time)} dependent in time, '{found.names[i]}' most (correlation {own[i]:.2f} at lag "
            f"{lag[i] + 1}, chance {found.band:.2f}): the theory is for independent inputs, results from generated "
            "inputs need not hold"
        )
    if between.any():
        i, j = np.unravel_index(np.nanargmax(np.abs(other)), other.shape)
        notes.append(
            f"{_channels(found, np.asarray(between.any(axis=0)))} dependent on one another, '{found.names[i]}' and "
            f"'{found.names[j]}' most (correlation {other[i, j]:.2f}, chance {found.band:.2f}): "
            "features that come together can share a direction"
        )
    if unjudged.any():
        notes.append(f"{_channels(found, unjudged)} too seldom active to tell whether there is dependence in time")
    return notes


def _limit(found: Diagnosis, tests: int) -> float:
    """Return the correlation that one of `tests` exceeds by chance in one of 20 independent series."""
    return float(norm.isf(LEVEL / 2 / tests) / np.sqrt(found.steps))


def _channels(found: Diagnosis, which: np.ndarray) -> str:
    """Name channels as the subject of a sentence, with its verb."""
    names = [f"'{found.names[i]}'" for i in np.flatnonzero(which)]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    subject = "channel" if len(names) == 1 else "channels"
    return f"{subject} {', '.join(names[:NAMED])}{more} {'is' if len(names) == 1 else 'are'}"


def _largest(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the value of largest magnitude along the first axis and its place, nan and 0 where all are nan."""
    place = np.argmax(np.nan_to_num(np.abs(values), nan=-1.0), axis=0)
    return np.take_along_axis(values, place[None], axis=0)[0], place
