"""What the pictures take from the study's dataset: networks, activities, and one look for each architecture."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from workbench.harness import style
from workbench.methods.superposition.model import DelayRecall
from workbench.methods.superposition.study_path import SPARSE

Drawn = tuple[Figure, str]

GREATEST_ANGLE = 360
NO_ANGLE = -25
TICKS = (1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001)
SPREAD = 0.02  # decades over which the dots of one activity are spread, to either side


@dataclass(frozen=True)
class Look:
    """How the networks of one architecture are named and drawn."""

    label: str
    color: str
    dash: str
    marker: str


LOOKS = {
    "linear": Look("linear", "#6E6E6E", "--", "s"),
    "ssm": Look("ReLU readout (ssm)", style.OKABE_ITO["blue"], "-", "o"),
    "nonlinear": Look("ReLU recurrence (nonlinear)", style.OKABE_ITO["vermillion"], "-.", "^"),
}
DENSE, SPARSE_LOOK = (
    Look("dense", style.OKABE_ITO["blue"], "-", "o"),
    Look("sparse", style.OKABE_ITO["vermillion"], "--", "s"),
)

OUTPUT = style.OKABE_ITO["vermillion"]
FORGOTTEN = "#9A9A9A"
FREE = "#DCEEF8"


def shown_table(dataset: xr.Dataset) -> xr.Dataset:
    """Return the phase table at the shown delay, activities falling."""
    place = int(np.argmax(dataset["delay"].values == dataset.attrs["shown_delay"]))
    return dataset.isel(delay=place).sortby("activity", ascending=False)


def best(table: xr.Dataset, name: str, kind: str) -> np.ndarray:
    """Return a read-out of the best networks of one architecture, activities first."""
    mine = table.sel(kind=kind)
    return mine[name].isel(restart=mine["best"]).values


def places(table: xr.Dataset) -> tuple[int, int]:
    """Return where the densest activity stands in the table, and the one nearest to 0.05."""
    activities = table["activity"].values
    return int(np.argmax(activities)), int(np.argmin(np.abs(activities - SPARSE)))


def networks(table: xr.Dataset, kind: str, place: int) -> DelayRecall:
    """Return all restarts of one architecture at one activity."""
    chosen = table.sel(kind=kind).isel(activity=place)
    W_x, W_h = chosen["W_x"].values[..., None], chosen["W_h"].values
    return DelayRecall(kind, k=int(table["delay"]), n_models=len(W_x), W_x=W_x, W_h=W_h)


def best_network(table: xr.Dataset, kind: str, place: int) -> DelayRecall:
    """Return the restart of least loss."""
    return networks(table, kind, place).take(int(table["best"].sel(kind=kind)[place]))


def lag_color(s: int, k: int) -> str:
    """Return the colour of lag s: dark to light before the output, the output's own, grey after it."""
    if s >= k:
        return OUTPUT if s == k else FORGOTTEN
    shade = colormaps[style.MAGNITUDE](0.62 * s / max(k - 1, 1))
    return to_hex(shade)


def activity_axis(ax: Axes, activities: np.ndarray) -> None:
    """Make x the activity on a log axis, sparser to the right."""
    low, high = activities.min(), activities.max()
    pad = max((high / low) ** 0.04, 1.1)
    ticks = [tick for tick in TICKS if low / 1.02 <= tick <= high * 1.02]
    ax.set(xscale="log", xlim=(high * pad, low / pad), xlabel="activity p (log, sparser to the right)")
    ax.xaxis.set_major_locator(FixedLocator(ticks if len(ticks) > 1 else [high, low]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def angle_axis(ax: Axes) -> None:
    """Make y an angle k theta, with guides at 90 and 270 degrees."""
    ax.set(ylim=(NO_ANGLE - 15, GREATEST_ANGLE + 15), ylabel="k theta (degrees)")
    ax.set_yticks(range(0, GREATEST_ANGLE + 1, 90))
    for guide in (90, 270):
        ax.axhline(guide, color="0.75", linewidth=0.9, linestyle=":", zorder=0)


def angle_dots(ax: Axes, table: xr.Dataset, kind: str) -> None:
    """Draw k theta of all restarts: triangles on the upper edge are larger angles, crosses below are none."""
    angles, color = table["ktheta"].sel(kind=kind).values, LOOKS[kind].color
    x = spread(table["activity"].values, angles.shape[1])
    beyond = angles > GREATEST_ANGLE
    common: dict[str, Any] = {"color": color, "linestyle": "none", "zorder": 3}
    ax.plot(x[~beyond], angles[~beyond], ".", alpha=0.55, label="a trained network", **common)
    if beyond.any():
        label = f"beyond {GREATEST_ANGLE} degrees"
        ax.plot(x[beyond], np.full(beyond.sum(), GREATEST_ANGLE), "^", markersize=5, label=label, **common)
    without = np.isnan(angles)
    if without.any():
        label = "no turn (real eigenvalues), or dead"
        ax.plot(x[without], np.full(without.sum(), NO_ANGLE), "x", markersize=4, label=label, **common)


def spread(activities: np.ndarray, restarts: int) -> np.ndarray:
    """Return where the dots of the restarts stand, (activity, restart): side by side at each activity."""
    aside = np.linspace(-SPREAD, SPREAD, restarts) if restarts > 1 else np.zeros(1)
    return activities[:, None] * 10.0 ** aside[None, :]


def degrees(angle: float) -> str:
    """Return an angle in words."""
    return f"{angle:.0f} degrees" if np.isfinite(angle) else "no angle (real eigenvalues, or dead)"
