"""The picture of the superposition explorer: four plotly panels whose traces are updated in place."""

from collections.abc import Callable
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from workbench.harness import style
from workbench.methods.superposition.explore_networks import ACTIVITIES, SEEDS, STEPS
from workbench.methods.superposition.hidden_plane import CANONICAL, RAW, UPRIGHT, Plane
from workbench.methods.superposition.shown import FORGOTTEN, GREATEST_ANGLE, NO_ANGLE, OUTPUT, lag_color

PLANE, PHASE, KERNEL, LOSS = "", "2", "3", "4"
TITLES = (
    "Arrow s: an input of s steps ago",
    "k theta at every activity: click a network",
    "Kernel: what the readout takes of it",
    "Loss while training",
)
MOST_LAGS = 17
FAR = 100.0
SHADE = "rgba(86, 180, 233, 0.22)"
FREE = "interference-free half-plane"
SPIRAL, READOUT = "W<sub>h</sub><sup>s</sup> w<sub>0</sub>, all s", "readout w<sub>y</sub>"
ARC, ARC_RADIUS = "k theta, from w<sub>0</sub> to w<sub>k</sub>", 0.18
OPTIMUM, BEST = "exact optimum, linear", "best of the seeds"
NETWORKS = ("a network", "beyond 360 degrees", "no turn: real eigenvalues, or dead")
LEAST_KERNEL = 0.1
SPREAD = 0.012  # decades between the dots of neighbouring seeds


class Picture:
    """The hidden plane of one network, the phase curve of all, and the kernel and the loss of the one.

    Its parts are drawn inside ``widget.batch_update()``, so that they reach the browser together.

    Attributes
    ----------
    widget : plotly.graph_objects.FigureWidget
        The picture.
    """

    def __init__(self) -> None:
        figure = make_subplots(
            2,
            2,
            subplot_titles=TITLES,
            horizontal_spacing=0.11,
            vertical_spacing=0.15,
            row_heights=[0.66, 0.34],
        )
        for row, column, trace in _traces():
            figure.add_trace(trace, row, column)
        figure.update_layout(**_layout())
        for panel, axes in _axes().items():
            figure.layout[f"xaxis{panel}"].update(title_standoff=4, **axes[0])
            figure.layout[f"yaxis{panel}"].update(title_standoff=4, **axes[1])
        self.widget = go.FigureWidget(figure)
        self._trace = {trace.name: trace for trace in self.widget.data}
        self._k, self._reach = 0, 1.0

    def on_click(self, call: Callable[[int, int], None]) -> None:
        """Let a click on a network of the phase curve call ``call(activity, seed)`` with their places."""

        def clicked(_: Any, points: Any, __: Any) -> None:
            if points.point_inds:
                call(*divmod(points.point_inds[0], len(SEEDS)))

        for name in NETWORKS:
            self._trace[name].on_click(clicked)

    def show_task(self, k: int, optimum: np.ndarray) -> None:
        """Draw what hangs on the delay alone: colours and axes of the lags, and the exact linear optimum."""
        self._k = k
        colors = [lag_color(s, k) for s in range(2 * k + 1)]
        for s, color in enumerate(colors):
            self._trace[f"w{s}"].update(line={"color": color, "width": 5 if s == k else 2.5}, marker_color=color)
        for s in range(len(colors), MOST_LAGS):
            self._trace[f"w{s}"].update(x=[], y=[])
        self._trace["stems"].marker.color = colors
        self._trace["kernel"].marker.color = colors
        self._trace[OPTIMUM].update(x=ACTIVITIES, y=optimum)
        self.widget.layout["xaxis3"].range = (-0.6, 2 * k + 0.6)

    def show_frame(self, frame: np.ndarray, kernels: np.ndarray) -> None:
        """Fix the axes of the plane to a frame, and that of the kernel to all values of `kernels` and to zero."""
        x, y, self._reach = frame
        low, high = min(float(kernels.min()), 0.0), max(float(kernels.max()), 0.0)
        pad = 0.1 * max(high - low, LEAST_KERNEL)
        self.widget.layout["xaxis"].range = (x - self._reach, x + self._reach)
        self.widget.layout["yaxis"].range = (y - self._reach, y + self._reach)
        self.widget.layout["yaxis3"].range = (low - pad, high + pad)

    def show_plane(self, plane: Plane, *, shaded: bool) -> None:
        """Draw the directions, the readout, and the half-plane that a ReLU readout takes for zero."""
        shapes = {
            FREE: plane.half_plane(FAR),
            READOUT: plane.readout_line(FAR),
            SPIRAL: plane.path,
            ARC: plane.arc_of(ARC_RADIUS * self._reach),
        }
        for name, points in shapes.items():
            self._trace[name].update(x=points[:, 0], y=points[:, 1])
        self._trace[FREE].visible = shaded
        for s, (x, y) in enumerate(plane.tips):
            label = f"<b>k = {s}</b>" if s == self._k else str(s) if s < self._k else ""
            self._trace[f"w{s}"].update(x=[0, x], y=[0, y], text=["", label], textposition=_beside(x, y))
        across, along = AXES_OF_BASIS[plane.basis]
        self.widget.layout["xaxis.title.text"] = f"{across} (units of |w<sub>k</sub>|)"
        self.widget.layout["yaxis.title.text"] = f"{along} (units of |w<sub>k</sub>|)"

    def show_phase(self, ktheta: np.ndarray, loss: np.ndarray, best: np.ndarray) -> None:
        """Draw k theta of all networks, shape (activity, seed), and join those of the best seeds."""
        turns = np.isfinite(ktheta)
        kinds = (turns & (ktheta <= GREATEST_ANGLE), turns & (ktheta > GREATEST_ANGLE), ~turns)
        heights = (ktheta, np.full_like(ktheta, GREATEST_ANGLE), np.full_like(ktheta, NO_ANGLE))
        said = [_said(angle, end) for angle, end in zip(ktheta.ravel(), loss.ravel(), strict=True)]
        line = np.where(best_of(ktheta, best) <= GREATEST_ANGLE, best_of(ktheta, best), np.nan)
        for name, chosen, height in zip(NETWORKS, kinds, heights, strict=True):
            self._trace[name].update(y=np.where(chosen, height, np.nan).ravel(), text=said)
        self._trace[BEST].y = line

    def show_choice(self, activity: int, seed: int, ktheta: float) -> None:
        """Ring one network of the phase curve, and say its angle over the plane."""
        turns = np.isfinite(ktheta)
        height = min(ktheta, GREATEST_ANGLE) if turns else NO_ANGLE
        said = f"k theta = {ktheta:.0f}°" if turns else "no turn"
        self.widget.layout["annotations[0].text"] = f"{TITLES[0]}; {said}"
        self._trace["shown"].update(x=[_spread()[activity, seed]], y=[height])

    def show_kernel(self, kernel: np.ndarray) -> None:
        """Draw a_s, s = 0 .. 2k."""
        lags = np.arange(len(kernel))
        for name in ("stems", "kernel"):
            self._trace[name].update(x=lags, y=kernel)

    def show_losses(self, losses: np.ndarray) -> None:
        """Draw the loss at every kept step."""
        self._trace["loss"].y = losses

    def show_step(self, step: int, loss: float) -> None:
        """Mark a step on the loss."""
        self._trace["now"].update(x=[step], y=[loss])


