import numpy as np
import pytest

from tests.oracles import transport as oracle
from workbench.methods.transport import rounding
from workbench.methods.transport.geometry import measure


@pytest.fixture(params=[((5, 4), (3, 6)), ((1, 1), (4, 4)), ((6, 1), (1, 1))])
def pair(request):
    rng = np.random.default_rng(0)
    return tuple(measure(rng.random(shape) + 0.01) for shape in request.param)


def dense(plan, count, source, target):
    table = np.zeros((len(source.pixels), len(target.pixels)))
    np.add.at(table, (plan.rows[:count], plan.cols[:count]), plan.flow[:count])
    return table


def check(plan, source, target):
    table = dense(plan, None, source, target)
    assert (plan.flow > 0).all()
    np.testing.assert_allclose(table.sum(axis=1), source.weights, atol=1e-15)
    np.testing.assert_allclose(table.sum(axis=0), target.weights, atol=1e-15)
    cost = oracle.costs(source.grid.shape, target.grid.shape, source.grid.spacing)
    assert plan.value == pytest.approx(np.sum(cost * table), rel=1e-13)
    assert plan.leftover == pytest.approx(1 - plan.flow[: plan.kept].sum(), abs=1e-15)


@pytest.mark.parametrize("size", [0.0, 0.7, 3.0])
def test_a_flow_is_scaled_down_to_its_marginals_and_completed(pair, size):
    source, target = pair
    rng = np.random.default_rng(1)
    flow = size * np.outer(source.weights, target.weights) * rng.random((len(source.pixels), len(target.pixels))) ** 2
    rows, cols = (part.astype(np.int32) for part in np.nonzero(np.ones(flow.shape)))
    order = rounding.orders(target, rng.integers(0, len(target.pixels), len(source.pixels)))
    cost = rounding.pair_costs(source, target, rows, cols)
    plan = rounding.round_pairs((rows, cols, flow.ravel()), cost, source, target, order)
    check(plan, source, target)
    expected = oracle.scaled_down(flow, source.weights, target.weights)
    np.testing.assert_allclose(dense(plan, plan.kept, source, target), expected, atol=1e-15)


def test_greedily_each_source_fills_its_best_target_first(pair):
    source, target = pair
    best = np.random.default_rng(2).integers(0, len(target.pixels), len(source.pixels))
    plan = rounding.greedy(source, target, best, rounding.orders(target, best))
    check(plan, source, target)
    room = target.weights.copy()
    expected = np.zeros((len(source.pixels), len(target.pixels)))
    for i, j in enumerate(best):
        expected[i, j] = min(source.weights[i], room[j])
        room[j] -= expected[i, j]
    np.testing.assert_array_equal(dense(plan, plan.kept, source, target), expected)


def test_left_over_mass_stays_near_its_goal():
    source = target = measure(np.ones((16, 16)))
    best = np.arange(256)
    nothing = (np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0))
    plan = rounding.round_pairs(nothing, np.zeros(0), source, target, rounding.orders(target, best))
    assert plan.leftover == pytest.approx(1)
    assert plan.value == pytest.approx(0, abs=1e-12)
