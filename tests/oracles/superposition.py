"""Slow, obvious twins of the superposition numerics, written from the equations."""

import itertools

import numpy as np
from scipy.optimize import minimize

# Geometry


def directions(kind, W_x, W_h, S):
    """Feature directions W_s, s = 0..S, of one model: each input alone, followed step by step."""
    W = np.zeros((S + 1, *W_x.shape))
    for j in range(W_x.shape[1]):
        v = W_x[:, j]
        for s in range(S + 1):
            W[s, :, j] = v
            v = W_h @ (np.maximum(v, 0) if kind == "nonlinear" else v)
    return W


def geometry(W, W_y, k):
    """Counts and angles of the directions W_0..W_{k+1} of one model with readout W_y."""
    n = W.shape[2]
    recalled = [i for i in range(n) if W_y[:, i] @ W[k][:, i] >= 0.05]
    free = [all(W_y[:, i] @ W[s][:, j] <= 0 for i in recalled) for s in range(k) for j in recalled]
    norm = [np.sqrt(sum(W[s][:, j] @ W[s][:, j] for j in recalled)) for s in (k, k + 1)]
    columns = [W[s][:, i] for s in range(k + 1) for i in range(n)]
    return {
        "kept": sum(W_y[:, i] @ W[k][:, i] > 0.5 for i in range(n)),
        "dead": not recalled,
        "free_fraction": np.mean(free) if free else np.nan,
        "sharpness": norm[1] / norm[0] if recalled else np.nan,
        "angles": [[angle(u, v) for v in columns] for u in columns],
    }


def angle(u, v):
    """Angle between two vectors in degrees, nan if one is zero."""
    if not (u.any() and v.any()):
        return np.nan
    return np.degrees(np.arccos(np.clip(u @ v / np.sqrt((u @ u) * (v @ v)), -1, 1)))


# --- exact expectations of a kernel's loss ---


def enumerated_loss(A, k, p, values, chances, T, importance):
    """The mean over all sequences whose inputs are 0 or one of `values`, each answered step by step, weighted."""
    features = A.shape[-1]
    law = [(0.0, 1 - p), *((v, p * c) for v, c in zip(values, chances, strict=True))]
    total = 0.0
    for draw in itertools.product(law, repeat=T * features):
        x = np.array([value for value, _ in draw]).reshape(T, features)
        chance = np.prod([weight for _, weight in draw])
        for t in range(T):
            answer = sum(A[s] @ x[t - s] for s in range(t + 1))
            target = x[t - k] if t >= k else np.zeros(features)
            total += chance * np.sum(importance * (target - answer) ** 2)
    return total


# Static models


def toy_loss(x, W, b, importance):
    """Loss of x^ = ReLU(W^T W x + b), summed over the inputs x (B, n), one by one."""
    total = 0.0
    for row in x:
        out = [max(0.0, W[:, i] @ (W @ row) + b[i]) for i in range(len(row))]
        total += sum(importance[i] * (row[i] - out[i]) ** 2 for i in range(len(row)))
    return total


def toy_training(batches, W, b, importance, null, lr, biased, last=0.02):
    """Adam with a cosine, on given batches (steps, B, n), gradients by central differences; W and b after all."""
    shape, w = W.shape, np.concatenate([W.ravel(), b])
    first, second = np.zeros_like(w), np.zeros_like(w)
    for step, x in enumerate(batches):

        def loss(values, x=x):
            return toy_loss(x, values[: W.size].reshape(shape), values[W.size :], importance) / (null * len(x))

        slope = differences(loss, w)
        slope[W.size :] *= biased
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        mean, square = first / (1 - 0.9 ** (step + 1)), second / (1 - 0.999 ** (step + 1))
        rate = lr * (last + (1 - last) * (1 + np.cos(np.pi * step / len(batches))) / 2)
        w = w - rate * mean / (np.sqrt(square) + 1e-8)
    return w[: W.size].reshape(shape), w[W.size :]


def differences(f, w, h=1e-6):
    """Gradient of f at w by central differences."""
    return np.array([(f(w + h * e) - f(w - h * e)) / (2 * h) for e in np.eye(len(w))])


def feature_dimensionality(W):
    """|W_i|^2 / sum_j (W^_i . W_j)^2 for each column, zero for a zero column."""
    D = []
    for w in W.T:
        unit = w / np.linalg.norm(w) if w.any() else w
        D.append(w @ w / sum((unit @ v) ** 2 for v in W.T) if w.any() else 0.0)
    return D


def enumerated_relu_loss(a, k, p, values, chances):
    """The mean squared error of a ReLU readout over all windows whose inputs are 0 or one of `values`."""
    law = [(0.0, 1 - p), *((v, p * c) for v, c in zip(values, chances, strict=True))]
    total = 0.0
    for draw in itertools.product(law, repeat=len(a)):
        x, chance = (np.array(part) for part in zip(*draw, strict=True))
        total += np.prod(chance) * (max(a @ x, 0.0) - x[k]) ** 2
    return total


# --- the best linear recurrence, found in other coordinates ---


