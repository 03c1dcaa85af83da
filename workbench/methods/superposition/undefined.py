"""Ratios, and the least of some losses, where values may be undefined (nan)."""

import numpy as np


def ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Return above / below, nan where below is zero.

    Examples
    --------
    >>> ratio(np.array([1.0, 1.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    return np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0)


def least(losses: np.ndarray) -> np.ndarray:
    """Return the place of the least along the last axis, where nan, a network that diverged, is never the least.

    Examples
    --------
    >>> int(least(np.array([np.nan, 0.5, 0.2])))
    2
    """
    return np.asarray(np.argmin(np.nan_to_num(losses, nan=np.inf), axis=-1))
