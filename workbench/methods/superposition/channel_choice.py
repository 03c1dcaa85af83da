"""Which channels of an own series a recurrent network of N_h units keeps at each delay."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from numpy.typing import ArrayLike

from workbench.errors import DataError, ParameterError, RunError
from workbench.harness.progress import Progress, part
from workbench.methods.superposition import ranges
from workbench.methods.superposition.diagnosis import Diagnosis, diagnose
from workbench.methods.superposition.model import DelayRecall
from workbench.methods.superposition.read_outs import KEPT
from workbench.methods.superposition.series import channel_names, own_series
from workbench.methods.superposition.task import default_steps
from workbench.methods.superposition.training import evaluate, fit
from workbench.methods.superposition.undefined import least

WHOLE = 0.15  # from 0 or 1
FAINT = 0.01
WINDOWS = 2**15  # on which trained networks are compared


@dataclass(frozen=True, eq=False)
class KeptFeatures:
    """What the best network keeps of N channels, at each of K delays.

    Attributes
    ----------
    delays
        The delays k.
    names
        Names of the channels.
    recall
        (K, N): A_k[i, i] of the best network, near 1 for a channel that is kept; nan for a channel that is always zero.
    kept
        (K, N): whether `recall` is above 1/2.
    loss
        (K,): loss of the best network on windows of the series, over that of saying 0.
    losses
        (K, seeds): the same of all networks.
    all_or_none
        (K,): whether every channel's `recall` is within 0.15 of 0 or 1.
    models
        The best network at each delay, of the channels that are not always zero.
    diagnosis
        What the series is like, see `diagnose`; read its warnings.
    """

    delays: Int[np.ndarray, " K"]
    names: tuple[str, ...]
    recall: Float[np.ndarray, "K N"]
    kept: Bool[np.ndarray, "K N"]
    loss: Float[np.ndarray, " K"]
    losses: Float[np.ndarray, "K seeds"]
    all_or_none: Bool[np.ndarray, " K"]
    models: tuple[DelayRecall, ...]
    diagnosis: Diagnosis

    def table(self) -> pd.DataFrame:
        """Return one row a delay: each channel's recall, the number kept, the loss, and whether it is all or none."""
        frame = pd.DataFrame(self.recall, index=pd.Index(self.delays, name="delay"), columns=list(self.names))
        summary = {"kept": self.kept.sum(axis=1), "loss": self.loss, "all or none": self.all_or_none}
        return pd.concat([frame, pd.DataFrame(summary, index=frame.index)], axis=1)


