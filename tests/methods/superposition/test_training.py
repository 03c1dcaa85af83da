from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import superposition as oracle
from workbench.errors import DataError, MissingExtra, ParameterError
from workbench.harness import threads
from workbench.methods.superposition import _jit_sequences, training
from workbench.methods.superposition.amplitudes import amplitude_law
from workbench.methods.superposition.model import KINDS, DelayRecall
from workbench.methods.superposition.sequences import NO_SERIES, streams
from workbench.methods.superposition.task import default_steps, make_task
from workbench.methods.superposition.training import evaluate, fit


def bits(model):
    return {name: None if W is None else W.tobytes() for name, W in model.weights().items()}


def drawn_batches(steps, batch, T, n_features, p, seed):
    """The batches (B, T, N_x) that the only network trained with `seed` meets."""
    state, x = streams(seed, 1)[0], np.empty((T, n_features, batch), np.float32)
    for _ in range(steps):
        _jit_sequences.draw(x, p, 0, NO_SERIES, state)
        yield np.moveaxis(x, 2, 0).astype(float)


@settings(max_examples=25)
@given(
    st.sampled_from(KINDS), st.booleans(), st.integers(1, 3), st.integers(1, 3), st.integers(0, 2),
    st.sampled_from([1, 3]), st.sampled_from([0.05, 0.5]), st.integers(0, 99),
)  # fmt: skip
def test_training_takes_the_steps_of_its_twin(kind, tied, n_hidden, n_features, k, batch, p, seed):
    importance = 0.7 ** np.arange(n_features)
    model = DelayRecall(kind, n_hidden=n_hidden, n_features=n_features, k=k, tied=tied, importance=importance)
    model = model.init(seed, scale=0.8)
    T, steps = k + 2, 4
    trained = fit(model, p, steps=steps, batch=batch, T=T, lr=0.02, seed=seed)
    weights = [W[0] for W in model.weights().values() if W is not None]
    null = p / 3 * 2 * importance.sum()
    batches = list(drawn_batches(steps, batch, T, n_features, p, seed))
    twin, losses = oracle.recall_training(kind, weights, k, batches, importance, null, 0.02, 10.0)
    np.testing.assert_allclose(trained.loss[:, 0], losses, rtol=2e-3, atol=1e-5)
    for W, wanted in zip([W for W in trained.model.weights().values() if W is not None], twin, strict=True):
        np.testing.assert_allclose(W[0], wanted, atol=4e-3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tied", [True, False])
def test_a_model_trained_alone_comes_out_the_same_as_in_a_crowd(kind, tied):
    crowd = DelayRecall(kind, n_features=2, k=1, tied=tied, n_models=5).init([4, 8, 1, 9, 3])
    p = np.array([1.0, 0.5, 0.05, 0.3, 0.2])
    seeds = [5, 6, 7, 8, 9]
    together = fit(crowd, p, steps=30, batch=17, seed=seeds)
    for m in range(5):
        alone = fit(crowd.take(m), p[m], steps=30, batch=17, seed=seeds[m])
        assert bits(alone.model) == bits(together.model.take(m))
        np.testing.assert_array_equal(alone.loss[:, 0], together.loss[:, m])
        np.testing.assert_array_equal(evaluate(crowd.take(m), p[m], n=100), evaluate(crowd, p, n=100)[m])


def test_the_count_of_threads_changes_no_bit():
    model = DelayRecall("nonlinear", n_features=2, k=2, n_models=3)
    results = []
    for count in (1, 2):
        with threads.limited(count):
            results.append(fit(model, 0.2, steps=40, batch=9))
    assert bits(results[0].model) == bits(results[1].model)
    assert results[0].loss.tobytes() == results[1].loss.tobytes()


def test_fit_leaves_the_model_alone():
    model = DelayRecall("ssm", n_models=2, tied=False)
    before = bits(model)
    trained = fit(model, 0.5, steps=5, batch=4)
    assert bits(model) == before and bits(trained.model) != before
    assert (trained.model.k, trained.model.tied, trained.model.n_models) == (4, False, 2)


@pytest.mark.parametrize("steps, snapshots, wanted", [
    (10, 0, [0, 10]), (10, 1, [0, 10]), (10, 4, [0, 2, 5, 8, 10]), (3, 9, [0, 1, 2, 3]), (1, 1, [0, 1]),
    (230, 2, [0, 115, 230]),
])  # fmt: skip
@pytest.mark.parametrize("tied", [True, False])
def test_snapshots_are_the_weights_on_the_way(steps, snapshots, wanted, tied):
    model = DelayRecall("ssm", n_hidden=2, n_features=1, k=1, tied=tied, n_models=2)
    trained = fit(model, 0.5, steps=steps, batch=2, snapshots=snapshots)
    kept = trained.snapshots
    assert kept.steps.tolist() == wanted
    assert kept.W_x.shape == (len(wanted), 2, 2, 1) and kept.W_h.shape == (len(wanted), 2, 2, 2)
    assert (kept.W_y is None) == tied
    assert bits(kept.at(0)) == bits(model) and bits(kept.at(-1)) == bits(trained.model)
    assert bits(fit(model, 0.5, steps=steps, batch=2).model) == bits(trained.model)


def test_the_callback_hears_every_chunk():
    heard = []
    fit(DelayRecall(k=1), 0.5, steps=600, batch=2, callback=lambda fraction, text: heard.append((fraction, text)))
    assert len(heard) == 50 and heard[-1] == (1.0, "step 600 of 600")
    assert np.all(np.diff([fraction for fraction, _ in heard]) > 0)
    heard.clear()
    fit(DelayRecall(k=0), 0.5, steps=6000, batch=1, callback=lambda fraction, text: heard.append(fraction))
    assert len(heard) == 60


def test_an_interrupt_in_the_callback_leaves_at_once():
    calls = []

    def stop(fraction, text):
        calls.append(fraction)
        raise KeyboardInterrupt

    model = DelayRecall(k=1)
    before = bits(model)
    with pytest.raises(KeyboardInterrupt):
        fit(model, 0.5, steps=100, batch=2, callback=stop)
    assert len(calls) == 1 and bits(model) == before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1e20, 1e200])
