"""What superposition is timed on: training against torch, the best linear models, the memory of reservoirs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.harness.benchmark import Workload
from workbench.methods.superposition import _jit_recall, _jit_sequences, numeric_peers
from workbench.methods.superposition.capacity import linear_capacity
from workbench.methods.superposition.model import DelayRecall
from workbench.methods.superposition.numeric_peers import Reservoir, Search
from workbench.methods.superposition.optimum import optimal_linear
from workbench.methods.superposition.sequences import NO_SERIES, streams
from workbench.methods.superposition.training import FitResult, fit

if TYPE_CHECKING:
    from workbench.methods.superposition.torch_peers import Trained

ACTIVITIES = (1.0, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01)
SEEDS = 6
BATCH = 128
STEPS = 200
STEPS_EACH = 20  # where every network has a module of its own, at a tenth of a second a step
STEPS_ALIKE = 20  # on the same inputs, after which the weights are compared
WEIGHTS_AGREE = 1e-5
STATES_AGREE = 1e-5
LOSSES_AGREE = 0.1  # of batches drawn apart, as a share of their mean
OPTIMA_AGREE = 1e-6
CAPACITY_AGREES = 0.03  # a simulated capacity, as a share of N
MODELS = 3500

Inputs = Iterable[np.ndarray]


@dataclass(frozen=True, eq=False)
class Job:
    """Networks to train, and for how long.

    Attributes
    ----------
    model, p
        The networks and the activity of each.
    T, steps, batch
        Steps of a sequence, steps of training, and sequences in each.
    """

    model: DelayRecall
    p: np.ndarray
    T: int
    steps: int
    batch: int = BATCH

    @classmethod
    def of(
        cls,
        kind: str,
        k: int,
        T: int,
        steps: int,
        *,
        n_features: int = 1,
        n_hidden: int = 2,
        activities: Sequence[float] = ACTIVITIES,
        seeds: int = SEEDS,
    ) -> "Job":
        """Return the job of training one network for each activity and seed."""
        p = np.repeat(activities, seeds).astype(float)
        importance = 0.7 ** np.arange(n_features)
        model = DelayRecall(kind, n_hidden, n_features, k, importance=importance, n_models=len(p)).init(0)
        return cls(model, p, T, steps)

    def first(self, steps: int) -> "Job":
        """Return the job of as many steps."""
        return replace(self, steps=steps)

    def inputs(self) -> Iterator[np.ndarray]:
        """Yield the inputs of each step as `fit` draws them, in the order (M, N_x, T B) of `torch_peers`."""
        model, states = self.model, streams(0, self.model.n_models)
        x = np.empty((model.n_models, self.T, model.n_features, self.batch), np.float32)
        for _ in range(self.steps):
            _jit_sequences.draw_all(x, self.p, 0, NO_SERIES, states)
            yield np.moveaxis(x, 1, 2).reshape(model.n_models, model.n_features, -1)


def training(name: str, job: Job, peer: str, *, threads: int | None = None, quick: bool = False) -> Workload:
    """Return the workload: every network of the job trained on inputs drawn anew at every step.

    Parameters
    ----------
    name
        What the networks are.
    job
        The networks; ours and the peer train all of them for as many steps.
    peer
        ``"nn.RNN each"``: torch's own RNN, one module and optimiser a network. It computes other networks, see
        `torch_peers.PlainRNN`: what is compared is their states before training.
        ``"module each"``: our networks step by step, one module and optimiser each.
        ``"batched"``: all our networks in one tensor, step by step.
        ``"kernel space"``: our own torch engine.
    threads
        Threads of ours, None for all cores; torch has one unless told otherwise.
    quick
        Whether it is run with ``--quick``.
    """
    cores = {None: "all cores", 1: "one thread"}[threads]
    check = _same_states if peer == "nn.RNN each" else _same_training
    return Workload(
        f"{name}: {peer}, {cores}",
        f"{name}, {cores}: torch, {peer}",
        prepare=lambda: job,
        ours=_fit,
        peer=PEERS[peer],
        peer_name=f"torch, {peer}",
        peer_module="torch",
        check=lambda ours, theirs: "" if theirs is None else check(job, PEERS[peer], ours, theirs),
        facts=lambda ours, seconds: {"us a network and step": 1e6 * seconds / ours.loss.size},
        threads=threads,
        quick=quick,
    )


def search(given: Search, peer: str, *, quick: bool = False) -> Workload:
    """Return the workload: the least expected loss of linear models, at every delay and activity.

    Parameters
    ----------
    given
        The delays and activities.
    peer
        ``"scipy"``: `scipy.optimize.minimize` on the exact loss. ``"torch"``: Adam on the exact loss, all activities
        in one tensor. Both from several starts.
    quick
        Whether it is run with ``--quick``.
    """
    run = {"scipy": numeric_peers.minimized, "torch": _descended}[peer]
    count = len(given.delays) * len(given.activities)
    return Workload(
        f"optima {count}: {peer}",
        f"least expected loss: {peer}",
        prepare=lambda: given,
        ours=_optima,
        peer=run,
        peer_name={"scipy": "scipy BFGS on the exact loss", "torch": "torch Adam on the exact loss, batched"}[peer],
        peer_module=peer,
        check=_same_optima,
        facts=lambda _, seconds: {"ms an optimum": 1e3 * seconds / count, f"s for {MODELS}": MODELS * seconds / count},
        quick=quick,
    )


def memory(units: int, lags: int, *, quick: bool = False) -> Workload:
    """Return the workload: the memory capacity of a linear reservoir; ours exact, the peer's simulated.

    Parameters
    ----------
    units
        N.
    lags
        Greatest delay.
    quick
        Whether it is run with ``--quick``.
    """
    return Workload(
        f"memory of {units} units",
        "memory capacity: exact against simulated",
        prepare=lambda: Reservoir.drawn(units, lags),
        ours=lambda given: linear_capacity(given.W_h, given.W_x, lags + 1),
        peer=numeric_peers.simulated_capacity,
        peer_name=f"reservoirpy, estimated from {numeric_peers.SIMULATED} steps",
        peer_module="reservoirpy",
        check=lambda ours, theirs: _same_capacity(units, ours, theirs),
        facts=lambda ours, seconds: {"capacity": float(ours.sum())},
        quick=quick,
    )


def _fit(job: Job) -> FitResult:
    return fit(job.model, job.p, T=job.T, batch=job.batch, steps=job.steps)


def _kernel_space(job: Job, inputs: Inputs | None = None) -> FitResult:
    return fit(job.model, job.p, T=job.T, batch=job.batch, steps=job.steps, engine="torch")


def _batched(job: Job, inputs: Inputs | None = None) -> "Trained":
    from workbench.methods.superposition import torch_peers

    return torch_peers.train([torch_peers.StepByStep(job.model)], job.model, job.p, **_sizes(job), inputs=inputs)


def _module_each(job: Job, inputs: Inputs | None = None) -> "Trained":
    from workbench.methods.superposition import torch_peers

    networks = [torch_peers.StepByStep(job.model.take(m)) for m in range(job.model.n_models)]
    return torch_peers.train(networks, job.model, job.p, **_sizes(job), inputs=inputs)


def _rnn_each(job: Job, inputs: Inputs | None = None) -> "Trained":
    from workbench.methods.superposition import torch_peers

    networks = [torch_peers.PlainRNN(job.model.take(m)) for m in range(job.model.n_models)]
    return torch_peers.train(networks, job.model, job.p, **_sizes(job), inputs=inputs)


PEERS: dict[str, Callable[..., Any]] = {
    "nn.RNN each": _rnn_each,
    "module each": _module_each,
    "batched": _batched,
    "kernel space": _kernel_space,
}


def _sizes(job: Job) -> dict[str, int]:
    return {"T": job.T, "batch": job.batch, "steps": job.steps}


def _same_training(job: Job, peer: Callable[..., Any], ours: FitResult, theirs: Any) -> str:
    """Compare the losses of the timed runs, and the weights after a few steps on the same inputs."""
    apart = abs(theirs.loss.mean() / ours.loss.mean() - 1)
    if not apart <= LOSSES_AGREE:
        return f"mean losses {ours.loss.mean():.4g} and {theirs.loss.mean():.4g}"
    few = job.first(STEPS_ALIKE)
    mine, other = _weights(_fit(few)), _weights(peer(few, few.inputs()))
    off = max(float(np.abs(mine[name] - other[name]).max()) for name in ("W_x", "W_h"))
    return "" if off <= WEIGHTS_AGREE else f"weights {off:.2g} apart after {STEPS_ALIKE} steps on the same inputs"


def _weights(trained: Any) -> dict[str, Any]:
    return trained.model.weights() if isinstance(trained, FitResult) else trained.weights()


def _same_states(job: Job, peer: Callable[..., Any], ours: FitResult, theirs: "Trained") -> str:
    """Compare the states of torch's RNN with the ReLU of ours, for the same weights and inputs."""
    from workbench.methods.superposition import torch_peers

    x = next(job.inputs())
    off = 0.0
    for m in range(job.model.n_models):
        h = np.empty((job.T, job.model.n_hidden, job.batch), np.float32)
        ordered = x[m].reshape(-1, job.T, job.batch).swapaxes(0, 1)
        _jit_recall.forward(ordered, job.model.W_x[m], job.model.W_h[m], True, h)
        states = torch_peers.PlainRNN(job.model.take(m)).states(torch_peers.single(x[m : m + 1]), job.batch)
        off = max(off, float(np.abs(np.maximum(h, 0) - states.detach().numpy().swapaxes(1, 2)).max()))
    return "" if off <= STATES_AGREE else f"states {off:.2g} apart"


