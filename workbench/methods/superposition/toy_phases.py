"""Two features in one hidden unit: which is kept, or both as an antipodal pair, over activity and importance.

The first feature has importance 1, the second I; amplitudes are uniform on [0, 1]. The static model of `toy_model` may
give its unit to the more important feature, or store both at W = (1, -1), where each is read right while the other
is silent. Elhage et al. (2022), the phase diagram of n = 2, m = 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from workbench.errors import ParameterError
from workbench.harness.progress import Progress
from workbench.methods.superposition import ranges
from workbench.methods.superposition.toy_model import ToyModel
from workbench.methods.superposition.toy_training import evaluate_toy, fit_toy

PHASES = ("first alone", "antipodal", "second alone")
OTHER = -1  # a trained model in none of the phases
LENGTH = 0.5  # of the longer column, from which a column counts as represented


@dataclass(frozen=True)
class PhaseDiagram:
    """Which phase wins at each activity and importance of the second feature.

    Attributes
    ----------
    p, importance
        The grid.
    predicted
        (P, I): place in `PHASES` of the least of the closed-form losses.
    predicted_loss
        (P, I): that loss, divided by that of saying 0.
    trained
        (P, I): place in `PHASES` of the best of the trained models, -1 if it is in none of them.
    trained_loss
        (P, I): its loss on fresh inputs, divided by that of saying 0.
    W, b
        (P, I, 2): its weights and bias.
    """

    p: Float[np.ndarray, " P"]
    importance: Float[np.ndarray, " I"]
    predicted: Int[np.ndarray, "P I"]
    predicted_loss: Float[np.ndarray, "P I"]
    trained: Int[np.ndarray, "P I"]
    trained_loss: Float[np.ndarray, "P I"]
    W: Float[np.ndarray, "P I 2"]
    b: Float[np.ndarray, "P I 2"]


def antipodal_loss(p: ArrayLike, importance: ArrayLike = 1.0) -> np.ndarray:
    """Return the expected loss of W = (1, -1) without bias, p^2 (1 + I) / 6: both features are wrong when both are on.

    Parameters
    ----------
    p
        Activity, in (0, 1].
    importance
        I, the importance of the second feature; that of the first is 1.

    Returns
    -------
    ndarray
        Of the shape that `p` and `importance` broadcast to.

    Raises
    ------
    ParameterError
        If `p` is not in (0, 1] or `importance` is not above 0.

    Examples
    --------
    >>> round(float(antipodal_loss(4 / 7)), 5)
    0.10884
    """
    p, importance = _checked(p, importance)
    return np.asarray(p**2 * (1 + importance) / 6)


def ignore_loss(p: ArrayLike, importance: ArrayLike = 1.0) -> np.ndarray:
    """Return the expected loss of a feature that is only guessed by its mean p/2, I (p/3 - p^2/4).

    Parameters
    ----------
    p
        Activity, in (0, 1].
    importance
        I, the importance of the feature that is ignored.

    Returns
    -------
    ndarray
        Of the shape that `p` and `importance` broadcast to.

    Raises
    ------
    ParameterError
        If `p` is not in (0, 1] or `importance` is not above 0.

    Examples
    --------
    >>> round(float(ignore_loss(4 / 7)), 5)
    0.10884
    """
    p, importance = _checked(p, importance)
    return np.asarray(importance * (p / 3 - p**2 / 4))


def antipodal_boundary(importance: ArrayLike) -> np.ndarray:
    """Return the activity below which the antipodal pair loses less than giving the unit to one feature.

    Parameters
    ----------
    importance
        I, the importance of the second feature; that of the first is 1.

    Returns
    -------
    ndarray
        p = 4 I / (2 + 5 I) for I <= 1, where `antipodal_loss` meets `ignore_loss`; for I > 1 the first feature is
        the one to ignore, and 1/I takes the place of I.

    Raises
    ------
    ParameterError
        If `importance` is not above 0.

    Examples
    --------
    >>> antipodal_boundary([1.0, 0.5, 2.0]).round(4).tolist()
    [0.5714, 0.4444, 0.4444]
    """
    _, importance = _checked(1.0, importance)
    smaller = np.minimum(importance, 1 / importance)
    return np.asarray(4 * smaller / (2 + 5 * smaller))


def predict_phases(p: ArrayLike, importance: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the phase of least closed-form loss, as its place in `PHASES`, and that loss over that of saying 0.

    Parameters
    ----------
    p, importance
        Activity, and importance of the second feature.

    Returns
    -------
    phase, loss
        Of the shape that `p` and `importance` broadcast to.

    Raises
    ------
    ParameterError
        If `p` is not in (0, 1] or `importance` is not above 0.

    Examples
    --------
    >>> PHASES[int(predict_phases(0.2, 0.9)[0])]
    'antipodal'
    """
    p, importance = np.broadcast_arrays(*_checked(p, importance))
    losses = np.stack([ignore_loss(p, importance), antipodal_loss(p, importance), ignore_loss(p)])
    return np.asarray(losses.argmin(axis=0)), np.asarray(losses.min(axis=0) / (p * (1 + importance) / 3))


