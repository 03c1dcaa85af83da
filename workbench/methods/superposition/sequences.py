"""Sparse input sequences, their delayed copies, and the random streams behind them."""

from collections.abc import Sequence

import numpy as np

from workbench.errors import ParameterError
from workbench.methods.superposition import _jit_sequences, ranges
from workbench.methods.superposition.amplitudes import amplitude_law

NO_SERIES = np.zeros((0, 1))
STREAM = 1  # sets the random numbers of the inputs apart from those of the weights


def sparse_sequences(
    n: int, T: int, n_features: int = 1, *, p: float, amplitude: str = "uniform", seed: int = 0
) -> np.ndarray:
    """Return sequences whose entries are independent: active with probability p, then of random amplitude.

    Parameters
    ----------
    n, T, n_features
        Number of sequences, steps of each, and features N_x of a step.
    p
        Activity, in (0, 1]; 1 - p is the temporal sparsity.
    amplitude
        Law of an active input: a name in `AMPLITUDES`.
    seed
        Seed of the stream.

    Returns
    -------
    ndarray, (n, T, N_x)

    Raises
    ------
    ParameterError
        If a size is below 1, p is not in (0, 1], or the law is unknown.

    Notes
    -----
    Cost O(n T N_x), or O(n T N_x p) random numbers where p < 0.1.

    Examples
    --------
    >>> x = sparse_sequences(1000, 20, p=0.3)
    >>> x.shape, round(float((x > 0).mean()), 2)
    ((1000, 20, 1), 0.3)
    """
    for name, value in {"n": n, "T": T, "n_features": n_features}.items():
        ranges.whole(name, value)
    x = np.empty((T, n_features, n))
    _jit_sequences.fill(x, ranges.activities(p, 1)[0], amplitude_law(amplitude).code, streams(seed, 1)[0])
    return np.ascontiguousarray(np.moveaxis(x, 2, 0))


def delay_targets(x: np.ndarray, k: int) -> np.ndarray:
    """Return x delayed by k steps, zero before: y_t = x_{t-k}.

    Parameters
    ----------
    x
        Sequences, shape (..., T, N_x).
    k
        Delay, at least 0.

    Returns
    -------
    ndarray, (..., T, N_x)

    Raises
    ------
    ParameterError
        If `k` is negative, or `x` is no numbers or has fewer than two axes.

    Examples
    --------
    >>> delay_targets(np.array([[1.0], [2.0], [3.0]]), 1).ravel()
    array([0., 1., 2.])
    """
    ranges.whole("k", k, least=0)
    x = ranges.numbers("x", x)
    if x.ndim < 2:
        raise ParameterError(f"x has shape {x.shape}: it takes (..., T, N_x)")
    delayed = np.zeros_like(x)
    delayed[..., k:, :] = x[..., : max(x.shape[-2] - k, 0), :]
    return delayed


def streams(seed: int | Sequence[int] | np.ndarray, count: int) -> np.ndarray:
    """Return the states of `count` random streams, shape (count, 4).

    An integer seed gives every model a stream of its own; a sequence gives each model the stream of its
    seed, whatever other models there are.

    Raises
    ------
    ParameterError
        If a seed is negative or not whole, or their number is not `count`.
    """
    keys = seed_keys(seed, count)
    return np.array([np.random.SeedSequence((*key, STREAM)).generate_state(4, np.uint64) for key in keys])


def seed_keys(seed: int | Sequence[int] | np.ndarray, count: int) -> list[tuple[int, int]]:
    """Return the pair of numbers that each model's randomness is made from; see `streams`."""
    try:
        values = np.asarray(seed)
    except ValueError:
        values = np.empty(0)
    if values.dtype.kind not in "iu" or (values < 0).any() or values.shape not in ((), (count,)):
        raise ParameterError(
            f"seed = {seed!r} is not allowed: it takes a whole number of at least 0, or one for each of {count} models"
        )
    if values.ndim:
        return [(int(value), 0) for value in values]
    return [(int(values), m) for m in range(count)]
