"""The superposition explorer: the spiral of what a network remembers, and its turn from 90 to 270 degrees."""

from dataclasses import replace
from functools import cache
from typing import Any

import ipywidgets
import numpy as np

from workbench.harness.controls import command_line, widget_for
from workbench.harness.frame import Frame
from workbench.harness.params import Params, param
from workbench.harness.progress import Progress, silent
from workbench.methods.superposition import ranges, spec
from workbench.methods.superposition.amplitudes import amplitude_law
from workbench.methods.superposition.explore_networks import ACTIVITIES, LAST, SEEDS, STEPS, Networks, frame_of, train
from workbench.methods.superposition.explore_picture import Picture, best_of
from workbench.methods.superposition.hidden_plane import BASES, CANONICAL, UPRIGHT, Plane
from workbench.methods.superposition.study_curves import optimum_variables

BEST = "best"
TASK = ("k", "kind", "amplitude", "tied")
LIVE = frozenset({"activity", "seed", "step", "basis", "own_scale"})
JUMP = 45.0


class View(Params):
    """What the explorer's controls set."""

    k: int = param(4, "delay of the recall", unit="steps", ge=1, le=8)
    kind: str = param("ssm", "where a ReLU is: nowhere, at the readout, in the recurrence too", choices=spec.KINDS)
    amplitude: str = param("uniform", "law of an input that is not zero", choices=spec.AMPLITUDES)
    tied: bool = param(True, "tied readout, w_y = w_k")
    activity: float = param(1.0, "probability that an input is not zero", choices=ACTIVITIES)
    seed: str = param(BEST, "network at that activity, or the best of them", choices=(BEST, *map(str, SEEDS)))
    step: int = param(STEPS[-1], "training step", choices=STEPS)
    basis: str = param(UPRIGHT, "basis of the hidden plane", choices=BASES)
    own_scale: bool = param(False, "axes that fit this network instead of the trained ones of all activities")


def explore(
    *,
    k: int = 4,
    kind: str = "ssm",
    amplitude: str = "uniform",
    tied: bool = True,
    activity: float = 1.0,
    basis: str = UPRIGHT,
) -> Frame:
    """Return the explorer of what small networks remember of sparse inputs.

    Parameters
    ----------
    k
        Delay of the recall in steps, 1 to 8.
    kind
        ``"linear"``, ``"ssm"`` or ``"nonlinear"``.
    amplitude
        Law of an input that is not zero.
    tied
        Whether the readout is w_k.
    activity
        Activity to begin with, one of `ACTIVITIES`.
    basis
        Basis of the hidden plane, one of `BASES`.

    Returns
    -------
    Frame
        Its controls have the names of the fields of `View`.

    Raises
    ------
    ParameterError
        If an argument is not allowed.
    """
    activity = float(activity) if ranges.is_number(activity) else activity
    start = View(k=k, kind=kind, amplitude=amplitude, tied=tied, activity=activity, basis=basis)
    controls = _controls(start)
    explorer = Explorer()
    frame = Frame(
        "Temporal superposition in two hidden units",
        controls,
        explorer.picture.widget,
        explorer.draw,
        command=explorer.command,
        panel=_panel(controls),
    )
    explorer.picture.on_click(lambda place, seed: frame.move(activity=ACTIVITIES[place], seed=str(seed)))
    return frame


