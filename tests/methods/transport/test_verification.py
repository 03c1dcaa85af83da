import itertools

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array

from workbench.errors import DataError
from workbench.methods.transport.verification import enumerated_c_transform, verify_plan


def costs(source, target, spacing):
    x = np.array(list(itertools.product(*(range(r) for r in source)))) * spacing
    y = np.array(list(itertools.product(*(range(r) for r in target)))) * spacing
    return ((x[:, None] - y[None]) ** 2).sum(-1)


@pytest.mark.parametrize(
    ("source", "target"), [((3, 4), (2, 5)), ((1, 6), (6, 1)), ((5,), (3,)), ((2, 2, 3), (3, 1, 2))]
)
def test_c_transform_is_the_minimum_over_all_pairs(source, target):
    rng = np.random.default_rng(0)
    spacing = rng.uniform(0.5, 2, len(source))
    g = rng.normal(size=target)
    g.flat[0] = -np.inf
    expected = (costs(source, target, spacing) - g.ravel()).min(axis=1).reshape(source)
    np.testing.assert_allclose(enumerated_c_transform(g, source, spacing), expected, rtol=1e-14, atol=1e-14)


def test_bounds_of_an_optimal_plan_and_potential_meet():
    rng = np.random.default_rng(1)
    a, b = rng.random((3, 3)), rng.random((2, 4))
    u, v = a.ravel() / a.sum(), b.ravel() / b.sum()
    cost = costs(a.shape, b.shape, np.ones(2))
    marginals = np.vstack([np.kron(np.eye(9), np.ones(8)), np.kron(np.ones(9), np.eye(8))])
    solution = linprog(cost.ravel(), A_eq=marginals, b_eq=np.concatenate([u, v]), method="highs")
    g = solution.eqlin.marginals[9:].reshape(b.shape)
    found = verify_plan(coo_array(solution.x.reshape(9, 8)), g, a, b)
    assert found.lower == pytest.approx(solution.fun, rel=1e-9)
    assert found.upper == pytest.approx(solution.fun, rel=1e-9)
    assert found.rel_gap < 1e-9


def test_a_wrong_plan_and_a_wrong_potential_open_the_gap():
    a, b = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
    half = coo_array((np.array([0.5]), (np.array([0]), np.array([2]))), shape=(3, 3))
    assert verify_plan(half, np.zeros(3), a, b).marginal_error == pytest.approx(1.0)
    assert verify_plan(half, np.zeros(3), a, b).upper >= 4.0
    whole = coo_array((np.array([1.0]), (np.array([0]), np.array([2]))), shape=(3, 3))
    assert verify_plan(whole, np.zeros(3), a, b).rel_gap == 0
    mixed = coo_array(np.outer([0.5, 0.5], [0.5, 0.5]))
    assert verify_plan(mixed, [0.0, 0.0], [0.5, 0.5], [0.5, 0.5]).rel_gap == pytest.approx(1.0)


@pytest.mark.parametrize(("plan", "g"), [((3, 2), (2,)), ((2, 2), (3,)), ((2, 2), (2, 1))])
def test_shapes_that_do_not_fit_are_refused(plan, g):
    with pytest.raises(DataError, match=r"a row per pixel of a"):
        verify_plan(coo_array(plan), np.zeros(g), np.ones(2), np.ones(2))
