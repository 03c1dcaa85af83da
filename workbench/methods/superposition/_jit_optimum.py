"""Compiled search for the best linear recurrence: the loss of a spectrum, its gradient, and BFGS.

Kernels, and their errors c, are arrays (2, S): the values at every lag, and the running sums of these. The loss is
the square of a length, ``sum_s own_s c_s^2 + running_s (c_0 + .. + c_s)^2``, and the best kernel of a spectrum the
target's projection on those it allows.
"""

import numpy as np
from numba import njit

from workbench.methods.superposition._jit_recall import LOOSE

MOST_TRIALS = 500
FLAT = 1e-9  # the search ends where no entry of the gradient is larger
ENOUGH = 1e-4  # share of the fall that the gradient promises
ROUNDING = 1e-14  # by which the loss may seem to rise where it falls
FURTHER = 4.0  # times the step that did not see the loss bend up
LONGEST = 1.0  # change of a stretched coefficient in a trial: farther off are the flat ends of the stretching
SHORTEST = 1e-10
DEPENDENT = 1e-28  # square of what rounding leaves of a kernel of length 1 that is a sum of others


@njit(cache=True, fastmath=LOOSE)
def product(left, right, own, running):
    """Return the scalar product of two kernels."""
    total = 0.0
    for s in range(own.size):
        total += own[s] * left[0, s] * right[0, s] + running[s] * left[1, s] * right[1, s]
    return total


@njit(cache=True)
def add(factor, change, kernel):
    """Add `factor` times a kernel to another."""
    for s in range(kernel.shape[1]):
        kernel[0, s] += factor * change[0, s]
        kernel[1, s] += factor * change[1, s]


@njit(cache=True)
def divide(values, polynomial, out):
    """Write the response of 1/P to `values`."""
    for s in range(values.size):
        total = values[s]
        for i in range(1, min(s + 1, polynomial.size)):
            total -= polynomial[i] * out[s - i]
        out[s] = total


@njit(cache=True)
def add_mirrored(factor, values, last):
    """Add to the first `last + 1` values `factor` times the same in reverse order."""
    for i in range(last // 2 + 1):
        head, tail = values[i], values[last - i]
        values[i], values[last - i] = head + factor * tail, tail + factor * head


@njit(cache=True)
def step_up(x, limit, polynomial, slopes):
    """Write P (N_h + 1) of the stretched reflection coefficients x (N_h), and its derivative by each (Levinson)."""
    for i in range(polynomial.size):
        polynomial[i] = 1.0 if i == 0 else 0.0
        for j in range(x.size):
            slopes[j, i] = 0.0
    for j in range(x.size):
        stretched = np.tanh(x[j] / limit)
        for i in range(j + 2):
            slopes[j, i] = (1.0 - stretched**2) * polynomial[j + 1 - i]
        for earlier in range(j):
            add_mirrored(limit * stretched, slopes[earlier], j + 1)
        add_mirrored(limit * stretched, polynomial, j + 1)


@njit(cache=True)
def least_errors(polynomial, k, own, running):
    """Return the best kernel with this P, less the target: what Gram-Schmidt, twice against rounding, leaves of it."""
    n, lags = polynomial.size - 1, own.size
    impulse, response, rows = np.zeros(lags), np.empty(lags), np.zeros((n + 1, 2, lags))
    impulse[0] = 1.0
    divide(impulse, polynomial, response)
    for j in range(n):
        for s in range(j, lags):
            rows[j, 0, s] = response[s - j]
    rows[n, 0, k] = -1.0
    for j in range(n + 1):
        total = 0.0
        for s in range(lags):
            total += rows[j, 0, s]
            rows[j, 1, s] = total
    for j in range(n + 1):
        least = DEPENDENT * product(rows[j], rows[j], own, running)
        for i in range(2 * j):
            add(-product(rows[i % j], rows[j], own, running), rows[i % j], rows[j])
        if j < n:
            square = product(rows[j], rows[j], own, running)
            add((1.0 / np.sqrt(square) if square > least else 0.0) - 1.0, rows[j], rows[j])
    return rows[n]


@njit(cache=True)
def loss_and_gradient(x, limit, k, own, running, gradient):
    """Return the loss at x and write its gradient: the best kernel is chosen, so that only P's own effect counts."""
    n, lags = x.size, own.size
    polynomial, slopes = np.empty(n + 1), np.empty((n, n + 1))
    step_up(x, limit, polynomial, slopes)
    errors = least_errors(polynomial, k, own, running)
    loss = product(errors, errors, own, running)
    kernel, twice = errors[0], np.empty(lags)
    by_kernel, later = np.empty(lags), 0.0
    for s in range(lags - 1, -1, -1):
        later += running[s] * errors[1, s]
        by_kernel[s] = 2.0 * (own[s] * errors[0, s] + later)
    kernel[k] += 1.0
    divide(kernel, polynomial, twice)
    for j in range(n):
        gradient[j] = 0.0
    for i in range(1, n + 1):
        by_coefficient = 0.0
        for s in range(i, lags):
            by_coefficient -= by_kernel[s] * twice[s - i]
        for j in range(n):
            gradient[j] += slopes[j, i] * by_coefficient
    return loss


@njit(cache=True)
def search(x, limit, k, own, running):
    """Move x to a minimum of the loss by BFGS, and return the loss."""
    n = x.size
    inverse, gradient, ahead = np.zeros((n, n)), np.zeros(n), np.empty(n)
    step, trial, bend = np.zeros(n), np.empty(n), np.empty(n)
    for i in range(n):
        inverse[i, i] = 1.0
    loss, slope, length = np.inf, 0.0, 1.0
    for _ in range(MOST_TRIALS):
        for i in range(n):
            trial[i] = x[i] + length * step[i]
        there = loss_and_gradient(trial, limit, k, own, running, ahead)
        if there <= loss + ENOUGH * length * slope + ROUNDING:
            for i in range(n):
                x[i] = trial[i]
                step[i] *= length
                bend[i] = ahead[i] - gradient[i]
                gradient[i] = ahead[i]
            update(inverse, step, bend)
            loss, slope, steepest, longest = there, 0.0, 0.0, LONGEST
            for i in range(n):
                step[i] = 0.0
                for j in range(n):
                    step[i] -= inverse[i, j] * gradient[j]
                slope += step[i] * gradient[i]
                steepest, longest = max(steepest, abs(gradient[i])), max(longest, abs(step[i]))
            length = LONGEST / longest
            if steepest <= FLAT:
                break
        else:
            length *= 0.5
            if length < SHORTEST:
                break
    return loss


@njit(cache=True)
def update(inverse, step, bend):
    """Let the inverse Hessian turn the change `bend` of the gradient into the step; go further if it bends away."""
    n = step.size
    along, across, turned = 0.0, 0.0, np.zeros(n)
    for i in range(n):
        for j in range(n):
            turned[i] += inverse[i, j] * bend[j]
        along += step[i] * bend[i]
        across += bend[i] * turned[i]
    for i in range(n):
        for j in range(n):
            if along > 0.0:
                both = step[i] * turned[j] + turned[i] * step[j]
                inverse[i, j] += ((1.0 + across / along) * step[i] * step[j] - both) / along
            elif along < 0.0:
                inverse[i, j] *= FURTHER
