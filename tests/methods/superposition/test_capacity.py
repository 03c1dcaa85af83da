import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import DataError, ParameterError
from workbench.methods.superposition.capacity import linear_capacity
from workbench.methods.superposition.exact_loss import expected_loss
from workbench.methods.superposition.optimum import optimal_linear


def random_weights(n_hidden, n_features, rho, seed):
    rng = np.random.default_rng(seed)
    W_h, W_x = rng.normal(size=(n_hidden, n_hidden)), rng.normal(size=(n_hidden, n_features))
    return W_h * (rho / abs(np.linalg.eigvals(W_h)).max()), W_x


def test_random_three_by_three_recalls_three():
    assert linear_capacity(*random_weights(3, 1, 0.9, 0), 400).sum() == pytest.approx(3, abs=1e-9)


@given(n_hidden=st.integers(1, 6), n_features=st.integers(1, 3), rho=st.floats(0.5, 0.9), seed=st.integers(0, 99))
def test_all_delays_together_recall_the_hidden_dimension(n_hidden, n_features, rho, seed):
    recalled = linear_capacity(*random_weights(n_hidden, n_features, rho, seed), 400)
    assert recalled.sum() == pytest.approx(n_hidden, abs=1e-5)
    assert (recalled >= -1e-9).all()
    assert (recalled <= n_features + 1e-6).all()


def test_equals_a_regression_on_simulated_states():
    W_h, W_x = random_weights(3, 1, 0.8, 4)
    x = np.random.default_rng(1).standard_normal(100_000)
    h = np.zeros((len(x), 3))
    for t in range(len(x)):
        h[t] = W_x[:, 0] * x[t] + (W_h @ h[t - 1] if t else 0)
    for k, share in enumerate(linear_capacity(W_h, W_x, 6)):
        states, target = h[50:], x[50 - k : len(x) - k]
        residual = target - states @ np.linalg.lstsq(states, target)[0]
        assert 1 - residual.var() == pytest.approx(share, abs=0.015)


def test_is_the_least_loss_over_readouts():
    W_h, W_x = random_weights(2, 1, 0.8, 5)
    directions = np.array([np.linalg.matrix_power(W_h, s) @ W_x[:, 0] for s in range(300)])
    best = np.linalg.solve(directions.T @ directions, directions[3])
    loss = expected_loss(directions @ best, 3, p=1, mu=0.0, nu=1.0)
    assert 1 - linear_capacity(W_h, W_x, 4)[3] == pytest.approx(loss, rel=1e-9)


def test_no_recurrence_beats_the_optimum():
    best = optimal_linear(3, 2)
    turn = best.rho * np.array([[np.cos(best.theta), -np.sin(best.theta)], [np.sin(best.theta), np.cos(best.theta)]])
    assert 1 - linear_capacity(turn, [1.0, 0.0], 4)[3] == pytest.approx(best.loss, abs=1e-10)
    for seed in range(20):
        assert 1 - linear_capacity(*random_weights(2, 1, 0.85, seed), 4)[3] >= best.loss


@given(seed=st.integers(0, 50))
def test_similar_models_recall_alike(seed):
    W_h, W_x = random_weights(2, 1, 0.8, seed)
    S = np.array([[2.0, 0.5], [-0.3, 1.0]])
    other = linear_capacity(S @ W_h @ np.linalg.inv(S), S @ W_x, 8)
    assert np.allclose(linear_capacity(W_h, W_x, 8), other, atol=1e-6)


def test_directions_no_input_reaches_are_left_out():
    W_h, W_x = random_weights(2, 1, 0.8, 3)
    larger = np.zeros((4, 4))
    larger[:2, :2], larger[3, 3] = W_h, 0.5
    recalled = linear_capacity(larger, np.append(W_x[:, 0], [0.0, 0.0]), 200)
    assert np.allclose(recalled, linear_capacity(W_h, W_x, 200))
    assert recalled.sum() == pytest.approx(2)
    assert linear_capacity(np.zeros((2, 2)), np.zeros(2), 3).tolist() == [0, 0, 0]


def test_bad_input():
    with pytest.raises(DataError, match="spectral radius 1"):
        linear_capacity(np.eye(2), [1.0, 0.0], 3)
    with pytest.raises(DataError, match=r"W_h of shape \(2, 2\), W_x of shape \(3, 1\)"):
        linear_capacity(np.zeros((2, 2)), np.zeros(3), 3)
    with pytest.raises(DataError, match=r"W_h of shape \(2,\)"):
        linear_capacity(np.zeros(2), np.zeros(2), 3)
    with pytest.raises(DataError, match="not finite"):
        linear_capacity([[np.nan]], [1.0], 3)
    with pytest.raises(ParameterError, match="K = 0"):
        linear_capacity([[0.5]], [1.0], 0)
