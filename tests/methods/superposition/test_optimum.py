import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.oracles import superposition as oracle
from workbench.errors import ParameterError
from workbench.methods.superposition import _jit_optimum
from workbench.methods.superposition.exact_loss import expected_loss, null_loss
from workbench.methods.superposition.model import DelayRecall
from workbench.methods.superposition.optimum import optimal_linear

UNIFORM = {"mu": 0.5, "nu": 1 / 3}
ACTIVITIES = (0.0, 0.1, 1.0)


@pytest.mark.parametrize("k", range(1, 9))
def test_one_hidden_unit_in_closed_form(k):
    best = optimal_linear(k, 1)
    assert best.loss == pytest.approx(1 - (k / (k + 1)) ** k / (k + 1), abs=1e-12)
    assert best.rho**2 == pytest.approx(k / (k + 1), abs=1e-7)
    assert math.isnan(best.theta)
    assert best.poles[0] > 0


@pytest.mark.parametrize(
    ("k", "loss", "rho", "degrees"),
    [(2, 0.5625, 0.7071, 90.0), (3, 0.69922, 0.7925, 94.7), (4, 0.76927, 0.8378, 97.6), (5, 0.81247, 0.8665, 99.5)],
)
def test_two_hidden_units_and_rare_inputs(k, loss, rho, degrees):
    best = optimal_linear(k, 2)
    assert best.loss == pytest.approx(loss, abs=6e-6)
    assert best.rho == pytest.approx(rho, abs=6e-5)
    assert k * math.degrees(best.theta) == pytest.approx(degrees, abs=0.06)


def test_two_steps_with_two_units_exactly():
    best = optimal_linear(2, 2)
    assert (best.loss, best.rho**2, best.theta) == pytest.approx((9 / 16, 1 / 2, math.pi / 4), abs=1e-7)


@pytest.mark.parametrize(
    ("k", "T", "p", "loss", "rho", "degrees"),
    [
        (5, None, 1.0, 0.20453, 0.8487, 86.6),
        (5, None, 0.3, 0.63331, 0.8519, 88.9),
        (5, None, 0.01, 0.80692, 0.8650, 98.3),
        (5, 20, 1.0, 0.2302, 0.8506, 86.9),
        (5, 20, 0.3, 0.6371, 0.8859, 90.5),
        (5, 20, 0.01, 0.8004, 0.9109, 101.7),
        (4, 16, 1.0, 0.2194, 0.8252, 85.7),
    ],
)
def test_two_hidden_units_and_uniform_inputs(k, T, p, loss, rho, degrees):
    best = optimal_linear(k, 2, p=p, T=T, **UNIFORM)
    assert best.loss == pytest.approx(loss, abs=6e-6 if T is None else 6e-5)
    assert best.rho == pytest.approx(rho, abs=6e-5)
    assert k * math.degrees(best.theta) == pytest.approx(degrees, abs=0.06)


SIZES = [(k, n_hidden) for k in range(2, 9) for n_hidden in range(1, 5) if n_hidden <= k]


@pytest.mark.parametrize(("k", "n_hidden"), SIZES)
def test_no_spectrum_is_better(k, n_hidden):
    p = ACTIVITIES[(k + n_hidden) % 3]
    best = optimal_linear(k, n_hidden, p=p, **UNIFORM)
    assert best.loss == pytest.approx(oracle.least_loss_over_poles(k, n_hidden, 0.75 * p, starts=8), abs=1e-10)


@pytest.mark.parametrize(
    ("k", "n_hidden", "T"), [(2, 1, 4), (2, 2, 5), (3, 2, 6), (3, 2, 12), (3, 3, 9), (4, 2, 7), (5, 2, 8)]
)
def test_no_weights_are_better(k, n_hidden, T):
    p = ACTIVITIES[(k + T) % 3]
    best = optimal_linear(k, n_hidden, p=p, T=T, **UNIFORM)
    assert best.loss == pytest.approx(oracle.least_loss_over_weights(k, n_hidden, 0.75 * p, T, starts=6), abs=1e-10)


