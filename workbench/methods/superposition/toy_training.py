"""Training of static models of superposition, many at a time, each on its own stream of inputs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from workbench.harness.progress import Progress, silent
from workbench.harness.threads import numba_at_most
from workbench.methods.superposition import _jit_toy_model, ranges
from workbench.methods.superposition.amplitudes import amplitude_law
from workbench.methods.superposition.sequences import streams
from workbench.methods.superposition.toy_model import ToyModel

CHUNKS = 20  # at least, so that training can be watched and interrupted
EVALUATED = 256


@dataclass(frozen=True, eq=False)
class ToyFit:
    """Trained static models.

    Attributes
    ----------
    model
        The models after the last step.
    loss
        (steps, M): the loss of every batch, divided by that of a model that says 0.
    steps, W, b
        Weights on the way: at steps (S,), W (S, M, m, n) and b (S, M, n), the first before any step and the
        last after all.
    """

    model: ToyModel
    loss: np.ndarray
    steps: np.ndarray
    W: np.ndarray
    b: np.ndarray

    def at(self, i: int) -> ToyModel:
        """Return the models as they were at ``steps[i]``."""
        return replace(self.model, W=self.W[i], b=self.b[i])


def fit_toy(
    model: ToyModel,
    p: float | Sequence[float] | np.ndarray = 1.0,
    *,
    steps: int = 4000,
    batch: int = 256,
    lr: float = 0.01,
    seed: int | Sequence[int] | np.ndarray = 0,
    amplitude: str = "uniform",
    snapshots: int = 0,
    callback: Progress | None = None,
) -> ToyFit:
    """Train static models with Adam, on fresh inputs at every step.

    Parameters
    ----------
    model
        The models, which stay as they are.
    p
        Activity in (0, 1], one for all or (M,).
    steps, batch
        Steps of Adam, and inputs in each.
    lr
        Learning rate, which falls to a fiftieth along a cosine.
    seed
        Seed of the inputs: one for all, or one for each model. With the same seed a model comes out the same
        whatever others are trained beside it.
    amplitude
        Law of the active inputs, a name in `AMPLITUDES`.
    snapshots
        How many times to keep the weights, evenly over the steps, beside those before the first.
    callback
        Called as ``callback(fraction, text)``.

    Returns
    -------
    ToyFit

    Raises
    ------
    ParameterError
        If a parameter is not allowed.

    Notes
    -----
    Cost O(M batch n m) a step, each model on one thread.

    Examples
    --------
    >>> trained = fit_toy(ToyModel(3, 3), 0.5, steps=1000)
    >>> bool(trained.loss[-1, 0] < 0.01)
    True
    """
    for name, value in {"steps": steps, "batch": batch}.items():
        ranges.whole(name, value)
    ranges.whole("snapshots", snapshots, least=0)
    ranges.number("lr", lr, above=0)
    R, states = _with_bias(model), streams(seed, model.n_models)
    means, squares = np.zeros_like(R), np.zeros_like(R)
    loss = np.empty((steps, model.n_models))
    task = _task(model, p, amplitude)
    marks = np.unique(np.linspace(0, steps, max(snapshots, 1) + 1).round().astype(int))
    stops = np.unique(np.concatenate([marks, np.linspace(0, steps, min(CHUNKS, steps) + 1).astype(int)]))
    kept = [R.copy()]
    for start, stop in pairwise(stops.tolist()):
        part = loss[start:stop]
        with numba_at_most(model.n_models):
            _jit_toy_model.train(R, means, squares, states, start, part, steps, lr, model.bias, *task, batch)
        (callback or silent)(stop / steps, f"step {stop} of {steps}")
        if stop in marks:
            kept.append(R.copy())
    W, b = np.array(kept)[:, :, :-1], np.array(kept)[:, :, -1]
    return ToyFit(replace(model, W=W[-1], b=b[-1]), loss, marks, W, b)


def evaluate_toy(
    model: ToyModel,
    p: float | Sequence[float] | np.ndarray = 1.0,
    *,
    n: int = 2**16,
    amplitude: str = "uniform",
    seed: int = 1,
) -> np.ndarray:
    """Return the loss of each model on fresh inputs, divided by that of a model that says 0.

    Parameters
    ----------
    model, p, amplitude
        As for `fit_toy`.
    n
        Inputs, rounded up to a multiple of 256.
    seed
        Seed of the inputs: models of equal activity meet the same ones, so that their losses compare.

    Returns
    -------
    ndarray, (M,)

    Raises
    ------
    ParameterError
        If a parameter is not allowed.

    Examples
    --------
    >>> round(float(evaluate_toy(ToyModel(2, 1, W=[[[0.0, 0.0]]]), 0.5)[0]), 1)
    1.0
    """
    batches = -(-ranges.whole("n", n) // EVALUATED)
    states = streams(np.full(model.n_models, ranges.whole("seed", seed, least=0)), model.n_models)
    with numba_at_most(model.n_models):
        return _jit_toy_model.losses_of(_with_bias(model), states, *_task(model, p, amplitude), EVALUATED, batches)


def _with_bias(model: ToyModel) -> np.ndarray:
    return np.concatenate([model.W, model.b[:, None]], axis=1)


def _task(
    model: ToyModel, p: float | Sequence[float] | np.ndarray, amplitude: str
) -> tuple[np.ndarray, np.ndarray, int, np.ndarray]:
    """Return importance, activity, code of the amplitudes and loss of saying 0, as the compiled loops take them."""
    law, activity = amplitude_law(amplitude), ranges.activities(p, model.n_models)
    return model.importance, activity, law.code, activity * law.second_moment * model.importance.sum(axis=1)
