"""The exact expected loss of a linear model that recalls its input of k steps ago (the paper's Eq. 5).

A model answers ``y_t = sum_s A_s x_{t-s}`` with the kernel ``A_s = W_y^T W_h^s W_x``, s = 0..t-1 (numbers
``a_s = w_y . w_s`` for one feature). Inputs ``x = b u`` are independent, b is 1 with probability p, u has mean mu
and raw second moment nu. The target is ``x_{t-k}``, and 0 for t <= k. With errors ``C_s = A_s - [s = k] I``::

    E |y_t - x_{t-k}|^2 = Var(x) sum C_s,ij^2 + E[x]^2 sum_i (sum_sj C_s,ij)^2,   E[x] = p mu, Var(x) = p nu - (p mu)^2
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from workbench.errors import DataError
from workbench.methods.superposition import ranges


@dataclass(frozen=True)
class LossTerms:
    """The four terms of the expected loss, in squared units of the input, each of the models' shape.

    Attributes
    ----------
    task
        ``p nu (a_k - 1)^2``: what is asked for is not returned whole.
    mean_correction
        ``-2 (p mu)^2 sum_{s != k} a_s``: other inputs stand in for the mean of the one asked for.
    projection
        ``p nu sum_{s != k} a_s^2``: inputs of other times, and other features, leak into the answer one by one.
    composition
        ``(p mu)^2 sum_{s != s'} a_s a_s'``: they leak together.
    """

    task: np.ndarray | float
    mean_correction: np.ndarray | float
    projection: np.ndarray | float
    composition: np.ndarray | float

    @property
    def total(self) -> np.ndarray | float:
        """The sum of the terms, the expected loss."""
        return self.task + self.mean_correction + self.projection + self.composition


def expected_loss(
    A: ArrayLike,
    k: int,
    *,
    p: ArrayLike,
    mu: ArrayLike,
    nu: ArrayLike,
    T: int | None = None,
    importance: ArrayLike | None = None,
) -> np.ndarray | float:
    """Return the expected squared error of recalling the input of `k` steps ago with a linear kernel.

    Parameters
    ----------
    A
        A scalar kernel ``a_s`` of shape (S,), or kernels of shape (..., S, N_x, N_x) as ``DelayRecall.kernel``
        returns them: ``A[..., s, i, j]`` is what output i answers to feature j, s steps later.
    k
        Delay in steps, at least 0.
    p
        Activity, the probability that an input is not zero, ``0 < p <= 1``; broadcast with the models.
    mu, nu
        Mean and raw second moment of an active input, ``mu^2 <= nu``; broadcast with the models.
    T
        None for the loss of one step late in a sequence, with a kernel that is zero beyond the lags given.
        Else the sum over the steps t = 1..T of a sequence that starts from rest; needs S >= T.
    importance
        Weight of each feature's squared error, shape (N_x,); ones if None.

    Returns
    -------
    ndarray or float
        The loss of each model, in squared units of the input; a float for one model.

    Raises
    ------
    DataError
        If `A` is not of such a shape, not finite or too short, or `importance` does not fit.
    ParameterError
        If `k`, `T`, `p`, `mu` or `nu` is out of range.

    Notes
    -----
    The sum over t needs no sum over lags at every step: both sums of the formula at the head of this module are
    prefix sums. Cost O(S N_x^2) a model. The paper's Eq. 5.

    Examples
    --------
    A perfect delay by two steps has no loss; answering 0 loses ``p nu`` at every step with a target.

    >>> expected_loss([0.0, 0.0, 1.0], 2, p=0.5, mu=0.5, nu=1 / 3)
    0.0
    >>> round(expected_loss(np.zeros(10), 2, p=0.5, mu=0.5, nu=1 / 3, T=10), 6)
    1.333333
    """
    p, mu, nu = ranges.activity(p), *ranges.moments(mu, nu)
    lags = _Lags.of(A, k, T, importance)
    missing = lags.on * (lags.kept - 1)
    squares = lags.weighted(lags.other_squares + missing**2)
    sums = lags.weighted((lags.other_sums + missing) ** 2)
    return _plain((p * nu - (p * mu) ** 2) * squares + (p * mu) ** 2 * sums)


def loss_terms(
    A: ArrayLike,
    k: int,
    *,
    p: ArrayLike,
    mu: ArrayLike,
    nu: ArrayLike,
    T: int | None = None,
    importance: ArrayLike | None = None,
) -> LossTerms:
    """Return the expected loss split into task, mean correction, projection and composition interference.

    Parameters
    ----------
    A, k, p, mu, nu, T, importance
        As for `expected_loss`.

    Returns
    -------
    LossTerms
        The four terms; their ``total`` is `expected_loss`.

    Raises
    ------
    DataError, ParameterError
        As `expected_loss`.

    Notes
    -----
    The mean correction is the cross term with the target, so its sum leaves out the lag k; the sum of the
    composition does not. Where there is no target yet (t <= k) only the last two terms occur. With many features
    "s" counts pairs of lag and feature, and lag k of the feature asked for is what the others are set apart from.
    Cost O(S N_x^2) a model. The paper's Eq. 5.

    Examples
    --------
    >>> terms = loss_terms([0.5, 1.0], 1, p=1.0, mu=0.5, nu=1 / 3)
    >>> terms.task, terms.mean_correction, round(terms.projection, 4), terms.composition
    (0.0, -0.25, 0.0833, 0.25)
    """
    p, mu, nu = ranges.activity(p), *ranges.moments(mu, nu)
    lags = _Lags.of(A, k, T, importance)
    alone, together, kept = p * nu, (p * mu) ** 2, lags.on * lags.kept
    all_squares, all_sums = lags.other_squares + kept**2, lags.other_sums + kept
    return LossTerms(
        task=_plain(alone * lags.weighted(lags.on * (lags.kept - 1) ** 2)),
        mean_correction=_plain(-2 * together * lags.weighted(lags.on * lags.other_sums)),
        projection=_plain(alone * lags.weighted(lags.other_squares)),
        composition=_plain(together * lags.weighted(all_sums**2 - all_squares)),
    )


def null_loss(
    k: int,
    *,
    p: ArrayLike,
    nu: ArrayLike,
    T: int | None = None,
    importance: ArrayLike | None = None,
    n_features: int = 1,
) -> np.ndarray | float:
    """Return the expected loss of the model that always answers 0, by which losses are made comparable.

    Parameters
    ----------
    k, p, nu, T, importance
        As for `expected_loss`.
    n_features
        N_x, where `importance` is None.

    Returns
    -------
    ndarray or float
        ``p nu (T - k) sum(importance)``, without T - k if `T` is None.

    Raises
    ------
    DataError, ParameterError
        As `expected_loss`.

    Examples
    --------
    >>> null_loss(2, p=0.5, nu=1.0, T=10)
    4.0
    """
    k, (_, nu) = ranges.whole("k", k, 0), ranges.moments(0.0, nu)
    steps = 1 if (T := ranges.horizon(T, k)) is None else T - k
    if importance is not None:
        n_features = max(1, ranges.numbers("importance", importance, DataError).size)
    total = ranges.weights(importance, ranges.whole("n_features", n_features, 1)).sum()
    return _plain(ranges.activity(p) * nu * (steps * total))


@dataclass(frozen=True)
class _Lags:
    """Prefix sums over the lags of all entries but the one asked for, of shape (..., steps, outputs)."""

    other_squares: np.ndarray
    other_sums: np.ndarray
    kept: np.ndarray
    on: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, A: ArrayLike, k: int, T: int | None, importance: ArrayLike | None) -> "_Lags":
        k = ranges.whole("k", k, 0)
        others = ranges.kernel(A, k, ranges.horizon(T, k))
        i = np.arange(others.shape[-1])
        kept = others[..., k, i, i]
        others[..., k, i, i] = 0
        sums, squares = others.sum(axis=-1), (others**2).sum(axis=-1)
        if T is None:
            sums, squares, on = sums.sum(axis=-2, keepdims=True), squares.sum(axis=-2, keepdims=True), np.ones((1, 1))
        else:
            sums, squares = sums.cumsum(axis=-2), squares.cumsum(axis=-2)
            on = 1.0 * (np.arange(T) >= k)[:, None]
        return cls(squares, sums, kept[..., None, :], on, ranges.weights(importance, len(i)))

    def weighted(self, values: np.ndarray) -> np.ndarray | float:
        """Return the sum over steps and outputs, weighted by importance."""
        return values.sum(axis=-2) @ self.weights


def _plain(values: np.ndarray | float) -> np.ndarray | float:
    """Return an array, or a float in place of an array without axes."""
    return values if isinstance(values, np.ndarray) and values.ndim else float(values)
