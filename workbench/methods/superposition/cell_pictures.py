"""Pictures made of cells with numbers: the phase map, dead networks, kept features, and the matrices A_s."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.image import AxesImage

from workbench.harness import style
from workbench.methods.superposition.shown import LOOKS, Drawn, best
from workbench.methods.superposition.study_features import DRAWN, NETWORK_DELAY

SIGNS = "RdBu_r"
MOST_COLUMNS = 16  # from more on, cells have no numbers, and not every row or column is named
MOST_ROWS = 24
JUMP = 90
ANGLES: dict[str, Any] = {"cmap": style.MAGNITUDE, "vmin": 60, "vmax": 300}
SHARES: dict[str, Any] = {"cmap": style.MAGNITUDE, "vmin": 0, "vmax": 1}


def phase_map(dataset: xr.Dataset) -> Drawn:
    """Draw k theta of the best linear networks and of those with a ReLU readout, over delay and activity."""
    table = dataset.sortby("activity", ascending=False).sortby("delay")
    activities, delays = table["activity"].values, table["delay"].values
    figure, axes = style.subplots(1, 2, width=13, height=2.3 + 0.42 * len(delays), sharey=True)
    told = []
    for ax, kind in zip(axes, ("linear", "ssm"), strict=True):
        angles = best(table, "ktheta", kind)
        image = _cells(ax, angles, ANGLES, "{:.0f}")
        _name(ax, rows=[f"{delay}" for delay in delays], columns=[f"{p:g}" for p in activities])
        ax.set(xlabel="activity p (sparser to the right)", title=LOOKS[kind].label)
        found = angles[np.isfinite(angles)]
        told.append(f"{kind} {found.min():.0f} to {found.max():.0f} degrees" if found.size else f"{kind} no angle")
    axes[0].set_ylabel("delay k (steps)")
    figure.colorbar(image, ax=axes, label="k theta (degrees)", extend="both")
    figure.suptitle("k theta of the best networks at every delay and activity")
    switches = [_switch(row, delay, activities) for row, delay in zip(angles, delays.tolist(), strict=True)]
    caption = (
        f"Best of {table.sizes['restart']} networks at each activity; {'; '.join(told)}. With a ReLU readout, changes "
        f"of at least {JUMP} degrees from one activity to the next: {'; '.join(switches)}. White: no angle (real "
        "eigenvalues, or dead)."
    )
    return figure, caption


def _switch(angles: np.ndarray, delay: int, activities: np.ndarray) -> str:
    places = np.flatnonzero(np.abs(np.diff(angles)) >= JUMP)
    where = " and ".join(f"p = {activities[i]:g} to {activities[i + 1]:g}" for i in places)
    return f"k = {delay} {where or 'none'}"


def dead_networks(dataset: xr.Dataset) -> Drawn:
    """Draw the share of networks that recall nothing, over architecture, delay and activity."""
    table = dataset.sortby("activity", ascending=False).sortby("delay")
    activities, delays, kinds = table["activity"].values, table["delay"].values, table["kind"].values
    shares = table["dead"].mean("restart").values.reshape(-1, len(activities))
    figure, ax = style.subplots(1, 1, width=9.5, height=1.8 + 0.3 * len(shares))
    image = _cells(ax, shares, {**SHARES, "cmap": "Greys"}, "{:.0%}")
    _name(
        ax, rows=[f"{kind}, k = {delay}" for kind in kinds for delay in delays], columns=[f"{p:g}" for p in activities]
    )
    ax.set(xlabel="activity p (sparser to the right)", ylabel="architecture and delay")
    figure.colorbar(image, ax=ax, label="share of dead networks")
    figure.suptitle("Networks that training left dead: they recall nothing")
    told = [_dead_of(table, str(kind)) for kind in kinds]
    caption = (
        f"Share of the {table.sizes['restart']} restarts at each point with a_k below 0.05. Dead networks of each "
        f"architecture: {'; '.join(told)}. Restarts with the same number share their first weights and inputs at all "
        "activities, up to the scale of the architecture."
    )
    return figure, caption


def _dead_of(table: xr.Dataset, kind: str) -> str:
    dead = table["dead"].sel(kind=kind)
    return f"{kind} {int(dead.sum())} of {dead.size}"


def kept_features(dataset: xr.Dataset) -> Drawn:
    """Draw which features the best networks recall at each delay, and the loss of all of them."""
    dataset = dataset.sortby("feature_delay")
    features, delays = dataset["feature"].values, dataset["feature_delay"].values
    size: dict[str, Any] = {"width": 11, "height": 4.2 + min(0.35 * len(features), 7.5)}
    ratios = (2.2, max(2.2, min(0.35 * len(features), 7.5)))
    figure, axes = style.subplots(2, 2, **size, sharex=True, sharey="row", height_ratios=ratios)
    told = []
    for (upper, lower), kind in zip(axes.T, dataset["feature_kind"].values, strict=True):
        chosen = dataset.sel(feature_kind=kind)
        recall = chosen["feature_recall"].isel(feature_restart=chosen["feature_best"]).values.T
        image = _cells(lower, recall, SHARES, "{:.2f}")
        _name(lower, rows=[str(name) for name in features], columns=[f"{delay}" for delay in delays])
        lower.set(xlabel="delay k (steps)")
        _losses(upper, chosen["feature_loss"].values)
        upper.set_title(LOOKS[str(kind)].label)
        kept = chosen["feature_kept"].isel(feature_restart=chosen["feature_best"]).values
        told.append(f"{kind} {', '.join(str(int(count)) for count in kept)}")
    axes[0, 0].set_ylabel("loss (1: say 0)")
    axes[0, 0].legend(fontsize=9, frameon=False, loc="lower right")
    axes[1, 0].set_ylabel("feature, most important first")
    figure.colorbar(image, ax=axes[1], label="recalled share, diag A_k")
    figure.suptitle(f"What two units keep of {len(features)} features at each delay")
    listed = ", ".join(f"{delay}" for delay in delays)
    source = f"windows of {dataset.attrs['own_data']}" if dataset.attrs["own_data"] else "generated inputs"
    caption = (
        f"{len(features)} features ({source}), each {_ratio(dataset)} times as important as the one before; best of "
        f"{dataset.sizes['feature_restart']} networks. Features kept at delays {listed}: {'; '.join(told)}."
    )
    return figure, caption


def _losses(ax: Axes, losses: np.ndarray) -> None:
    """Draw the losses (delay, restart) of all networks as dots, and the least of each delay as a line."""
    x = np.repeat(np.arange(len(losses)), losses.shape[1]).reshape(losses.shape)
    aside = np.linspace(-0.15, 0.15, losses.shape[1]) if losses.shape[1] > 1 else np.zeros(1)
    ax.plot(x + aside, losses, ".", color=style.PALETTE[0], alpha=0.5, linestyle="none")
    ax.plot(np.arange(len(losses)), np.nanmin(losses, axis=1), "-", color=style.PALETTE[0], label="best network")
    ax.plot([], [], ".", color=style.PALETTE[0], alpha=0.5, linestyle="none", label="a trained network")
    ax.set_ylim(0, 1.1)


def _ratio(dataset: xr.Dataset) -> str:
    importance = dataset["feature_importance"].values
    return f"{importance[1]:g}" if len(importance) > 1 else "1"


def kernel_matrices(dataset: xr.Dataset) -> Drawn:
    """Draw the matrices A_s of the larger network, s = 0 .. k + 1."""
    matrices = dataset["network_kernel"].values
    figure, axes = style.subplots(1, len(matrices), width=13, height=3.9, sharey=True)
    if not matrices.size:
        for ax in axes:
            ax.set(xlabel="feature j", ylabel="output i")
        figure.suptitle("No matrices to show")
        return figure, f"Only networks with at most {DRAWN} features are drawn; take one of them into `networks`."
    for s, (ax, matrix) in enumerate(zip(axes, matrices, strict=True)):
        image = ax.imshow(matrix, cmap=SIGNS, vmin=-1, vmax=1)
        wanted = "wanted: the identity" if s == NETWORK_DELAY else "wanted: nothing above 0"
        ax.set(xlabel="feature j", title=f"A_{s}\n{wanted}")
        ax.set_xticks(range(0, len(matrix), 3))
        ax.set_yticks(range(0, len(matrix), 3))
    axes[0].set_ylabel("output i")
    figure.colorbar(image, ax=axes, label="entry, cut at -1 and 1", extend="both", shrink=0.8)
    figure.suptitle("What each output takes of each feature s steps after it")
    others = np.delete(matrices, NETWORK_DELAY, axis=0)
    diagonal = np.diagonal(matrices[NETWORK_DELAY])
    caption = (
        f"Network {_drawn_network(dataset)} (features x units), delay {NETWORK_DELAY}. Diagonal of A_{NETWORK_DELAY}: "
        f"{int((diagonal > 0.5).sum())} of {len(diagonal)} features above 0.5. At the other lags the entries have mean "
        f"{others.mean():.2f}, go down to {others.min():.2f}, which a ReLU makes free, and up to {others.max():.2f}."
    )
    return figure, caption


def _drawn_network(dataset: xr.Dataset) -> str:
    names = [str(name) for name in dataset["network"].values]
    return [name for name in names if int(name.split("x")[0]) <= DRAWN][-1]


def _cells(ax: Axes, values: np.ndarray, look: dict[str, Any], form: str) -> AxesImage:
    """Draw a table as coloured cells, with its numbers if they are few."""
    image = ax.imshow(values, aspect="auto", **look)
    if values.shape[1] <= MOST_COLUMNS and values.shape[0] <= MOST_ROWS:
        for (row, column), value in np.ndenumerate(values):
            if np.isfinite(value):
                ground = to_hex(image.to_rgba(np.array([value]))[0])
                ink = "white" if style.contrast(ground, "white") > style.contrast(ground, "black") else "black"
                ax.text(column, row, form.format(value), ha="center", va="center", fontsize=8.5, color=ink)
    return image


def _name(ax: Axes, *, rows: list[str], columns: list[str]) -> None:
    for set_ticks, names, most in ((ax.set_yticks, rows, MOST_ROWS), (ax.set_xticks, columns, MOST_COLUMNS)):
        step = -(-len(names) // most)
        set_ticks(range(0, len(names), step), names[::step])
