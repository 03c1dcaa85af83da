"""Static superposition, the case without delay: n features in m hidden units (Elhage et al. 2022).

A model reads x^ = ReLU(W^T W x + b) and is trained on ``sum_i I_i (x_i - x^_i)^2`` with sparse inputs x; without the
bias it is the delayed-recall network of kind ``"ssm"``, tied, at k = 0. Columns W_i are the feature directions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.errors import ParameterError
from workbench.methods.superposition import ranges
from workbench.methods.superposition.sequences import seed_keys

REPRESENTED = 0.5


@dataclass(frozen=True, eq=False, repr=False)
class ToyModel:
    """M static models, x^ = ReLU(W^T W x + b).

    Parameters
    ----------
    n, m
        Features and hidden units.
    bias
        Whether there is a bias; without, b stays 0.
    importance
        Weight of each feature's squared error, (n,) or (M, n); 1 by default.
    n_models
        M, the number of models.
    W, b
        Weights (M, m, n) and bias (M, n); W drawn from seed 0 and b zero where not given.

    Raises
    ------
    ParameterError
        If a size, shape or number is not allowed.

    Examples
    --------
    >>> antipodal = ToyModel(2, 1, bias=False, W=[[[1.0, -1.0]]])
    >>> antipodal.forward(np.array([[0.7, 0.0], [0.0, 0.4], [0.7, 0.4]]))[0].round(1).tolist()
    [[0.7, 0.0], [0.0, 0.4], [0.3, 0.0]]
    """

    n: int
    m: int
    bias: bool = True
    importance: Any = None
    n_models: int = 1
    W: Any = None
    b: Any = None

    def __post_init__(self) -> None:
        for name in ("n", "m", "n_models"):
            ranges.whole(name, getattr(self, name))
        ranges.flag("bias", self.bias)
        importance = self._array("importance", np.ones(self.n) if self.importance is None else self.importance, self.n)
        W = self._array("W", self._drawn(0, None) if self.W is None else self.W, self.m, self.n)
        b = self._array("b", np.zeros(self.n) if self.b is None else self.b, self.n)
        if not (importance > 0).all():
            raise ParameterError(f"importance = {self.importance!r} is not allowed: it takes numbers above 0")
        if not self.bias and b.any():
            raise ParameterError("b is given and bias is False: give bias=True")
        for name, values in {"importance": importance, "W": W, "b": b}.items():
            object.__setattr__(self, name, values)

    def __repr__(self) -> str:
        return f"ToyModel({self.n}, {self.m}, bias={self.bias}, n_models={self.n_models})"

    def init(self, seed: int | Sequence[int] | np.ndarray = 0, *, scale: float | None = None) -> "ToyModel":
        """Return the same models with W drawn anew and b zero.

        Parameters
        ----------
        seed
            One seed for all, or one for each model.
        scale
            Standard deviation of W; by default sqrt(2 / (n + m)).

        Raises
        ------
        ParameterError
            If a seed is not allowed or `scale` is negative.
        """
        if scale is not None:
            ranges.number("scale", scale, least=0)
        return replace(self, W=self._drawn(seed, scale), b=None)

    def take(self, which: Any) -> "ToyModel":
        """Return the models at the given places (index, slice, mask or array of them), as a model of its own.

        Raises
        ------
        ParameterError
            If there is no model at such a place.
        """
        rows = ranges.places(which, self.n_models)
        return replace(self, n_models=len(rows), W=self.W[rows], b=self.b[rows], importance=self.importance[rows])

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Return the outputs (M, B, n) for inputs x (B, n), the same for every model, or (M, B, n).

        Raises
        ------
        ParameterError
            If the shape of `x` fits neither.
        """
        x = ranges.numbers("x", x)
        if x.ndim not in (2, 3) or x.shape[-1] != self.n or (x.ndim == 3 and len(x) != self.n_models):
            wanted = f"(B, {self.n}) or ({self.n_models}, B, {self.n})"
            raise ParameterError(f"x has shape {x.shape}: it takes {wanted}")
        return np.maximum(x @ np.swapaxes(self.W, 1, 2) @ self.W + self.b[:, None], 0.0)

    def _drawn(self, seed: Any, scale: float | None) -> np.ndarray:
        deviation = np.sqrt(2 / (self.n + self.m)) if scale is None else scale
        keys = seed_keys(seed, self.n_models)
        return deviation * np.array([np.random.default_rng(key).standard_normal((self.m, self.n)) for key in keys])

    def _array(self, name: str, given: Any, *shape: int) -> np.ndarray:
        """Return an array of this shape for each model; a vector may stand for all."""
        values = ranges.numbers(name, given)
        allowed = (self.n_models, *shape)
        if values.shape != allowed and (values.ndim != 1 or values.shape != shape):
            raise ParameterError(f"{name} has shape {values.shape}: it takes {allowed}")
        if not np.isfinite(values).all():
            raise ParameterError(f"{name} holds numbers that are not finite")
        return np.broadcast_to(values, allowed).copy()


def feature_dimensionality(W: np.ndarray) -> np.ndarray:
    """Return the share of a hidden dimension that each feature has to itself, D_i = |W_i|^2 / sum_j (W^_i . W_j)^2.

    Parameters
    ----------
    W
        Weights (..., m, n); features are columns, W^_i the one of length 1.

    Returns
    -------
    ndarray, (..., n)
        1 for a feature orthogonal to all others, 1/2 for one of an antipodal pair; 0 for a zero column.

    Raises
    ------
    ParameterError
        If `W` is not finite numbers, is empty, or has fewer than two axes.

    Notes
    -----
    Elhage et al. (2022). Cost O(m n^2).

    Examples
    --------
    >>> feature_dimensionality(np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])).round(3).tolist()
    [0.2, 0.8, 1.0]
    """
    W = _matrices(W)
    squared = np.sum(W**2, axis=-2)
    overlap = np.sum((np.swapaxes(W, -1, -2) @ W) ** 2, axis=-1)
    return np.divide(squared**2, overlap, out=np.zeros_like(squared), where=overlap > 0)


def dimensions_per_feature(W: np.ndarray) -> np.ndarray:
    """Return m / |W|_F^2, the hidden dimensions for each feature represented.

    Parameters
    ----------
    W
        Weights (..., m, n).

    Returns
    -------
    ndarray, (...)
        Infinite where W is zero.

    Raises
    ------
    ParameterError
        If `W` is not finite numbers, is empty, or has fewer than two axes.

    Examples
    --------
    >>> float(dimensions_per_feature(np.array([[1.0, -1.0]])))
    0.5
    """
    W = _matrices(W)
    represented = np.sum(W**2, axis=(-2, -1))
    return np.divide(W.shape[-2], represented, out=np.full_like(represented, np.inf), where=represented > 0)


def represented_features(W: np.ndarray) -> np.ndarray:
    """Return how many columns of W (..., m, n) are longer than 1/2.

    Raises
    ------
    ParameterError
        If `W` is not finite numbers, is empty, or has fewer than two axes.

    Examples
    --------
    >>> int(represented_features(np.array([[1.0, -0.2]])))
    1
    """
    return np.asarray(np.sum(np.linalg.norm(_matrices(W), axis=-2) > REPRESENTED, axis=-1))


def _matrices(W: np.ndarray) -> np.ndarray:
    W = ranges.numbers("W", W)
    if W.ndim < 2 or not W.size:
        raise ParameterError(f"W has shape {W.shape}: it takes (..., m, n), none of them 0")
    if not np.isfinite(W).all():
        raise ParameterError("W holds numbers that are not finite")
    return W
