"""Compiled loops of the rounding: scaling a flow down to its marginals and coupling the left-over."""

import numpy as np
from numba import njit


@njit(cache=True)
def scale_down(rows, cols, flow, u, v):
    """Scale `flow` in place to at most its marginals, rows then columns; return the left-over of both."""
    row, col = np.zeros(len(u)), np.zeros(len(v))
    for e in range(len(flow)):
        row[rows[e]] += flow[e]
    for e in range(len(flow)):
        i = rows[e]
        if row[i] > u[i]:
            flow[e] *= u[i] / row[i]
        col[cols[e]] += flow[e]
    rest_row, rest_col = u.copy(), v.copy()
    for e in range(len(flow)):
        j = cols[e]
        if col[j] > v[j]:
            flow[e] *= v[j] / col[j]
        rest_row[rows[e]] -= flow[e]
        rest_col[j] -= flow[e]
    return np.maximum(rest_row, 0.0), np.maximum(rest_col, 0.0)


@njit(cache=True)
def staircase(u, v, row_order, col_order):
    """Couple two masses monotonically along the given orders; return rows, columns and flows."""
    most = len(u) + len(v)
    rows, cols, flow = np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most)
    count, p, q = 0, 0, 0
    left, right = u[row_order[0]], v[col_order[0]]
    while True:
        moved = min(left, right)
        if moved > 0:
            rows[count], cols[count], flow[count] = row_order[p], col_order[q], moved
            count += 1
        left -= moved
        right -= moved
        if left <= 0:
            p += 1
            if p == len(u):
                break
            left = u[row_order[p]]
        else:
            q += 1
            if q == len(v):
                break
            right = v[col_order[q]]
    return rows[:count], cols[:count], flow[:count]


@njit(cache=True)
def push(u, v, best):
    """Send each row's mass to its best column as far as there is room; return flows and what is left of both."""
    flow, room = np.empty(len(u)), v.copy()
    for i in range(len(u)):
        flow[i] = min(u[i], room[best[i]])
        room[best[i]] -= flow[i]
    return flow, u - flow, room


@njit(cache=True)
def row_minimum(indptr, cols, cost, g):
    """Return ``min_j c_ij - g_j`` over each row's edges."""
    f = np.full(len(indptr) - 1, np.inf)
    for i in range(len(f)):
        for e in range(indptr[i], indptr[i + 1]):
            f[i] = min(f[i], cost[e] - g[cols[e]])
    return f
