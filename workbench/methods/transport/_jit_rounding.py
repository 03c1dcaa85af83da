"""Compiled loops of the certificate: scaling a flow to its marginals, coupling the left-over, restricted transforms."""

import numpy as np
from numba import njit


@njit(cache=True)
def balance(indptr, cols, x, u, v, rounds):
    """Scale `x` in place to at most the marginals; return the left-over mass of rows and of columns.

    `rounds` full scalings of rows and columns move misplaced mass along the edges, then rows and columns
    are scaled down.
    """
    n, m = len(u), len(v)
    factor = np.ones(m)
    col = np.empty(m)
    for step in range(rounds + 1):
        last = step == rounds
        col[:] = 0
        for i in range(n):
            total = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                x[e] *= factor[cols[e]]
                total += x[e]
            if total > u[i] or (total > 0 and not last):
                scale = u[i] / total
                for e in range(indptr[i], indptr[i + 1]):
                    x[e] *= scale
                    col[cols[e]] += x[e]
            else:
                for e in range(indptr[i], indptr[i + 1]):
                    col[cols[e]] += x[e]
        for j in range(m):
            factor[j] = v[j] / col[j] if col[j] > v[j] or (col[j] > 0 and not last) else 1.0
    rest_row, rest_col = np.empty(n), v.copy()
    for i in range(n):
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            x[e] *= factor[cols[e]]
            total += x[e]
            rest_col[cols[e]] -= x[e]
        rest_row[i] = max(u[i] - total, 0.0)
    for j in range(m):
        rest_col[j] = max(rest_col[j], 0.0)
    return rest_row, rest_col


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
    """Send each row's mass to its best column as far as there is room; return flows and what is left."""
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