def least_loss_over_poles(k, n_hidden, beta, starts):
    """The least late-step loss over all decaying spectra, from random ones: powers have closed scalar products."""

    def loss(x):
        pairs, poles = x[: n_hidden - n_hidden % 2].reshape(-1, 2), list(x[n_hidden - n_hidden % 2 :])
        for product, share in pairs:
            poles += list(np.roots([1.0, (1 + product) * share, product]))
        poles = np.array(poles)
        gram = (1 - beta) / (1 - np.outer(poles, poles)) + beta / np.outer(1 - poles, 1 - poles)
        target = (1 - beta) * poles**k + beta / (1 - poles)
        return float(np.real(1 - target @ np.linalg.lstsq(gram, target)[0]))

    radius, angle = np.random.default_rng(1).uniform((0.4, 0), (0.95, np.pi), (starts, n_hidden // 2, 2)).T
    pair = np.stack([radius**2, -2 * radius * np.cos(angle) / (1 + radius**2)]).T
    guesses = np.hstack([pair.transpose(1, 0, 2).reshape(starts, -1), np.full((starts, n_hidden % 2), 0.7)])
    options = {"bounds": [(-0.999, 0.999)] * n_hidden, "options": {"ftol": 1e-15, "gtol": 1e-9}}
    return min(minimize(loss, x, method="L-BFGS-B", **options).fun for x in guesses)


def least_loss_over_weights(k, n_hidden, beta, T, starts):
    """The least mean loss of a sequence over all W_h, w_x and w_y, from random ones, as the model defines it."""

    def loss(x):
        W_h, w, w_y = x[2 * n_hidden :].reshape(n_hidden, n_hidden), x[:n_hidden], x[n_hidden : 2 * n_hidden]
        squares = total = everything = 0.0
        for t in range(1, T + 1):
            a = w_y @ w
            w = W_h @ w
            squares, total = squares + a * a, total + a
            if t == k + 1:
                squares, total = squares + 1 - 2 * a, total - 1
            everything += (1 - beta) * squares + beta * total * total
        return everything / (T - k)

    rng = np.random.default_rng(0)
    guesses = rng.normal(0, 0.6, (starts, 2 * n_hidden + n_hidden**2))
    return min(minimize(loss, x, method="BFGS", options={"gtol": 1e-7}).fun for x in guesses)


# Own series


def correlations(x, max_lag):
    """Correlation of channel i with channel j of l steps ago, at [l, i, j]; nan for constant channels."""
    T, N = x.shape
    centred = x - x.mean(axis=0)
    table = np.full((max_lag + 1, N, N), np.nan)
    for lag, i, j in np.ndindex(*table.shape):
        if len(set(x[:, i])) > 1 and len(set(x[:, j])) > 1:
            product = sum(centred[t + lag, i] * centred[t, j] for t in range(T - lag))
            table[lag, i, j] = product / np.sqrt(sum(centred[:, i] ** 2) * sum(centred[:, j] ** 2))
    return table


# Training


class Xoshiro:
    """xoshiro256++ in whole numbers, as its authors describe it."""

    def __init__(self, state):
        self.s = [int(word) for word in state]

    def uniform(self):
        mask, s = 2**64 - 1, self.s
        rotated = lambda x, count: ((x << count) | (x >> (64 - count))) & mask  # noqa: E731
        drawn = (rotated((s[0] + s[3]) & mask, 23) + s[0]) & mask
        shifted = (s[1] << 17) & mask
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = rotated(s[3], 45)
        return (drawn >> 11) / 2**53


def recall(kind, W_x, W_h, W_y, x):
    """Outputs (T, N_x) of one network for one sequence, number by number."""
    N_h, N_x = W_x.shape
    h, outputs = [0.0] * N_h, []
    for step in x:
        passed = [max(v, 0.0) if kind == "nonlinear" else v for v in h]
        h = [
            sum(W_x[n, i] * step[i] for i in range(N_x)) + sum(W_h[n, m] * passed[m] for m in range(N_h))
            for n in range(N_h)
        ]
        y = [sum(W_y[n, i] * h[n] for n in range(N_h)) for i in range(N_x)]
        outputs.append([v if kind == "linear" else max(v, 0.0) for v in y])
    return np.array(outputs)


def recall_loss(kind, weights, k, x, importance):
    """Squared errors of one network, summed over sequences x (B, T, N_x), steps and features; two weights: tied."""
    W_x, W_h = weights[:2]
    W_y = weights[2] if len(weights) == 3 else directions(kind, W_x, W_h, k)[k]
    total = 0.0
    for sequence in x:
        y = recall(kind, W_x, W_h, W_y, sequence)
        for t in range(len(sequence)):
            target = sequence[t - k] if t >= k else np.zeros_like(sequence[t])
            total += np.sum(importance * (target - y[t]) ** 2)
    return total


def adam(w, slopes, rates):
    """Weights after steps of Adam with beta 0.9 and 0.999, one for each slope and rate."""
    mean = square = np.zeros_like(w)
    for number, (slope, rate) in enumerate(zip(slopes, rates, strict=True), start=1):
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
        w = w - rate * (mean / (1 - 0.9**number)) / (np.sqrt(square / (1 - 0.999**number)) + 1e-8)
    return w


def recall_training(kind, weights, k, batches, importance, null, lr, clip, last=0.02):
    """Weights and losses of one network trained on batches (B, T, N_x), with slopes by differences."""
    start = w = np.concatenate([part.ravel() for part in weights])
    ends = np.cumsum([part.size for part in weights])[:-1]
    losses, slopes, rates = [], [], []

    def parts(w):
        return [flat.reshape(part.shape) for flat, part in zip(np.split(w, ends), weights, strict=True)]

    for number, x in enumerate(batches):

        def loss(w, x=x):
            return recall_loss(kind, parts(w), k, x, importance) / (null * len(x))

        losses.append(loss(w))
        slope = differences(loss, w)
        slopes.append(slope * clip / max(clip, np.linalg.norm(slope)))
        rates.append(lr * (last + (1 - last) * (1 + np.cos(np.pi * number / len(batches))) / 2))
        w = adam(start, slopes, rates)
    return parts(w), np.array(losses)
