import numpy as np
import pytest

from tests.oracles import transport as oracle
from workbench.methods.transport.geometry import measure
from workbench.methods.transport.hierarchy import coarsen
from workbench.methods.transport.support import Edges, Proposal, largest, prolong, unite


def proposal(rng, source, target, count, origin):
    rows, cols = (rng.integers(0, len(m.pixels), count).astype(np.int32) for m in (source, target))
    return Proposal(rows, cols, origin, rng.random(count))


@pytest.mark.parametrize("counts", [(40, 30), (1, 0), (0, 25), (0, 0)])
def test_a_union_keeps_the_first_origin_and_flow_of_a_pair(counts):
    rng = np.random.default_rng(0)
    a, b = rng.random((3, 4)) * (rng.random((3, 4)) < 0.7) + np.eye(3, 4), rng.random((2, 5))
    source, target = measure(a, (1.0, 2.0)), measure(b, (1.0, 2.0))
    proposals = [proposal(rng, source, target, count, k) for k, count in enumerate(counts)]
    edges = unite(source, target, proposals)
    expected = oracle.union(proposals)
    assert list(zip(edges.rows, edges.cols, strict=True)) == sorted(expected)
    found = zip(edges.rows, edges.cols, edges.origin, edges.flow, strict=True)
    assert {(i, j): (origin, flow) for i, j, origin, flow in found} == expected
    cost = oracle.costs(a.shape, b.shape, (1.0, 2.0))[np.ix_(source.pixels, target.pixels)]
    np.testing.assert_array_equal(edges.cost, cost[edges.rows, edges.cols])


@pytest.mark.parametrize("shape", [(4, 6), (5, 3), (1, 7), (7,), (3, 4, 5)])
def test_prolonged_flow_has_the_fine_marginals_and_joins_children_of_joined_parents(shape):
    rng = np.random.default_rng(1)
    images = [rng.random(shape) * (rng.random(shape) < 0.7) for _ in range(2)]
    for image in images:
        image.flat[0] = 1
    fine = tuple(measure(image) for image in images)
    coarse = tuple(coarsen(m, tuple(n > 1 for n in shape)) for m in fine)
    flow = np.outer(coarse[0].weights, coarse[1].weights)
    rows, cols = (part.astype(np.int32) for part in np.nonzero(flow))
    found = prolong(rows, cols, flow[rows, cols], coarse, fine)
    dense = np.zeros((len(fine[0].pixels), len(fine[1].pixels)))
    np.add.at(dense, (found.rows, found.cols), found.flow)
    np.testing.assert_allclose(dense, np.outer(fine[0].weights, fine[1].weights), rtol=1e-12)
    one = prolong(rows[:1], cols[:1], np.ones(1), coarse, fine)
    parents = [oracle.parent_places(f, c) for f, c in zip(fine, coarse, strict=True)]
    assert set(parents[0][one.rows]) == {rows[0]} and set(parents[1][one.cols]) == {cols[0]}
    assert len(one.rows) == (parents[0] == rows[0]).sum() * (parents[1] == cols[0]).sum()


def test_largest_is_the_target_of_the_largest_flow_or_the_default():
    rng = np.random.default_rng(2)
    flow = np.array([0.1, 0.5, 0.2, 0.0, 0.7])
    indptr, cols = np.array([0, 3, 3, 4, 5]), np.array([0, 2, 5, 1, 4], np.int32)
    edges = Edges(indptr, cols, rng.random(5), np.zeros(5, np.uint8), flow)
    assert largest(edges, np.array([9, 8, 7, 6])).tolist() == [2, 8, 7, 4]
