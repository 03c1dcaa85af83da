"""Compiled loops of one delayed-recall network: forward, loss and gradient over a batch, and Adam.

The sequences of a batch are the last axis of every array, so that the inner loops are a vector's. Weights are in
double precision; inputs and states may be single. A ReLU is a maximum with a floor of 0; where there is none, the
floor is minus infinity, so that both take the same loop, which never branches: random inputs foil prediction.
"""

import numpy as np
from numba import njit

LAST_SHARE = 0.02  # of the learning rate, reached along a cosine
LOOSE = {"reassoc", "contract", "arcp", "nsz"}


@njit(cache=True)
def floor_of(relu):
    """Return below which number a state is cut off."""
    return np.float32(0.0 if relu else -np.inf)


@njit(cache=True, fastmath=LOOSE)
def add_product(W, values, floor, total):
    """Add W max(values, floor) to `total`."""
    cast = total.dtype.type
    for n in range(W.shape[0]):
        for i in range(W.shape[1]):
            weight = cast(W[n, i])
            for b in range(total.shape[1]):
                value = values[i, b]
                total[n, b] += weight * (floor if value <= floor else value)


@njit(cache=True, fastmath=LOOSE)
def undo_product(W, values, floor, later, earlier, d_W):
    """Add to the gradients of `values` and W what ``total += W max(values, floor)`` makes of that of the total."""
    cast = later.dtype.type
    for n in range(W.shape[0]):
        for i in range(W.shape[1]):
            weight, product, nothing = cast(W[n, i]), cast(0), cast(0)
            for b in range(later.shape[1]):
                slope, value, so_far = later[n, b], values[i, b], earlier[i, b]
                product += slope * (value if value > floor else floor)
                earlier[i, b] = so_far + weight * (slope if value > floor else nothing)
            d_W[n, i] += product


@njit(cache=True, fastmath=LOOSE)
def add_outer(later, values, d_W):
    """Add to the gradient of W what ``total += W values`` makes of that of the total."""
    for n in range(d_W.shape[0]):
        for i in range(d_W.shape[1]):
            product = later.dtype.type(0)
            for b in range(later.shape[1]):
                product += later[n, b] * values[i, b]
            d_W[n, i] += product


@njit(cache=True)
def copy(source, target):
    """Write `source` to `target`; an assignment of arrays takes seconds to compile."""
    for n in range(source.shape[0]):
        for i in range(source.shape[1]):
            target[n, i] = source[n, i]


@njit(cache=True)
def shrink(values, factor):
    """Multiply `values` by `factor` in place."""
    for n in range(values.shape[0]):
        for i in range(values.shape[1]):
            values[n, i] *= factor


@njit(cache=True)
def impulse(W_x, W_h, relu_h, W):
    """Write the feature directions W_s (S + 1, N_h, N_x): the response to one input, s steps later."""
    copy(W_x, W[0])
    for s in range(1, W.shape[0]):
        W[s] = 0.0
        for n in range(W.shape[1]):
            for m in range(W.shape[1]):
                for i in range(W.shape[2]):
                    before = W[s - 1, m, i]
                    W[s, n, i] += W_h[n, m] * (max(before, 0.0) if relu_h else before)


@njit(cache=True)
def forward(x, W_x, W_h, relu_h, h):
    """Write the states h (T, N_h, B) that the inputs x (T, N_x, B) give, before any ReLU."""
    floor, none = floor_of(relu_h), floor_of(False)
    for t in range(x.shape[0]):
        h[t, : W_h.shape[0]] = 0
        add_product(W_x, x[t], none, h[t])
        if t > 0:
            add_product(W_h, h[t - 1], floor, h[t])


@njit(cache=True)
def read_out(h, W_y, y):
    """Write the outputs y (N_x, B) of one step, before any ReLU, given its state h (N_h, B)."""
    y[:] = 0
    add_product(W_y.T, h, floor_of(False), y)


