"""Delayed-recall networks, many at a time: weights, states, feature directions and kernels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.errors import ParameterError, nearest
from workbench.methods.superposition import ranges
from workbench.methods.superposition.sequences import seed_keys
from workbench.methods.superposition.spec import KINDS as KINDS

INPUT_SCALE = {"linear": 0.3, "ssm": 0.3, "nonlinear": 0.7}
RECURRENT_SCALE = 0.3
DIAGONAL = 0.5


@dataclass(frozen=True, eq=False, repr=False)
class DelayRecall:
    r"""M networks that are to say at step t what went in at step t - k.

    ``h_t = W_x x_t + W_h sigma_h(h_{t-1})`` from ``h_0 = 0``, and ``y_t = sigma_y(W_y^T h_t)``, without biases.

    Parameters
    ----------
    kind
        ``"linear"`` (no nonlinearity), ``"ssm"`` (sigma_y a ReLU) or ``"nonlinear"`` (both a ReLU).
    n_hidden, n_features
        N_h units, N_x features.
    k
        Delay in steps, at least 0.
    tied
        Whether the readout is the output feature direction, W_y = W_k.
    importance
        Weight of each feature's squared error, (N_x,); 1 by default.
    n_models
        M, the number of networks.
    W_x, W_h, W_y
        Weights, (M, N_h, N_x), (M, N_h, N_h), (M, N_h, N_x); drawn from seed 0 where not given.
        W_y only where it is not tied.

    Raises
    ------
    ParameterError
        If a name, size, shape or number is not allowed.

    Notes
    -----
    Sharma, Proca, Prieto, Mediano (2026), section 2. W_s = W_h^s W_x is the direction in which an input of s
    steps ago lies in the hidden space; through a ReLU recurrence it is the response to a single unit input.

    Examples
    --------
    >>> model = DelayRecall("linear", n_hidden=2, k=1, W_x=[[[1.0], [0.0]]], W_h=[[[0.0, 0.0], [1.0, 0.0]]])
    >>> model.kernel(3).ravel()
    array([0., 1., 0., 0.])
    >>> model.forward(np.array([[[1.0], [2.0], [3.0]]])).ravel()
    array([0., 1., 2.])
    """

    kind: str = "ssm"
    n_hidden: int = 2
    n_features: int = 1
    k: int = 4
    tied: bool = True
    importance: Any = None
    n_models: int = 1
    W_x: Any = None
    W_h: Any = None
    W_y: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in KINDS:
            raise ParameterError(f"kind = {self.kind!r} is not known{nearest(str(self.kind), KINDS)}")
        for name in ("n_hidden", "n_features", "n_models"):
            ranges.whole(name, getattr(self, name))
        ranges.whole("k", self.k, least=0)
        ranges.flag("tied", self.tied)
        self._set(importance=ranges.weights(self.importance, self.n_features, ParameterError).copy())
        if self.W_x is None and self.W_h is None and self.W_y is None:
            self._set(**self._drawn(0, None, DIAGONAL))
        self._set(
            W_x=self._weights("W_x", self.n_features),
            W_h=self._weights("W_h", self.n_hidden),
            W_y=self._weights("W_y", self.n_features) if not self.tied else self._none_if_tied(),
        )

    def __repr__(self) -> str:
        return (
            f"DelayRecall({self.kind!r}, n_hidden={self.n_hidden}, n_features={self.n_features}, k={self.k}, "
            f"tied={self.tied}, n_models={self.n_models})"
        )

    @property
    def relu_h(self) -> bool:
        """Whether the recurrence passes a ReLU."""
        return self.kind == "nonlinear"

    @property
    def relu_y(self) -> bool:
        """Whether the output passes a ReLU."""
        return self.kind != "linear"

    @property
    def readout(self) -> np.ndarray:
        """The readout (M, N_h, N_x): W_y, or W_k where it is tied."""
        return self.impulse(self.k)[:, -1] if self.tied else self.W_y

    def init(
        self, seed: int | Sequence[int] | np.ndarray = 0, *, scale: float | None = None, diagonal: float = DIAGONAL
    ) -> "DelayRecall":
        """Return the same networks with weights drawn anew.

        Parameters
        ----------
        seed
            One seed for all, or one for each network.
        scale
            Standard deviation of W_x, and of W_h times sqrt(N_h); by default 0.3, for W_x of nonlinear networks 0.7.
        diagonal
            W_h is this times the identity, plus noise.

        Raises
        ------
        ParameterError
            If a seed is not allowed, `scale` is negative, or one of the numbers is not finite.
        """
        if scale is not None:
            ranges.number("scale", scale, least=0)
        ranges.number("diagonal", diagonal)
        return replace(self, **self._drawn(seed, scale, diagonal))

    def take(self, which: Any) -> "DelayRecall":
        """Return the networks at the given places (index, slice, mask or array of them), as a model of its own.

        Raises
        ------
        ParameterError
            If there is no network at such a place.
        """
        rows = ranges.places(which, self.n_models)
        weights = {name: None if w is None else w[rows] for name, w in self.weights().items()}
        return replace(self, n_models=len(rows), **weights)

    def weights(self) -> dict[str, Any]:
        """Return the weights by name; W_y is None where it is tied."""
        return {"W_x": self.W_x, "W_h": self.W_h, "W_y": self.W_y}

    def impulse(self, S: int) -> np.ndarray:
        """Return the feature directions W_0 .. W_S, (M, S + 1, N_h, N_x).

        Raises
        ------
        ParameterError
            If `S` is negative.
        """
        ranges.whole("S", S, least=0)
        W = np.empty((self.n_models, S + 1, self.n_hidden, self.n_features))
        W[:, 0] = self.W_x
        for s in range(S):
            before = np.maximum(W[:, s], 0.0) if self.relu_h else W[:, s]
            W[:, s + 1] = self.W_h @ before
        return W

    def kernel(self, S: int) -> np.ndarray:
        """Return A_s = W_y^T W_s for s = 0 .. S, (M, S + 1, N_x, N_x): what output i takes from feature j."""
        return np.swapaxes(self.readout, 1, 2)[:, None] @ self.impulse(S)

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Return the outputs for inputs x, step by step.

        Parameters
        ----------
        x
            Inputs (B, T, N_x), the same for every network, or (M, B, T, N_x).

        Returns
        -------
        ndarray, (M, B, T, N_x)

        Raises
        ------
        ParameterError
            If the shape of `x` fits neither.
        """
        x = ranges.numbers("x", x)
        if x.ndim not in (3, 4) or x.shape[-1] != self.n_features or (x.ndim == 4 and len(x) != self.n_models):
            wanted = f"(B, T, {self.n_features}) or ({self.n_models}, B, T, {self.n_features})"
            raise ParameterError(f"x has shape {x.shape}: it takes {wanted}")
        terms = "bti,mni->mbtn" if x.ndim == 3 else "mbti,mni->mbtn"
        return self._outputs(np.einsum(terms, x, self.W_x))

    def _outputs(self, driven: np.ndarray) -> np.ndarray:
        outputs = np.empty((*driven.shape[:-1], self.n_features))
        readout, W_h = self.readout, np.swapaxes(self.W_h, 1, 2)
        h = np.zeros_like(driven[:, :, 0])
        for t in range(driven.shape[2]):
            h = driven[:, :, t] + (np.maximum(h, 0.0) if self.relu_h else h) @ W_h
            outputs[:, :, t] = h @ readout
        return np.maximum(outputs, 0.0) if self.relu_y else outputs

    def _drawn(self, seed: Any, scale: float | None, diagonal: float) -> dict[str, Any]:
        input_scale = INPUT_SCALE[self.kind] if scale is None else scale
        recurrent_scale = (RECURRENT_SCALE if scale is None else scale) / np.sqrt(self.n_hidden)
        drawn = [self._drawn_one(key, input_scale, recurrent_scale) for key in seed_keys(seed, self.n_models)]
        W_x, W_h, W_y = (np.array(part) for part in zip(*drawn, strict=True))
        return {"W_x": W_x, "W_h": diagonal * np.eye(self.n_hidden) + W_h, "W_y": None if self.tied else W_y}

    def _drawn_one(self, key: tuple[int, int], input_scale: float, recurrent_scale: float) -> tuple[np.ndarray, ...]:
        rng = np.random.default_rng(key)
        wide, square = (self.n_hidden, self.n_features), (self.n_hidden, self.n_hidden)
        W_x, W_h, W_y = (rng.standard_normal(shape) for shape in (wide, square, wide))
        return input_scale * W_x, recurrent_scale * W_h, input_scale * W_y

    def _weights(self, name: str, columns: int) -> np.ndarray:
        shape = (self.n_models, self.n_hidden, columns)
        if getattr(self, name) is None:
            raise ParameterError(f"{name} is not given while other weights are: it takes an array {shape}")
        values = ranges.numbers(name, getattr(self, name)).copy()
        if values.shape != shape:
            raise ParameterError(f"{name} has shape {values.shape}: it takes {shape}")
        if not np.isfinite(values).all():
            raise ParameterError(f"{name} holds numbers that are not finite")
        return values

    def _none_if_tied(self) -> None:
        if self.W_y is not None:
            raise ParameterError("W_y is given and tied is True: a tied readout is W_k; give tied=False")

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)
