"""Slow, obvious twins of the transport numerics: every pair is looked at."""

import numpy as np
from scipy.optimize import linprog


def costs(shape, shape_out, spacing):
    """All squared distances between the pixel centres of two grids with a common origin."""
    points, points_out = (np.argwhere(np.ones(s)) * np.array(spacing) for s in (shape, shape_out))
    return ((points[:, None] - points_out[None]) ** 2).sum(axis=-1)


def c_transform(g, shape_out, spacing, mask):
    """The least of cost minus potential over all allowed pixels."""
    table = costs(shape_out, g.shape, spacing) - np.where(mask, g, -np.inf).ravel()
    return table.min(axis=1).reshape(shape_out)


def least_cost(a, b, spacing, pairs=None):
    """The optimal value of the transport problem as a linear program, on all pairs or on some."""
    u, v = (image.ravel() / image.sum() for image in (a, b))
    cost = costs(a.shape, b.shape, spacing)
    allowed = np.ones(cost.shape, bool) if pairs is None else pairs
    rows, cols = np.nonzero(allowed)
    matrix = np.zeros((len(u) + len(v), len(rows)))
    matrix[rows, np.arange(len(rows))] = 1
    matrix[len(u) + cols, np.arange(len(cols))] = 1
    scale = 1e5  # the solver's tolerances are absolute
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    masses = scale * np.concatenate([u, v])
    answer = linprog(cost[rows, cols], A_eq=matrix, b_eq=masses, method="highs", options=tight)
    return answer.fun / scale if answer.status == 0 else np.inf


def unshielded(tmap, shape, steps, spacing):
    """All pairs (s, d) that no neighbour's pair (s', t(s')) shields, by the definition of shielding."""
    pixels, targets = np.argwhere(np.ones(tmap.shape)), np.argwhere(np.ones(shape))
    weights = np.array(spacing) ** 2

    def cost(p, q):
        return float(np.sum(weights * (p - q) ** 2))

    found = set()
    for s in pixels:
        if tmap[tuple(s)] < 0:
            continue
        shields = [n for step in steps if (n := next_with_mass(s, step, tmap)) is not None]
        for k, d in enumerate(targets):
            pairs = [(n, targets[tmap[tuple(n)]]) for n in shields]
            if not any(cost(s, d) + cost(n, t) > cost(s, t) + cost(n, d) for n, t in pairs):
                found.add((int(np.ravel_multi_index(tuple(s), tmap.shape)), k))
    return found


def next_with_mass(s, step, tmap):
    """The next pixel with mass from `s` in the direction of `step`."""
    place = s + step
    while (place >= 0).all() and (place < tmap.shape).all():
        if tmap[tuple(place)] >= 0:
            return place
        place = place + step
    return None


def scaled_incidence(rows, cols):
    """The incidence matrix of pairs and pixels, scaled by the square roots of the degrees and of two."""
    n, m = rows.max() + 1, cols.max() + 1
    matrix = np.zeros((n + m, len(rows)))
    matrix[rows, np.arange(len(rows))] = 1
    matrix[n + cols, np.arange(len(rows))] = 1
    degree = matrix.sum(axis=1)
    return matrix[degree > 0] / np.sqrt(2 * degree[degree > 0, None])


def plain_pdhg_step(x, f, g, rows, cols, cost, u, v, omega, eta):
    """One step of primal-dual hybrid gradient, as its equations read."""
    f_new, g_new, x_new = f.copy(), g.copy(), x.copy()
    for i in range(len(f)):
        f_new[i] += eta / omega * (u[i] - x[rows == i].sum()) / (rows == i).sum()
    for j in range(len(g)):
        g_new[j] += eta / omega * (v[j] - x[cols == j].sum()) / (cols == j).sum()
    for e, (i, j) in enumerate(zip(rows, cols, strict=True)):
        rise = 2 * f_new[i] - f[i] + 2 * g_new[j] - g[j] - cost[e]
        x_new[e] = max(0.0, x[e] + eta * omega / 2 * rise)
    return x_new, f_new, g_new


def union(proposals):
    """The origin and flow of every proposed pair, those of the first proposal that has it."""
    found = {}
    for p in proposals:
        origins, flows = np.broadcast_to(p.origin, len(p.rows)), np.broadcast_to(p.flow, len(p.rows))
        for i, j, origin, flow in zip(p.rows, p.cols, origins, flows, strict=True):
            found.setdefault((i, j), (origin, flow))
    return found


def parent_places(fine, coarse):
    """The place of each fine pixel's block among the coarse pixels with mass."""
    places = []
    for pixel in fine.pixels:
        at = np.unravel_index(pixel, fine.grid.shape)
        block = tuple(k // 2 if n > 1 else k for k, n in zip(at, fine.grid.shape, strict=True))
        places.append(list(coarse.pixels).index(np.ravel_multi_index(block, coarse.grid.shape)))
    return np.array(places)


def scaled_down(flow, u, v):
    """The flow with every row, then every column, scaled down to at most its marginal."""
    flow = flow * np.minimum(1, u / np.maximum(flow.sum(axis=1), 1e-300))[:, None]
    return flow * np.minimum(1, v / np.maximum(flow.sum(axis=0), 1e-300))


def chosen(indptr, cols, reduced, bound):
    """Return which edges have a reduced cost up to `bound`, or the least of their row or of their column."""
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    keep = reduced <= bound
    for places in (rows, cols):
        for k in set(places.tolist()):
            mine = np.flatnonzero(places == k)
            keep[mine[np.argmin(reduced[mine])]] = True
    return keep
