import numpy as np
import pytest

from workbench.methods.transport.forest import Forest
from workbench.methods.transport.support import Edges


def random_tree(seed, n=7, m=9):
    """Return sources, targets of a spanning tree's pairs: each new pixel joins one of the other image in the tree."""
    rng = np.random.default_rng(seed)
    pairs, rows, cols = [(0, 0)], [0], [0]
    for kind in rng.permutation([0] * (n - 1) + [1] * (m - 1)):
        if kind == 0:
            pairs.append((len(rows), int(rng.choice(cols))))
            rows.append(len(rows))
        else:
            pairs.append((int(rng.choice(rows)), len(cols)))
            cols.append(len(cols))
    return np.array(sorted(pairs)).T


def edges_of(rows, cols, flow, n=7):
    indptr = np.searchsorted(rows, np.arange(n + 1))
    cost = np.random.default_rng(9).random(len(rows))
    return Edges(indptr, cols.astype(np.int32), cost, np.zeros(len(rows), np.uint8), flow)


@pytest.mark.parametrize("seed", range(5))
def test_a_flow_near_a_vertex_is_moved_to_it(seed):
    rows, cols = random_tree(seed)
    rng = np.random.default_rng(seed)
    vertex = rng.random(len(rows)) + 0.1
    u, v = np.bincount(rows, vertex, 7), np.bincount(cols, vertex, 9)
    near = vertex * (1 + 0.01 * rng.normal(size=len(rows)))
    forest = Forest(edges_of(rows, cols, near), near, 7, 9)
    np.testing.assert_allclose(forest.repair(u, v), vertex, rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_its_potential_is_tight_on_every_pair_of_the_tree(seed):
    rows, cols = random_tree(seed)
    rng = np.random.default_rng(seed)
    flow = rng.random(len(rows)) + 0.1
    edges = edges_of(rows, cols, flow)
    g = Forest(edges, flow, 7, 9).potential(rng.normal(size=7), rng.normal(size=9))
    f = np.array([(edges.cost - g[cols])[rows == i].min() for i in range(7)])
    np.testing.assert_allclose(f[rows] + g[cols], edges.cost, atol=1e-13)


def test_of_a_cycle_the_smallest_flow_is_left_out_and_flows_stay_positive():
    rows, cols, flow = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([0.4, 0.3, 0.2, 0.1])
    forest = Forest(edges_of(rows, cols, flow, 2), flow, 2, 2)
    repaired = forest.repair(np.array([0.5, 0.5]), np.array([0.7, 0.3]))
    np.testing.assert_allclose(repaired, [0.3, 0.2, 0.4, 0.1], rtol=1e-12)
    assert (forest.repair(np.array([0.0, 1.0]), np.array([1.0, 0.0])) >= 0).all()
