"""Learning without noise: gradient descent of linear models on the exact expected loss (the paper's Eq. 5).

The loss is a polynomial in the weights, known exactly (see ``expected_loss``), so no inputs are drawn and the path of
the weights is that of infinitely large batches. From small weights it is a staircase: plateaus near saddle points, and
quick drops between them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.errors import ParameterError, RunError
from workbench.harness.progress import Progress, silent
from workbench.methods.superposition import _jit_dynamics as _jit
from workbench.methods.superposition import ranges
from workbench.methods.superposition.exact_loss import LossTerms, expected_loss, loss_terms, null_loss
from workbench.methods.superposition.model import DelayRecall
from workbench.methods.superposition.task import default_steps

DIVERGED = 1e100  # a loss, that of a model that answers 0 being 1; its terms are not yet beyond any number


@dataclass(frozen=True, eq=False)
class Descent:
    """The path of M models under gradient descent, at R of its steps.

    Attributes
    ----------
    steps
        The steps of descent that are recorded, (R,), from 0 on.
    loss
        Exact expected loss, (R, M), divided by that of a model that answers 0.
    terms
        The four terms it is the sum of, each (R, M).
    kernel
        ``a_s`` (R, M, T) for one feature, ``A_s`` (R, M, T, N_x, N_x) for several.
    model
        The models after the last step.
    W_x, W_h, W_y
        Weights on the way, (R, M, ...); W_y is None where it is tied.
    """

    steps: np.ndarray
    loss: np.ndarray
    terms: LossTerms
    kernel: np.ndarray
    model: DelayRecall
    W_x: np.ndarray
    W_h: np.ndarray
    W_y: np.ndarray | None

    def at(self, i: int) -> DelayRecall:
        """Return the models as they were at ``steps[i]``."""
        return replace(self.model, W_x=self.W_x[i], W_h=self.W_h[i], W_y=None if self.W_y is None else self.W_y[i])


def descend(
    model: DelayRecall,
    p: float | Sequence[float] | np.ndarray = 1.0,
    *,
    T: int | None = None,
    mu: float = 0.5,
    nu: float = 1 / 3,
    steps: int = 20_000,
    lr: float = 5e-3,
    records: int = 200,
    callback: Progress | None = None,
) -> Descent:
    """Let linear models descend the gradient of the exact expected loss.

    Parameters
    ----------
    model
        Models of the kind "linear"; they stay as they are. ``init(seed, scale=0.02)`` gives small weights.
    p
        Activity in (0, 1], one for all or (M,).
    T
        Steps of a sequence, more than k; by default as in ``fit``: 4k for one feature and 3k + 2 for several.
    mu, nu
        Mean and raw second moment of an active input; by default those of the uniform law.
    steps
        Steps of descent, at least 1.
    lr
        Learning rate, on the loss divided by that of a model that answers 0. Up to 0.01 the loss falls at every step
        from small weights, at k = 4; larger ones may overshoot where it falls quickly.
    records
        How many steps to record, evenly, beside the first.
    callback
        Called as ``callback(fraction, text)``.

    Returns
    -------
    Descent

    Raises
    ------
    ParameterError
        If the models are not linear, or a parameter is out of range.
    RunError
        If a loss is no longer finite, or beyond 1e100; the message names the models.

    Notes
    -----
    From small weights the loss stays at 1, falls to the optimum with one hidden unit (see ``optimal_linear``) while all
    directions ``w_s`` are aligned, then to that with two, and so on. The first drop takes longest: its time grows
    with k and as p falls; 20 000 steps see both at k = 4, N_h = 2 and p from 0.1 to 1.

    Plain gradient descent with a constant rate, in double precision. The gradient is an adjoint recursion of cost
    O(T N_h N_x (N_h + N_x)) a model and step, about a microsecond for N_h = 2, T = 16. Models are independent
    and deterministic, whatever the number of threads.

    Examples
    --------
    >>> path = descend(DelayRecall("linear", k=2).init(3, scale=0.02), steps=5000)
    >>> path.loss.shape, round(float(path.loss[0, 0]), 3), round(float(path.loss[-1, 0]), 3)
    ((201, 1), 0.997, 0.165)
    """
    if model.kind != "linear":
        raise ParameterError(f"model of kind {model.kind!r}: the exact loss is known for the kind 'linear' only")
    if not 0 < lr < np.inf:
        raise ParameterError(f"lr = {lr!r} is not allowed: it takes a finite number above 0")
    p = ranges.activities(p, model.n_models)
    T = ranges.horizon(default_steps(model.k, model.n_features) if T is None else T, model.k) or 0
    ranges.moments(mu, nu)
    at = np.unique(np.linspace(0, ranges.whole("steps", steps, 1), ranges.whole("records", records, 1) + 1).astype(int))
    weights = _descended(model, p * mu**2 / nu, T, at, np.full(model.n_models, float(lr)), callback or silent)
    return _described(model, p, mu, nu, T, at, weights)


def _descended(
    model: DelayRecall, beta: np.ndarray, T: int, at: np.ndarray, lr: np.ndarray, callback: Progress
) -> dict[str, np.ndarray]:
    """Return the weights, W_x, W_h and W_y, at the steps `at`."""
    W_x, W_h, W_y = model.W_x.copy(), model.W_h.copy(), np.array(model.readout, order="C")
    now = {"W_x": W_x, "W_h": W_h, "W_y": W_y}
    path = {name: np.empty((len(at), *w.shape)) for name, w in now.items()}
    loss = np.empty(model.n_models)
    for r, count in enumerate(np.diff(at, prepend=0)):
        for m in range(model.n_models):
            task = (model.tied, model.k, T, beta[m], model.importance)
            loss[m] = _jit.descend(count, lr[m], W_x[m], W_h[m], W_y[m], *task)
        if lost := np.flatnonzero(~(loss < DIVERGED)).tolist():
            raise RunError(f"gradient descent diverged before step {at[r]} in the models {lost}: take a smaller lr")
        for name, w in now.items():
            path[name][r] = w
        callback((r + 1) / len(at), f"step {at[r]} of {at[-1]}")
    return path


def _described(
    model: DelayRecall, p: np.ndarray, mu: float, nu: float, T: int, at: np.ndarray, path: dict[str, np.ndarray]
) -> Descent:
    law = {"p": p, "nu": nu, "T": T, "importance": model.importance}
    W_x, W_h, W_y = path["W_x"], path["W_h"], None if model.tied else path["W_y"]
    moments = [replace(model, W_x=W_x[r], W_h=W_h[r], W_y=None if W_y is None else W_y[r]) for r in range(len(at))]
    kernel = np.stack([then.kernel(T - 1) for then in moments])
    null = null_loss(model.k, **law)
    terms = loss_terms(kernel, model.k, mu=mu, **law)
    return Descent(
        steps=at,
        loss=np.asarray(expected_loss(kernel, model.k, mu=mu, **law) / null),
        terms=LossTerms(**{name: value / null for name, value in vars(terms).items()}),
        kernel=kernel[..., 0, 0] if model.n_features == 1 else kernel,
        model=moments[-1],
        W_x=W_x,
        W_h=W_h,
        W_y=W_y,
    )