AXES_OF_BASIS = {
    UPRIGHT: ("across the readout", "along the readout"),
    CANONICAL: ("across w<sub>k</sub>", "along w<sub>k</sub>"),
    RAW: ("unit 1", "unit 2"),
}


def best_of(values: np.ndarray, best: np.ndarray) -> np.ndarray:
    """Return the values (activity, seed) of the best seeds, (activity,)."""
    return np.take_along_axis(values, best[:, None], axis=1)[:, 0]


def _said(ktheta: float, loss: float) -> str:
    angle = f"k theta = {ktheta:.0f} degrees" if np.isfinite(ktheta) else "does not turn, or dead"
    return f"{angle}<br>loss after training {loss:.2f}"


def _beside(x: float, y: float) -> str:
    """Return where a label stands clear of an arrow from the origin to (x, y)."""
    across = "right" if x > 0.4 * abs(y) else "left" if x < 0.1 * abs(y) else "center"
    along = "top" if y > 0.4 * abs(x) else "bottom" if y < -0.4 * abs(x) else "middle"
    return f"{along} {across}"


def _spread() -> np.ndarray:
    """Return the places of the dots on the activity axis, (activity, seed): side by side, falling with the seed."""
    aside = SPREAD * (np.mean(SEEDS) - np.array(SEEDS))
    return np.array(ACTIVITIES)[:, None] * 10**aside


def _traces() -> list[tuple[int, int, Any]]:
    """Return row, column and trace of everything that is drawn, from back to front."""
    gone = {"mode": "lines", "hoverinfo": "skip"}
    free = {"fillcolor": SHADE, "fill": "toself", "line": {"width": 0}}
    arrows = [(1, 1, _arrow(s)) for s in range(MOST_LAGS)]
    return [
        (1, 1, go.Scatter(name=FREE, x=[], y=[], **gone, **free)),
        (1, 1, go.Scatter(name=READOUT, x=[], y=[], line={"color": "black", "dash": "dash", "width": 1.3}, **gone)),
        (
            1,
            1,
            go.Scatter(name=SPIRAL, x=[], y=[], line={"color": FORGOTTEN, "dash": "dot", "width": 1.5}, **gone),
        ),
        *arrows[::-1],
        (1, 1, go.Scatter(name=ARC, x=[], y=[], line={"color": OUTPUT, "width": 2}, **gone)),
        *((1, 2, trace) for trace in _phase_traces()),
        (2, 1, go.Bar(name="stems", width=0.08, hoverinfo="skip", showlegend=False)),
        (2, 1, _points("kernel", size=9, hovertemplate="s = %{x}<br>a<sub>s</sub> = %{y:.3f}<extra></extra>")),
        (2, 2, _loss_curve()),
        (2, 2, _points("now", size=12, color=OUTPUT)),
    ]


