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