@njit(cache=True, fastmath=LOOSE)
def errors(y, x, t, k, relu_y, importance, error):
    """Turn the outputs y of step t into 2 I_i (y - target), zero where the ReLU is flat; return the weighted loss."""
    loss, floor, nothing = 0.0, floor_of(relu_y), y.dtype.type(0)
    for i in range(y.shape[0]):
        squares = nothing
        twice = y.dtype.type(2.0 * importance[i])
        outputs, slope, target = y[i], error[i], x[max(t - k, 0), i]
        there = y.dtype.type(t >= k)
        for b in range(y.shape[1]):
            output = outputs[b]
            off = (floor if output <= floor else output) - there * target[b]
            squares += off * off
            slope[b] = twice * (off if output > floor else nothing)
        loss += importance[i] * squares
    return loss


@njit(cache=True)
def loss_of(x, k, W_x, W_h, W_y, relu_h, relu_y, importance):
    """Return the loss summed over steps and sequences."""
    T, N_x, B = x.shape
    h = np.empty((T, W_h.shape[0], B), x.dtype)
    y, error = np.empty((N_x, B), x.dtype), np.empty((N_x, B), x.dtype)
    forward(x, W_x, W_h, relu_h, h)
    loss = 0.0
    for t in range(T):
        read_out(h[t], W_y, y)
        loss += errors(y, x, t, k, relu_y, importance, error)
    return loss


@njit(cache=True)
def loss_and_gradient(x, k, weights, tied, relu_h, relu_y, importance, scratch, gradient):
    """Write the gradient of the loss summed over steps and sequences, and return that loss.

    `weights` and `gradient` are W_x, W_h, W_y; a tied W_y is written from the other two first.
    `scratch` is h (T, N_h, B), the gradients of two of its steps, y and error (N_x, B), W and its gradient
    (k + 1, N_h, N_x).
    """
    W_x, W_h, W_y = weights
    d_x, d_h, d_y = gradient
    h, back, y, error, W, d_W = scratch
    if tied:
        impulse(W_x, W_h, relu_h, W)
        copy(W[k], W_y)
    forward(x, W_x, W_h, relu_h, h)
    d_x[:], d_h[:], d_y[:] = 0.0, 0.0, 0.0
    loss = 0.0
    floor, none = floor_of(relu_h), floor_of(False)
    later, earlier = back[0], back[1]
    later[:] = 0
    for t in range(x.shape[0] - 1, -1, -1):
        read_out(h[t], W_y, y)
        loss += errors(y, x, t, k, relu_y, importance, error)
        undo_product(W_y.T, h[t], none, error, later, d_y.T)
        add_outer(later, x[t], d_x)
        earlier[:] = 0
        if t > 0:
            undo_product(W_h, h[t - 1], floor, later, earlier, d_h)
        later, earlier = earlier, later
    if tied:
        _through_tie(W_h, relu_h, W, d_W, d_x, d_h, d_y)
    return loss


@njit(cache=True)
def _through_tie(W_h, relu_h, W, d_W, d_x, d_h, d_y):
    """Carry the gradient of a tied readout W_y = W_k back through the feature directions."""
    k = W.shape[0] - 1
    copy(d_y, d_W[k])
    for s in range(k, 0, -1):
        for m in range(W_h.shape[0]):
            for i in range(d_x.shape[1]):
                before = W[s - 1, m, i]
                open_gate = before > 0 or not relu_h
                d_W[s - 1, m, i] = 0.0
                for n in range(W_h.shape[0]):
                    if open_gate:
                        d_W[s - 1, m, i] += W_h[n, m] * d_W[s, n, i]
                        d_h[n, m] += d_W[s, n, i] * before
    d_x += d_W[0]
    d_y[:] = 0.0


@njit(cache=True)
def adam(weights, gradient, mean, square, step, rate):
    """Take one step of Adam (beta 0.9 and 0.999) in place; `step` counts from 1."""
    flat, slope = weights.reshape(-1), gradient.reshape(-1)
    first, second = mean.reshape(-1), square.reshape(-1)
    of_mean, of_square = 1.0 - 0.9**step, 1.0 - 0.999**step
    for j in range(flat.size):
        first[j] += 0.1 * (slope[j] - first[j])
        second[j] += 0.001 * (slope[j] * slope[j] - second[j])
        flat[j] -= rate * first[j] / of_mean / (np.sqrt(second[j] / of_square) + 1e-8)


@njit(cache=True)
def falling_rate(rate, step, total):
    """Return the learning rate of step 0 .. total - 1."""
    return rate * (LAST_SHARE + (1.0 - LAST_SHARE) * 0.5 * (1.0 + np.cos(np.pi * step / total)))
