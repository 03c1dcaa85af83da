"""The compiled loop that the benchmark compares a sweep's bandwidth with."""

from numba import njit, prange


@njit(cache=True, parallel=True)
def copy(count, source, target):
    """Copy `source` to `target` `count` times."""
    for _ in range(count):
        for i in prange(source.size):
            target[i] = source[i]
