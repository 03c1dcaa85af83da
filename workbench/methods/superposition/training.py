"""Training of delayed-recall networks, many at a time, each on its own stream of inputs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np

from workbench.errors import MissingExtra, ParameterError
from workbench.harness.progress import Progress, silent
from workbench.harness.threads import numba_at_most
from workbench.methods.superposition import _jit_training, ranges
from workbench.methods.superposition.model import DelayRecall
from workbench.methods.superposition.sequences import streams
from workbench.methods.superposition.task import Task, make_task

RATE = {"linear": 5e-3, "ssm": 5e-3, "nonlinear": 1e-2}
CLIP = 10.0
ENGINES = ("auto", "numba", "torch")
LARGE = 10_000  # N_h (N_h + N_x) from which matrix products of a library are faster
CHUNKS = 50  # in which a training of some length is watched and can be interrupted
SHORTEST_CHUNK = 10  # steps, so that starting the threads costs little beside the work
LONGEST_CHUNK = 100
Advance = Callable[[int, np.ndarray], None]


@dataclass(frozen=True, eq=False)
class Snapshots:
    """Weights on the way: at ``steps`` (S,) steps, W_x (S, M, N_h, N_x), W_h and, where it is not tied, W_y."""

    steps: np.ndarray
    model: DelayRecall
    W_x: np.ndarray
    W_h: np.ndarray
    W_y: np.ndarray | None

    def at(self, i: int) -> DelayRecall:
        """Return the networks as they were at ``steps[i]``."""
        W_y = None if self.W_y is None else self.W_y[i]
        return replace(self.model, W_x=self.W_x[i], W_h=self.W_h[i], W_y=W_y)


@dataclass(frozen=True, eq=False)
class FitResult:
    """Trained networks.

    Attributes
    ----------
    model
        The networks after the last step.
    loss
        (steps, M): the loss of every batch, divided by that of a network that says 0. Nan from where a
        network diverged; it keeps the weights it had.
    snapshots
        Weights on the way, the first before any step and the last after all.
    T
        Steps of a sequence.
    """

    model: DelayRecall
    loss: np.ndarray
    snapshots: Snapshots
    T: int

    @property
    def diverged(self) -> np.ndarray:
        """Which networks (M,) met a loss that is not finite."""
        return np.isnan(self.loss[-1])


def fit(
    model: DelayRecall,
    p: float | Sequence[float] | np.ndarray = 1.0,
    *,
    steps: int = 1500,
    batch: int = 128,
    T: int | None = None,
    lr: float | None = None,
    seed: int | Sequence[int] | np.ndarray = 0,
    amplitude: str = "uniform",
    data: np.ndarray | None = None,
    snapshots: int = 0,
    engine: str = "auto",
    device: str | None = None,
    callback: Progress | None = None,
) -> FitResult:
    """Train networks on k-delay recall with Adam, on fresh inputs at every step.

    Parameters
    ----------
    model
        The networks, which stay as they are.
    p
        Activity in (0, 1], one for all or (M,).
    steps, batch
        Steps of Adam, and sequences in each.
    T
        Steps of a sequence, more than k + 1; by default 4k for one feature and 3k + 2 for several.
    lr
        Learning rate, which falls to a fiftieth along a cosine; by default 0.005, for nonlinear networks 0.01.
    seed
        Seed of the inputs: one for all, or one for each network. Networks do not depend on each other: with the same
        seed a network comes out the same whatever others are trained beside it.
    amplitude
        Law of the active inputs, a name in `AMPLITUDES`.
    data
        Own series (time, N_x); its windows are the sequences, and `p` and `amplitude` do not count.
    snapshots
        How many times to keep the weights, evenly over the steps, beside those before the first.
    engine
        ``"numba"``, ``"torch"``, or ``"auto"``: torch where a `device` is given, and for large networks,
        N_h (N_h + N_x) of 10000 or more, where it is installed.
    device
        Torch's device, e.g. ``"cuda"``.
    callback
        Called as ``callback(fraction, text)``.

    Returns
    -------
    FitResult

    Raises
    ------
    ParameterError
        If a parameter is not allowed.
    DataError
        If the series is not finite numbers (time, N_x), longer than T, not all zero.
    MissingExtra
        If torch is asked for and not installed.

    Notes
    -----
    Gradients are clipped at a norm of 10 a network. Cost O(M batch T N_h (N_h + N_x)) a step, each network on
    one thread; about 10 microseconds a step for N_h = 2, T = 16 and a batch of 128.

    Examples
    --------
    >>> from workbench.methods.superposition.model import DelayRecall
    >>> trained = fit(DelayRecall("linear", n_hidden=2, k=1), 0.5, steps=1000)
    >>> bool(trained.loss[-1, 0] < 0.01)
    True
    """
    for name, value in {"steps": steps, "batch": batch}.items():
        ranges.whole(name, value, 1)
    ranges.whole("snapshots", snapshots, 0)
    rate = ranges.number("lr", RATE[model.kind] if lr is None else lr, above=0)
    task = make_task(model, p, T, amplitude, data)
    weights = _copies(model)
    states = streams(seed, model.n_models)
    trainer = _trainer(engine, device, model)
    advance = trainer(model, weights, states, task, steps=steps, batch=batch, rate=rate, clip=CLIP, device=device)
    return _watched(model, weights, advance, task.T, steps, snapshots, callback or silent)


def evaluate(
    model: DelayRecall,
    p: float | Sequence[float] | np.ndarray = 1.0,
    *,
    T: int | None = None,
    n: int = 4096,
    amplitude: str = "uniform",
    seed: int = 1,
    data: np.ndarray | None = None,
) -> np.ndarray:
    """Return the loss of each network on fresh sequences, divided by that of a network that says 0.

    Parameters
    ----------
    model, p, T, amplitude, data
        As for `fit`.
    n
        Sequences, rounded up to a multiple of 128.
    seed
        Seed of the sequences: networks of equal activity meet the same ones, so that their losses compare.

    Returns
    -------
    ndarray, (M,)

    Raises
    ------
    ParameterError, DataError
        As `fit` does.

    Examples
    --------
    >>> from workbench.methods.superposition.model import DelayRecall
    >>> silent = DelayRecall("ssm", k=1, W_x=[[[0.0], [0.0]]], W_h=[[[0.0, 0.0], [0.0, 0.0]]])
    >>> round(float(evaluate(silent, 0.5)[0]), 1)
    1.0
    """
    task = make_task(model, p, T, amplitude, data)
    batches = -(-ranges.whole("n", n, 1) // 128)
    with np.errstate(over="ignore", invalid="ignore"):  # a network that grows beyond all numbers scores nan
        weights = (model.W_x, model.W_h, np.ascontiguousarray(model.readout))
    states = streams(np.full(model.n_models, ranges.whole("seed", seed, 0)), model.n_models)
    with numba_at_most(model.n_models):
        return _jit_training.losses_of(weights, states, _shape(model), task.inputs, 128, batches, task.T)


def _copies(model: DelayRecall) -> tuple[np.ndarray, ...]:
    W_y = np.zeros_like(model.W_x) if model.tied else model.W_y.copy()  # written by the loops where it is tied
    return model.W_x.copy(), model.W_h.copy(), W_y


def _shape(model: DelayRecall) -> tuple[Any, ...]:
    return model.k, model.tied, model.relu_h, model.relu_y, model.importance


def _trainer(engine: str, device: str | None, model: DelayRecall) -> Any:
    if engine not in ENGINES:
        raise ParameterError(f"engine = {engine!r} is not known: one of {', '.join(ENGINES)}")
    if engine == "numba" and device is not None:
        raise ParameterError(f"device = {device!r} goes with engine 'torch', not 'numba'")
    installed = find_spec("torch") is not None
    wanted = device is not None or (installed and model.n_hidden * (model.n_hidden + model.n_features) >= LARGE)
    if engine == "numba" or (engine == "auto" and not wanted):
        return _compiled
    if not installed:
        raise MissingExtra("torch", "torch", "the engine 'torch'")
    from workbench.methods.superposition import torch_training

    return torch_training.trainer


def _compiled(
    model: DelayRecall,
    weights: tuple[np.ndarray, ...],
    states: np.ndarray,
    task: Task,
    *,
    steps: int,
    batch: int,
    rate: float,
    clip: float,
    device: None,
) -> Advance:
    """Return ``advance(start, losses)``, which trains the weights in place with compiled loops."""
    moments = tuple(np.zeros_like(w) for w in (*weights, *weights))

    def advance(start: int, losses: np.ndarray) -> None:
        shape = _shape(model)
        with numba_at_most(model.n_models):
            _jit_training.train(
                weights, moments, states, start, losses, steps, rate, shape, task.inputs, batch, task.T, clip
            )

    return advance


def _watched(
    model: DelayRecall,
    weights: tuple[np.ndarray, ...],
    advance: Advance,
    T: int,
    steps: int,
    snapshots: int,
    callback: Progress,
) -> FitResult:
    """Advance in chunks, telling `callback` and keeping the weights at even distances."""
    marks = np.unique(np.linspace(0, steps, max(snapshots, 1) + 1).round().astype(int))
    loss = np.empty((steps, model.n_models))
    kept = [[w.copy() for w in weights]]
    for start, stop in pairwise(_stops(steps, marks)):
        advance(start, loss[start:stop])
        callback(stop / steps, f"step {stop} of {steps}")
        if stop in marks:
            kept.append([w.copy() for w in weights])
    W_x, W_h, W_y = (np.array(part) for part in zip(*kept, strict=True))
    trained = Snapshots(marks, model, W_x, W_h, None if model.tied else W_y)
    return FitResult(trained.at(-1), loss, trained, T)


def _stops(steps: int, marks: np.ndarray) -> list[int]:
    chunks = max(min(CHUNKS, steps // SHORTEST_CHUNK), steps // LONGEST_CHUNK, 1)
    return np.union1d(marks, np.linspace(0, steps, chunks + 1).astype(int)).tolist()
