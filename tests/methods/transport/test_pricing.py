import numpy as np

from tests.oracles import transport as oracle
from workbench.methods.transport import pricing
from workbench.methods.transport.geometry import measure
from workbench.methods.transport.support import VIOLATION, Proposal, unite

SPACING = (1.0, 0.5)


def problem():
    rng = np.random.default_rng(0)
    a, b = rng.random((6, 5)) * (rng.random((6, 5)) < 0.8), rng.random((4, 7)) * (rng.random((4, 7)) < 0.8)
    source, target = measure(a, SPACING), measure(b, SPACING)
    cost = oracle.costs(a.shape, b.shape, SPACING)[np.ix_(source.pixels, target.pixels)]
    f, g = rng.normal(size=len(source.pixels)), rng.normal(size=len(target.pixels))
    return source, target, cost, f, g, f[:, None] + g - cost


def test_the_worst_pair_of_every_pixel_is_proposed_and_only_broken_pairs():
    source, target, _, f, g, excess = problem()
    found = pricing.propose(source, target, f, g, excess.size)
    assert found.origin == VIOLATION
    pairs = set(zip(found.rows.tolist(), found.cols.tolist(), strict=True))
    assert all(excess[pair] > 0 for pair in pairs)
    worst = {(i, int(j)) for i, j in enumerate(excess.argmax(axis=1)) if excess[i, j] > 0}
    worst |= {(int(i), j) for j, i in enumerate(excess.argmax(axis=0)) if excess[i, j] > 0}
    assert worst and worst <= pairs


def test_of_many_the_largest_are_kept():
    source, target, _, f, g, excess = problem()
    for most in (0, 1, 2):
        found = pricing.propose(source, target, f, g, most)
        assert len(found.rows) == most
    pair = np.unravel_index(excess.argmax(), excess.shape)
    assert pair in set(zip(found.rows, found.cols, strict=True))


def test_admissible_potentials_ask_for_nothing():
    source, target, cost, _, g, _ = problem()
    assert len(pricing.propose(source, target, (cost - g).min(axis=1) - 1e-9, g, 100).rows) == 0


def test_the_restricted_transform_is_the_minimum_over_the_pairs():
    source, target, cost, _, g, _ = problem()
    rows, cols = np.array([0, 0, 2], np.int32), np.array([1, 3, 2], np.int32)
    found = pricing.restricted_transform(unite(source, target, [Proposal(rows, cols, 0)]), g, np.full(len(cost), 7.0))
    expected = np.full(len(cost), 7.0)
    expected[0], expected[2] = min(cost[0, 1] - g[1], cost[0, 3] - g[3]), cost[2, 2] - g[2]
    np.testing.assert_array_equal(found, expected)
