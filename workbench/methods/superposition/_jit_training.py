"""Compiled training: every model on its own stream of inputs, models side by side on the threads."""

import numpy as np
from numba import njit, prange

from workbench.methods.superposition import _jit_recall, _jit_sequences


@njit(cache=True, parallel=True)
def train(weights, moments, states, start, losses, total, rate, task, inputs, batch, T, clip):
    """Train all models `losses.shape[0]` steps on, from step `start` of `total`, in place.

    Parameters
    ----------
    weights
        W_x (M, N_h, N_x), W_h (M, N_h, N_h), W_y (M, N_h, N_x).
    moments
        Adam's two moments of each of them: six arrays.
    states
        Random streams, (M, 4).
    losses
        (steps, M), written: the loss over that of a model that says 0. A model whose loss is not finite
        stops there, with the weights it had.
    task
        k, tied, relu_h, relu_y, importance (N_x,).
    inputs
        p (M,), code of the amplitudes, series (time, N_x) or empty, loss of a model that says 0 (M,).
    """
    p, code, series, null = inputs
    for m in prange(states.shape[0]):
        _train_one(
            (weights[0][m], weights[1][m], weights[2][m]),
            (moments[0][m], moments[1][m], moments[2][m]),
            (moments[3][m], moments[4][m], moments[5][m]),
            states[m], start, losses[:, m], total, rate, task,
            (p[m], code, series, batch * null[m]), batch, T, clip,
        )  # fmt: skip


@njit(cache=True)
def _scratch(T, N_h, N_x, k, batch):
    """Return what `_jit_recall.loss_and_gradient` works in, and its gradient."""
    scratch = (
        np.empty((T, N_h, batch), np.float32),
        np.empty((2, N_h, batch), np.float32),
        np.empty((N_x, batch), np.float32),
        np.empty((N_x, batch), np.float32),
        np.empty((k + 1, N_h, N_x)),
        np.empty((k + 1, N_h, N_x)),
    )
    return scratch, (np.empty((N_h, N_x)), np.empty((N_h, N_h)), np.empty((N_h, N_x)))


@njit(cache=True)
def _train_one(weights, means, squares, state, start, losses, total, rate, task, inputs, batch, T, clip):
    k, tied, relu_h, relu_y, importance = task
    p, code, series, null = inputs
    N_h, N_x = weights[0].shape
    stopped = means[0][:1, 0]  # nan from where a model has diverged
    if np.isnan(stopped[0]):
        losses[:] = np.nan
        return
    x = np.empty((T, N_x, batch), np.float32)
    scratch, gradient = _scratch(T, N_h, N_x, k, batch)
    for done in range(losses.size):
        _jit_sequences.draw(x, p, code, series, state)
        loss = _jit_recall.loss_and_gradient(x, k, weights, tied, relu_h, relu_y, importance, scratch, gradient)
        size = np.sqrt(np.sum(gradient[0] ** 2) + np.sum(gradient[1] ** 2) + np.sum(gradient[2] ** 2)) / null
        losses[done] = loss / null
        if not np.isfinite(losses[done]) or not np.isfinite(size):
            losses[done:], stopped[0] = np.nan, np.nan
            return
        factor = min(1.0, clip / size) / null if size > 0 else 0.0
        now = _jit_recall.falling_rate(rate, start + done, total)
        for j in range(2 if tied else 3):
            _jit_recall.shrink(gradient[j], factor)
            _jit_recall.adam(weights[j], gradient[j], means[j], squares[j], start + done + 1, now)


@njit(cache=True, parallel=True)
def losses_of(weights, states, task, inputs, batch, batches, T):
    """Return the mean loss of each model (M,) over `batches` fresh batches, divided by that of saying 0."""
    k, _, relu_h, relu_y, importance = task
    p, code, series, null = inputs
    losses = np.zeros(states.shape[0])
    for m in prange(states.shape[0]):
        x = np.empty((T, weights[0].shape[2], batch), np.float32)
        for _ in range(batches):
            _jit_sequences.draw(x, p[m], code, series, states[m])
            losses[m] += _jit_recall.loss_of(
                x, k, weights[0][m], weights[1][m], weights[2][m], relu_h, relu_y, importance
            )
        losses[m] /= batches * batch * null[m]
    return losses
