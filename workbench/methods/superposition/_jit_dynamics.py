"""Compiled gradient descent on the exact expected loss of linear models, each model on its own.

Gradients come from the adjoint recursion g_{s-1} = V G_{s-1} + W_h^T g_s, with V the readout and G_s the
derivative of the loss by the kernel A_s = V^T W_s.
"""

import numpy as np
from numba import njit

from workbench.methods.superposition._jit_recall import copy


@njit(cache=True)
def loss_and_slope(A, k, beta, weights, slope):
    """Return the loss of a kernel over the steps 1..T, a null model having 1, and write its derivative by A."""
    T, n, _ = A.shape
    sums = np.empty(T)
    loss = 0.0
    norm = (T - k) * weights.sum()
    for i in range(n):
        total = 0.0
        for s in range(T):
            for j in range(n):
                error = A[s, i, j] - (1.0 if s == k and i == j else 0.0)
                slope[s, i, j] = 2 * weights[i] / norm * (1 - beta) * (T - s) * error
                loss += weights[i] * (1 - beta) * (T - s) * error**2
                total += error
            sums[s] = total
            loss += weights[i] * beta * total**2
        later = 0.0
        for s in range(T - 1, -1, -1):
            later += sums[s]
            for j in range(n):
                slope[s, i, j] += 2 * weights[i] / norm * beta * later
    return loss / norm


@njit(cache=True)
def gradient(W_x, W_h, W_y, tied, k, T, beta, weights, dW_x, dW_h, dW_y):
    """Write the gradient of one model's loss and return the loss; `W_y` and `dW_y` are not read where it is tied."""
    H, n = W_x.shape
    W, A, slope = np.empty((T, H, n)), np.zeros((T, n, n)), np.empty((T, n, n))
    copy(W_x, W[0])
    for s in range(1, T):
        product(W_h, W[s - 1], W[s])
    V = W[k] if tied else W_y
    for s in range(T):
        for h in range(H):
            for i in range(n):
                for j in range(n):
                    A[s, i, j] += V[h, i] * W[s, h, j]
    loss = loss_and_slope(A, k, beta, weights, slope)
    dV, later, here = np.zeros((H, n)), np.zeros((H, n)), np.empty((H, n))
    for s in range(T):
        for h in range(H):
            for i in range(n):
                for j in range(n):
                    dV[h, i] += W[s, h, j] * slope[s, i, j]
    dW_h[:] = 0
    for s in range(T - 1, -1, -1):
        for h in range(H):
            for j in range(n):
                total = later[h, j] + (dV[h, j] if tied and s == k else 0.0)
                for i in range(n):
                    total += V[h, i] * slope[s, i, j]
                here[h, j] = total
        if s > 0:
            for h in range(H):
                for g in range(H):
                    for j in range(n):
                        dW_h[h, g] += here[h, j] * W[s - 1, g, j]
            product(W_h.T, here, later)
    copy(here, dW_x)
    if not tied:
        copy(dV, dW_y)
    return loss


@njit(cache=True)
def product(left, right, out):
    """Write ``left @ right``; loops beat a library for a few numbers."""
    for h in range(left.shape[0]):
        for j in range(right.shape[1]):
            total = 0.0
            for g in range(left.shape[1]):
                total += left[h, g] * right[g, j]
            out[h, j] = total


@njit(cache=True, nogil=True)
def descend(count, rate, W_x, W_h, W_y, tied, k, T, beta, weights):
    """Take `count` steps of gradient descent with one model, in place, and return the loss after them."""
    dW_x, dW_h, dW_y = np.empty_like(W_x), np.empty_like(W_h), np.zeros_like(W_y)
    loss = 0.0
    for step in range(count + 1):
        loss = gradient(W_x, W_h, W_y, tied, k, T, beta, weights, dW_x, dW_h, dW_y)
        if step < count:
            for h in range(W_h.shape[0]):
                for j in range(W_x.shape[1]):
                    W_x[h, j] -= rate * dW_x[h, j]
                    W_y[h, j] -= rate * dW_y[h, j]
                for g in range(W_h.shape[0]):
                    W_h[h, g] -= rate * dW_h[h, g]
    return loss
