import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import differential_evolution

from workbench.errors import DataError, ParameterError
from workbench.methods.superposition.relu_loss import relu_loss_exact
from workbench.methods.superposition.sparse_limit import isotropic_kernel, optimal_spiral, sparse_relu_loss


@given(arrays(np.float64, (6, 3, 3), elements=st.floats(-2, 2)), st.integers(0, 5))
def test_one_input_at_a_time(A, k):
    weights = np.array([1.0, 0.5, 0.25])
    expected = sum(
        weights[i] * (max(A[s, i, j], 0) - (s == k and i == j)) ** 2
        for s in range(6)
        for i in range(3)
        for j in range(3)
    )
    assert sparse_relu_loss(A, k, importance=weights) == pytest.approx(expected, abs=1e-12)


def test_is_the_limit_of_the_exact_loss():
    a = np.array([-2.0, 0.3, -0.4, 0.9, 0.4, -0.1])
    limit = sparse_relu_loss(a, 3)
    gaps = [relu_loss_exact(a, 3, p=p) / (p / 3) - limit for p in (2e-3, 1e-3)]
    assert abs(gaps[1]) < 5e-3
    assert gaps[0] == pytest.approx(2 * gaps[1], rel=0.01)


# k: loss, r, k theta in degrees, from an independent grid of steps .005 in r and about 1 degree in k theta.
GRID = {4: (0.2848, 0.715, 270.8), 5: (0.4563, 0.775, 271.0), 6: (0.5371, 0.80, 270.8)}


@pytest.mark.parametrize("k", GRID)
def test_best_spirals_sweep_270_degrees(k):
    best, (loss, r, degrees) = optimal_spiral(k), GRID[k]
    assert loss - 2e-4 < best.loss < loss + 5e-5
    assert best.r == pytest.approx(r, abs=5e-3)
    assert k * np.degrees(best.theta) == pytest.approx(degrees, abs=0.5)


@pytest.mark.parametrize("k", [4, 7, 9])
def test_no_spiral_is_better(k):
    found = differential_evolution(
        lambda x: sparse_relu_loss(isotropic_kernel(k, x[0], x[1], k + 120), k),
        [(0.2, 0.9), (0.0, np.pi)],
        seed=0,
        tol=1e-10,
        maxiter=200,
    )
    assert optimal_spiral(k).loss == pytest.approx(found.fun, abs=1e-8)


@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_short_delays_cost_nothing_in_the_limit(k):
    best = optimal_spiral(k)
    assert (best.loss, best.r) == (0, 0)
    losses = [sparse_relu_loss(isotropic_kernel(k, r, best.theta, k + 40), k) for r in (0.5, 0.1, 0.01)]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 1e-7


@given(k=st.integers(1, 8), r=st.floats(0.3, 0.9), theta=st.floats(0, np.pi), factor=st.floats(0.5, 2))
def test_size_of_the_kernel_is_best(k, r, theta, factor):
    a = isotropic_kernel(k, r, theta, 300)
    loss = sparse_relu_loss(a, k)
    assert loss == pytest.approx(1 - a[k], abs=1e-9)
    assert loss <= sparse_relu_loss(factor * a, k) + 1e-12


def test_bad_input():
    with pytest.raises(ParameterError, match="r = 0"):
        isotropic_kernel(2, 0.0, 1.0, 9)
    with pytest.raises(ParameterError, match=r"theta = inf"):
        isotropic_kernel(2, 0.5, np.inf, 9)
    with pytest.raises(ParameterError, match=r"S = 1 .*at least 2"):
        isotropic_kernel(2, 0.5, 1.0, 1)
    with pytest.raises(ParameterError, match="k = -1"):
        optimal_spiral(-1)
    with pytest.raises(DataError, match="diverged"):
        sparse_relu_loss([np.nan], 0)
    with pytest.raises(DataError, match="importance"):
        sparse_relu_loss([1.0], 0, importance=[-1.0])
