"""The picture of the staircase: loss and alignment of linear networks that learn from small weights."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from workbench.harness import style
from workbench.methods.superposition.measures import SWITCH_DELAY, ordered_separation, plateau_alignment, plateaus
from workbench.methods.superposition.shown import Drawn
from workbench.methods.superposition.study_staircase import SCALE


def staircase(dataset: xr.Dataset) -> Drawn:
    """Draw the loss of every descent with the optima of one and two units, and the cosines of w_s and w_k of one."""
    activities = dataset["descent_activity"].values
    figure, axes = style.subplots(2, len(activities), width=11, height=6.4, sharex="col", squeeze=False)
    for column, activity in enumerate(activities):
        one = dataset.sel(descent_activity=activity)
        _losses(axes[0, column], one)
        _cosines(axes[1, column], one.isel(restart=0))
        axes[0, column].set(title=f"activity p = {activity:g}", xlim=(0, _settled(one)))
    axes[0, 0].legend(fontsize=9, frameon=False)
    axes[1, 0].legend(fontsize=9, ncols=2, frameon=False)
    figure.suptitle("Gradient descent from small weights: the loss, and the alignment of directions with the readout")

    rest = dataset["descent_loss"].isel(descent=plateaus(dataset))
    levels = dataset["descent_optimum"].isel(descent_units=0)
    words = ", ".join(
        f"{float(rest.sel(descent_activity=p).median()):.4f} at p = {p:g} "
        f"(optimum of one unit {float(levels.sel(descent_activity=p)):.4f})"
        for p in activities
    )
    aligned = plateau_alignment(dataset)
    end, lowest = dataset["descent_loss"].isel(descent=-1), dataset["descent_optimum"].isel(descent_units=1)
    apart = float(abs(end / lowest - 1).max())
    caption = (
        f"Gradient descent on the exact loss, delay {SWITCH_DELAY}, two units, {dataset.sizes['restart']} restarts "
        f"from weights of size {SCALE:g}. Above: where the loss is flattest it is {words}, and at the end it is the "
        f"optimum of two units but for a share of {apart:.1g}. Below, one restart: on the plateau the cosine between "
        f"w_s and the readout w_{SWITCH_DELAY} is at least {aligned:.3f} in all restarts; w_0, w_1 and w_2 then leave "
        f"in this order in {ordered_separation(dataset):.0%} of them. W_h begins near half the identity, so the "
        "directions are nearly aligned from the start."
    )
    return figure, caption


def _settled(one: xr.Dataset) -> float:
    """Return a step by which every loss has stayed within 1 % of its end for a while."""
    moving = abs(one["descent_loss"] / one["descent_loss"].isel(descent=-1) - 1) > 0.01
    last = float(one["descent_step"].where(moving.any("restart")).max())
    return min(1.5 * last, float(one["descent_step"].max())) if last > 0 else float(one["descent_step"].max())


def _losses(ax: Axes, one: xr.Dataset) -> None:
    steps = one["descent_step"].values
    for number, loss in enumerate(one["descent_loss"].values):
        ax.plot(steps, loss, "-", color=style.PALETTE[0], alpha=0.6, linewidth=1.2, label="_" if number else "restarts")
    for level, dashes, name in zip(one["descent_optimum"].values, ("--", ":"), ("one unit", "two units"), strict=True):
        ax.axhline(level, color=style.PALETTE[1], linestyle=dashes, label=f"optimum of {name}")
    ax.set(ylabel="loss / loss of saying 0", ylim=(0, 1.05))


def _cosines(ax: Axes, one: xr.Dataset) -> None:
    steps, last = one["descent_step"].values, one.sizes["descent_lag"] - 1
    for lag in range(last):
        dashes, color = style.DASHES[lag % len(style.DASHES)], style.PALETTE[lag % len(style.PALETTE)]
        ax.plot(steps, one["descent_cosine"].isel(descent_lag=lag), linestyle=dashes, color=color, label=f"s = {lag}")
    ax.axhline(0, color="0.7", linewidth=0.8)
    ax.set(xlabel="step of gradient descent (steps)", ylabel=f"cosine of w_s and w_{last}", ylim=(-1.05, 1.05))
    ax.set_yticks(np.linspace(-1, 1, 5))
