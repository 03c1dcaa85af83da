import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group

from tests.oracles import superposition as oracle
from workbench.errors import ParameterError
from workbench.methods.superposition import _jit_sequences, _jit_toy_model
from workbench.methods.superposition.model import DelayRecall
from workbench.methods.superposition.sequences import sparse_sequences, streams
from workbench.methods.superposition.toy_model import (
    ToyModel,
    dimensions_per_feature,
    feature_dimensionality,
    represented_features,
)
from workbench.methods.superposition.toy_training import evaluate_toy, fit_toy

IMPORTANCE = 0.9 ** np.arange(5)


def test_forward_equals_the_equation():
    rng = np.random.default_rng(0)
    model = ToyModel(4, 2, n_models=3, W=rng.normal(size=(3, 2, 4)), b=rng.normal(size=(3, 4)))
    x = rng.random((7, 4))
    outputs = model.forward(x)
    for m in range(3):
        for out, row in zip(outputs[m], x, strict=True):
            np.testing.assert_allclose(out, np.maximum(model.W[m].T @ (model.W[m] @ row) + model.b[m], 0))
    np.testing.assert_array_equal(model.forward(np.stack([x, x, x])), outputs)


def test_without_bias_equals_recall_without_delay():
    rng = np.random.default_rng(1)
    W = rng.normal(size=(3, 2, 4))
    recall = DelayRecall("ssm", 2, 4, k=0, n_models=3, W_x=W, W_h=np.zeros((3, 2, 2)))
    x = rng.random((6, 1, 4))
    toy = ToyModel(4, 2, bias=False, n_models=3, W=W)
    np.testing.assert_allclose(recall.forward(x)[:, :, 0], toy.forward(x[:, 0]), rtol=1e-12, atol=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 4), st.booleans())
def test_compiled_loss_and_gradient(seed, n, m, biased):
    rng = np.random.default_rng(seed)
    R, importance, x = rng.normal(size=(m + 1, n)), rng.random(n) + 0.1, rng.random((9, n)).astype(np.float32)
    d_R = np.empty_like(R)
    scratch = _jit_toy_model.scratch_of(m, n, 9)
    loss = _jit_toy_model.loss_and_gradient(np.ascontiguousarray(x.T[None]), R, biased, importance, scratch, d_R)

    def exact(w):
        return oracle.toy_loss(x.astype(float), w.reshape(R.shape)[:-1], w.reshape(R.shape)[-1], importance)

    expected = oracle.differences(exact, R.ravel()).reshape(R.shape)
    expected[-1] *= biased
    assert loss == pytest.approx(exact(R.ravel()), rel=1e-4)
    np.testing.assert_allclose(d_R, expected, rtol=1e-3, atol=1e-3 * (1 + abs(expected).max()))


@pytest.mark.parametrize("biased", [True, False])
def test_training_equals_a_plain_loop(biased):
    model = ToyModel(3, 2, bias=biased, importance=[1.0, 0.8, 0.5]).init(4)
    fitted = fit_toy(model, 0.5, steps=6, batch=8, lr=0.05, seed=9)
    state, batches = streams(9, 1)[0], np.empty((6, 1, 3, 8), np.float32)
    for x in batches:
        _jit_sequences.fill(x, 0.5, 0, state)
    null = 0.5 / 3 * 2.3
    inputs = np.swapaxes(batches[:, 0], 1, 2).astype(float)
    W, b = oracle.toy_training(inputs, model.W[0], model.b[0], model.importance[0], null, 0.05, biased)
    np.testing.assert_allclose(fitted.model.W[0], W, atol=1e-5)
    np.testing.assert_allclose(fitted.model.b[0], b, atol=1e-5)
    first = oracle.toy_loss(inputs[0], model.W[0], model.b[0], model.importance[0])
    assert fitted.loss[0, 0] == pytest.approx(first / (8 * null), rel=1e-4)


def test_a_model_comes_out_the_same_alone_and_in_a_crowd():
    seeds, p = [5, 6, 7], [0.2, 0.5, 1.0]
    crowd = fit_toy(ToyModel(4, 2, n_models=3).init(seeds), p, steps=50, batch=32, seed=seeds)
    alone = fit_toy(ToyModel(4, 2).init([6]), 0.5, steps=50, batch=32, seed=[6])
    np.testing.assert_array_equal(crowd.model.take(1).W, alone.model.W)
    np.testing.assert_array_equal(crowd.loss[:, 1], alone.loss[:, 0])


def test_elhage_sweep():
    """More features are represented the sparser they are: 2, 3, 4, 5 in two dimensions, by half or less of one each."""
    p = np.repeat([1.0, 0.6, 0.25, 0.1], 8)
    model = ToyModel(5, 2, importance=IMPORTANCE, n_models=32).init(0)
    model = fit_toy(model, p, batch=128).model
    best = model.take(evaluate_toy(model, p).reshape(4, 8).argmin(axis=1) + 8 * np.arange(4))
    assert represented_features(best.W).tolist() == [2, 3, 4, 5]
    assert dimensions_per_feature(best.W) == pytest.approx([1.0, 0.8, 0.49, 0.33], abs=0.02)
    expected = [[1, 1, 0, 0, 0], None, [0.5, 0.5, 0.5, 0.5, 0], [0.4] * 5]
    for D, wanted in zip(feature_dimensionality(best.W), expected, strict=True):
        assert wanted is None or np.allclose(D, wanted, atol=0.03)


