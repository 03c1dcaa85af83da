import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.oracles import superposition as oracle
from workbench.errors import DataError, ParameterError
from workbench.methods.superposition.exact_loss import expected_loss, loss_terms, null_loss

VALUES, CHANCES = (0.4, 1.5), (0.7, 0.3)
MU, NU = (float(np.dot(CHANCES, np.power(VALUES, n))) for n in (1, 2))
entries = st.floats(-3, 3, width=32)


@pytest.mark.parametrize(("features", "T", "k", "p"), [(1, 5, 0, 0.3), (1, 5, 2, 1.0), (1, 6, 5, 0.1), (2, 3, 1, 0.4)])
def test_equals_the_mean_over_all_sequences(features, T, k, p):
    A = np.random.default_rng(T + k).normal(size=(T, features, features))
    importance = 0.7 ** np.arange(features)
    exact = oracle.enumerated_loss(A, k, p, VALUES, CHANCES, T, importance)
    assert expected_loss(A, k, p=p, mu=MU, nu=NU, T=T, importance=importance) == pytest.approx(exact, rel=1e-12)


def test_one_late_step_is_what_a_longer_sequence_adds():
    a = np.append([0.3, -0.8, 1.1, 0.2], np.zeros(8))
    law = {"p": 0.3, "mu": 0.5, "nu": 1 / 3}
    added = expected_loss(a, 2, T=12, **law) - expected_loss(a, 2, T=11, **law)
    assert expected_loss(a[:4], 2, **law) == pytest.approx(added, rel=1e-12)


def test_raw_moment():
    # Uniform inputs, each active: E x = 1/2 and E x^2 = 1/3, so that answering 0 costs 1/3 and not the variance 1/12.
    assert expected_loss([0.0], 0, p=1, mu=0.5, nu=1 / 3) == pytest.approx(1 / 3, rel=1e-15)


@given(A=arrays(np.float64, (2, 6, 2, 2), elements=entries), k=st.integers(0, 5), p=st.floats(0.01, 1))
@pytest.mark.parametrize("T", [None, 6])
def test_four_terms_add_up(A, k, p, T):
    given_as = {"p": [p, 1.0], "mu": 0.5, "nu": 1 / 3, "T": T, "importance": [1.0, 0.5]}
    terms, total = loss_terms(A, k, **given_as), expected_loss(A, k, **given_as)
    size = abs(terms.task) + abs(terms.mean_correction) + abs(terms.projection) + abs(terms.composition)
    assert terms.total.shape == total.shape == (2,)
    assert (abs(terms.total - total) <= 1e-12 * (1 + size)).all()
    assert (total >= 0).all()


@given(arrays(np.float64, 7, elements=entries), st.integers(0, 6))
def test_four_terms_as_the_paper_writes_them(a, k):
    p, mu, nu = 0.3, 0.5, 1 / 3
    others = [s for s in range(7) if s != k]
    terms = loss_terms(a, k, p=p, mu=mu, nu=nu)
    assert terms.task == pytest.approx(p * nu * (a[k] - 1) ** 2)
    assert terms.mean_correction == pytest.approx(-2 * p**2 * mu**2 * sum(a[s] for s in others))
    assert terms.projection == pytest.approx(p * nu * sum(a[s] ** 2 for s in others))
    pairs = sum(a[s] * a[r] for s in range(7) for r in range(7) if s != r)
    assert terms.composition == pytest.approx(p**2 * mu**2 * pairs, abs=1e-12)


@given(weights=arrays(np.float64, (3, 2), elements=st.floats(-1, 1)), angle=st.floats(0, 6.3), p=st.floats(0.01, 1))
def test_rotating_the_hidden_space_changes_nothing(weights, angle, p):
    def loss(W_h, w_x):
        states = np.array([np.linalg.matrix_power(W_h, s) @ w_x for s in range(8)])
        return expected_loss(states @ states[3], 3, p=p, mu=0.5, nu=1 / 3, T=8)

    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    W_h, w_x = weights[:2], weights[2]
    assert loss(turn @ W_h @ turn.T, turn @ w_x) == pytest.approx(loss(W_h, w_x), rel=1e-9)


def test_models_and_activities_broadcast():
    A = np.random.default_rng(0).normal(size=(3, 9, 2, 2))
    p = np.array([[0.1], [1.0]])
    table = expected_loss(A, 1, p=p, mu=0.5, nu=1 / 3, T=9)
    assert table.shape == (2, 3)
    one = expected_loss(A[2], 1, p=0.1, mu=0.5, nu=1 / 3, T=9)
    assert isinstance(one, float)
    assert table[0, 2] == pytest.approx(one, rel=1e-14)
    assert expected_loss(np.ones(4), 1, p=[0.1, 0.2], mu=0.5, nu=1 / 3).shape == (2,)


def test_null_model():
    law = {"p": 0.2, "nu": 1 / 3, "T": 9, "importance": [1.0, 0.5]}
    assert null_loss(3, **law) == pytest.approx(expected_loss(np.zeros((9, 2, 2)), 3, mu=0.5, **law))
    assert null_loss(3, p=[0.3, 0.6], nu=1.0).tolist() == [0.3, 0.6]
    assert null_loss(0, p=0.5, nu=1.0, n_features=3) == 1.5


def test_perfect_shift_has_no_loss_even_where_numbers_are_large():
    a = np.zeros(30)
    a[4] = 1
    assert expected_loss(a, 4, p=0.3, mu=1e6, nu=1e13, T=30) == 0


def test_kernel_shorter_than_the_delay_is_zero_there():
    assert expected_loss([1.0], 3, p=1, mu=0.0, nu=1.0) == 2.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"p": 0.0}, "p = 0"),
        ({"p": [0.5, 1.5]}, "p = .*1.5.*0 < p <= 1"),
        ({"p": np.nan}, "p = nan"),
        ({"k": -1}, "k = -1 .*at least 0"),
        ({"T": 2}, "T = 2 .*at least k \\+ 1 = 3"),
        ({"nu": 0.2}, "nu is the raw second moment"),
        ({"nu": -1.0}, "nu above 0"),
        ({"mu": np.inf}, "must be finite"),
    ],
)
def test_parameters_out_of_range(change, words):
    with pytest.raises(ParameterError, match=words):
        expected_loss(**({"A": np.ones(9), "k": 2, "p": 0.5, "mu": 0.5, "nu": 1 / 3, "T": 9} | change))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"A": np.ones((2, 3))}, r"A of shape \(2, 3\)"),
        ({"A": np.ones((4, 2, 3))}, r"A of shape \(4, 2, 3\)"),
        ({"A": np.array([])}, r"A of shape \(0, 1, 1\)"),
        ({"A": np.array([1.0, np.nan])}, "diverged"),
        ({"T": 10}, "A has 9 lags: the sum over T = 10 steps needs 10"),
        ({"importance": [1.0, 1.0]}, r"importance of shape \(2,\).*each of the 1 features"),
        ({"importance": [0.0]}, "above 0"),
    ],
)
def test_arrays_that_do_not_fit(change, words):
    with pytest.raises(DataError, match=words):
        expected_loss(**({"A": np.ones(9), "k": 2, "p": 0.5, "mu": 0.5, "nu": 1 / 3} | change))
