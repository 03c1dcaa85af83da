"""Networks with more features than they can hold: which ones they keep at each delay, and larger networks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.harness.progress import Progress, part
from workbench.methods.superposition.channel_choice import few_first
from workbench.methods.superposition.model import DelayRecall
from workbench.methods.superposition.read_outs import KEPT
from workbench.methods.superposition.spec import Params
from workbench.methods.superposition.study_curves import SEQUENCES, seeds_of
from workbench.methods.superposition.study_labels import label
from workbench.methods.superposition.training import evaluate, fit
from workbench.methods.superposition.undefined import least

CHOOSERS = ("ssm", "nonlinear")
RATE = 0.01
NETWORK_DELAY = 2
NETWORK_STEPS = 2  # times as many as other networks are trained
NETWORK_RESTARTS = 4
DRAWN = 10  # most features of a network whose matrices are kept
TABLE = ("feature_kind", "feature_delay")
SUMMARY = {
    "loss": "loss over that of saying 0",
    "kept": "features kept",
    "mean_recall": "mean of diag A_k",
    "kept_recall": "mean entry of diag A_k of the features kept",
    "mean_elsewhere": "largest mean of A_s over the lags s = 0 .. k + 1 but k",
    "largest_elsewhere": "largest entry of A_s outside diag A_k, s = 0 .. k + 1",
}


@dataclass(frozen=True, eq=False)
class Chosen:
    """Trained networks with several features, the loss of each on fresh inputs, and which features are ever active."""

    model: DelayRecall
    loss: np.ndarray
    heard: np.ndarray

    @property
    def best(self) -> int:
        """Which network has the least loss."""
        return int(least(self.loss))

    @property
    def recall(self) -> np.ndarray:
        """Diagonals of A_k, (M, N_x); nan for features that never are active."""
        diagonal = np.diagonal(self.model.kernel(self.model.k)[:, -1], axis1=1, axis2=2)
        return np.where(self.heard, diagonal, np.nan)

    def best_kernel(self, S: int) -> np.ndarray:
        """Return A_s of the best network, s = 0 .. S."""
        return self.model.take(self.best).kernel(S)[0]


def feature_variables(params: Params, series: np.ndarray | None, progress: Progress) -> dict[str, Any]:
    """Return what networks of two units keep of several features, over architecture and delay.

    The inputs are windows of `series` (time, feature) if there is one.
    """
    pairs = [(kind, delay) for kind in CHOOSERS for delay in params.feature_delays]
    width = params.features if series is None else series.shape[1]
    chosen = []
    for done, (kind, delay) in enumerate(pairs):
        mine = part(progress, done / len(pairs), (done + 1) / len(pairs))
        options: dict[str, Any] = {"steps": params.steps, "restarts": params.feature_restarts, "series": series}
        report = _named(mine, f"{kind} networks with {width} features, delay {delay}")
        chosen.append(_train(params, kind, (width, 2), delay, report, **options))
    shape = (len(CHOOSERS), len(params.feature_delays))
    lags = max(params.feature_delays) + 2

    def over(values: list[Any]) -> np.ndarray:
        array = np.array(values)
        return array.reshape(*shape, *array.shape[1:])

    restarts = (*TABLE, "feature_restart")
    return {
        "feature_importance": ("feature", params.importance ** np.arange(width), label("importance of a feature")),
        "feature_loss": (restarts, over([c.loss for c in chosen]), label("loss over that of saying 0")),
        "feature_recall": ((*restarts, "feature"), over([c.recall for c in chosen]), label("diagonal of A_k")),
        "feature_kept": (restarts, over([(c.recall > KEPT).sum(axis=1) for c in chosen]), label("features kept")),
        "feature_best": (TABLE, over([c.best for c in chosen]), label("restart with the least loss")),
        "feature_kernel": (
            (*TABLE, "feature_lag", "output", "feature"),
            over([c.best_kernel(lags - 1) for c in chosen]),
            label("A_s of the best network"),
        ),
    }


def network_variables(params: Params, progress: Progress) -> dict[str, Any]:
    """Return whether larger networks with a ReLU readout read anything but their outputs' positions as positive."""
    sizes = [tuple(map(int, name.split("x"))) for name in params.networks]
    columns, drawn = [], np.zeros((NETWORK_DELAY + 2, 0, 0))
    for done, (features, units) in enumerate(sizes):
        mine = part(progress, done / len(sizes), (done + 1) / len(sizes))
        options: dict[str, Any] = {"steps": NETWORK_STEPS * params.steps, "series": None}
        options["restarts"] = NETWORK_RESTARTS if features <= DRAWN else 1
        report = _named(mine, f"network with {features} features and {units} units")
        network = _train(params, "ssm", (features, units), NETWORK_DELAY, report, **options)
        kernel = network.best_kernel(NETWORK_DELAY + 1)
        columns.append(_summary(network, kernel))
        if features <= DRAWN:
            drawn = kernel
    values = np.array(columns).T
    variables: dict[str, Any] = {
        f"network_{name}": ("network", row, label(text))
        for (name, text), row in zip(SUMMARY.items(), values, strict=True)
    }
    dims = ("network_lag", "network_output", "network_feature")
    return {**variables, "network_kernel": (dims, drawn, label("A_s of the last network with at most 10 features"))}


def _train(
    params: Params,
    kind: str,
    size: tuple[int, int],
    delay: int,
    progress: Progress,
    *,
    steps: int,
    restarts: int,
    series: np.ndarray | None,
) -> Chosen:
    seeds = seeds_of(params, restarts)
    features, units = size
    importance = params.importance ** np.arange(features)
    model = DelayRecall(
        kind, n_hidden=units, n_features=features, k=delay, importance=importance, n_models=restarts
    ).init(seeds)
    model = few_first(model, np.ones(features))
    inputs: dict[str, Any] = {"amplitude": params.amplitude, "data": series}
    activity = params.feature_activity
    fitted = fit(
        model, activity, steps=steps, batch=params.batch, lr=RATE, seed=seeds, callback=progress, **inputs
    ).model
    heard = np.ones(features, bool) if series is None else np.asarray(series.any(axis=0))
    return Chosen(fitted, evaluate(fitted, activity, n=SEQUENCES, seed=params.seed + 1, **inputs), heard)


def _summary(network: Chosen, kernel: np.ndarray) -> tuple[float, ...]:
    recall = network.recall[network.best]
    kept = recall[recall > KEPT]
    others = np.delete(kernel, NETWORK_DELAY, axis=0)
    crossed = kernel[NETWORK_DELAY][~np.eye(len(recall), dtype=bool)]
    return (
        float(network.loss.min()),
        len(kept),
        float(recall.mean()),
        float(kept.mean()) if len(kept) else np.nan,
        float(others.mean(axis=(1, 2)).max()),
        float(max(others.max(), crossed.max(initial=-np.inf))),
    )


def _named(progress: Progress, name: str) -> Callable[[float, str], None]:
    return lambda fraction, text: progress(fraction, f"{name}: {text}")
