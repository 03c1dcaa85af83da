"""Networks on the way of training: weights at some steps, and the exact loss of linear ones beside the simulated."""

from typing import Any

import numpy as np

from workbench.methods.superposition.amplitudes import amplitude_law
from workbench.methods.superposition.exact_loss import expected_loss, loss_terms, null_loss
from workbench.methods.superposition.model import DelayRecall
from workbench.methods.superposition.spec import KINDS, Params
from workbench.methods.superposition.study_curves import Curve, shown_delay
from workbench.methods.superposition.study_labels import label
from workbench.methods.superposition.training import evaluate
from workbench.methods.superposition.undefined import least

SNAPSHOTS = 40
SPARSE = 0.05
TERMS = ("task", "mean_correction", "projection", "composition")
SEQUENCES = 2**16
DIMS = ("shown_activity", "path")


def path_variables(curves: list[Curve], params: Params) -> dict[str, Any]:
    """Return the way of the best networks of the shown delay, at the densest activity and at one near 0.05."""
    shown = {curve.kind: curve for curve in curves if curve.delay == shown_delay(params)}
    places = [int(np.argmax(params.activities)), int(np.argmin(np.abs(np.array(params.activities) - SPARSE)))]
    best = {kind: [_best(curve, place, params) for place in places] for kind, curve in shown.items()}
    activities = np.array(params.activities)[places]
    weights = {name: [_way(shown[kind], best[kind], name) for kind in KINDS] for name in ("W_x", "W_h")}
    variables = {
        "shown_activity": ("shown_activity", activities, label("activity p")),
        "path_step": ("path", shown["linear"].fitted.snapshots.steps, label("training step", "steps")),
        "path_W_x": (("kind", *DIMS, "unit"), np.array(weights["W_x"])[..., 0], label("W_x on the way")),
        "path_W_h": (("kind", *DIMS, "unit", "from_unit"), np.array(weights["W_h"]), label("W_h on the way")),
    }
    return {**variables, **_losses(shown["linear"], best["linear"], activities, params)}


def _best(curve: Curve, place: int, params: Params) -> int:
    """Return which network of the curve is the best at an activity."""
    rows = slice(place * params.restarts, (place + 1) * params.restarts)
    return rows.start + int(least(curve.loss[rows]))


def _way(curve: Curve, rows: list[int], name: str) -> np.ndarray:
    return np.moveaxis(getattr(curve.fitted.snapshots, name)[:, rows], 1, 0)


def _losses(curve: Curve, rows: list[int], activities: np.ndarray, params: Params) -> dict[str, Any]:
    """Return the exact loss, its terms and the simulated loss of linear networks on the way."""
    law, k, T = amplitude_law(params.amplitude), curve.delay, curve.fitted.T
    way = len(curve.fitted.snapshots.steps)
    model = DelayRecall(
        "linear",
        k=k,
        n_models=len(rows) * way,
        W_x=_way(curve, rows, "W_x").reshape(-1, 2, 1),
        W_h=_way(curve, rows, "W_h").reshape(-1, 2, 2),
    )
    p = np.repeat(activities, way)
    moments = {"p": p, "nu": law.second_moment, "T": T}
    kernel, null = model.kernel(T - 1), null_loss(k, **moments)
    terms = loss_terms(kernel, k, mu=law.mean, **moments)
    exact = expected_loss(kernel, k, mu=law.mean, **moments) / null
    simulated = evaluate(model, p, n=SEQUENCES, amplitude=params.amplitude, seed=params.seed + 2)
    shape = (len(rows), way)
    split = np.array([getattr(terms, name) / null for name in TERMS]).reshape(len(TERMS), *shape)
    return {
        "term": ("term", list(TERMS), {"long_name": "term of the loss"}),
        "path_terms": (("term", *DIMS), split, label("term of the exact loss over that of saying 0")),
        "path_exact_loss": (DIMS, np.reshape(exact, shape), label("exact loss over that of saying 0")),
        "path_simulated_loss": (DIMS, simulated.reshape(shape), label("simulated loss over that of saying 0")),
    }