@given(
    weights=arrays(np.float64, (4, 2), elements=st.floats(-1.2, 1.2)),
    k=st.integers(2, 4),
    p=st.sampled_from([0.05, 0.5, 1.0]),
)
def test_no_random_kernel_is_better(weights, k, p):
    W_h, w_x, w_y = weights[:2], weights[2], weights[3]
    a = np.array([w_y @ np.linalg.matrix_power(W_h, s) @ w_x for s in range(12)])
    loss = expected_loss(a, k, p=p, T=12, **UNIFORM) / null_loss(k, p=p, nu=1 / 3, T=12)
    assert loss >= BEST[k, p] - 1e-12


BEST = {(k, p): optimal_linear(k, 2, p=p, T=12, **UNIFORM).loss for k in (2, 3, 4) for p in (0.05, 0.5, 1.0)}


@pytest.mark.parametrize(("T", "n_hidden"), [(None, 1), (None, 3), (14, 2), (14, 3)])
def test_kernel_has_the_loss_and_follows_the_recurrence(T, n_hidden):
    best = optimal_linear(4, n_hidden, p=0.2, T=T, **UNIFORM)
    loss = expected_loss(best.kernel, 4, p=0.2, T=T, **UNIFORM) / null_loss(4, p=0.2, nu=1 / 3, T=T)
    assert best.loss == pytest.approx(loss, rel=1e-12)
    predicted = -np.convolve(best.kernel, np.poly(best.poles).real[1:])[n_hidden - 1 : len(best.kernel) - 1]
    assert np.allclose(best.kernel[n_hidden:], predicted, atol=1e-10)


@pytest.mark.parametrize("n_hidden", [1, 2, 3, 4])
def test_answers_agree_with_the_target_at_the_mirrored_poles(n_hidden):
    # The first-order conditions of H2 model reduction: both generating functions, and their slopes, agree at 1 / pole.
    best, k = optimal_linear(5, n_hidden), 5
    s = np.arange(len(best.kernel))
    for pole in best.poles:
        assert best.kernel @ pole**s == pytest.approx(pole**k, abs=1e-7)
        assert best.kernel @ (s * pole ** np.maximum(s - 1, 0)) == pytest.approx(k * pole ** (k - 1), abs=1e-6)


@pytest.mark.parametrize(("k", "n_hidden", "T"), [(0, 1, None), (2, 3, None), (2, 5, 3), (7, 8, 30)])
def test_enough_hidden_units_shift(k, n_hidden, T):
    best = optimal_linear(k, n_hidden, p=0.3, T=T, **UNIFORM)
    assert (best.loss, best.rho) == (0, 0)
    assert math.isnan(best.theta)
    assert best.poles.shape == (n_hidden,)
    assert expected_loss(best.kernel, k, p=0.3, T=T, **UNIFORM) == 0


def test_shift_of_a_tied_model():
    shift = np.eye(4, k=-1)[None]
    model = DelayRecall("linear", n_hidden=4, k=3, W_h=shift, W_x=np.eye(4)[None, :, :1])
    assert expected_loss(model.kernel(15), 3, p=0.3, T=16, **UNIFORM).tolist() == [0]


def test_tied_readout_reaches_the_optimum():
    best = optimal_linear(4, 2, p=0.1, T=16, **UNIFORM)
    assert best.kernel[4] > 0
    W_h = best.rho * np.array([[np.cos(best.theta), -np.sin(best.theta)], [np.sin(best.theta), np.cos(best.theta)]])
    w_x = np.array([1.0, 0.0])
    w_k = np.linalg.matrix_power(W_h, 4) @ w_x
    w_y = np.linalg.solve([w_x, W_h @ w_x], best.kernel[:2])
    along, across = w_y / (w_y @ w_k), np.array([-w_k[1], w_k[0]])
    Q = np.outer(w_y, along) + np.outer(across, across)  # Q w_k = w_y, symmetric and positive definite
    S = np.linalg.cholesky(Q).T
    model = DelayRecall("linear", k=4, W_x=(S @ w_x)[None, :, None], W_h=(S @ W_h @ np.linalg.inv(S))[None])
    loss = expected_loss(model.kernel(15), 4, p=0.1, T=16, **UNIFORM) / null_loss(4, p=0.1, nu=1 / 3, T=16)
    assert loss[0] == pytest.approx(best.loss, rel=1e-10)


