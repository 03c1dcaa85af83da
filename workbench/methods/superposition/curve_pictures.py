"""Pictures over activity and training: angle, radius and loss of trained networks, and the terms of the loss."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from workbench.harness import style
from workbench.methods.superposition.shown import (
    LOOKS,
    Drawn,
    activity_axis,
    angle_axis,
    angle_dots,
    best,
    degrees,
    places,
    shown_table,
    spread,
)
from workbench.methods.superposition.spec import CLAIMS

ALLOWED = {claim.name: claim.bound.high for claim in CLAIMS}
QUANTITIES = {
    "loss": ("loss (1: always say 0)", "relative difference", "optimum_loss"),
    "ktheta": ("k theta (degrees)", "difference (degrees)", "optimum_angle"),
    "rho": ("spectral radius", "difference", "optimum_radius"),
}
TERMS = {
    "task": "task",
    "projection": "projection interference",
    "composition": "composition interference",
    "mean_correction": "mean correction",
}
HATCHES = ("", "//", "..", "xx")
NOTHING = 1e-12


def phase_curves(dataset: xr.Dataset) -> Drawn:
    """Draw k theta and spectral radius of the three architectures against activity, at the shown delay."""
    table = shown_table(dataset)
    k, activities = int(table["delay"]), table["activity"].values
    figure, axes = style.subplots(2, 3, width=12, height=6.2, sharex=True, sharey="row")
    for (upper, lower), (kind, look) in zip(axes.T, LOOKS.items(), strict=True):
        angle_dots(upper, table, kind)
        radii = table["rho"].sel(kind=kind).values
        lower.plot(
            spread(activities, radii.shape[1]), radii, ".", color=look.color, linestyle="none", alpha=0.55, zorder=3
        )
        for ax, name in ((upper, "ktheta"), (lower, "rho")):
            if kind == "linear":
                optimum: dict[str, Any] = {"color": "0.8", "linewidth": 6, "linestyle": "-", "zorder": 1}
                ax.plot(activities, table[f"optimum_{name}"], label="exact optimum", **optimum)
            ax.plot(activities, best(table, name, kind), color=look.color, linestyle=look.dash, label="best network")
        activity_axis(lower, activities)
        angle_axis(upper)
        upper.set(title=look.label)
        upper.label_outer()
        upper.legend(fontsize=8.5, frameon=False, loc="upper left")
        lower.axhline(1, color="0.75", linewidth=0.9, linestyle=":", zorder=0)
    axes[1, 0].set_ylabel("spectral radius of W_h")
    figure.suptitle(f"k theta over the activities: {', '.join(_range(table, kind) for kind in LOOKS)}")
    dense, sparse = places(table)
    told = [_from_to(table, kind, dense, sparse) for kind in LOOKS]
    caption = (
        f"Delay {k}, {table.sizes['restart']} networks a point. From p = {activities[dense]:g} to "
        f"p = {activities[sparse]:g} (best networks): {'; '.join(told)}."
    )
    return figure, caption


def _range(table: xr.Dataset, kind: str) -> str:
    angles = best(table, "ktheta", kind)
    found = angles[np.isfinite(angles)]
    return f"{kind} {found.min():.0f} to {found.max():.0f} degrees" if found.size else f"{kind} without an angle"


def _from_to(table: xr.Dataset, kind: str, dense: int, sparse: int) -> str:
    angles, radii = best(table, "ktheta", kind), best(table, "rho", kind)
    change = f"{degrees(angles[dense])} to {degrees(angles[sparse])}"
    return f"{kind} {change}, radius {radii[dense]:.2f} to {radii[sparse]:.2f}"


def against_optimum(dataset: xr.Dataset) -> Drawn:
    """Draw loss, angle and radius of the best trained linear networks beside the exact optimum."""
    table = shown_table(dataset)
    activities = table["activity"].values
    figure, axes = style.subplots(2, 3, width=12, height=5.6, sharex=True, height_ratios=(3, 2))
    largest = []
    for (upper, lower), (name, (label, unit, claim)) in zip(axes.T, QUANTITIES.items(), strict=True):
        trained, optimum = best(table, name, "linear"), table[f"optimum_{name}"].values
        gap = np.abs(trained - optimum) / (np.where(optimum > 0, optimum, 1) if name == "loss" else 1)
        upper.plot(activities, optimum, color="0.75", linewidth=6, linestyle="-", label="exact optimum")
        upper.plot(activities, trained, "o", linestyle="none", color=style.PALETTE[0], label="trained, best")
        upper.set(ylabel=label)
        lower.plot(activities, np.maximum(gap, NOTHING), "o-", color=style.PALETTE[0])
        lower.axhline(ALLOWED[claim], color=style.PALETTE[1], linestyle="--", label=f"allowed: {ALLOWED[claim]:g}")
        lower.set(yscale="log", ylabel=unit)
        lower.legend(fontsize=8.5, frameon=False)
        activity_axis(lower, activities)
        largest.append(f"{np.nanmax(gap):.2g}" if np.isfinite(gap).any() else "none (all dead)")
    axes[0, 0].legend(fontsize=9, frameon=False)
    figure.suptitle("Trained linear networks beside the exact optimum")
    caption = (
        f"Delay {int(table['delay'])}; the optimum comes from no training, but from a search over the spectrum of "
        f"W_h. Largest differences: {largest[0]} of the loss, {largest[1]} degrees, {largest[2]} of the radius."
    )
    return figure, caption


def loss_terms(dataset: xr.Dataset) -> Drawn:
    """Draw the four terms of the loss of linear networks on the way of training, and the simulated loss."""
    figure, axes = style.subplots(1, 2, width=12, height=4.6, sharey=True)
    steps = dataset["path_step"].values
    for i, (ax, p) in enumerate(zip(axes, dataset["shown_activity"].values, strict=True)):
        way = dataset.isel(shown_activity=i)
        _stack(ax, steps, way["path_terms"])
        exact: dict[str, Any] = {
            "color": "black",
            "linestyle": "-",
            "linewidth": 2,
            "label": "their sum, the exact loss",
        }
        ax.plot(steps, way["path_exact_loss"], **exact)
        dots: dict[str, Any] = {
            "color": "white",
            "markeredgecolor": "black",
            "markersize": 5,
            "linestyle": "none",
            "zorder": 4,
        }
        ax.plot(steps, way["path_simulated_loss"], "o", label="simulated loss", **dots)
        ax.axhline(0, color=style.TEXT, linewidth=0.8, linestyle="-")
        ax.set(xlabel="training step", title=f"p = {p:g}")
    axes[0].set_ylabel("share of the loss of saying 0")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, fontsize=9, frameon=False)
    figure.suptitle("What a linear network pays for while it learns")
    error = float(abs(dataset["path_simulated_loss"] / dataset["path_exact_loss"] - 1).max())
    ends = dataset["path_terms"].isel(path=-1)
    told = [
        f"p = {float(p):g}: " + ", ".join(f"{name} {float(ends.sel(term=term)[i]):.2f}" for term, name in TERMS.items())
        for i, p in enumerate(dataset["shown_activity"].values)
    ]
    caption = (
        f"Best linear networks, delay {dataset.attrs['shown_delay']}. Positive terms are stacked upwards from 0, "
        f"negative ones downwards: the mean correction is what is won where other inputs stand in for the mean "
        f"of the one asked for. At the end, {'; '.join(told)}. Simulated and exact loss differ by {error:.2%} at most."
    )
    return figure, caption


def _stack(ax: Axes, steps: np.ndarray, terms: xr.DataArray) -> None:
    above, below = np.zeros(len(steps)), np.zeros(len(steps))
    for (term, label), hatch, color in zip(TERMS.items(), HATCHES, style.PALETTE, strict=False):
        values = terms.sel(term=term).values
        up, down = np.maximum(values, 0), np.minimum(values, 0)
        fill: dict[str, Any] = {"facecolor": color, "alpha": 0.45, "hatch": hatch, "edgecolor": color, "linewidth": 0}
        ax.fill_between(steps, above, above + up, label=label, **fill)
        ax.fill_between(steps, below, below + down, **fill)
        above, below = above + up, below + down
