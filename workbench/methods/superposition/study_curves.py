"""The phase curves of the study: angle, radius and loss of trained networks over activity, delay and architecture."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.harness.progress import Progress, part
from workbench.methods.superposition.amplitudes import Amplitude, amplitude_law
from workbench.methods.superposition.exact_loss import expected_loss, null_loss
from workbench.methods.superposition.model import DelayRecall
from workbench.methods.superposition.optimum import optimal_linear
from workbench.methods.superposition.read_outs import geometry
from workbench.methods.superposition.spec import KINDS, Params
from workbench.methods.superposition.study_labels import label
from workbench.methods.superposition.task import default_steps
from workbench.methods.superposition.training import FitResult, evaluate, fit
from workbench.methods.superposition.undefined import least

SEQUENCES = 16384
TABLE = ("kind", "delay", "activity", "restart")
READ_OUTS = {
    "loss": ("loss over that of saying 0", "1"),
    "ktheta": ("angle k theta from w_0 to w_k", "degrees"),
    "rho": ("spectral radius", "1"),
    "sharpness": ("|w_{k+1}| / |w_k|", "1"),
    "free_fraction": ("share of intermediate directions free of interference", "1"),
    "first_norm": ("length of w_0", "1"),
    "dead": ("whether the network recalls nothing", "1"),
    "kernel": ("kernel a_s", "1"),
    "W_x": ("input weights W_x", "1"),
    "W_h": ("recurrent weights W_h", "1"),
}
DIMENSIONS = {"kernel": ("lag",), "W_x": ("unit",), "W_h": ("unit", "from_unit")}


@dataclass(frozen=True, eq=False)
class Curve:
    """Networks of one kind and delay, trained at all activities: the fit, and the loss of each on fresh inputs."""

    kind: str
    delay: int
    fitted: FitResult
    loss: np.ndarray


def train_curves(params: Params, progress: Progress, *, snapshots: int) -> list[Curve]:
    """Train the networks of every kind and delay; those of the shown delay keep `snapshots` of their weights."""
    pairs = [(kind, delay) for kind in KINDS for delay in params.delays]
    curves = []
    for done, (kind, delay) in enumerate(pairs):
        mine = part(progress, done / len(pairs), (done + 1) / len(pairs))
        kept = snapshots if delay == shown_delay(params) else 0
        curves.append(_train_curve(params, kind, delay, kept, mine))
    return curves


def shown_delay(params: Params) -> int:
    """Return the delay of the pictures: the one asked for, or the trained delay that is nearest to it."""
    return min(params.delays, key=lambda delay: abs(delay - params.shown))


def _train_curve(params: Params, kind: str, delay: int, snapshots: int, progress: Progress) -> Curve:
    activities = np.repeat(params.activities, params.restarts)
    seeds = np.tile(seeds_of(params, params.restarts), len(params.activities))
    model = DelayRecall(kind, k=delay, n_models=len(seeds)).init(seeds)

    def report(fraction: float, text: str) -> None:
        progress(fraction, f"{kind} networks, delay {delay}: {text}")

    fitted = fit(
        model,
        activities,
        steps=params.steps,
        batch=params.batch,
        seed=seeds,
        amplitude=params.amplitude,
        snapshots=snapshots,
        callback=report,
    )
    return Curve(kind, delay, fitted, loss_of(fitted.model, activities, params))


def seeds_of(params: Params, count: int) -> np.ndarray:
    """Return the seeds of `count` restarts: the same whatever the count, and different for different `params.seed`."""
    return np.random.default_rng(params.seed).integers(0, 2**31, count)


def loss_of(model: DelayRecall, activities: np.ndarray, params: Params) -> np.ndarray:
    """Return the loss of each scalar network, exact where it is linear, else simulated on the same fresh sequences."""
    if model.kind != "linear":
        return evaluate(model, activities, n=SEQUENCES, amplitude=params.amplitude, seed=params.seed + 1)
    law, T = amplitude_law(params.amplitude), default_steps(model.k, 1)
    moments = {"p": activities, "nu": law.second_moment, "T": T}
    loss = expected_loss(model.kernel(T - 1), model.k, mu=law.mean, **moments)
    return np.asarray(loss / null_loss(model.k, **moments))


def curve_variables(curves: list[Curve], params: Params) -> dict[str, Any]:
    """Return the table over kind, delay, activity and restart as variables of the dataset."""
    shape = (len(KINDS), len(params.delays), len(params.activities), params.restarts)
    lags = 2 * max(params.delays) + 1
    columns = [_read_outs(curve, lags) for curve in curves]
    variables: dict[str, Any] = {}
    for name, (long_name, units) in READ_OUTS.items():
        values = np.array([column[name] for column in columns])
        values = values.reshape(*shape, *values.shape[2:])
        variables[name] = ((*TABLE, *DIMENSIONS.get(name, ())), values, label(long_name, units))
    best = least(variables["loss"][1])
    variables["best"] = (TABLE[:-1], best, label("restart with the least loss"))
    return variables


def _read_outs(curve: Curve, lags: int) -> dict[str, np.ndarray]:
    model, found = curve.fitted.model, geometry(curve.fitted.model)
    return {
        "loss": curve.loss,
        "ktheta": found.ktheta,
        "rho": found.rho,
        "sharpness": found.sharpness,
        "free_fraction": found.free_fraction,
        "first_norm": found.first_norm,
        "dead": found.dead.astype(np.int8),
        "kernel": model.kernel(lags - 1)[..., 0, 0],
        "W_x": model.W_x[..., 0],
        "W_h": model.W_h,
    }


def optimum_variables(params: Params, progress: Progress) -> dict[str, Any]:
    """Return loss, radius and angle of the exact optimum of linear networks, over delay and activity."""
    law = amplitude_law(params.amplitude)
    found = np.empty((3, len(params.delays), len(params.activities)))
    for i, delay in enumerate(params.delays):
        progress(i / len(params.delays), f"exact optimum of linear networks, delay {delay}")
        for j, activity in enumerate(params.activities):
            found[:, i, j] = _optimum(delay, activity, law)
    names = ("optimum_loss", "optimum_rho", "optimum_ktheta")
    attrs = [label(f"{text} of the best linear network", units) for text, units in _LABELS]
    return {name: (TABLE[1:3], values, label) for name, values, label in zip(names, found, attrs, strict=True)}


_LABELS = (("loss over that of saying 0", "1"), ("spectral radius", "1"), ("angle k theta", "degrees"))


def _optimum(delay: int, activity: float, law: Amplitude) -> tuple[float, float, float]:
    T = default_steps(delay, 1)
    best = optimal_linear(delay, 2, p=activity, mu=law.mean, nu=law.second_moment, T=T)
    return best.loss, best.rho, float(np.degrees(delay * best.theta))
