"""Compiled loops of one delayed-recall network: forward, loss and gradient over a batch, and Adam.

The sequences of a batch are the last axis of every array, so that the inner loops run over contiguous numbers.
Weights are (N_h, N_x) and (N_h, N_h) in double precision; inputs and states may be single.
"""

import numpy as np
from numba import njit

LOOSE = {"reassoc", "contract", "arcp", "nsz"}


@njit(cache=True, fastmath=LOOSE)
def _add(total, weight, values):
    for b in range(total.size):
        total[b] += weight * values[b]


@njit(cache=True, fastmath=LOOSE)
def _add_relu(total, weight, values):
    for b in range(total.size):
        total[b] += weight * max(values[b], values.dtype.type(0))


@njit(cache=True, fastmath=LOOSE)
def _dot(first, second):
    total = first.dtype.type(0)
    for b in range(first.size):
        total += first[b] * second[b]
    return total


@njit(cache=True, fastmath=LOOSE)
def _dot_relu(first, second):
    total = first.dtype.type(0)
    for b in range(first.size):
        total += first[b] * max(second[b], second.dtype.type(0))
    return total


@njit(cache=True, fastmath=LOOSE)
def _mask(values, where):
    for b in range(values.size):
        if where[b] <= 0:
            values[b] = 0


@njit(cache=True)
def impulse(W_x, W_h, relu_h, W):
    """Write the feature directions W_s (S + 1, N_h, N_x): the response to one input, s steps later."""
    W[0] = W_x
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
    cast = h.dtype.type
    for t in range(x.shape[0]):
        for n in range(W_h.shape[0]):
            state = h[t, n]
            state[:] = 0
            for i in range(W_x.shape[1]):
                _add(state, cast(W_x[n, i]), x[t, i])
            if t > 0:
                for m in range(W_h.shape[0]):
                    if relu_h:
                        _add_relu(state, cast(W_h[n, m]), h[t - 1, m])
                    else:
                        _add(state, cast(W_h[n, m]), h[t - 1, m])


@njit(cache=True)
def read_out(h, W_y, relu_y, y):
    """Write the outputs y (N_x, B) of one step, given its state h (N_h, B)."""
    for i in range(y.shape[0]):
        y[i] = 0
        for n in range(h.shape[0]):
            _add(y[i], y.dtype.type(W_y[n, i]), h[n])
        if relu_y:
            _mask(y[i], y[i])


@njit(cache=True, fastmath=LOOSE)
def _errors(y, x, t, k, relu_y, importance, error):
    """Turn the outputs y of step t into 2 I_i (y - target), zero where the ReLU is flat; return the weighted loss."""
    loss = 0.0
    for i in range(y.shape[0]):
        squares = y.dtype.type(0)
        twice = y.dtype.type(2.0 * importance[i])
        for b in range(y.shape[1]):
            off = y[i, b]
            if t >= k:
                off -= x[t - k, i, b]
            squares += off * off
            error[i, b] = twice * off if y[i, b] > 0 or not relu_y else y.dtype.type(0)
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
        read_out(h[t], W_y, relu_y, y)
        loss += _errors(y, x, t, k, relu_y, importance, error)
    return loss


@njit(cache=True)
def loss_and_gradient(x, k, weights, tied, relu_h, relu_y, importance, scratch, gradient):
    """Write the gradient of the loss summed over steps and sequences, and return that loss.

    `weights` and `gradient` are W_x, W_h, W_y; a tied W_y is written from the other two first.
    `scratch` is h (T, N_h, B), its gradient of the same shape, y and error (N_x, B), W and its gradient
    (k + 1, N_h, N_x).
    """
    W_x, W_h, W_y = weights
    d_x, d_h, d_y = gradient
    h, back, y, error, W, d_W = scratch
    if tied:
        impulse(W_x, W_h, relu_h, W)
        W_y[:] = W[k]
    forward(x, W_x, W_h, relu_h, h)
    d_x[:], d_h[:], d_y[:] = 0.0, 0.0, 0.0
    loss = 0.0
    for t in range(x.shape[0]):
        read_out(h[t], W_y, relu_y, y)
        loss += _errors(y, x, t, k, relu_y, importance, error)
        for n in range(W_h.shape[0]):
            back[t, n] = 0
            for i in range(W_x.shape[1]):
                _add(back[t, n], y.dtype.type(W_y[n, i]), error[i])
                d_y[n, i] += _dot(error[i], h[t, n])
    _through_time(x, W_h, relu_h, h, back, d_x, d_h)
    if tied:
        _through_readout(W_h, relu_h, W, d_W, d_x, d_h, d_y)
    return loss


@njit(cache=True)
def _through_time(x, W_h, relu_h, h, back, d_x, d_h):
    """Carry the states' gradients `back` from the last step to the first, adding up d_x and d_h."""
    for t in range(x.shape[0] - 1, -1, -1):
        for n in range(W_h.shape[0]):
            for i in range(x.shape[1]):
                d_x[n, i] += _dot(back[t, n], x[t, i])
        if t == 0:
            return
        for m in range(W_h.shape[0]):
            for n in range(W_h.shape[0]):
                d_h[n, m] += _dot_relu(back[t, n], h[t - 1, m]) if relu_h else _dot(back[t, n], h[t - 1, m])
            _into_previous(W_h[:, m], relu_h, h[t - 1, m], back[t], back[t - 1, m])


@njit(cache=True, fastmath=LOOSE)
def _into_previous(column, relu_h, before, later, earlier):
    """Add what a state of the step before contributes to later gradients, where its ReLU lets it through."""
    for n in range(column.size):
        weight = later.dtype.type(column[n])
        if relu_h:
            for b in range(before.size):
                earlier[b] += weight * later[n, b] if before[b] > 0 else later.dtype.type(0)
        else:
            _add(earlier, weight, later[n])


@njit(cache=True)
def _through_readout(W_h, relu_h, W, d_W, d_x, d_h, d_y):
    """Carry the gradient of a tied readout W_y = W_k back through the feature directions."""
    k = W.shape[0] - 1
    d_W[k] = d_y
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
    for j in range(flat.size):
        first[j] += 0.1 * (slope[j] - first[j])
        second[j] += 0.001 * (slope[j] * slope[j] - second[j])
        step_mean = first[j] / (1.0 - 0.9**step)
        step_square = second[j] / (1.0 - 0.999**step)
        flat[j] -= rate * step_mean / (np.sqrt(step_square) + 1e-8)