def test_long_sequences_approach_the_late_step():
    late = optimal_linear(3, 2, p=1.0, **UNIFORM)
    losses = [optimal_linear(3, 2, p=1.0, T=T, **UNIFORM).loss for T in (50, 200, 800)]
    gaps = np.array(losses) - late.loss
    assert gaps[1] == pytest.approx(gaps[0] * 47 / 197, rel=0.05)
    assert gaps[2] == pytest.approx(gaps[1] * 197 / 797, rel=0.05)


def lag_weights(k, T, beta):
    """Of squared errors and of their squared running sums, as the loss of steps 1..T has them."""
    return (1 - beta) * (T - np.arange(T)) / (T - k), np.full(T, beta / (T - k))


@pytest.mark.parametrize("beta", [0.0, 0.6, 1.0])
def test_errors_are_what_least_squares_leave(beta):
    k, T, polynomial = 3, 11, np.poly([0.9, 0.5 + 0.6j, 0.5 - 0.6j]).real
    own, running = lag_weights(k, T, beta)
    response = [oracle_response(polynomial, s) for s in range(T)]
    basis = np.array([[0.0] * j + response[: T - j] for j in range(3)]).T
    rows = np.vstack([np.diag(np.sqrt(own)), np.sqrt(running)[:, None] * np.tri(T)])
    expected = basis @ np.linalg.lstsq(rows @ basis, rows[:, k])[0] - np.eye(T)[k]
    errors = _jit_optimum.least_errors(polynomial, k, own, running)
    assert np.allclose(errors, [expected, expected.cumsum()], atol=1e-11)


def oracle_response(polynomial, s):
    """Coefficient s of 1/P by its recursion."""
    if s < 1:
        return 1.0 if s == 0 else 0.0
    return -sum(polynomial[i] * oracle_response(polynomial, s - i) for i in range(1, len(polynomial)))


def test_kernels_that_rounding_makes_alike_count_once():
    errors = _jit_optimum.least_errors(np.array([1.0, -1e16, 0.0]), 2, *lag_weights(2, 5, 0.3))
    assert np.isfinite(errors).all()
    assert errors[0, 2] == pytest.approx(-1)


@pytest.mark.parametrize("n_hidden", [1, 2, 3, 5])
@pytest.mark.parametrize("limit", [1.0, 2.5])
def test_gradient_equals_central_differences(n_hidden, limit):
    k, h = 4, 1e-5
    task = (limit, k, *lag_weights(k, 12, 0.3))
    x, gradient, unused = 0.6 * np.cos(1.0 + np.arange(n_hidden)), np.empty(n_hidden), np.empty(n_hidden)
    _jit_optimum.loss_and_gradient(x, *task, gradient)
    for j, step in enumerate(h * np.eye(n_hidden)):
        ends = [_jit_optimum.loss_and_gradient(x + sign * step, *task, unused) for sign in (1, -1)]
        assert gradient[j] == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=1e-7)


@pytest.mark.parametrize("start", [-0.9, -0.25, 0.2, 0.25, 0.9])
def test_search_leaves_the_plateau_of_models_that_recall_nothing(start):
    x, gradient, task = np.array([start]), np.empty(1), (1.0, 6, *lag_weights(6, 40, 0.0))
    assert _jit_optimum.search(x, *task) == pytest.approx(optimal_linear(6, 1, T=40).loss, abs=1e-12)
    _jit_optimum.loss_and_gradient(x, *task, gradient)
    assert abs(gradient[0]) < 1e-9


def test_same_numbers_every_time():
    first, second = (optimal_linear(6, 3, p=0.4, T=24, **UNIFORM) for _ in range(2))
    assert first.loss == second.loss
    assert (first.poles == second.poles).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"k": -1}, "k = -1"),
        ({"n_hidden": 0}, "n_hidden = 0 .*at least 1"),
        ({"p": 1.5}, "p = 1.5 .*0 <= p <= 1"),
        ({"p": math.nan}, "p = nan"),
        ({"T": 3}, "T = 3 .*at least k"),
        ({"T": 5}, r"T = 5 is too short .*at least k \+ 1 \+ n_hidden = 6"),
        ({"mu": 2.0}, "nu is the raw second moment"),
        ({"nu": 0.0}, "nu above 0"),
    ],
)
def test_bad_input(change, words):
    with pytest.raises(ParameterError, match=words):
        optimal_linear(**({"k": 3, "n_hidden": 2, "p": 0.5, "mu": 0.5, "nu": 1.0} | change))