def _optima(given: Search) -> np.ndarray:
    moments = {"mu": numeric_peers.MEAN, "nu": numeric_peers.SECOND}
    return np.array(
        [
            [optimal_linear(k, given.n_hidden, p=p, T=given.steps(k), **moments).loss for p in given.activities]
            for k in given.delays
        ]
    )


def _descended(given: Search) -> np.ndarray:
    from workbench.methods.superposition import torch_peers

    return np.array([torch_peers.descended(given, k) for k in given.delays])


def _same_optima(ours: np.ndarray, theirs: np.ndarray | None) -> str:
    off = 0.0 if theirs is None else float(np.abs(ours - theirs).max())
    return "" if off <= OPTIMA_AGREE else f"least losses {off:.2g} apart"


def _same_capacity(units: int, ours: np.ndarray, theirs: np.ndarray | None) -> str:
    """Compare the sums over the delays from 1 on; reservoirpy leaves out 0."""
    total, estimate = ours[1:].sum(), ours[1:].sum() if theirs is None else theirs.sum()
    return "" if abs(total - estimate) <= CAPACITY_AGREES * units else f"capacities {total:.4g} and {estimate:.4g}"


SSM = Job.of("ssm", 4, 16, STEPS)
LONGER = Job.of("ssm", 5, 20, STEPS)
NONLINEAR = Job.of("nonlinear", 3, 12, STEPS)
VECTOR = Job.of("ssm", 3, 11, STEPS, n_features=5)
LARGE = Job.of("ssm", 2, 8, STEPS, n_features=75, n_hidden=100, activities=(0.05,), seeds=1)

