"""Compiled loops on active supports: shielding, prolongation, pricing and the merge of edges.

Pixels are numbered among those with mass; `index` holds their integer positions on three axes, `position`
the number of every pixel of the grid (-1 without mass), `weights` the squared spacing per axis.
"""

import numpy as np
from numba import njit


@njit(cache=True)
def shield(index, position, shape, tmap, target_index, target_position, target_shape, weights, steps, most):
    """Return the rows and columns of all unshielded pairs and of each pixel's neighbours' targets."""
    n = len(index)
    rows = np.empty(16 * n, np.int32)
    cols = np.empty(16 * n, np.int32)
    count = 0
    near = np.empty((len(steps), 3), np.int64)
    their = np.empty((len(steps), 3), np.int64)
    low, high = np.empty(3, np.int64), np.empty(3, np.int64)
    for s in range(n):
        found = 0
        low[:] = 0
        high[:] = target_shape - 1
        if count + len(steps) + 1 > len(rows):
            rows, cols = _grow(rows), _grow(cols)
        rows[count], cols[count] = s, tmap[s]
        count += 1
        for k in range(len(steps)):
            other = _neighbour(index[s], steps[k], position, shape)
            if other < 0:
                continue
            near[found] = index[other] - index[s]
            their[found] = target_index[tmap[other]]
            rows[count], cols[count] = s, tmap[other]
            count += 1
            _narrow(near[found], their[found], low, high)
            found += 1
        taken = 0
        for i in range(low[0], high[0] + 1):
            for j in range(low[1], high[1] + 1):
                for k in range(low[2], high[2] + 1):
                    d = target_position[(i * target_shape[1] + j) * target_shape[2] + k]
                    if d < 0 or taken >= most or _shielded(i, j, k, near, their, found, weights):
                        continue
                    if count == len(rows):
                        rows, cols = _grow(rows), _grow(cols)
                    rows[count], cols[count] = s, d
                    count += 1
                    taken += 1
    return rows[:count], cols[:count]


@njit(cache=True)
def _grow(array):
    longer = np.empty(2 * len(array), array.dtype)
    longer[: len(array)] = array
    return longer


@njit(cache=True)
def _neighbour(start, step, position, shape):
    """Return the nearest pixel with mass from `start` in direction `step`, -1 if there is none."""
    i, j, k = start[0] + step[0], start[1] + step[1], start[2] + step[2]
    while 0 <= i < shape[0] and 0 <= j < shape[1] and 0 <= k < shape[2]:
        found = position[(i * shape[1] + j) * shape[2] + k]
        if found >= 0:
            return found
        i, j, k = i + step[0], j + step[1], k + step[2]
    return -1


@njit(cache=True)
def _narrow(step, target, low, high):
    """Confine the box to what a neighbour along an axis leaves unshielded."""
    if np.count_nonzero(step) != 1:
        return
    for k in range(3):
        if step[k] > 0:
            high[k] = min(high[k], target[k])
        elif step[k] < 0:
            low[k] = max(low[k], target[k])


@njit(cache=True)
def _shielded(i, j, k, near, their, found, weights):
    for p in range(found):
        inner = (
            weights[0] * near[p, 0] * (i - their[p, 0])
            + weights[1] * near[p, 1] * (j - their[p, 1])
            + weights[2] * near[p, 2] * (k - their[p, 2])
        )
        if inner > 0:
            return True
    return False


@njit(cache=True)
def prolong(rows, cols, flow, row_start, row_child, row_share, col_start, col_child, col_share):
    """Return all pairs of children of each edge, and its flow divided by the children's shares of mass."""
    total = 0
    for e in range(len(rows)):
        i, j = rows[e], cols[e]
        total += (row_start[i + 1] - row_start[i]) * (col_start[j + 1] - col_start[j])
    new_rows, new_cols, new_flow = np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total)
    at = 0
    for e in range(len(rows)):
        i, j = rows[e], cols[e]
        for p in range(row_start[i], row_start[i + 1]):
            for q in range(col_start[j], col_start[j + 1]):
                new_rows[at], new_cols[at] = row_child[p], col_child[q]
                new_flow[at] = flow[e] * row_share[p] * col_share[q]
                at += 1
    return new_rows, new_cols, new_flow


@njit(cache=True)
def violators(index, best, f, target_index, target_position, target_shape, g, weights, reach, threshold):
    """Return pairs near each pixel's worst one whose ``f_i + g_j - c_ij`` exceeds `threshold`, and that excess."""
    n = len(index)
    rows, cols, excess = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n)
    count = 0
    for s in range(n):
        centre = target_index[best[s]]
        for i in range(max(0, centre[0] - reach), min(target_shape[0], centre[0] + reach + 1)):
            for j in range(max(0, centre[1] - reach), min(target_shape[1], centre[1] + reach + 1)):
                for k in range(max(0, centre[2] - reach), min(target_shape[2], centre[2] + reach + 1)):
                    d = target_position[(i * target_shape[1] + j) * target_shape[2] + k]
                    if d < 0:
                        continue
                    cost = (
                        weights[0] * (index[s, 0] - i) ** 2
                        + weights[1] * (index[s, 1] - j) ** 2
                        + weights[2] * (index[s, 2] - k) ** 2
                    )
                    over = f[s] + g[d] - cost
                    if over > threshold:
                        if count == len(rows):
                            rows, cols, excess = _grow(rows), _grow(cols), _grow(excess)
                        rows[count], cols[count], excess[count] = s, d, over
                        count += 1
    return rows[:count], cols[:count], excess[:count]


@njit(cache=True)
def merge(n, m, rows, cols, origin, flow):
    """Return the edges sorted by row and column, the first of equal ones kept, flows of equal ones the first's."""
    place = np.zeros(n + 1, np.int64)
    for e in range(len(rows)):
        place[rows[e] + 1] += 1
    place = np.cumsum(place)
    order = np.empty(len(rows), np.int64)
    filled = place.copy()
    for e in range(len(rows)):
        order[filled[rows[e]]] = e
        filled[rows[e]] += 1
    seen = np.full(m, -1, np.int32)
    indptr = np.zeros(n + 1, np.int64)
    new_cols, new_origin = np.empty(len(rows), np.int32), np.empty(len(rows), np.uint8)
    new_flow = np.empty(len(rows))
    count = 0
    for i in range(n):
        for p in range(place[i], place[i + 1]):
            e = order[p]
            j = cols[e]
            if seen[j] == i:
                continue
            seen[j] = i
            at = count
            while at > indptr[i] and new_cols[at - 1] > j:
                new_cols[at], new_origin[at], new_flow[at] = new_cols[at - 1], new_origin[at - 1], new_flow[at - 1]
                at -= 1
            new_cols[at], new_origin[at], new_flow[at] = j, origin[e], flow[e]
            count += 1
        indptr[i + 1] = count
    return indptr, new_cols[:count], new_origin[:count], new_flow[:count]


@njit(cache=True)
def edge_costs(indptr, cols, index, target_index, weights):
    """Return the squared distance of every edge."""
    cost = np.empty(len(cols))
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            j = cols[e]
            cost[e] = (
                weights[0] * (index[i, 0] - target_index[j, 0]) ** 2
                + weights[1] * (index[i, 1] - target_index[j, 1]) ** 2
                + weights[2] * (index[i, 2] - target_index[j, 2]) ** 2
            )
    return cost
