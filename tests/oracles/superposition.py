"""Slow, obvious twins of the superposition numerics, written from the equations."""

import itertools

import numpy as np

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