class Explorer:
    """What is on the screen: the trained networks, the one that is shown, and the picture of them."""

    def __init__(self) -> None:
        self.picture = Picture()
        self._trained: dict[tuple[Any, ...], Networks] = {}
        self._networks: Any = None
        self._losses = self._optimum = np.empty(0)

    def draw(self, values: dict[str, Any], changed: frozenset[str], progress: Progress) -> str:
        """Bring the picture up to date with the controls; return in words what it shows."""
        if not changed <= LIVE:
            self._train(values, progress)
            changed = frozenset(values)
        step, activity, seed = place = self._place(values)
        if changed & {"activity", "seed"}:
            self._losses = self._networks.losses(activity, seed)
        plane = self._networks.plane(*place, values["basis"])
        with self.picture.widget.batch_update():
            self._show(values, changed, place, plane)
        words = [self._network_words(values, place), self._phase_words(step)]
        return "\n".join([*words, *_notes(values, plane.basis)])

    def command(self, values: dict[str, Any]) -> str:
        """Return the command line of the study at this delay and law, and at the explorer's activities."""
        return command_line("superposition", study_params(values["k"], values["amplitude"]))

    def _train(self, values: dict[str, Any], progress: Progress) -> None:
        task = {name: values[name] for name in TASK}
        key = tuple(task.values())
        if key not in self._trained:
            self._trained[key] = train(**task, progress=progress)
        self._networks = self._trained[key]
        self._optimum = linear_optimum(values["k"], values["amplitude"])

    def _show(self, values: dict[str, Any], changed: frozenset[str], place: tuple[int, int, int], plane: Plane) -> None:
        networks, picture = self._networks, self.picture
        step, activity, seed = place
        ktheta = networks.ktheta[step]
        if "k" in changed:
            picture.show_task(values["k"], self._optimum)
        if values["own_scale"]:
            picture.show_frame(frame_of(plane.tips), networks.kernel(*place))
        elif changed & {"basis", "own_scale"}:
            picture.show_frame(networks.frames[values["basis"]], networks.kernels)
        if "step" in changed:
            picture.show_phase(ktheta, networks.final_loss, networks.best)
        picture.show_plane(plane, shaded=networks.model.relu_y)
        picture.show_choice(activity, seed, ktheta[activity, seed])
        picture.show_kernel(networks.kernel(*place))
        picture.show_losses(self._losses)
        picture.show_step(values["step"], self._losses[step])

    def _place(self, values: dict[str, Any]) -> tuple[int, int, int]:
        activity = ACTIVITIES.index(values["activity"])
        seed = int(self._networks.best[activity]) if values["seed"] == BEST else int(values["seed"])
        return STEPS.index(values["step"]), activity, seed

    def _network_words(self, values: dict[str, Any], place: tuple[int, int, int]) -> str:
        step, activity, seed = place
        p, best = values["activity"], " (the best)" if seed == self._networks.best[activity] else ""
        return (
            f"{values['kind']}, k = {values['k']}, p = {p:g} (sparsity {1 - p:g}), seed {seed}{best}, "
            f"step {values['step']}: {self._geometry_words(place)}, loss {self._losses[step]:.3f} of that of saying 0"
        )

    def _geometry_words(self, place: tuple[int, int, int]) -> str:
        networks, found = self._networks, self._networks.geometry
        here, k = networks.place(*place), networks.model.k
        if found.dead[here]:
            return "dead, it recalls nothing"
        ktheta = found.ktheta[here]
        turn = f"k theta = {ktheta:.0f} degrees" if np.isfinite(ktheta) else "real eigenvalues, no turn"
        words = f"{turn}, spectral radius {found.rho[here]:.2f}"
        if not networks.model.relu_y:
            return words
        free = round(found.free_fraction[here] * k)
        return f"{words}, {free} of {k} intermediate directions free of interference"

    def _phase_words(self, step: int) -> str:
        best = best_of(self._networks.ktheta[step], self._networks.best)
        seen = np.flatnonzero(np.isfinite(best))
        if seen.size < 2:
            return "Best of the seeds: hardly any turns"
        turns = np.abs(np.diff(best[seen]))
        at = int(np.argmax(turns))
        said = [f"{best[i]:.0f} degrees at p = {ACTIVITIES[i]:g}" for i in seen]
        ends = f"{said[0]}, {said[-1]}"
        if turns[at] < JUMP:
            return f"Best of the seeds: k theta does not jump ({ends})"
        return f"Best of the seeds: k theta jumps from {said[at]} to {said[at + 1]} ({ends})"


def study_params(k: int, amplitude: str) -> spec.Params:
    """Return the parameters of the study of one delay at the explorer's activities."""
    return spec.Params(delays=[k], shown=k, activities=list(ACTIVITIES), restarts=len(SEEDS), amplitude=amplitude)


@cache
def linear_optimum(k: int, amplitude: str) -> np.ndarray:
    """Return k theta in degrees of the exact optimum of the linear network, at each activity."""
    return optimum_variables(study_params(k, amplitude), silent)["optimum_ktheta"][1][0]


def _notes(values: dict[str, Any], basis: str) -> list[str]:
    """Return what is to be kept in mind."""
    signed = amplitude_law(values["amplitude"]).signed and values["kind"] != "linear"
    notes = {
        "A ReLU cannot say negative amplitudes: half the loss stays.": signed,
        "The angle is that of W_h alone: the ReLU in the recurrence bends the way.": values["kind"] == "nonlinear",
        "Real eigenvalues have no canonical basis: the readout points up.": values["basis"] == CANONICAL != basis,
        "The command reruns the study, whose readouts are tied.": not values["tied"],
    }
    return [note for note, holds in notes.items() if holds]


def _controls(start: View) -> dict[str, Any]:
    fields = {name: replace(field, default=getattr(start, name)) for name, field in View.fields().items()}
    return {name: widget_for(field, live=name in LIVE) for name, field in fields.items()}


def _panel(controls: dict[str, Any]) -> list[ipywidgets.Widget]:
    """Return the controls in groups, the training step with a button that plays it."""
    play = ipywidgets.Play(min=0, max=LAST, value=STEPS.index(controls["step"].value), interval=120)
    ipywidgets.jslink((play, "value"), (controls["step"], "index"))
    groups = {
        "Networks (trained anew)": TASK,
        "Which network": ("activity", "seed"),
        "Training": ("step",),
        "Hidden plane": ("basis", "own_scale"),
    }
    panel: list[ipywidgets.Widget] = []
    for heading, names in groups.items():
        panel += [ipywidgets.HTML(f"<b>{heading}</b>"), *(controls[name] for name in names)]
        if "step" in names:
            panel.append(play)
    return panel