def test_a_network_that_diverges_stops_without_a_warning(kind, size):
    weights = {"W_x": np.ones((3, 2, 1)), "W_h": np.tile(np.eye(2), (3, 1, 1))}
    weights["W_h"][1] *= size
    model = DelayRecall(kind, k=2, n_models=3, **weights)
    trained = fit(model, 0.5, steps=150, batch=8)
    assert trained.diverged.tolist() == [False, True, False]
    assert np.isnan(trained.loss[:, 1]).all() and np.isfinite(trained.loss[:, [0, 2]]).all()
    assert bits(trained.model.take(1)) == bits(model.take(1))
    assert not np.isfinite(evaluate(model, 0.5, n=10)[1])


@pytest.mark.parametrize("engine", ["numba", "torch"])
def test_a_network_that_has_diverged_does_not_come_back(engine):
    if engine == "torch":
        pytest.importorskip("torch")
    series = np.ones((100, 1))
    series[50] = 1e30  # its square is beyond single precision, in one batch of sixteen
    trained = fit(DelayRecall("ssm", k=2), data=series, T=6, steps=300, batch=1, snapshots=300, engine=engine)
    last = int(np.flatnonzero(np.isfinite(trained.loss[:, 0]))[-1])
    assert 0 < last < 200 and np.isfinite(trained.loss[:last]).all() and trained.diverged.all()
    assert bits(trained.snapshots.at(last + 1)) == bits(trained.model)


@pytest.mark.parametrize("n_features, k, T", [(1, 0, 2), (1, 1, 4), (1, 4, 16), (3, 0, 2), (3, 4, 14)])
def test_sequences_are_of_four_delays_or_three(n_features, k, T):
    assert default_steps(k, n_features) == T
    model = DelayRecall(n_features=n_features, k=k)
    chosen = [fit(model, 0.5, steps=1, batch=1, T=T).T for T in (None, k + 2, k + 7)]
    assert chosen == [T, k + 2, k + 7]


@given(st.sampled_from(["uniform", "exponential", "sign", "gaussian", "constant"]), st.sampled_from([0.05, 0.4, 1.0]))
def test_saying_nothing_costs_one(amplitude, p):
    law = amplitude_law(amplitude)
    zero = {"W_x": np.zeros((2, 2, 2)), "W_h": np.zeros((2, 2, 2))}
    model = DelayRecall("linear", n_features=2, k=3, importance=[1.0, 0.3], n_models=2, **zero)
    loss = evaluate(model, p, amplitude=amplitude, n=20_000)
    assert loss[0] == loss[1]
    fourth = {"uniform": 1 / 5, "exponential": 24, "sign": 1, "gaussian": 3, "constant": 1}[amplitude]
    relative = np.sqrt((fourth / (p * law.second_moment**2) - 1) / (20_000 * 8) * 2 * (1 + 0.09) / 1.69)
    assert loss[0] == pytest.approx(1.0, abs=5 * relative + 1e-5)


