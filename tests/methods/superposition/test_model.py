from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import superposition as oracle
from workbench.errors import ParameterError
from workbench.methods.superposition import _jit_recall
from workbench.methods.superposition.model import KINDS, DelayRecall


@st.composite
def networks(draw, kinds=KINDS, most_k=4, zeros=0.1):
    """Networks with random weights, a share of them zero."""
    N_h, N_x, M, k = (draw(st.integers(low, high)) for low, high in ((1, 5), (1, 4), (1, 3), (0, most_k)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    drawn = [rng.normal(size=(M, N_h, n)) * (rng.random((M, N_h, n)) >= zeros) for n in (N_x, N_h, N_x)]
    tied = draw(st.booleans())
    return DelayRecall(
        kind=draw(st.sampled_from(kinds)), n_hidden=N_h, n_features=N_x, k=k, tied=tied, n_models=M,
        importance=rng.uniform(0.2, 2, N_x), W_x=drawn[0], W_h=0.6 * drawn[1], W_y=None if tied else drawn[2],
    )  # fmt: skip


def sequences(model, B, T, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(B, T, model.n_features)) * (rng.random((B, T, model.n_features)) < 0.6)


def parts(model, m):
    return [W[m] for W in model.weights().values() if W is not None]


@given(networks())
def test_directions_and_readout_follow_one_input_alone(model):
    S = model.k + 2
    W = model.impulse(S)
    for m in range(model.n_models):
        np.testing.assert_allclose(W[m], oracle.directions(model.kind, model.W_x[m], model.W_h[m], S), atol=1e-12)
        compiled = np.empty_like(W[m])
        _jit_recall.impulse(model.W_x[m], model.W_h[m], model.relu_h, compiled)
        np.testing.assert_allclose(compiled, W[m], atol=1e-12)
    np.testing.assert_array_equal(model.readout, W[:, model.k] if model.tied else model.W_y)
    for s in range(S + 1):
        for m in range(model.n_models):
            np.testing.assert_allclose(model.kernel(S)[m, s], model.readout[m].T @ W[m, s], atol=1e-12)


@given(networks(), st.integers(1, 3), st.integers(1, 6))
def test_outputs_step_by_step(model, B, T):
    x = sequences(model, B, T)
    y = model.forward(x)
    assert y.shape == (model.n_models, B, T, model.n_features)
    for m in range(model.n_models):
        for b in range(B):
            twin = oracle.recall(model.kind, model.W_x[m], model.W_h[m], model.readout[m], x[b])
            np.testing.assert_allclose(y[m, b], twin, atol=1e-12)
    np.testing.assert_array_equal(model.forward(np.broadcast_to(x, (model.n_models, *x.shape))), y)


@given(networks(kinds=("linear", "ssm")), st.integers(1, 7))
def test_a_linear_recurrence_is_a_convolution_with_its_kernel(model, T):
    x = sequences(model, 2, T)
    A = model.kernel(T - 1)
    sums = np.zeros((model.n_models, 2, T, model.n_features))
    for t in range(T):
        for s in range(t + 1):
            sums[:, :, t] += np.einsum("mij,bj->mbi", A[:, s], x[:, t - s])
    np.testing.assert_allclose(model.forward(x), np.maximum(sums, 0) if model.relu_y else sums, atol=1e-11)


@given(networks(kinds=("ssm",)))
def test_the_kinds_agree_where_nothing_is_negative(model):
    positive = {name: None if W is None else np.abs(W) for name, W in model.weights().items()}
    x = np.abs(sequences(model, 2, 6))
    ssm = replace(model, **positive)
    assert (ssm.kernel(5) >= 0).all()
    np.testing.assert_allclose(replace(ssm, kind="linear").forward(x), ssm.forward(x), atol=1e-11)
    np.testing.assert_allclose(replace(ssm, kind="nonlinear").forward(x), ssm.forward(x), atol=1e-11)


@given(networks(most_k=3, zeros=0.0), st.sampled_from([1, 2, 3]), st.integers(2, 4))
def test_loss_and_gradient_of_the_compiled_loops(model, B, extra):
    k, T = model.k, model.k + extra
    x = sequences(model, B, T, seed=1)
    ordered = np.ascontiguousarray(np.moveaxis(x, 0, 2))
    for m in range(model.n_models):
        weights = parts(model, m)
        W_y = model.readout[m].copy()
        gradient = [np.full_like(W, np.nan) for W in (model.W_x[m], model.W_h[m], W_y)]
        wide = (k + 1, model.n_hidden, model.n_features)
        scratch = [np.full(shape, np.nan) for shape in ((T, model.n_hidden, B), (2, model.n_hidden, B),
                   (model.n_features, B), (model.n_features, B), wide, wide)]  # fmt: skip
        settings = (model.relu_h, model.relu_y, model.importance)
        loss = _jit_recall.loss_and_gradient(
            ordered, k, (model.W_x[m], model.W_h[m], W_y), model.tied, *settings, tuple(scratch), tuple(gradient)
        )
        twin = oracle.recall_loss(model.kind, weights, k, x, model.importance)
        assert loss == pytest.approx(twin, rel=1e-10)
        alone = _jit_recall.loss_of(ordered, k, model.W_x[m], model.W_h[m], model.readout[m], *settings)
        assert alone == pytest.approx(twin, rel=1e-10)
        ends = np.cumsum([w.size for w in weights])[:-1]

        def of(flat, weights=weights, ends=ends):
            split = [part.reshape(w.shape) for part, w in zip(np.split(flat, ends), weights, strict=True)]
            return oracle.recall_loss(model.kind, split, k, x, model.importance)

        flat = np.concatenate([w.ravel() for w in weights])
        slopes = np.concatenate([g.ravel() for g in gradient[: len(weights)]])
        here = oracle.differences(of, flat, h=1e-7)
        smooth = np.abs(here - oracle.differences(of, flat, h=2e-7)) < 1e-4 * (1 + np.abs(here))  # beside no kink
        np.testing.assert_allclose(slopes[smooth], here[smooth], rtol=1e-4, atol=1e-4)


def test_the_slope_of_a_relu_at_zero_is_zero():
    model = DelayRecall("ssm", n_hidden=1, k=0, tied=False, W_x=[[[0.0]]], W_h=[[[0.0]]], W_y=[[[1.0]]])
    gradient = tuple(np.full((1, 1), np.nan) for _ in range(3))
    scratch = tuple(np.empty(shape) for shape in ((2, 1, 1), (2, 1, 1), (1, 1), (1, 1), (1, 1, 1), (1, 1, 1)))
    weights = (model.W_x[0], model.W_h[0], model.W_y[0])
    _jit_recall.loss_and_gradient(np.ones((2, 1, 1)), 0, weights, False, False, True, np.ones(1), scratch, gradient)
    assert [g.item() for g in gradient] == [0.0, 0.0, 0.0]


@given(st.integers(1, 6), st.integers(0, 99))
def test_adam(steps, seed):
    rng = np.random.default_rng(seed)
    start, slopes, rates = rng.normal(size=3), rng.normal(size=(steps, 3)), rng.uniform(0.001, 0.1, steps)
    w, mean, square = start.copy(), np.zeros(3), np.zeros(3)
    for number in range(steps):
        _jit_recall.adam(w, slopes[number], mean, square, number + 1, rates[number])
    np.testing.assert_allclose(w, oracle.adam(start, slopes, rates), rtol=1e-12)


def test_the_rate_falls_along_a_cosine():
    rates = [_jit_recall.falling_rate(2.0, step, 100) for step in (0, 50, 100)]
    assert rates == pytest.approx([2.0, 1.02, 0.04])


@given(networks(kinds=("nonlinear",)))
def test_the_state_of_torchs_rnn_is_ours_through_a_relu(model):
    torch = pytest.importorskip("torch")
    x = sequences(model, 2, 5)
    for m in range(model.n_models):
        rnn = torch.nn.RNN(model.n_features, model.n_hidden, nonlinearity="relu", bias=False, dtype=torch.float64)
        with torch.no_grad():
            rnn.weight_ih_l0.copy_(torch.tensor(model.W_x[m]))
            rnn.weight_hh_l0.copy_(torch.tensor(model.W_h[m]))
            states = rnn(torch.tensor(x).transpose(0, 1))[0].numpy()
        h = np.empty((5, model.n_hidden, 2))
        _jit_recall.forward(np.ascontiguousarray(x.transpose(1, 2, 0)), model.W_x[m], model.W_h[m], True, h)
        np.testing.assert_allclose(np.moveaxis(states, 1, 2), np.maximum(h, 0), atol=1e-12)


@pytest.mark.parametrize("n_features, k", [(1, 3), (2, 1), (3, 0)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_shift_register_recalls_all(kind, n_features, k):
    N_h = n_features * (k + 1)
    W_h = np.eye(N_h, k=-n_features)
    model = DelayRecall(
        kind, n_hidden=N_h, n_features=n_features, k=k, W_x=np.eye(N_h, n_features)[None], W_h=W_h[None]
    )
    x = np.abs(sequences(model, 3, k + 4))
    np.testing.assert_array_equal(model.forward(x)[0, :, k:], x[:, :4])
    np.testing.assert_array_equal(model.kernel(k)[0], [np.eye(n_features) * (s == k) for s in range(k + 1)])


@given(st.sampled_from(KINDS), st.booleans(), st.integers(1, 3), st.integers(1, 3))
def test_weights_drawn_for_a_seed_do_not_depend_on_other_models(kind, tied, n_hidden, n_features):
    def drawn(seed, M):
        return DelayRecall(kind, n_hidden=n_hidden, n_features=n_features, tied=tied, n_models=M).init(seed)

    together, alone = drawn([5, 9, 5], 3), drawn(9, 1)
    for name, W in together.weights().items():
        if W is not None:
            np.testing.assert_array_equal(W[1:2], alone.weights()[name])
            np.testing.assert_array_equal(W[0], W[2])
            assert (W[0] != W[1]).all()
            np.testing.assert_array_equal(W, together.take([0, 1, 2]).weights()[name])
    many = drawn(0, 4)
    assert len(np.unique(many.W_x)) == many.W_x.size
    np.testing.assert_array_equal(many.take(2).W_h, many.W_h[2:3])


@pytest.mark.parametrize("kind, wide", [("linear", 0.3), ("ssm", 0.3), ("nonlinear", 0.7)])
def test_the_scale_of_drawn_weights(kind, wide):
    model = DelayRecall(kind, n_hidden=4, n_features=2, tied=False, n_models=4000)
    for scale, (W_x, W_h) in {None: (wide, 0.3), 0.05: (0.05, 0.05)}.items():
        drawn = model.init(1, scale=scale, diagonal=0.7)
        assert drawn.W_x.std() == pytest.approx(W_x, rel=0.03)
        assert drawn.W_y.std() == pytest.approx(W_x, rel=0.03)
        assert drawn.W_h.std(axis=0).mean() == pytest.approx(W_h / 2, rel=0.03)
        np.testing.assert_allclose(drawn.W_h.mean(axis=0), 0.7 * np.eye(4), atol=0.02)
    still = model.init(1, scale=0.0)
    assert not still.W_x.any() and (still.W_h == 0.5 * np.eye(4)).all()


WRONG = [
    ({"kind": "lineer"}, "kind = 'lineer' .* did you mean 'linear'"),
    ({"n_hidden": 0}, "n_hidden = 0"),
    ({"n_features": 0}, "n_features = 0"),
    ({"n_models": 0}, "n_models = 0"),
    ({"k": -1}, "k = -1"),
    ({"importance": [1.0, 2.0]}, r"importance of shape \(2,\): .* 1 features"),
    ({"importance": [0.0]}, "importance"),
    ({"importance": [np.inf]}, "importance"),
    ({"importance": ["much"]}, "importance"),
    ({"W_x": np.zeros((1, 2, 2)), "W_h": np.zeros((1, 2, 2))}, r"W_x has shape \(1, 2, 2\): it takes \(1, 2, 1\)"),
    ({"W_x": np.zeros((1, 2, 1)), "W_h": np.zeros((2, 2))}, r"W_h has shape \(2, 2\)"),
    ({"W_x": np.zeros((1, 2, 1)), "W_h": np.full((1, 2, 2), np.nan)}, "W_h holds .* not finite"),
    ({"W_x": [["a"]], "W_h": np.zeros((1, 2, 2))}, r"W_x = .* numbers"),
    ({"W_x": np.zeros((1, 2, 1))}, "W_h is not given"),
    ({"W_x": np.zeros((1, 2, 1)), "W_h": np.zeros((1, 2, 2)), "tied": False}, "W_y is not given"),
    ({"W_x": np.zeros((1, 2, 1)), "W_h": np.zeros((1, 2, 2)), "W_y": np.zeros((1, 2, 1))}, "W_y is given and tied"),
]


@pytest.mark.parametrize("changed, message", WRONG)
def test_wrong_input_is_named(changed, message):
    with pytest.raises(ParameterError, match=message):
        DelayRecall(**changed)


def test_wrong_arguments_of_methods_are_named():
    model = DelayRecall(n_features=2)
    for x in (np.zeros((2, 3)), np.zeros((2, 3, 1)), np.zeros((2, 2, 3, 2))):
        with pytest.raises(ParameterError, match=r"x has shape .* \(B, T, 2\) or \(1, B, T, 2\)"):
            model.forward(x)
    with pytest.raises(ParameterError, match="S = -1"):
        model.impulse(-1)
    for scale in (-1.0, np.inf, np.nan):
        with pytest.raises(ParameterError, match="scale = "):
            model.init(0, scale=scale)
    with pytest.raises(ParameterError, match="seed = "):
        model.init(-1)


@pytest.mark.parametrize("which", [3, -4, "a", [], [True], [0, 3], slice(3, 9), 0.5], ids=repr)
def test_a_place_without_a_network_is_refused(which):
    with pytest.raises(ParameterError, match=r"which = .* it takes places 0 to 2"):
        DelayRecall(n_models=3).take(which)
