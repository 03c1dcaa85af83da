"""Compiled training of static models of superposition: every model on its own stream of inputs.

The bias is the readout of a hidden unit that is always 1: R (m + 1, n) is W with b as its last row.
"""

import numpy as np
from numba import njit, prange

from workbench.methods.superposition import _jit_recall, _jit_sequences


@njit(cache=True)
def scratch_of(m, n, batch):
    """Return hidden units h (1, m + 1, B) with the last at 1, their gradient, outputs and errors (n, B)."""
    h = np.ones((1, m + 1, batch), np.float32)
    y, error = np.empty((n, batch), np.float32), np.empty((n, batch), np.float32)
    return h, np.empty((m + 1, batch), np.float32), y, error


@njit(cache=True)
def loss_of(x, R, importance, scratch):
    """Write outputs and errors for the inputs x (1, n, B); return the loss summed over them."""
    h, _, y, error = scratch
    m = R.shape[0] - 1
    _jit_recall.forward(x, R[:m], np.zeros((m, m)), False, h)
    _jit_recall.read_out(h[0], R, y)
    return _jit_recall.errors(y, x, 0, 0, True, importance, error)


@njit(cache=True)
def loss_and_gradient(x, R, biased, importance, scratch, d_R):
    """Write the gradient of the loss summed over the inputs x (1, n, B), and return that loss."""
    loss = loss_of(x, R, importance, scratch)
    h, back, _, error = scratch
    m = R.shape[0] - 1
    back[:], d_R[:] = 0.0, 0.0
    _jit_recall.undo_product(R.T, h[0], _jit_recall.floor_of(False), error, back, d_R.T)
    _jit_recall.add_outer(back[:m], x[0], d_R[:m])
    if not biased:
        d_R[m] = 0.0
    return loss


@njit(cache=True, parallel=True)
def train(R, means, squares, states, start, losses, total, rate, biased, importance, p, code, null, batch):
    """Train all models `losses.shape[0]` steps on, from step `start` of `total`, in place.

    R and Adam's moments are (M, m + 1, n), importance (M, n), p and null (M,): activity, and the loss of saying 0.
    `losses` (steps, M) is written.
    """
    for model in prange(R.shape[0]):
        _train_one(
            R[model], means[model], squares[model], states[model], start, losses[:, model], total, rate, biased,
            importance[model], p[model], code, batch * null[model], batch,
        )  # fmt: skip


@njit(cache=True)
def _train_one(R, mean, square, state, start, losses, total, rate, biased, importance, p, code, null, batch):
    m, n = R.shape[0] - 1, R.shape[1]
    x = np.empty((1, n, batch), np.float32)
    scratch, d_R = scratch_of(m, n, batch), np.empty(R.shape)
    for done in range(losses.size):
        _jit_sequences.fill(x, p, code, state)
        losses[done] = loss_and_gradient(x, R, biased, importance, scratch, d_R) / null
        step = start + done
        now = _jit_recall.falling_rate(rate, step, total)
        d_R /= null
        _jit_recall.adam(R, d_R, mean, square, step + 1, now)


@njit(cache=True, parallel=True)
def losses_of(R, states, importance, p, code, null, batch, batches):
    """Return the mean loss of each model over `batches` fresh batches, divided by that of saying 0."""
    losses = np.zeros(R.shape[0])
    for model in prange(R.shape[0]):
        x = np.empty((1, R.shape[2], batch), np.float32)
        scratch = scratch_of(R.shape[1] - 1, R.shape[2], batch)
        for _ in range(batches):
            _jit_sequences.fill(x, p[model], code, states[model])
            losses[model] += loss_of(x, R[model], importance[model], scratch)
        losses[model] /= batches * batch * null[model]
    return losses