def kept_features(
    array: ArrayLike,
    delays: int | Sequence[int] | np.ndarray,
    n_hidden: int = 2,
    *,
    kind: str = "ssm",
    importance: Sequence[float] | np.ndarray | None = None,
    names: Sequence[str] | None = None,
    threshold: float = 0.0,
    standardize: bool = True,
    seeds: int = 16,
    steps: int = 1500,
    batch: int = 128,
    T: int | None = None,
    lr: float = 0.01,
    seed: int = 0,
    callback: Progress | None = None,
) -> KeptFeatures:
    """Train delayed-recall networks on windows of a series and return which channels the best of them keep.

    Parameters
    ----------
    array
        The series, (time, channel); of one axis it is one channel.
    delays
        Delays k, at least 0.
    n_hidden
        N_h, units of the network.
    kind
        Architecture, see `DelayRecall`.
    importance
        Weight of each channel's squared error; 1 by default.
    names
        Names of the channels; their numbers by default.
    threshold
        Values of at most this magnitude count as zero.
    standardize
        Whether each channel is divided by its root mean square first, so that its unit does not count.
    seeds
        Networks trained at each delay; the one of least loss counts. Every second one starts with little more than
        its weightiest channel, or two, three ... (see `few_first`).
    steps, batch, T, lr, callback
        As for `fit`.
    seed
        Seed of weights and windows.

    Returns
    -------
    KeptFeatures

    Raises
    ------
    DataError
        If the series is no finite numbers, empty, all zero, or not longer than a window at the largest delay, or if
        there is not one importance a channel.
    ParameterError
        If another parameter is not allowed.
    RunError
        If all networks at a delay diverge.

    Notes
    -----
    The loss is taken on windows of the series that the networks were trained on. Cost as for `fit`, for each delay.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> series = rng.random((500, 3)) * (rng.random((500, 3)) < 0.1)
    >>> found = kept_features(series, [0, 2], importance=[1.0, 0.5, 0.2], names=["a", "b", "c"], steps=400, seeds=4)
    >>> [[name for name, kept in zip(found.names, row) if kept] for row in found.kept]
    [['a', 'b', 'c'], ['a']]
    """
    every = _delays(delays)
    ranges.whole("seeds", seeds)
    ranges.whole("seed", seed, least=0)
    if T is not None:
        ranges.whole("T", T, least=int(every.max()) + 2)
    series = own_series(array, least=3, threshold=threshold)
    labels, weight = channel_names(names, series.shape[1]), ranges.weights(importance, series.shape[1])
    _require_windows(len(series), int(every.max()), series.shape[1], T)
    heard = np.asarray(series.any(axis=0))
    size = np.sqrt(np.square(series).mean(axis=0)) if standardize else np.full(len(heard), np.abs(series).max())
    inputs, weight = series[:, heard] / size[heard], weight[heard]
    recall, losses, models = np.full((len(every), len(heard)), np.nan), np.empty((len(every), seeds)), []
    for i, k in enumerate(every.tolist()):
        model = DelayRecall(kind, n_hidden, len(weight), k, importance=weight, n_models=seeds).init(seed)
        model = few_first(model, np.square(inputs).mean(axis=0))
        report = part(callback, i / len(every), (i + 1) / len(every))
        model = fit(model, steps=steps, batch=batch, T=T, lr=lr, seed=seed, data=inputs, callback=report).model
        losses[i] = evaluate(model, T=T, n=WINDOWS, seed=seed + 1, data=inputs)
        if np.isnan(losses[i]).all():
            raise RunError(f"all {seeds} networks diverged at delay {k}: take a learning rate below lr = {lr:g}")
        models.append(model.take(int(least(losses[i]))))
        recall[i, heard] = np.diagonal(models[-1].kernel(k)[0, k])
    return KeptFeatures(
        delays=every,
        names=labels,
        recall=recall,
        kept=recall > KEPT,
        loss=np.nanmin(losses, axis=1),
        losses=losses,
        all_or_none=np.nanmax(np.minimum(np.abs(recall), np.abs(recall - 1)), axis=1) <= WHOLE,
        models=tuple(models),
        diagnosis=diagnose(series, names=labels, max_lag=min(max(int(every.max()), 1), len(series) - 2)),
    )


def _delays(delays: int | Sequence[int] | np.ndarray) -> np.ndarray:
    try:
        every = np.atleast_1d(np.asarray(delays))
    except ValueError:
        every = np.empty((0, 0))
    if every.ndim != 1 or not every.size:
        raise ParameterError(f"delays = {delays!r}: give one delay or a list of them")
    return np.array([ranges.whole("delay", delay, least=0) for delay in every.tolist()])


def _require_windows(steps: int, k: int, n_features: int, T: int | None) -> None:
    window = default_steps(k, n_features) if T is None else T
    if steps <= window:
        raise DataError(
            f"the series has {steps} steps: windows at delay {k} take {window}, and there must be more; "
            "give a longer series, smaller delays or a smaller T"
        )


def few_first(model: DelayRecall, power: Float[np.ndarray, " N_x"]) -> DelayRecall:
    """Return the networks with all but the 1, 2, ... weightiest features almost silent in every second one.

    From a start with all features alike many networks end half-way between keeping several and keeping one.

    Parameters
    ----------
    model
        The networks before training.
    power
        Mean square of each feature's inputs, which with its importance makes it weighty.

    Examples
    --------
    >>> model = few_first(DelayRecall(n_features=2, n_models=2).init(0), np.array([1.0, 2.0]))
    >>> (abs(model.W_x) < 0.01).any(axis=1).tolist()
    [[False, False], [True, False]]
    """
    order = np.argsort(-model.importance * power, kind="stable")
    W_x = model.W_x.copy()
    for m in range(1, model.n_models, 2):
        W_x[m][:, order[1 + (m // 2) % len(order) :]] *= FAINT
    return replace(model, W_x=W_x)
