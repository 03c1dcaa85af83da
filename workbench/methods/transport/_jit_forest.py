"""Compiled loops on a spanning forest of a flow's largest pairs: sources are nodes 0..n-1, targets follow."""

import numpy as np
from numba import njit


@njit(cache=True)
def spanning_forest(rows, cols, order, n, m):
    """Return the pairs, taken in the given order, that link two trees."""
    leader = np.arange(n + m)
    chosen = np.empty(n + m, np.int64)
    count = 0
    for e in order:
        p, q = np.int64(rows[e]), n + np.int64(cols[e])
        while leader[p] != p:
            leader[p] = leader[leader[p]]
            p = leader[p]
        while leader[q] != q:
            leader[q] = leader[leader[q]]
            q = leader[q]
        if p != q:
            leader[q] = p
            chosen[count] = e
            count += 1
    return chosen[:count]


@njit(cache=True)
def leaves_first(rows, cols, forest, n, m):
    """Return each pair of the forest with its ends (child, parent), every child after its own children."""
    degree = np.zeros(n + m, np.int32)
    mixed = np.zeros(n + m, np.int64)
    for e in forest:
        left, right = np.int64(rows[e]), n + np.int64(cols[e])
        degree[left] += 1
        degree[right] += 1
        mixed[left] ^= e
        mixed[right] ^= e
    edge, child = np.empty(len(forest), np.int64), np.empty(len(forest), np.int64)
    parent = np.empty(len(forest), np.int64)
    count = 0
    for first in range(n + m):
        node = np.int64(first)
        while degree[node] == 1:
            e = mixed[node]
            other = np.int64(rows[e]) + n + np.int64(cols[e]) - node
            edge[count], child[count], parent[count] = e, node, other
            count += 1
            degree[node] = 0
            degree[other] -= 1
            mixed[other] ^= e
            node = other
    return edge, child, parent


@njit(cache=True)
def pass_inwards(edge, child, parent, flow, need):
    """Change `flow` in place so that the sums at the nodes rise by `need`, as far as flows stay at least zero."""
    for k in range(len(edge)):
        change = max(need[child[k]], -flow[edge[k]])
        flow[edge[k]] += change
        need[child[k]] -= change
        need[parent[k]] -= change


@njit(cache=True)
def tighten(edge, child, parent, cost, potential):
    """Change the potentials in place so that those at the ends of each pair of the forest sum to its cost."""
    for k in range(len(edge) - 1, -1, -1):
        potential[child[k]] = cost[edge[k]] - potential[parent[k]]
