"""Compiled lower envelopes of parabolas along one axis of a grid (Felzenszwalb and Huttenlocher, 2012)."""

import numpy as np
from numba import njit, prange


@njit(cache=True, parallel=True)
def envelope_axis(height, origin, weight, queries, out, out_origin):
    """Write ``out[o, q, i] = min_p weight (p - queries[q])^2 + height[o, p, i]`` and the origin of the minimiser."""
    outer, n, inner = height.shape
    for line in prange(outer * inner):
        o, i = line // inner, line % inner
        site = np.empty(n, np.int32)
        value = np.empty(n)
        start = np.empty(n)
        last = -1
        for p in range(n):
            h = height[o, p, i]
            if h == np.inf:
                continue
            cut = -np.inf
            while last >= 0:
                q = site[last]
                cut = (h - value[last]) / (2 * weight * (p - q)) + 0.5 * (p + q)
                if cut > start[last]:
                    break
                last -= 1
                cut = -np.inf
            last += 1
            site[last], value[last], start[last] = p, h, cut
        at = 0
        for k in range(len(queries)):
            if last < 0:
                out[o, k, i], out_origin[o, k, i] = np.inf, -1
                continue
            x = queries[k]
            while at < last and start[at + 1] < x:
                at += 1
            out[o, k, i] = value[at] + weight * (site[at] - x) ** 2
            out_origin[o, k, i] = origin[o, site[at], i]
