import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array

from tests.oracles import transport as oracle
from workbench.errors import DataError
from workbench.methods.transport import certify, ot2_grid

SHAPES = st.lists(st.integers(1, 6), min_size=2, max_size=2).map(tuple)


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    images = []
    for _ in range(2):
        image = rng.random(draw(SHAPES)) ** draw(st.sampled_from([1, 6]))
        image[rng.random(image.shape) < draw(st.sampled_from([0.0, 0.5, 1.0]))] = 0
        image.flat[rng.integers(image.size)] += 1
        images.append(image)
    return (*images, draw(st.sampled_from([(1.0, 1.0), (0.25, 2.0)])))


@settings(max_examples=60)
@given(problems(), st.sampled_from([1, 50, 200, 1000]), st.sampled_from([4, 8]))
def test_bounds_hold_the_exact_value_whenever_stopped(problem, iterations, neighbors):
    a, b, spacing = problem
    exact = oracle.least_cost(a, b, spacing)
    result = ot2_grid(
        a, b, spacing=spacing, max_iterations=iterations, max_inner=2, coarsest=2, tol=1e-9, neighbors=neighbors
    )
    assert 0 <= result.lower <= exact + 1e-12
    assert exact - 1e-12 <= result.upper
    check_plan(result, a, b, spacing)


def check_plan(result, a, b, spacing):
    dense = result.plan.toarray()
    assert (dense >= 0).all()
    np.testing.assert_allclose(dense.sum(axis=1), (a / a.sum()).ravel(), rtol=0, atol=2e-15)
    np.testing.assert_allclose(dense.sum(axis=0), (b / b.sum()).ravel(), rtol=0, atol=2e-15)
    cost = oracle.costs(a.shape, b.shape, spacing)
    assert result.value == pytest.approx(np.sum(cost * dense), rel=1e-13, abs=1e-15)
    slack = cost - result.f.reshape(-1, 1) - result.g.reshape(1, -1)
    assert slack[np.ix_(a.ravel() > 0, b.ravel() > 0)].min() >= -1e-11


@settings(max_examples=30)
@given(problems(), st.integers(0, 2**32 - 1))
def test_any_potential_and_any_flow_give_bounds(problem, seed):
    a, b, spacing = problem
    rng = np.random.default_rng(seed)
    flow = rng.random((a.size, b.size)) * (rng.random((a.size, b.size)) < 0.5)
    found = certify(rng.normal(size=b.shape), coo_array(flow), a, b, spacing=spacing)
    exact = oracle.least_cost(a, b, spacing)
    assert found.lower <= exact + 1e-12
    assert exact - 1e-12 <= found.upper
    assert 0 <= found.leftover <= 1 + 1e-12


def test_own_plan_and_potential_give_the_same_certificate():
    rng = np.random.default_rng(3)
    a, b = rng.random((9, 7)), rng.random((6, 8))
    result = ot2_grid(a, b)
    again = certify(result.g, result.plan, a, b)
    assert again.upper == pytest.approx(result.upper, rel=1e-12)
    assert again.lower == pytest.approx(result.lower, rel=1e-12)
    assert again.leftover < 1e-14


@pytest.mark.parametrize("shape", [(1,), (12,), (1, 7), (13, 9), (3, 4, 2)])
def test_equal_images_cost_nothing(shape):
    a = np.random.default_rng(4).random(shape) + 0.1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = ot2_grid(a, a)
    assert (result.value, result.lower, result.rel_gap) == (0.0, 0.0, 0.0)
    assert (result.plan.row == result.plan.col).all()


def test_bad_input():
    with pytest.raises(DataError, match="one row per pixel of a"):
        certify(np.zeros(3), coo_array((2, 3)), np.ones(3), np.ones(3))
