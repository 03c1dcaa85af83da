"""Compiled loops that draw sparse inputs: one xoshiro256++ stream a model, so that models do not depend on each other.

Arrays of inputs are (T, N_x, B): the sequences of a batch lie side by side, and every loop over them is a vector's.
"""

import numpy as np
from numba import njit

FEW = 0.1  # below this activity the gaps between active inputs are drawn, not each input
TO_UNIT = 2.0**-53


@njit(cache=True, inline="always")
def _rotated(x, count):
    return (x << np.uint64(count)) | (x >> np.uint64(64 - count))


@njit(cache=True)
def uniform(state):
    """Return the next number of the stream, uniform on [0, 1)."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    drawn = _rotated(s0 + s3, 23) + s0
    shifted = s1 << np.uint64(17)
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    s3 = _rotated(s3, 45)
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3
    return float(drawn >> np.uint64(11)) * TO_UNIT


@njit(cache=True)
def amplitude(code, u, state):
    """Return an amplitude of the law `code`, given a uniform number of [0, 1)."""
    if code == 0:
        return u
    if code == 1:
        return -np.log1p(-u)
    if code == 2:
        return 1.0 if u < 0.5 else -1.0
    if code == 3:
        return np.sqrt(-2.0 * np.log1p(-u)) * np.cos(2.0 * np.pi * uniform(state))
    return 1.0


@njit(cache=True)
def _gap(scale, state):
    return int(min(np.log1p(-uniform(state)) * scale, 1e15))


@njit(cache=True)
def fill(x, p, code, state):
    """Draw all inputs x (T, N_x, B) anew.

    A uniform number below p makes an input active; divided by p it is uniform again, and gives the amplitude.
    """
    flat, inverse = x.reshape(-1), 1.0 / p
    if p < FEW:
        flat[:] = 0.0
        scale = 1.0 / np.log1p(-p)
        place = _gap(scale, state)
        while place < flat.size:
            flat[place] = amplitude(code, uniform(state), state)
            place += 1 + _gap(scale, state)
    elif code == 0:
        for i in range(flat.size):  # without a branch, which p = 0.5 would mispredict every other time
            u = uniform(state) * inverse
            flat[i] = u if u < 1.0 else 0.0
    else:
        for i in range(flat.size):
            u = uniform(state) * inverse
            flat[i] = amplitude(code, u, state) if u < 1.0 else 0.0


@njit(cache=True)
def fill_windows(x, series, state):
    """Fill x (T, N_x, B) with windows of series (time, N_x), each from a start of its own."""
    steps, features, batch = x.shape
    starts = series.shape[0] - steps + 1
    for b in range(batch):
        start = int(uniform(state) * starts)
        for t in range(steps):
            for i in range(features):
                x[t, i, b] = series[start + t, i]


@njit(cache=True)
def draw(x, p, code, series, state):
    """Draw the inputs of one model: windows of a series if there is one, else sparse inputs."""
    if series.shape[0]:
        fill_windows(x, series, state)
    else:
        fill(x, p, code, state)


@njit(cache=True)
def draw_all(x, p, code, series, states):
    """Draw the inputs x (M, T, N_x, B) of M models, each from its own stream."""
    for m in range(x.shape[0]):
        draw(x[m], p[m], code, series, states[m])
