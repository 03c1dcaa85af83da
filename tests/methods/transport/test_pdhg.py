import numpy as np
import pytest

from tests.oracles import transport as oracle
from workbench.errors import DataError
from workbench.methods.transport import _jit_pdhg, pdhg
from workbench.methods.transport.closed_form import transport_1d
from workbench.methods.transport.geometry import measure
from workbench.methods.transport.images import dotmark_image
from workbench.methods.transport.solver import ot2_grid
from workbench.methods.transport.support import Proposal, unite


def random_pairs(seed, n=30, m=24, share=0.3):
    rng = np.random.default_rng(seed)
    chosen = rng.random((n, m)) < share
    chosen[np.arange(n), np.arange(n) % m] = True
    rows, cols = np.nonzero(chosen)
    return chosen, rows.astype(np.int32), cols.astype(np.int32)


@pytest.mark.parametrize("seed", range(5))
def test_scaled_incidence_has_norm_one(seed):
    _, rows, cols = random_pairs(seed)
    matrix = oracle.scaled_incidence(rows, cols)
    vector = np.random.default_rng(seed).random(matrix.shape[1])
    for _ in range(2000):
        vector = matrix.T @ (matrix @ vector)
        vector /= np.linalg.norm(vector)
    assert np.linalg.norm(matrix @ vector) == pytest.approx(1.0, abs=1e-12)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    a, b = rng.random((5, 6)), rng.random((4, 6))
    chosen, rows, cols = random_pairs(1)
    return a, b, chosen, rows, cols


def test_restricted_optimum_equals_the_linear_program(problem):
    a, b, chosen, rows, cols = problem
    point = pdhg.pdhg_transport(rows, cols, measure(a), measure(b), tol=1e-5)
    assert point.value == pytest.approx(oracle.least_cost(a, b, (1.0, 1.0), chosen), rel=1e-4)
    assert point.misplaced <= 1e-5


def test_one_look_is_one_plain_step(problem):
    a, b, _, rows, cols = problem
    source, target = measure(a), measure(b)
    edges = unite(source, target, [Proposal(rows, cols, 0, 1 / len(rows))])
    u, v = source.weights, target.weights
    state = pdhg.Halpern(edges, u, v, np.zeros(30), np.zeros(24), 0.01)
    point = state.look()
    start = edges.flow, np.zeros(30), np.zeros(24)
    x, f, g = oracle.plain_pdhg_step(*start, edges.rows, edges.cols, edges.cost, u, v, 0.01, pdhg.ETA)
    np.testing.assert_allclose(point.x, x, atol=1e-8)
    np.testing.assert_allclose(point.f, f, rtol=1e-6)
    np.testing.assert_allclose(point.g, g, rtol=1e-6)


def test_a_sweep_is_a_reflected_halpern_step(problem):
    a, b, _, rows, cols = problem
    source, target = measure(a), measure(b)
    edges = unite(source, target, [Proposal(rows, cols, 0, 1 / len(rows))])
    args = edges.rows, edges.cols, edges.cost, source.weights, target.weights, 0.01, pdhg.ETA
    state = pdhg.Halpern(edges, source.weights, target.weights, np.zeros(30), np.zeros(24), 0.01)
    state.advance(3)
    anchor = edges.flow, np.zeros(30), np.zeros(24)
    z = anchor
    for k in range(3):
        image = oracle.plain_pdhg_step(*z, *args)
        z = [(k + 1) / (k + 2) * (2 * t - p) + q / (k + 2) for t, p, q in zip(image, z, anchor, strict=True)]
    np.testing.assert_allclose(state.x, z[0], atol=1e-5)
    np.testing.assert_allclose(state.f, z[1], rtol=1e-5)
    np.testing.assert_allclose(state.g, z[2], rtol=1e-5)


def test_infeasible_pairs_end_with_mass_misplaced():
    a, b = np.array([1.0, 1.0]), np.array([1.0, 3.0])
    point = pdhg.pdhg_transport([0, 1], [0, 1], measure(a), measure(b), max_iterations=500)
    assert point.iteration == 500
    assert point.misplaced > 0.1


def test_bad_input():
    a = measure(np.ones(3))
    with pytest.raises(DataError, match="equally many"):
        pdhg.pdhg_transport([0, 1], [0], a, a)
    with pytest.raises(DataError, match="beyond the 3 and 3"):
        pdhg.pdhg_transport([0], [3], a, a)


@pytest.mark.parametrize("seed", range(5))
def test_choice_of_pairs_covers_rows_and_columns(seed):
    rng = np.random.default_rng(seed)
    _, rows, cols = random_pairs(seed)
    indptr = np.searchsorted(rows, np.arange(31))
    reduced = rng.normal(size=len(rows)).astype(np.float32)
    keep = np.zeros(len(rows), bool)
    _jit_pdhg.choose(indptr, cols, reduced, np.float32(-0.5), 24, keep)
    np.testing.assert_array_equal(keep, oracle.chosen(indptr, cols, reduced, np.float32(-0.5)))


def test_chosen_pairs_that_cannot_carry_the_masses_are_widened():
    a, b = (dotmark_image("CauchyDensity", 16, seed=seed) for seed in (0, 1))
    result = ot2_grid(a, b, spacing=1 / 16, coarsest=16)
    assert result.rel_gap <= 1e-4


def test_all_pairs_count_for_the_stopping_rule():
    """With few chosen pairs of many, cost and potentials must still be those of the whole problem."""
    rng = np.random.default_rng(3)
    a, b = rng.random(40) ** 4, rng.random(40) ** 4
    rows, cols = (places.ravel() for places in np.indices((40, 40)))
    point = pdhg.pdhg_transport(rows, cols, measure(a), measure(b), tol=1e-5)
    assert point.value == pytest.approx(transport_1d(np.arange(40), np.arange(40), a, b), rel=1e-4)