def test_the_loss_of_saying_nothing_counts_every_window():
    series = np.random.default_rng(0).normal(size=(12, 2)) ** 2
    model = DelayRecall("ssm", n_features=2, k=2, importance=[1.0, 0.3], n_models=2)
    task = make_task(model, 0.5, 6, "uniform", series)
    windows = [series[start : start + 4] ** 2 @ model.importance for start in range(7)]
    np.testing.assert_allclose(task.null, np.sum(windows) / 7)
    silent = replace(model, W_x=np.zeros((2, 2, 2)))
    assert evaluate(silent, T=6, data=series, n=40_000) == pytest.approx([1.0, 1.0], abs=0.02)


def test_own_series_is_what_is_learnt():
    alternating = np.tile([[1.0], [0.0]], (40, 1))
    model = DelayRecall("linear", n_hidden=1, k=2, tied=False, n_models=2)
    first, second = (fit(model, p, steps=30, batch=8, data=alternating) for p in (1.0, 0.01))
    assert bits(first.model) == bits(second.model)
    assert bits(first.model) != bits(fit(model, 1.0, steps=30, batch=8).model)


def test_learning_lowers_the_loss_to_that_of_fresh_sequences():
    model = DelayRecall("ssm", n_hidden=3, k=1, n_models=4)
    trained = fit(model, 0.3, steps=1500, batch=64)
    fresh = evaluate(trained.model, 0.3)
    assert (fresh < 0.05).any() and (fresh < evaluate(model, 0.3) / 2).any()
    np.testing.assert_allclose(trained.loss[-100:].mean(axis=0), fresh, atol=0.02)


def test_the_finite_optimum_of_linear_networks_is_met():
    model = DelayRecall("linear", n_hidden=2, k=4, n_models=6)
    loss = evaluate(fit(model, 1.0, steps=1500).model, 1.0, n=2**14)
    assert loss.min() == pytest.approx(0.2194, rel=0.02)  # exact, for T = 16 and uniform inputs at p = 1


MODEL = DelayRecall("ssm", k=2, n_models=2)
WRONG = [
    ({"steps": 0}, "steps = 0"),
    ({"batch": 0}, "batch = 0"),
    ({"T": 3}, "T = 3 .* at least 4"),
    ({"lr": 0.0}, "lr = 0.0"),
    ({"lr": float("nan")}, "lr = nan"),
    ({"seed": -1}, "seed = -1"),
    ({"seed": [1, 2, 3]}, "seed = .* 2 models"),
    ({"amplitude": "unifrom"}, "amplitude = 'unifrom'"),
    ({"snapshots": -1}, "snapshots = -1"),
    ({"engine": "jax"}, "engine = 'jax'"),
    ({"engine": "numba", "device": "cpu"}, "device = 'cpu'"),
    ({"p": 0.0}, "p = 0 "),
    ({"p": [0.5, 1.5]}, "p = 1.5"),
    ({"p": [0.5, 0.5, 0.5]}, r"p has shape \(3,\)"),
    ({"p": np.array(["much"])}, "p = .* numbers"),
]


@pytest.mark.parametrize("changed, message", WRONG)
def test_wrong_parameters_are_named(changed, message):
    with pytest.raises(ParameterError, match=message):
        fit(MODEL, **{"p": 0.5, "steps": 2, "batch": 2} | changed)


@pytest.mark.parametrize("data, message", [
    (np.ones(50), r"shape \(50,\): it takes \(time, 1\)"),
    (np.ones((50, 2)), r"shape \(50, 2\)"),
    (np.ones((8, 1)), "8 steps .* it takes at least 9"),
    (np.full((50, 1), np.nan), "not finite"),
    (np.zeros((50, 1)), "all zero"),
    (np.repeat([0.0, 1.0], [49, 1])[:, None], "all zero where targets lie"),
    (np.array([["a"]] * 50), "the series .* numbers"),
])  # fmt: skip
def test_wrong_series_is_told(data, message):
    with pytest.raises(DataError, match=message):
        fit(MODEL, data=data, steps=2, batch=2)


def test_evaluate_names_what_is_wrong():
    with pytest.raises(ParameterError, match="n = 0"):
        evaluate(MODEL, n=0)
    with pytest.raises(ParameterError, match="seed = -1"):
        evaluate(MODEL, n=1, seed=-1)


def test_torch_is_asked_for_by_name(monkeypatch):
    monkeypatch.setattr(training, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="the engine 'torch' needs torch"):
        fit(MODEL, steps=1, batch=1, engine="torch")
    large = DelayRecall(n_hidden=100, n_features=1, k=0)
    assert fit(large, steps=1, batch=1).loss.shape == (1, 1)
