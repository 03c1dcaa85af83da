"""The study's cover: the hidden plane of a network for dense and for sparse inputs, and the switch between the two."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from workbench.harness import style
from workbench.methods.superposition.hidden_plane import CANONICAL, Plane, plane
from workbench.methods.superposition.model import DelayRecall
from workbench.methods.superposition.shown import (
    FORGOTTEN,
    FREE,
    LOOKS,
    OUTPUT,
    Drawn,
    activity_axis,
    angle_axis,
    angle_dots,
    best,
    best_network,
    degrees,
    lag_color,
    places,
    shown_table,
)

FAR = 1e3
ARC = 0.2  # radius of the arc of k theta in half sides of the axes


def hidden_planes(dataset: xr.Dataset) -> Drawn:
    """Draw the best network with a ReLU readout for dense and for sparse inputs, and k theta against activity."""
    table = shown_table(dataset)
    k, activities = int(table["delay"]), table["activity"].values
    dense, sparse = places(table)
    angles = best(table, "ktheta", "ssm")
    figure, axes = style.subplots(1, 3, width=13, height=5)
    for ax, place, name in zip(axes, (dense, sparse), ("Dense", "Sparse"), strict=False):
        draw_plane(ax, best_network(table, "ssm", place))
        ax.set_title(f"{name} inputs, p = {activities[place]:g}: k theta = {degrees(angles[place])}")
    _phase_curve(axes[2], table)
    figure.suptitle(f"Two units keep the last {k + 1} inputs on a spiral: {_opening(angles[dense], angles[sparse])}")
    figure.legend(handles=_plane_handles(k), loc="outside lower left", ncols=6, fontsize=9, frameon=False)
    caption = (
        f"Two hidden units that must say at every step what came in {k} steps ago. Arrow s is where the input of "
        f"s steps ago lies, in the basis where a step is a rotation and a shrinking, so that the arc from w_0 to "
        f"w_{k} is k theta: {degrees(angles[dense])} at p = {activities[dense]:g}, {degrees(angles[sparse])} at "
        f"p = {activities[sparse]:g}. The readout is drawn as the dual vector in that basis: what lies in the shaded "
        f"half-plane it reads as zero or less, which a ReLU turns to 0. Right: best of "
        f"{table.sizes['restart']} networks as a line, all as dots; grey: linear networks and their exact optimum."
    )
    return figure, caption


def _opening(dense: float, sparse: float) -> str:
    if np.isfinite(dense) and np.isfinite(sparse):
        return f"{dense:.0f} degrees wide when inputs are dense, {sparse:.0f} when they are sparse"
    return "dense and sparse inputs"


def draw_plane(ax: Axes, model: DelayRecall) -> Plane:
    """Draw the hidden plane of one network of two units, in units of |w_k|, and return it."""
    drawn, k = plane(model, CANONICAL), model.k
    drawn = drawn.in_units_of(float(np.linalg.norm(drawn.tips[k])) or 1.0)
    reach = _frame(ax, drawn.tips)
    ax.fill(*drawn.half_plane(FAR).T, color=FREE, zorder=0)
    ax.plot(*drawn.readout_line(FAR).T, color=style.TEXT, linestyle="--", linewidth=1.2, zorder=1)
    ax.plot(*drawn.path.T, color="0.6", linestyle=":", linewidth=1.2, zorder=1)
    for s in range(2 * k, -1, -1):
        _arrow(ax, drawn.tips[s], s, k, reach)
    ax.plot(*drawn.arc_of(ARC * reach).T, color=style.TEXT, linestyle="-", linewidth=1.1, zorder=3)
    return drawn


def _frame(ax: Axes, tips: np.ndarray) -> float:
    """Set square axes around the directions and the origin; return half their side."""
    points = np.vstack([tips, np.zeros(2)])
    centre = (points.max(axis=0) + points.min(axis=0)) / 2
    reach = 0.62 * max(float(np.ptp(points, axis=0).max()), 0.5)
    ax.set(xlim=(centre[0] - reach, centre[0] + reach), ylim=(centre[1] - reach, centre[1] + reach), aspect="equal")
    ax.set(xlabel="across w_k (units of |w_k|)", ylabel="along w_k (units of |w_k|)")
    return reach


def _arrow(ax: Axes, tip: np.ndarray, s: int, k: int, reach: float) -> None:
    length = float(np.hypot(*tip))
    if length < 0.02 * reach:
        return
    width: dict[str, Any] = {"linewidth": 3.2 if s == k else 2.0 if s < k else 1.2, "color": lag_color(s, k)}
    head: dict[str, Any] = {
        "arrowstyle": "-|>",
        "shrinkA": 0,
        "shrinkB": 0,
        "mutation_scale": 14 if s <= k else 9,
        **width,
    }
    ax.annotate("", xy=tuple(tip), xytext=(0, 0), arrowprops=head, zorder=5 if s == k else 4, annotation_clip=False)
    if s <= k:
        ax.annotate(
            f"$w_{{{s}}}$",
            xy=tuple(tip),
            xytext=tuple(11 * tip / length),
            textcoords="offset points",
            ha="center",
            va="center",
            fontweight="bold" if s == k else "normal",
            color=width["color"],
            bbox={"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 0.5},
            zorder=6,
        )


def _plane_handles(k: int) -> list[Line2D | Patch]:
    return [
        Line2D([], [], color=lag_color(0, k), linewidth=2, label=f"$w_0$ .. $w_{{{k - 1}}}$, on their way"),
        Line2D([], [], color=OUTPUT, linewidth=3.2, label=f"$w_{{{k}}}$, the output direction"),
        Line2D([], [], color=FORGOTTEN, linewidth=1.2, label=f"$w_{{{k + 1}}}$ .. $w_{{{2 * k}}}$, to be forgotten"),
        Line2D([], [], color=style.TEXT, linestyle="--", linewidth=1.2, label="readout"),
        Patch(color=FREE, label="interference-free half-plane"),
        Line2D([], [], color=style.TEXT, linewidth=1.1, label="the angle k theta"),
    ]


def _phase_curve(ax: Axes, table: xr.Dataset) -> None:
    activities = table["activity"].values
    ax.plot(activities, table["optimum_ktheta"], color="0.8", linewidth=6, linestyle="-", label="exact linear optimum")
    for kind in ("linear", "ssm"):
        look = LOOKS[kind]
        line: dict[str, Any] = {"color": look.color, "linestyle": look.dash, "label": f"best, {look.label}"}
        ax.plot(activities, best(table, "ktheta", kind), marker=look.marker, markersize=4, **line)
    angle_dots(ax, table, "ssm")
    activity_axis(ax, activities)
    angle_axis(ax)
    ax.set_title("The switch")
    ax.legend(fontsize=8.5, loc="upper left" if len(activities) < 4 else "best")