def test_at_half_activity_four_features_lose_less_than_three():
    """Both are minima of training, of m/|W|^2 = 0.54 and 0.69."""
    model = ToyModel(5, 2, importance=IMPORTANCE, n_models=32).init(3)
    model = fit_toy(model, 0.5, batch=128, seed=3).model
    loss, count = evaluate_toy(model, 0.5), represented_features(model.W)
    least = {c: np.flatnonzero(count == c)[loss[count == c].argmin()] for c in (3, 4)}
    assert loss[least[4]] == pytest.approx(0.290, abs=0.003)
    assert loss[least[3]] == pytest.approx(0.306, abs=0.003)
    assert dimensions_per_feature(model.W)[[least[4], least[3]]] == pytest.approx([0.54, 0.69], abs=0.01)


def test_evaluation_equals_the_mean_over_plain_inputs():
    rng = np.random.default_rng(2)
    importance = [1.0, 0.5, 2.0]
    model = ToyModel(3, 2, importance=importance, W=rng.normal(size=(1, 2, 3)), b=0.1 * rng.normal(size=(1, 3)))
    x = sparse_sequences(20000, 1, 3, p=0.3, seed=3)[:, 0]
    expected = oracle.toy_loss(x, model.W[0], model.b[0], importance) / (20000 * 0.3 / 3 * 3.5)
    assert evaluate_toy(model, 0.3)[0] == pytest.approx(expected, rel=0.03)


def test_snapshots():
    model = ToyModel(3, 1).init(2)
    fitted = fit_toy(model, 0.5, steps=101, snapshots=4)
    assert fitted.steps.tolist() == [0, 25, 50, 76, 101]
    np.testing.assert_array_equal(fitted.at(0).W, model.W)
    np.testing.assert_array_equal(fitted.at(-1).W, fitted.model.W)
    np.testing.assert_array_equal(fit_toy(model, 0.5, steps=101).model.W, fitted.model.W)


def test_callback_hears_the_end():
    heard = []
    fit_toy(ToyModel(2, 1), steps=7, callback=lambda fraction, text: heard.append((fraction, text)))
    assert heard[-1] == (1.0, "step 7 of 7")


@given(st.integers(0, 10**6))
def test_dimensionality_of_any_weights(seed):
    rng = np.random.default_rng(seed)
    m, n = rng.integers(1, 6, 2)
    W = rng.normal(size=(m, n)) * (rng.random(n) < 0.8)
    D = feature_dimensionality(W)
    np.testing.assert_allclose(D, oracle.feature_dimensionality(W), rtol=1e-9)
    assert (D <= 1 + 1e-12).all() and D.sum() <= np.linalg.matrix_rank(W) + 1e-9
    turned = ortho_group.rvs(m, random_state=rng) @ W if m > 1 else -W
    np.testing.assert_allclose(feature_dimensionality(3 * turned), D, rtol=1e-9)
    np.testing.assert_allclose(feature_dimensionality(np.stack([W, turned])), [D, D], rtol=1e-9)


def test_regular_polygons():
    angle = 2 * np.pi * np.arange(5) / 5
    pentagon = np.stack([np.cos(angle), np.sin(angle)])
    assert feature_dimensionality(pentagon) == pytest.approx([0.4] * 5)
    assert dimensions_per_feature(pentagon) == pytest.approx(0.4)
    assert np.isinf(dimensions_per_feature(np.zeros((2, 3))))
    assert represented_features(np.zeros((4, 2, 3))).tolist() == [0] * 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, r"n = 0 is not allowed: it takes a whole number, at least 1"),
        ({"m": -1}, r"m = -1 is not allowed"),
        ({"n_models": 0}, r"n_models = 0"),
        ({"importance": [1.0, 0.0, 1.0]}, r"importance = .* is not allowed: it takes numbers above 0"),
        ({"importance": [1.0]}, r"importance has shape \(1,\): it takes \(1, 3\)"),
        ({"W": np.ones((2, 3))}, r"W has shape \(2, 3\): it takes \(1, 2, 3\)"),
        ({"W": np.full((1, 2, 3), np.nan)}, r"W holds numbers that are not finite"),
        ({"W": [[1.0], [1.0, 2.0]]}, r"W = .* it takes real numbers"),
        ({"bias": False, "b": [1.0, 0.0, 0.0]}, r"b is given and bias is False"),
    ],
)
def test_bad_models(arguments, message):
    with pytest.raises(ParameterError, match=message):
        ToyModel(**({"n": 3, "m": 2} | arguments))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"p": 0.0}, r"p = 0 is not allowed"),
        ({"p": [0.5, 0.5]}, r"p has shape \(2,\)"),
        ({"steps": 0}, r"steps = 0"),
        ({"batch": -1}, r"batch = -1"),
        ({"lr": 0.0}, r"lr = 0\.0"),
        ({"seed": -3}, r"seed = -3"),
        ({"snapshots": -1}, r"snapshots = -1"),
        ({"amplitude": "unifrom"}, r"did you mean 'uniform'"),
    ],
)
def test_bad_training(arguments, message):
    with pytest.raises(ParameterError, match=message):
        fit_toy(ToyModel(3, 2), **arguments)


def test_bad_shapes():
    with pytest.raises(ParameterError, match=r"x has shape \(4,\): it takes \(B, 3\) or \(1, B, 3\)"):
        ToyModel(3, 2).forward(np.ones(4))
    with pytest.raises(ParameterError, match="scale"):
        ToyModel(3, 2).init(scale=-1.0)
    for read_out in (feature_dimensionality, dimensions_per_feature, represented_features):
        with pytest.raises(ParameterError, match=r"W has shape \(3,\)"):
            read_out(np.ones(3))


def test_weights_that_are_no_finite_numbers_are_refused():
    for read_out in (dimensions_per_feature, feature_dimensionality, represented_features):
        for wrong, words in ((np.full((1, 2), np.nan), "not finite"), (np.ones((2, 0)), "none of them 0")):
            with pytest.raises(ParameterError, match=words):
                read_out(wrong)
