import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from workbench.errors import ParameterError
from workbench.methods.superposition.sequences import sparse_sequences
from workbench.methods.superposition.toy_model import ToyModel
from workbench.methods.superposition.toy_phases import (
    PHASES,
    antipodal_boundary,
    antipodal_loss,
    classify,
    ignore_loss,
    phase_diagram,
    predict_phases,
)
from workbench.methods.superposition.toy_training import evaluate_toy


@pytest.mark.parametrize(("p", "importance"), [(4 / 7, 1.0), (0.2, 0.5), (1.0, 3.0)])
def test_closed_forms_equal_monte_carlo(p, importance):
    first, second = sparse_sequences(200000, 1, 2, p=p, seed=1)[:, 0].T
    apart = np.maximum(first - second, 0), np.maximum(second - first, 0)
    pair = np.mean((first - apart[0]) ** 2 + importance * (second - apart[1]) ** 2)
    alone = np.mean(importance * (second - p / 2) ** 2)
    assert pair == pytest.approx(antipodal_loss(p, importance), rel=0.02)
    assert alone == pytest.approx(ignore_loss(p, importance), rel=0.02)


def test_the_crossing_of_equal_importance_in_a_large_sample():
    model = ToyModel(2, 1, n_models=2, W=[[[1.0, -1.0]], [[1.0, 0.0]]], b=[[0.0, 0.0], [0.0, 2 / 7]])
    loss = evaluate_toy(model, 4 / 7, n=2**22) * (4 / 7) * 2 / 3
    assert loss == pytest.approx([0.10884, 0.10884], abs=3e-4)


def test_ignoring_costs_the_variance():
    p = 0.3
    expected = quad(lambda u: p * (u - p / 2) ** 2, 0, 1)[0] + (1 - p) * (p / 2) ** 2
    assert ignore_loss(p, 0.7) == pytest.approx(0.7 * expected)


@given(st.floats(1e-3, 1e3))
def test_boundary_is_where_the_losses_meet(importance):
    p = antipodal_boundary(importance)
    alone = ignore_loss(p, min(importance, 1.0))
    better = "first alone" if importance <= 1 else "second alone"
    assert antipodal_loss(p, importance) == pytest.approx(alone, rel=1e-9)
    assert PHASES[int(predict_phases(0.99 * p, importance)[0])] == "antipodal"
    assert PHASES[int(predict_phases(1.01 * p, importance)[0])] == better
    assert antipodal_boundary(1 / importance) == pytest.approx(p)


def test_training_finds_the_predicted_phases():
    found = phase_diagram(np.geomspace(0.05, 1, 6), np.geomspace(0.1, 10, 6), batch=128)
    boundary = antipodal_boundary(found.importance)
    clear = np.abs(np.log(found.p[:, None] / boundary)) > 0.3
    assert clear.mean() > 0.7
    assert (found.trained == found.predicted)[clear].all()
    assert set(found.trained.ravel()) == {0, 1, 2}
    assert (found.trained_loss <= found.predicted_loss * 1.03).all()  # bias and lengths are free in training
    assert classify(found.W).tolist() == found.trained.tolist()


def test_classify_a_single_model():
    assert classify(np.array([0.2, -0.3])) == 1
    assert classify(np.array([0.01, -0.01])) == -1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: antipodal_loss(0.0), r"p = 0 is not allowed: an input is active with probability"),
        (lambda: ignore_loss(1.2), r"p = 1\.2"),
        (lambda: antipodal_boundary(-1.0), r"importance = -1\.0 is not allowed"),
        (lambda: predict_phases(0.5, np.nan), "importance = nan"),
        (lambda: phase_diagram([0.5], np.ones((1, 1))), r"importance \(1, 1\): give a list of each"),
        (lambda: phase_diagram([0.5], [1.0], seeds=0), "seeds = 0"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