WORKLOADS = (
    training("54 ssm, k=4", SSM.first(STEPS_EACH), "nn.RNN each", quick=True),
    training("54 ssm, k=4", SSM.first(STEPS_EACH), "nn.RNN each", threads=1),
    training("54 ssm, k=4", SSM.first(STEPS_EACH), "module each"),
    training("54 ssm, k=4", SSM, "batched", quick=True),
    training("54 ssm, k=4", SSM, "batched", threads=1),
    training("54 ssm, k=4", SSM, "kernel space"),
    training("54 ssm, k=5", LONGER.first(STEPS_EACH), "nn.RNN each"),
    training("54 ssm, k=5", LONGER, "batched"),
    training("54 nonlinear, k=3", NONLINEAR.first(STEPS_EACH), "nn.RNN each"),
    training("54 nonlinear, k=3", NONLINEAR, "batched"),
    training("54 nonlinear, k=3", NONLINEAR, "batched", threads=1),
    training("54 ssm, 5 features, k=3", VECTOR, "batched"),
    training("54 ssm, 5 features, k=3", VECTOR, "batched", threads=1),
    training("one ssm, 75 features, 100 units, k=2", LARGE, "batched"),
    search(Search((2, 5, 8), (1.0, 0.05)), "scipy", quick=True),
    search(Search((4,), tuple(np.geomspace(0.01, 1, 100).tolist())), "torch"),
    memory(20, 100, quick=True),
    memory(100, 500),
)
