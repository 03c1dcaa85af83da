import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from workbench.harness.benchmark import measure
from workbench.harness.threads import limited
from workbench.methods.superposition import benchmark, numeric_peers
from workbench.methods.superposition.benchmark import WORKLOADS, Job, memory, search, training
from workbench.methods.superposition.numeric_peers import Reservoir, Search

torch_peers = pytest.importorskip("workbench.methods.superposition.torch_peers", exc_type=ImportError)

JOBS = {
    "ssm": Job.of("ssm", 2, 6, 3, activities=(1.0, 0.05), seeds=2),
    "nonlinear": Job.of("nonlinear", 2, 6, 3, activities=(1.0, 0.05), seeds=2),
    "vector": Job.of("ssm", 1, 5, 3, n_features=3, activities=(0.5,), seeds=2),
    "static": Job.of("ssm", 0, 2, 3, n_features=3, activities=(0.5,), seeds=2),
    "one": Job.of("ssm", 1, 5, 3, n_features=7, n_hidden=40, activities=(0.3,), seeds=1),
}
PEERS = ("module each", "batched", "kernel space")


@pytest.fixture(autouse=True)
def one_thread(same_global_state):
    """Threads that share so little wait for one another far longer than they work."""
    with limited(1):
        yield


def loosely(monkeypatch):
    """Few steps have noisy losses; the weights are what is compared."""
    monkeypatch.setattr(benchmark, "LOSSES_AGREE", 10.0)


def test_names_are_unique_and_every_peer_and_kind_is_there():
    names = [work.name for work in WORKLOADS]
    assert len(set(names)) == len(names)
    for peer in benchmark.PEERS:
        assert any(f": {peer}," in name for name in names)
    assert {work.peer_module for work in WORKLOADS} == {"torch", "scipy", "reservoirpy"}
    assert {work.peer_module for work in WORKLOADS if work.quick} == {"torch", "scipy", "reservoirpy"}


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)
def test_every_peer_makes_the_same_of_the_same_inputs(monkeypatch, job, peer):
    loosely(monkeypatch)
    row = measure(training("some", job, peer), budget=0, least=1)
    assert row.wrong == "" and row.ratio is not None
    each = 1e6 * row.seconds / (job.steps * job.model.n_models)
    assert row.facts["us a network and step"] == pytest.approx(each)


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)
def test_states_of_an_rnn_are_the_relu_of_ours(job):
    row = measure(training("some", job, "nn.RNN each", threads=1), budget=0, least=1)
    assert row.wrong == "" and row.threads["numba"] == 1


def test_other_weights_states_and_losses_are_told(monkeypatch):
    job, other = JOBS["ssm"], JOBS["ssm"].first(3)
    ours, theirs = benchmark._fit(job), benchmark._batched(job)
    moved = replace(job, model=job.model.init(1))
    assert "mean losses" in benchmark._same_training(
        job, benchmark._batched, ours, replace(theirs, loss=theirs.loss * 2)
    )
    nan = replace(theirs, loss=np.full_like(theirs.loss, np.nan))
    assert "mean losses" in benchmark._same_training(job, benchmark._batched, ours, nan)
    loosely(monkeypatch)
    wrong = benchmark._same_training(other, lambda _, inputs: benchmark._batched(moved.first(20), inputs), ours, theirs)
    assert wrong.startswith("weights ") and wrong.endswith("apart after 20 steps on the same inputs")
    monkeypatch.setattr(torch_peers, "PlainRNN", lambda model, plain=torch_peers.PlainRNN: plain(model.init(1)))
    assert "states" in benchmark._same_states(job, benchmark._rnn_each, ours, theirs)


def test_an_rnn_of_torch_learns():
    job = Job.of("nonlinear", 1, 4, 200, activities=(0.3,), seeds=2)
    loss = benchmark._rnn_each(job).loss
    assert loss.shape == (200, 2)
    assert loss[-20:].mean() < 0.7 * loss[:20].mean()


def test_the_peer_draws_inputs_of_the_same_law():
    p = torch_peers.single(np.array([0.2, 0.9]))[:, None, None]
    x = torch_peers._drawn(p, (2, 1, 100_000), torch_peers.torch.Generator().manual_seed(0)).numpy()[:, 0]
    assert (x > 0).mean(1) == pytest.approx([0.2, 0.9], abs=0.01)
    assert [row[row > 0].mean() for row in x] == pytest.approx([0.5, 0.5], abs=0.01)
    assert x.max() < 1


def test_large_gradients_are_clipped_as_ours_are(monkeypatch):
    loosely(monkeypatch)
    job = JOBS["ssm"]
    wild = replace(job, model=replace(job.model, W_x=6 * job.model.W_x, W_h=2 * job.model.W_h))
    assert measure(training("wild", wild, "batched"), budget=0, least=1).wrong == ""


@pytest.mark.parametrize("peer", ["scipy", "torch"])
def test_searches_find_the_same_optima(peer):
    row = measure(search(Search((1, 3), (1.0, 0.1)), peer), budget=0, least=1)
    assert row.wrong == "" and row.ratio is not None
    assert row.facts["s for 3500"] == pytest.approx(3.5 * row.facts["ms an optimum"])


def test_another_optimum_is_told():
    ours = np.array([[0.5, 0.25]])
    assert benchmark._same_optima(ours, ours + np.array([0, 1e-5])) == "least losses 1e-05 apart"
    assert benchmark._same_optima(ours, ours + np.array([0, np.nan])) != ""
    assert benchmark._same_optima(ours, ours + np.array([0, 1e-7])) == ""


def test_simulated_memory_is_near_the_exact_one():
    pytest.importorskip("reservoirpy")
    row = measure(memory(5, 20), budget=0, least=1)
    assert row.wrong == "" and row.ratio is not None
    assert 4.5 < row.facts["capacity"] <= 5 + 1e-9


def test_a_reservoir_forgets_ninety_nine_hundredths_within_its_lags():
    given = Reservoir.drawn(4, 30)
    assert np.linalg.matrix_power(given.W_h, 30) @ np.linalg.matrix_power(given.W_h, 30).T == pytest.approx(
        0.01 * np.eye(4)
    )
    assert given.series.shape == (numeric_peers.SIMULATED, 1)


def test_another_capacity_is_told():
    ours = np.array([1.0, 1.0, 1.0])
    assert benchmark._same_capacity(3, ours, ours[1:]) == ""
    assert benchmark._same_capacity(3, ours, ours) == "capacities 2 and 3"
    assert benchmark._same_capacity(3, ours, np.full(2, np.nan)) != ""


def test_without_a_peer_ours_runs_alone():
    job = replace(training("some", JOBS["ssm"], "batched"), peer_module="no_such_module")
    found = replace(search(Search((1,), (1.0,)), "scipy"), peer_module="no_such_module")
    capacity = replace(memory(3, 10), peer_module="no_such_module")
    for work in (job, found, capacity):
        row = measure(work, budget=0, least=1)
        assert row.wrong == "" and row.ratio is None and row.note == "no_such_module is not installed"


def test_peers_load_when_they_run_not_with_the_benchmark():
    code = "import sys, workbench.methods.superposition.benchmark; print({'torch', 'reservoirpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
