"""The staircase of the study: linear networks that descend the exact loss from small weights."""

from typing import Any

import numpy as np

from workbench.harness.progress import Progress
from workbench.methods.superposition.amplitudes import amplitude_law
from workbench.methods.superposition.dynamics import Descent, descend
from workbench.methods.superposition.measures import SWITCH_DELAY
from workbench.methods.superposition.model import DelayRecall
from workbench.methods.superposition.optimum import optimal_linear
from workbench.methods.superposition.spec import Params
from workbench.methods.superposition.study_curves import seeds_of
from workbench.methods.superposition.study_labels import label
from workbench.methods.superposition.task import default_steps

ACTIVITIES = (1.0, 0.1)
SCALE = 0.02
STEPS = 20_000
DIMS = ("descent_activity", "restart", "descent")


def descent_variables(params: Params, progress: Progress) -> dict[str, Any]:
    """Return the loss and the alignment of the feature directions with w_k, at a dense and a sparse activity."""
    law = amplitude_law(params.amplitude)
    seeds = np.tile(seeds_of(params, params.restarts), len(ACTIVITIES))
    activities = np.repeat(ACTIVITIES, params.restarts)
    model = DelayRecall("linear", k=SWITCH_DELAY, n_models=len(seeds)).init(seeds, scale=SCALE)

    def report(fraction: float, text: str) -> None:
        progress(fraction, f"gradient descent from small weights: {text}")

    path = descend(model, activities, mu=law.mean, nu=law.second_moment, steps=STEPS, callback=report)
    shape = (len(path.steps), len(ACTIVITIES), params.restarts)
    moments = {"mu": law.mean, "nu": law.second_moment, "T": default_steps(SWITCH_DELAY, 1)}
    plateaus = [[optimal_linear(SWITCH_DELAY, units, p=p, **moments).loss for p in ACTIVITIES] for units in (1, 2)]
    return {
        "descent_activity": ("descent_activity", list(ACTIVITIES), label("activity p")),
        "descent_step": ("descent", path.steps, label("step of gradient descent", "steps")),
        "descent_loss": (DIMS, _by_activity(path.loss, shape), label("exact loss over that of saying 0")),
        "descent_cosine": (
            (*DIMS, "descent_lag"),
            _by_activity(_cosines(path), shape),
            label("cosine of the angle between w_s and w_k, s = 0 .. k"),
        ),
        "descent_optimum": (
            ("descent_units", "descent_activity"),
            np.array(plateaus),
            label("exact optimum of linear networks with one unit and with two"),
        ),
    }


def _cosines(path: Descent) -> np.ndarray:
    """Return the cosine between w_s and w_k for s = 0 .. k, (R, M, k + 1)."""
    directions = np.array([path.at(i).impulse(SWITCH_DELAY)[..., 0] for i in range(len(path.steps))])
    directions /= np.maximum(np.linalg.norm(directions, axis=-1, keepdims=True), np.finfo(float).tiny)
    return np.einsum("rmsn,rmn->rms", directions, directions[:, :, -1])


def _by_activity(values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Arrange (R, M, ...) as (activity, restart, R, ...)."""
    return np.moveaxis(values.reshape(*shape, *values.shape[2:]), 0, 2)
