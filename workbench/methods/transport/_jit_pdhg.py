"""Compiled sweeps of restarted reflected Halpern PDHG over the edges of an active support.

Edges are stored by row; `blocks` splits the rows into a number of blocks that depends on the problem alone,
each with its own column sums, added in order: the result is the same for any number of threads.
"""

import numpy as np
from numba import njit, prange


@njit(cache=True, parallel=True)
def sweeps(
    count, since, indptr, cols, slack, x, x0, f, f0, row, u, row_step, g, g0, v, col_step, partial, blocks, step
):
    """Advance `count` iterations in place, the first one `since` steps after the last restart.

    `slack` is the cost of each edge; `row` and `partial` hold the row and column sums of `x`;
    `row_step`, `col_step` are eta / (omega deg), `step` is eta omega / 2.
    """
    bar = np.empty(len(g), np.float32)
    scale, zero = np.float32(step), np.float32(0)
    for it in range(count):
        mix = (since + it + 1) / (since + it + 2)
        keep = 1 - mix
        for j in range(len(g)):
            total = 0.0
            for p in range(len(partial)):
                total += partial[p, j]
            new = g[j] + 2 * col_step[j] * (v[j] - total)
            bar[j] = step * new
            g[j] = mix * new + keep * g0[j]
        a, b = np.float32(mix), np.float32(keep)
        for p in prange(len(blocks) - 1):
            sums = partial[p]
            sums[:] = 0
            for i in range(blocks[p], blocks[p + 1]):
                new = f[i] + 2 * row_step[i] * (u[i] - row[i])
                f[i] = mix * new + keep * f0[i]
                here = np.float32(step * new)
                total = 0.0
                # Views of the row and unsigned columns spare the loop all tests for negative indices.
                edge_cols, edge_slack = cols[indptr[i] : indptr[i + 1]], slack[indptr[i] : indptr[i + 1]]
                edge_x, edge_x0 = x[indptr[i] : indptr[i + 1]], x0[indptr[i] : indptr[i + 1]]
                for e in range(len(edge_cols)):
                    j = edge_cols[e]
                    old = edge_x[e]
                    hat = max(old + (here + bar[j] - scale * edge_slack[e]), zero)
                    flow = a * (hat + hat - old) + b * edge_x0[e]
                    edge_x[e] = flow
                    total += flow
                    sums[j] += flow
                row[i] = total


@njit(cache=True)
def image(
    indptr, cols, slack, x, f, row, u, row_step, g, col, v, col_step, step, x_new, f_new, g_new, row_new, col_new
):
    """Write one plain step T(x, f, g) and its sums; return the primal value, squared changes and interaction."""
    col_new[:] = 0
    for j in range(len(g)):
        g_new[j] = g[j] + col_step[j] * (v[j] - col[j])
    primal, moved, cross = 0.0, 0.0, 0.0
    for i in range(len(f)):
        f_new[i] = f[i] + row_step[i] * (u[i] - row[i])
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            j = cols[e]
            rise = 2 * (f_new[i] + g_new[j]) - f[i] - g[j] - slack[e]
            hat = max(x[e] + step * rise, 0.0)
            change = hat - x[e]
            moved += change * change
            cross += change * (f_new[i] - f[i] + g_new[j] - g[j])
            primal += hat * slack[e]
            total += hat
            x_new[e] = hat
            col_new[j] += hat
        row_new[i] = total
    return primal, moved, cross


@njit(cache=True)
def choose(indptr, cols, reduced, bound, m, keep):
    """Mark the edges with a reduced cost up to `bound`, and the edge of least reduced cost of each row and column."""
    least = np.full(m, np.inf, np.float32)
    place = np.full(m, -1)
    for i in range(len(indptr) - 1):
        best = indptr[i]
        for e in range(indptr[i], indptr[i + 1]):
            keep[e] = reduced[e] <= bound
            if reduced[e] < reduced[best]:
                best = e
            if reduced[e] < least[cols[e]]:
                least[cols[e]] = reduced[e]
                place[cols[e]] = e
        if indptr[i] < indptr[i + 1]:
            keep[best] = True
    for e in place:
        if e >= 0:
            keep[e] = True