def phase_diagram(
    p: Sequence[float] | np.ndarray,
    importance: Sequence[float] | np.ndarray,
    *,
    seeds: int = 8,
    steps: int = 1000,
    batch: int = 256,
    seed: int = 0,
    callback: Progress | None = None,
) -> PhaseDiagram:
    """Return which phase wins over a grid of activities and importances, by closed form and by training.

    Parameters
    ----------
    p, importance
        The grid: activities in (0, 1], importances of the second feature above 0.
    seeds
        Models trained at each point; the one of least loss on fresh inputs counts. About half of them start with
        weights of the same sign, and many of those stay with one feature where the pair would be better.
    steps, batch, callback
        As for `fit_toy`.
    seed
        Seed of all weights and inputs.

    Returns
    -------
    PhaseDiagram

    Raises
    ------
    ParameterError
        If a parameter is not allowed.

    Notes
    -----
    Trained models also move their bias and lengths, so that near the boundaries they lose less than the closed forms.
    Cost O(points seeds steps batch), about 5 microseconds a model and step.

    Examples
    --------
    >>> found = phase_diagram([0.1, 1.0], [0.5], steps=500)
    >>> [PHASES[phase] for phase in found.trained[:, 0]]
    ['antipodal', 'first alone']
    """
    p, importance = (np.atleast_1d(values) for values in _checked(p, importance))
    if p.ndim != 1 or importance.ndim != 1:
        raise ParameterError(f"p has shape {p.shape} and importance {importance.shape}: give a list of each")
    ranges.whole("seed", seed, least=0)
    grid = (len(p), len(importance), ranges.whole("seeds", seeds))
    each_p, second = (np.broadcast_to(v, grid).ravel() for v in (p[:, None, None], importance[None, :, None]))
    model = ToyModel(2, 1, importance=np.stack([np.ones_like(second), second], axis=1), n_models=len(each_p))
    model = fit_toy(model.init(seed), each_p, steps=steps, batch=batch, seed=seed, callback=callback).model
    loss = evaluate_toy(model, each_p, seed=seed + 1).reshape(grid)
    best = model.take(np.arange(0, loss.size, seeds) + loss.argmin(axis=2).ravel())
    W, b = best.W.reshape(*grid[:2], 2), best.b.reshape(*grid[:2], 2)
    predicted, predicted_loss = predict_phases(p[:, None], importance[None, :])
    return PhaseDiagram(p, importance, predicted, predicted_loss, classify(W), loss.min(axis=2), W, b)


def classify(W: Float[np.ndarray, "*points 2"]) -> Int[np.ndarray, "*points"]:
    """Return the phase that weights of two features and one unit are in, as its place in `PHASES`, else -1.

    A feature is represented if its weight is at least half as long as the longer one and not below 1/4.

    Examples
    --------
    >>> classify(np.array([[1.0, 0.1], [-0.9, 1.1], [0.1, -1.0], [1.0, 1.0], [0.0, 0.0]])).tolist()
    [0, 1, 2, -1, -1]
    """
    length = np.abs(W)
    longest = length.max(axis=-1)
    first, second = np.moveaxis((length >= LENGTH * longest[..., None]) & (longest[..., None] >= LENGTH / 2), -1, 0)
    opposite = W[..., 0] * W[..., 1] < 0
    return np.asarray(np.select([first & second & opposite, first & ~second, second & ~first], [1, 0, 2], OTHER))


def _checked(p: ArrayLike, importance: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    importance = ranges.numbers("importance", importance)
    if not ((importance > 0) & np.isfinite(importance)).all():
        raise ParameterError(f"importance = {importance} is not allowed: it takes finite numbers above 0")
    return ranges.activity(p), importance