def _phase_traces() -> list[go.Scatter]:
    places = _spread().ravel()
    hover = [f"p = {p:g}, seed {seed}" for p in ACTIVITIES for seed in SEEDS]
    dots = {"mode": "markers", "x": places, "customdata": hover}
    dots |= {"hovertemplate": "%{customdata}<br>%{text}<extra></extra>"}
    blue, ring = style.PALETTE[0], {"symbol": "circle-open", "size": 19, "color": OUTPUT, "line": {"width": 3}}
    marks = (
        {"symbol": "circle", "size": 7, "color": blue, "opacity": 0.55},
        {"symbol": "triangle-up", "size": 9, "color": blue},
        {"symbol": "x-thin", "size": 8, "color": blue, "line": {"width": 2, "color": blue}},
    )
    hidden = {"x": ACTIVITIES, "mode": "lines", "hoverinfo": "skip"}
    return [
        go.Scatter(name=OPTIMUM, line={"color": FORGOTTEN, "width": 4}, **hidden),
        go.Scatter(name=BEST, line={"color": blue, "width": 2}, **hidden),
        *(go.Scatter(name=name, marker=mark, **dots) for name, mark in zip(NETWORKS, marks, strict=True)),
        go.Scatter(name="shown", mode="markers", marker=ring, hoverinfo="skip", showlegend=False),
    ]


def _arrow(s: int) -> go.Scatter:
    return go.Scatter(
        name=f"w{s}",
        x=[],
        y=[],
        mode="lines+markers+text",
        marker={"symbol": "arrow", "size": [0, 13], "angleref": "previous", "opacity": 1},
        textfont={"size": 13},
        hovertemplate=f"s = {s}<br>(%{{x:.2f}}, %{{y:.2f}})<extra></extra>",
        showlegend=False,
    )


def _loss_curve() -> go.Scatter:
    hover = "step %{x}<br>loss %{y:.3f}<extra></extra>"
    line = {"color": style.PALETTE[0], "width": 2}
    return go.Scatter(name="loss", x=STEPS, mode="lines", line=line, hovertemplate=hover, showlegend=False)


def _points(name: str, *, hovertemplate: str | None = None, **marker: Any) -> go.Scatter:
    options = {"hovertemplate": hovertemplate} if hovertemplate else {"hoverinfo": "skip"}
    return go.Scatter(name=name, x=[], y=[], mode="markers", marker=marker, showlegend=False, **options)


def _axes() -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    activities = {"type": "log", "range": [0.06, -2.08], "tickvals": [1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01]}
    angles = {
        "range": [-40, 374],
        "showgrid": False,
        "tickvals": [0, 90, 180, 270, 360],
        "title_text": "k theta (degrees)",
    }
    zero = {"zeroline": True, "zerolinecolor": style.TEXT, "zerolinewidth": 1.5}
    faint = {"zeroline": True, "zerolinecolor": "#BBBBBB"}
    return {
        PLANE: (faint, {"scaleanchor": "x", **faint}),
        PHASE: ({"title_text": "activity p (log): sparser to the right", **activities}, angles),
        KERNEL: (
            {"title_text": "lag s (steps)", "dtick": 2},
            {"title_text": "a<sub>s</sub> = w<sub>y</sub> · w<sub>s</sub>", **zero},
        ),
        LOSS: (
            {"title_text": "training step", "range": [-30, STEPS[-1] + 30]},
            {"title_text": "loss (1: always say 0)", "range": [0, 1.15]},
        ),
    }


def _layout() -> dict[str, Any]:
    guide = {"type": "line", "xref": "x2 domain", "yref": "y2", "x0": 0, "x1": 1, "layer": "below"}
    guides = [{**guide, "y0": angle, "y1": angle, "line": {"color": style.TEXT, "dash": "dash"}} for angle in (90, 270)]
    return {
        "template": style.plotly_template(),
        "width": 900,
        "height": 790,
        "margin": {"l": 60, "r": 15, "t": 40, "b": 110},
        "modebar": {"remove": ["zoom", "pan", "select", "lasso", "zoomIn", "zoomOut", "autoScale", "resetScale"]},
        "legend": {"orientation": "h", "x": 0, "y": -0.1, "yanchor": "top", "itemclick": False},
        "dragmode": False,
        "shapes": guides,
    }
