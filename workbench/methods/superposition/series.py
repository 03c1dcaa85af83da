"""The user's own series (time, channel): what it may be, and what its channels are called."""

from collections.abc import Iterable, Sequence

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from workbench.errors import DataError, ParameterError
from workbench.methods.superposition import ranges

LARGEST = 1e100  # value of a series that can be squared and added up; its inverse is the least


def own_series(array: ArrayLike, *, least: int, threshold: float = 0.0) -> Float[np.ndarray, "T N"]:
    """Return a series (time, channel) of at least `least` steps, with values of at most `threshold` set to zero.

    Raises
    ------
    DataError
        If it is no finite numbers, empty, all zero, too short, or of a magnitude that cannot be squared.
    ParameterError
        If `threshold` is negative.
    """
    ranges.number("threshold", threshold, least=0)
    try:
        given = np.asarray(array)
    except ValueError:
        raise DataError("the series has rows of different lengths: give (time, channel)") from None
    if given.dtype.kind not in "biuf":
        raise DataError(f"the series has dtype {given.dtype}: give real numbers")
    if given.ndim not in (1, 2):
        raise DataError(f"the series has shape {given.shape}: give (time, channel), or one axis for one channel")
    series = given.astype(float, order="C").reshape(len(given), -1) if given.size else np.zeros((0, 1))
    if not series.size:
        raise DataError(f"the series has shape {given.shape} and holds no value: give (time, channel)")
    if len(series) < least:
        raise DataError(f"the series has {len(series)} steps (shape {given.shape}): it takes at least {least}")
    broken = np.argwhere(~np.isfinite(series))
    if len(broken):
        where = f"the first at step {broken[0, 0]} of channel {broken[0, 1]}"
        raise DataError(f"the series has {len(broken)} values that are not finite, {where}: fill or cut the gaps")
    series[np.abs(series) <= threshold] = 0.0
    if not series.any():
        reason = f" up to threshold = {threshold:g}: give a lower one" if threshold else ": there is nothing to recall"
        raise DataError(f"the series is all zero{reason}")
    largest = np.abs(series).max(axis=0)
    odd = np.flatnonzero((largest > LARGEST) | ((largest > 0) & (largest < 1 / LARGEST)))
    if odd.size:
        raise DataError(
            f"channel {odd[0]} of the series has values of up to {largest[odd[0]]:.3g}, whose squares are no numbers "
            f"any more: give it in a unit in which they lie between {1 / LARGEST:g} and {LARGEST:g}"
        )
    return series


def channel_names(names: Sequence[str] | None, count: int) -> tuple[str, ...]:
    """Return one name a channel, their numbers by default.

    Raises
    ------
    ParameterError
        If it is no list, or there are more or fewer names.
    """
    if names is None:
        return tuple(str(i) for i in range(count))
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ParameterError(f"names = {names!r} is not allowed: give a list, one name a channel")
    names = list(names)
    if len(names) != count:
        raise ParameterError(f"names has {len(names)} entries for {count} channels: give one a channel")
    return tuple(str(name) for name in names)
