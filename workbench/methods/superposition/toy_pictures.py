"""Pictures of static superposition: feature directions with the room each has, and which phase wins where."""

from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

from workbench.harness import style
from workbench.methods.superposition.shown import Drawn
from workbench.methods.superposition.toy_model import feature_dimensionality, represented_features
from workbench.methods.superposition.toy_phases import PHASES, PhaseDiagram, antipodal_boundary

SHORT = 0.2  # directions below this length are dots without a letter
PHASE_COLORS = ("#BFD9EC", "#F6C9A8", "#BFE3D6")
NO_PHASE = "white"


def draw_polygons(W: Float[np.ndarray, "M 2 n"], p: Float[np.ndarray, " M"]) -> Drawn:
    """Draw the feature directions of static models with two units, and the dimensionality D_i of each feature.

    Parameters
    ----------
    W
        Weights of one model for each activity; a feature is a column.
    p
        The activities.
    """
    share = feature_dimensionality(W)
    figure, axes = style.subplots(2, len(p), width=2.7 * len(p), height=4.6, sharey="row", height_ratios=(2, 1))
    reach = 1.25 * max(1.0, float(np.linalg.norm(W, axis=1).max()))
    names = [chr(ord("A") + i) for i in range(W.shape[2])]
    for upper, lower, weights, activity, D in zip(*np.reshape(axes, (2, -1)), W, p, share, strict=True):
        for name, column in zip(names, weights.T, strict=True):
            _arrow(upper, column, name)
        upper.set(
            xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", title=f"p = {activity:g}", xlabel="unit 1"
        )
        lower.bar(names, D, color=style.PALETTE[0])
        lower.set(xlabel="feature", ylim=(0, 1.05))
    first = np.reshape(axes, (2, -1))[:, 0]
    first[0].set_ylabel("unit 2")
    first[1].set_ylabel("D_i (dimensions)")
    counts = represented_features(W)
    figure.suptitle("No memory at all: the sparser, the more features share two units")
    caption = (
        f"Each arrow is a feature's direction in two hidden units; below, the share D_i of a dimension that it has to "
        f"itself. Features longer than 1/2 at p = {', '.join(f'{v:g}' for v in p)}: "
        f"{', '.join(str(int(count)) for count in counts)} of {W.shape[2]}."
    )
    return figure, caption


def _arrow(ax: Axes, tip: np.ndarray, name: str) -> None:
    length = float(np.hypot(*tip))
    if length < SHORT:
        ax.plot(*tip, ".", color=style.PALETTE[0])
        return
    arrow: dict[str, Any] = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0, "color": style.PALETTE[0], "linewidth": 2}
    ax.annotate("", xy=tuple(tip), xytext=(0, 0), arrowprops=arrow)
    place: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "va": "center"}
    ax.annotate(name, xy=tuple(tip), xytext=tuple(9 * tip / length), **place)


def draw_phases(found: PhaseDiagram) -> Drawn:
    """Draw which phase the best trained models with two features and one unit are in, and the analytic boundary.

    Parameters
    ----------
    found
        Of `phase_diagram`, its activities and importances rising.
    """
    figure, ax = style.subplots(1, 1, width=6.2, height=4.4)
    colors = ListedColormap([NO_PHASE, *PHASE_COLORS])
    grid: dict[str, Any] = {"cmap": colors, "vmin": -1, "vmax": len(PHASES) - 1, "shading": "nearest"}
    ax.pcolormesh(found.importance, found.p, found.trained, edgecolors="white", linewidth=0.5, **grid)
    line = np.geomspace(found.importance.min(), found.importance.max(), 200)
    ax.plot(line, antipodal_boundary(line), color="black", linestyle="-", linewidth=2, label="p = 4 I / (2 + 5 I)")
    ax.set(xscale="log", yscale="log", xlabel="importance I of the second feature", ylabel="activity p")
    patches = [Patch(color=color, label=name) for name, color in zip(PHASES, PHASE_COLORS, strict=True)]
    figure.legend(handles=[*ax.lines, *patches], loc="outside right upper", fontsize=9, frameon=False)
    ax.set_title("Two features in one unit")
    caption = (
        f"Cells: the best trained model at {found.trained.size} points. Line: where the closed-form losses of the "
        f"antipodal pair and of keeping one feature meet; {np.mean(found.trained == found.predicted):.0%} of the "
        "cells lie on the side that it gives them."
    )
    return figure, caption
