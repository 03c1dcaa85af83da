from dataclasses import replace

import numpy as np
import pytest

from workbench.errors import ParameterError
from workbench.harness import threads
from workbench.methods.superposition import training
from workbench.methods.superposition.model import KINDS, DelayRecall
from workbench.methods.superposition.sequences import streams
from workbench.methods.superposition.task import make_task
from workbench.methods.superposition.training import fit

torch = pytest.importorskip("torch")
torch_training = pytest.importorskip("workbench.methods.superposition.torch_training")

# Weights move by 0.05 in 20 steps. Compiled loops, which keep weights in double precision, come within 8e-8 of
# torch in double; torch in single within 4e-7. A wrong gradient, moment or rate is off by 1e-4 or more.
MIXED, SINGLE = 1e-6, 3e-6


def trained(trainer, model, p, *, steps=20, chunks=1, batch=32, T=None, clip=10.0, data=None, **options):
    """Weights and losses of `model` after training in equal chunks."""
    task = make_task(model, p, T, "uniform", data)
    weights, losses = training._copies(model), np.empty((steps, model.n_models))
    states = streams(3, model.n_models)
    advance = trainer(
        model, weights, states, task, steps=steps, batch=batch, rate=5e-3, clip=clip, device=None, **options
    )
    for start in range(0, steps, steps // chunks):
        advance(start, losses[start : start + steps // chunks])
    return weights[: 2 if model.tied else 3], losses


def networks(kind, tied, n_features, importance=None):
    shape = {"n_hidden": 3, "n_features": n_features, "k": 2, "importance": importance}
    return DelayRecall(kind, tied=tied, n_models=4, **shape).init(0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("n_features, importance", [(1, None), (1, [2.5]), (3, None), (3, [1.0, 0.7, 0.1])])
@pytest.mark.parametrize("clip", [10.0, 0.05])
def test_both_engines_take_the_same_steps(kind, tied, n_features, importance, clip):
    model = networks(kind, tied, n_features, importance)
    p = np.array([1.0, 0.5, 0.05, 0.2])
    ours, our_losses = trained(training._compiled, model, p, clip=clip)
    theirs, losses = trained(torch_training.trainer, model, p, clip=clip, dtype=torch.float64)
    np.testing.assert_allclose(our_losses, losses, atol=2e-5)
    for W, wanted in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(W, wanted, atol=MIXED)


def test_single_precision_is_near_double():
    model = networks("nonlinear", False, 3)
    single, _ = trained(torch_training.trainer, model, 0.3)
    double, _ = trained(torch_training.trainer, model, 0.3, dtype=torch.float64)
    for W, wanted in zip(single, double, strict=True):
        np.testing.assert_allclose(W, wanted, atol=SINGLE)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("n_features, T", [(1, 4), (1, 9), (3, 5)])
def test_a_convolution_says_what_steps_say(tied, n_features, T):
    model = networks("linear", tied, n_features)
    weights = [torch.tensor(W) for W in model.weights().values() if W is not None]
    x = torch.tensor(np.random.default_rng(0).normal(size=(4, T, n_features, 6)))
    steps = torch_training._stepped(model, weights, x)
    torch.testing.assert_close(torch_training._convolved(model, weights, x), steps)
    forward = model.forward(x.permute(0, 3, 1, 2).numpy())
    np.testing.assert_allclose(steps.permute(0, 3, 1, 2).numpy(), forward, atol=1e-12)


def test_a_convolution_is_for_few_features_and_no_relu():
    few, many = DelayRecall("ssm", n_hidden=100, k=20), DelayRecall("ssm", n_hidden=100, n_features=75, k=2)
    assert torch_training.convolves(few, 80) and not torch_training.convolves(many, 8)
    assert not torch_training.convolves(replace(few, kind="nonlinear"), 80)


def test_windows_of_a_series_are_the_same_for_both_engines():
    series = np.random.default_rng(1).exponential(size=(40, 3))
    model = networks("ssm", True, 3)
    ours, _ = trained(training._compiled, model, 1.0, data=series)
    theirs, _ = trained(torch_training.trainer, model, 1.0, data=series)
    np.testing.assert_allclose(ours[1], theirs[1], atol=SINGLE)


def test_chunks_change_nothing():
    model = networks("nonlinear", False, 1)
    whole, losses = trained(torch_training.trainer, model, 0.5)
    parts, in_parts = trained(torch_training.trainer, model, 0.5, chunks=5)
    assert losses.tobytes() == in_parts.tobytes()
    assert [W.tobytes() for W in whole] == [W.tobytes() for W in parts]


@pytest.mark.parametrize("kind", KINDS)
def test_a_network_that_diverges_stops_and_the_others_go_on(kind):
    model = networks(kind, True, 1)
    model.W_h[1] = 1e20 * np.eye(3)
    weights, losses = trained(torch_training.trainer, model, 0.5, chunks=2, T=8)
    assert np.isnan(losses[:, 1]).all() and np.isfinite(losses[:, [0, 2, 3]]).all()
    np.testing.assert_allclose(weights[1][1], model.W_h[1])
    alone, _ = trained(training._compiled, model, 0.5, chunks=2, T=8)
    np.testing.assert_allclose(weights[1][[0, 2, 3]], alone[1][[0, 2, 3]], atol=SINGLE)


def test_fit_uses_torch_for_large_networks_and_where_asked():
    used = []

    def spy(*given, **options):
        used.append(options["device"])
        return real(*given, **options)

    real = torch_training.trainer
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch_training, "trainer", spy)
        fit(DelayRecall("ssm", n_hidden=99, n_features=3, k=0), 0.5, steps=1, batch=2)
        assert used == [None]
        fit(DelayRecall("ssm", n_hidden=2, k=0), 0.5, steps=1, batch=2, device="cpu")
        fit(DelayRecall("ssm", n_hidden=2, k=0), 0.5, steps=1, batch=2, engine="torch")
        assert used == [None, "cpu", None]
        fit(DelayRecall("ssm", n_hidden=2, k=0), 0.5, steps=1, batch=2)
        fit(DelayRecall("ssm", n_hidden=99, n_features=3, k=0), 0.5, steps=1, batch=2, engine="numba")
        assert len(used) == 3


def test_fit_gives_the_same_results_through_torch():
    model = networks("ssm", False, 3)
    ours, theirs = (fit(model, 0.3, steps=20, batch=16, snapshots=4, engine=engine) for engine in ("numba", "torch"))
    assert theirs.snapshots.steps.tolist() == [0, 5, 10, 15, 20]
    np.testing.assert_allclose(theirs.snapshots.W_x, ours.snapshots.W_x, atol=SINGLE)
    np.testing.assert_allclose(theirs.snapshots.W_y, ours.snapshots.W_y, atol=SINGLE)
    np.testing.assert_allclose(theirs.loss, ours.loss, atol=2e-5)


def test_torchs_own_state_stays():
    before = torch.get_num_threads(), torch.get_default_dtype(), torch.random.get_rng_state(), torch.is_grad_enabled()
    with threads.limited(2):
        fit(networks("ssm", True, 1), 0.5, steps=3, batch=2, engine="torch")
        assert torch.get_num_threads() == 2
    after = torch.get_num_threads(), torch.get_default_dtype(), torch.random.get_rng_state(), torch.is_grad_enabled()
    assert before[:2] == after[:2] and before[3] == after[3]
    assert torch.equal(before[2], after[2])


@pytest.mark.parametrize("device", ["nowhere", "cuda:99"])
def test_a_device_that_is_not_there_is_named(device):
    with pytest.raises(ParameterError, match=f"device = '{device}' cannot be used here"):
        fit(networks("ssm", True, 1), 0.5, steps=1, batch=2, device=device)
