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
    m = len(g)
    bar = np.empty(m, slack.dtype)
    scale = slack.dtype.type(step)
    for it in range(count):
        k = since + it
        mix = (k + 1) / (k + 2)
        keep = 1 - mix
        for j in range(m):
            total = 0.0
            for p in range(len(partial)):
                total += partial[p, j]
            new = g[j] + 2 * col_step[j] * (v[j] - total)
            bar[j] = new
            g[j] = mix * new + keep * g0[j]
        a = x.dtype.type(mix)
        b = x.dtype.type(keep)
        for p in prange(len(blocks) - 1):
            mine = partial[p]
            mine[:] = 0
            for i in range(blocks[p], blocks[p + 1]):
                new = f[i] + 2 * row_step[i] * (u[i] - row[i])
                f[i] = mix * new + keep * f0[i]
                fbar = slack.dtype.type(new)
                total = 0.0
                for e in range(indptr[i], indptr[i + 1]):
                    j = cols[e]
                    old = x[e]
                    hat = max(old + scale * (fbar + bar[j] - slack[e]), x.dtype.type(0))
                    flow = a * (hat + hat - old) + b * x0[e]
                    x[e] = flow
                    total += flow
                    mine[j] += flow
                row[i] = total


@njit(cache=True)
def image(indptr, cols, slack, x, f, row, u, row_step, g, col, v, col_step, step, x_new, f_new, g_new, bar, row_new, col_new):
    """Write one plain PDHG step T(x, f, g) and its sums; return the primal value, squared changes and interaction."""
    col_new[:] = 0
    for j in range(len(g)):
        g_new[j] = g[j] + col_step[j] * (v[j] - col[j])
        bar[j] = 2 * g_new[j] - g[j]
    primal, moved, cross = 0.0, 0.0, 0.0
    for i in range(len(f)):
        f_new[i] = f[i] + row_step[i] * (u[i] - row[i])
        fbar = 2 * f_new[i] - f[i]
        df = f_new[i] - f[i]
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            j = cols[e]
            hat = max(x[e] + step * (fbar + bar[j] - slack[e]), 0.0)
            x_new[e] = hat
            dx = hat - x[e]
            moved += dx * dx
            cross += dx * (df + g_new[j] - g[j])
            primal += hat * slack[e]
            total += hat
            col_new[j] += hat
        row_new[i] = total
    return primal, moved, cross
