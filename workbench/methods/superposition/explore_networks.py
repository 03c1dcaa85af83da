"""The networks of the superposition explorer: every activity and seed, at every kept step of their training."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from workbench.harness.progress import Progress
from workbench.methods.superposition.hidden_plane import BASES, Plane, plane
from workbench.methods.superposition.model import DelayRecall
from workbench.methods.superposition.read_outs import Geometry, geometry
from workbench.methods.superposition.spec import Params
from workbench.methods.superposition.study_curves import seeds_of
from workbench.methods.superposition.training import RATE, evaluate, fit
from workbench.methods.superposition.undefined import least

ACTIVITIES = (1.0, 0.7, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05, 0.02, 0.01)
SEEDS = tuple(range(6))
SNAPSHOTS = 40
STEPS = tuple(range(0, 1001, 1000 // SNAPSHOTS))
BATCH = 64
HASTE = 2  # times the usual learning rate, for two thirds of the usual steps
SEQUENCES = 2048
SLACK = 0.05
LAST = SNAPSHOTS
LEAST_REACH, MOST_REACH = 1.0, 8.0


@dataclass(frozen=True, eq=False)
class Networks:
    """Networks at every step of `STEPS`, activity of `ACTIVITIES` and seed of `SEEDS`, in this order, in one model."""

    model: DelayRecall
    amplitude: str

    @cached_property
    def geometry(self) -> Geometry:
        """The geometry of all of them."""
        return geometry(self.model, slack=SLACK)

    @cached_property
    def ktheta(self) -> np.ndarray:
        """K theta in degrees, (step, activity, seed)."""
        return self.geometry.ktheta.reshape(self.shape)

    @cached_property
    def final_loss(self) -> np.ndarray:
        """Loss after training, (activity, seed)."""
        return self._losses(np.s_[-1:])[0]

    @cached_property
    def best(self) -> np.ndarray:
        """The seed of the least loss after training, (activity,)."""
        return least(self.final_loss)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of steps, activities and seeds."""
        return len(STEPS), len(ACTIVITIES), len(SEEDS)

    def place(self, step: int, activity: int, seed: int) -> int:
        """Return where in the model a network is."""
        return int(np.ravel_multi_index((step, activity, seed), self.shape))

    def losses(self, activity: int, seed: int) -> np.ndarray:
        """Return the loss of one network at each kept step, on the sequences that `final_loss` is taken on."""
        return self._losses(np.s_[:, activity : activity + 1, seed : seed + 1])[:, 0, 0]

    def plane(self, step: int, activity: int, seed: int, basis: str) -> Plane:
        """Return the hidden plane of one network, lengths in units of its |w_k| after training."""
        found = plane(self.model.take(self.place(step, activity, seed)), basis)
        return found.in_units_of(self._unit(activity, seed))

    def kernel(self, step: int, activity: int, seed: int) -> np.ndarray:
        """Return a_s of one network, s = 0 .. 2k."""
        return self.geometry.kernel[self.place(step, activity, seed), : 2 * self.model.k + 1, 0, 0]

    @cached_property
    def frames(self) -> dict[str, np.ndarray]:
        """The frame of the trained best networks of all activities, by basis."""
        return {basis: frame_of(np.concatenate(self._best_tips(basis))) for basis in BASES}

    @cached_property
    def kernels(self) -> np.ndarray:
        """The kernels of the trained best networks of all activities, (activity, lag)."""
        return np.array([self.kernel(LAST, activity, int(seed)) for activity, seed in enumerate(self.best)])

    def _best_tips(self, basis: str) -> list[np.ndarray]:
        return [self.plane(LAST, activity, int(seed), basis).tips for activity, seed in enumerate(self.best)]

    def _unit(self, activity: int, seed: int) -> float:
        final = self.place(LAST, activity, seed)
        if self.geometry.dead[final]:
            return 1.0
        return float(np.linalg.norm(self.model.take(final).impulse(self.model.k)[0, -1]))

    @cached_property
    def _silence(self) -> np.ndarray:
        """What `evaluate` says of networks that say 0, (activity, 1): close to 1, as far as its sequences go."""
        zeros = {name: None if w is None else np.zeros_like(w) for name, w in self.model.weights().items()}
        silent = replace(self.model, **zeros).take(slice(len(ACTIVITIES)))
        return self._evaluated(silent, np.array(ACTIVITIES))[:, None]

    def _losses(self, which: Any) -> np.ndarray:
        """Return the loss over that of saying 0 on the same sequences."""
        places = np.arange(self.model.n_models).reshape(self.shape)[which]
        p, silence = (
            np.broadcast_to(values, self.shape)[which] for values in (np.array(ACTIVITIES)[:, None], self._silence)
        )
        loss = self._evaluated(self.model.take(places.ravel()), p.ravel())
        return loss.reshape(places.shape) / silence

    def _evaluated(self, model: DelayRecall, p: np.ndarray) -> np.ndarray:
        return evaluate(model, p, n=SEQUENCES, amplitude=self.amplitude)


def train(*, k: int, kind: str, amplitude: str, tied: bool, progress: Progress) -> Networks:
    """Return networks trained at every activity from the study's first weights, one for each seed."""
    activities, seeds = np.repeat(ACTIVITIES, len(SEEDS)), np.tile(seeds_of(Params(), len(SEEDS)), len(ACTIVITIES))
    start = DelayRecall(kind, k=k, tied=tied, n_models=len(seeds)).init(seeds)
    options = {"steps": STEPS[-1], "batch": BATCH, "lr": HASTE * RATE[kind], "snapshots": SNAPSHOTS}
    kept = fit(start, activities, seed=seeds, amplitude=amplitude, callback=progress, **options).snapshots
    W_x, W_h, W_y = (None if w is None else np.concatenate(w) for w in (kept.W_x, kept.W_h, kept.W_y))
    return Networks(replace(start, n_models=len(STEPS) * len(seeds), W_x=W_x, W_h=W_h, W_y=W_y), amplitude)


def frame_of(tips: np.ndarray) -> np.ndarray:
    """Return centre and half side of a square around all directions, room for labels included."""
    places = np.clip(tips, -MOST_REACH, MOST_REACH)
    low, high = np.minimum(places.min(axis=0), -LEAST_REACH), np.maximum(places.max(axis=0), LEAST_REACH)
    return np.array([*(low + high) / 2, 0.6 * float((high - low).max())])
