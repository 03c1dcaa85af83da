"""Pictures of feature directions and of what is read of them: kernels, eigenvalues in training, and angles."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from workbench.harness import style
from workbench.methods.superposition.read_outs import angle_histogram, geometry
from workbench.methods.superposition.shown import (
    DENSE,
    FREE,
    LOOKS,
    SPARSE_LOOK,
    Drawn,
    Look,
    best,
    lag_color,
    networks,
    places,
    shown_table,
)

BINS = 12


def kernels(dataset: xr.Dataset) -> Drawn:
    """Draw the kernel a_s of the best network of each architecture, for dense and for sparse inputs."""
    table = shown_table(dataset)
    k, activities = int(table["delay"]), table["activity"].values
    figure, axes = style.subplots(2, 3, width=12, height=5.6, sharex=True)
    told = []
    for row, place in zip(axes, places(table), strict=True):
        for ax, (kind, look) in zip(row, LOOKS.items(), strict=True):
            kernel = best(table, "kernel", kind)[place][: 2 * k + 1]
            _stems(ax, kernel, k, free=kind != "linear")
            ax.set_title(f"{look.label}, p = {activities[place]:g}")
            told.append(
                f"{kind} at p = {activities[place]:g}: {', '.join(f'{value:.2f}' for value in kernel[: k + 1])}"
            )
        row[0].set_ylabel("kernel a_s")
    for ax in axes[1]:
        ax.set_xlabel("lag s (steps)")
    figure.suptitle(f"What the readout takes of the input s steps ago: only s = {k} is wanted")
    caption = (
        f"a_s = w_y . w_s of the best networks; the ideal is 1 at s = {k} and 0 elsewhere. In the shaded range a "
        f"ReLU readout answers 0, so that negative values cost nothing when inputs come one at a time. "
        f"a_0 to a_{k}: " + "; ".join(told) + "."
    )
    return figure, caption


def _stems(ax: Axes, kernel: np.ndarray, k: int, *, free: bool) -> None:
    lags = range(len(kernel))
    colors = [lag_color(s, k) for s in lags]
    low, high = min(float(kernel.min()), -0.15), max(float(kernel.max()), 1.0)
    pad = 0.1 * (high - low)
    if free:
        ax.axhspan(low - pad, 0, color=FREE, zorder=0)
    ax.axhline(0, color=style.TEXT, linewidth=0.8, zorder=1)
    ax.vlines(lags, 0, kernel, colors=colors, linewidth=[3.2 if s == k else 2 for s in lags])
    ax.scatter(lags, kernel, c=colors, s=[60 if s == k else 28 for s in lags], zorder=3)
    ax.plot([k], [1.0], marker="_", markersize=18, color=style.TEXT, zorder=2)
    ax.set_ylim(low - pad, high + pad)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def eigenvalues(dataset: xr.Dataset) -> Drawn:
    """Draw the eigenvalues of W_h of the best networks on the way of training, in the upper half of the plane."""
    table = shown_table(dataset)
    k = int(table["delay"])
    found = np.linalg.eigvals(dataset["path_W_h"].values)
    low, high = min(-0.25, float(found.real.min()), float(np.cos(np.radians(270 / k)))), float(found.real.max())
    frame: dict[str, Any] = {
        "xlim": (low - 0.1, max(1.1, high) + 0.08),
        "ylim": (-0.06, max(1.1, float(found.imag.max())) + 0.08),
    }
    figure, axes = style.subplots(1, 3, width=12, height=3.2, sharex=True, sharey=True)
    told = []
    for ax, kind in zip(axes, dataset["kind"].values, strict=True):
        _half_disk(ax, k)
        paths = found[list(dataset["kind"].values).index(kind)]
        for path, p, look in zip(paths, dataset["shown_activity"].values, (DENSE, SPARSE_LOOK), strict=True):
            _eigenvalue_path(ax, path, look, f"{look.label}, p = {p:g}")
            told.append(f"{kind} at p = {p:g}: {_polar(path[-1])}")
        ax.set(xlabel="real part", title=LOOKS[str(kind)].label, aspect="equal", **frame)
    axes[0].set_ylabel("imaginary part")
    axes[0].legend(loc="upper right", fontsize=8.5, frameon=False)
    figure.suptitle(
        "Training turns the eigenvalues of W_h towards a quarter turn in k steps, or towards three quarters"
    )
    caption = (
        f"Best networks, delay {k}; each dot is a snapshot, open at the start, large at the end; the conjugate is not "
        f"drawn. The rays are where k theta is 90 and 270 degrees. Modulus and angle at the end: {'; '.join(told)}."
    )
    return figure, caption


def _half_disk(ax: Axes, k: int) -> None:
    turn = np.linspace(0, np.pi, 200)
    ax.plot(np.cos(turn), np.sin(turn), color="0.5", linewidth=1, linestyle="-")
    ax.axhline(0, color="0.5", linewidth=1, linestyle="-")
    for swept in (90, 270):
        ray = np.radians(swept / k)
        if ray < np.pi:
            x, y = np.cos(ray), np.sin(ray)
            ax.plot([0, x], [0, y], color="0.6", linewidth=1, linestyle=":")
            place: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": 8.5, "color": "0.35"}
            ax.text(1.1 * x, 1.03 * y, f"{swept}°", **place)


def _eigenvalue_path(ax: Axes, path: np.ndarray, look: Look, label: str) -> None:
    x, y = np.real(path), np.imag(path)
    upper = y >= 0
    common: dict[str, Any] = {"color": look.color, "linestyle": "none"}
    ax.plot(x[upper], y[upper], ".", markersize=4, alpha=0.6, **common)
    for i, mark in ((0, {"fillstyle": "none", "markersize": 7}), (-1, {"markersize": 8, "label": label})):
        ax.plot(x[i][upper[i]], y[i][upper[i]], look.marker, **common, **mark)


def _polar(pair: np.ndarray) -> str:
    largest = pair[np.argmax(np.abs(pair))]
    return f"{abs(largest):.2f}, {abs(np.degrees(np.angle(largest))):.0f} degrees"


def direction_angles(dataset: xr.Dataset) -> Drawn:
    """Draw how often which angle lies between two of w_0 .. w_k, for dense and for sparse inputs."""
    table = shown_table(dataset)
    k, activities = int(table["delay"]), table["activity"].values
    figure, axes = style.subplots(1, 3, width=12, height=3.8, sharey=True)
    told = []
    for ax, (kind, look) in zip(axes, LOOKS.items(), strict=True):
        for place, drawn in zip(places(table), (DENSE, SPARSE_LOOK), strict=True):
            found = geometry(networks(table, kind, place))
            shares, edges = angle_histogram(found.angles[~found.dead], bins=BINS)
            label = f"{drawn.label}, p = {activities[place]:g}"
            ax.stairs(shares, edges, color=drawn.color, linestyle=drawn.dash, linewidth=2, label=label)
            told.append(f"{kind} {drawn.label}: {_share_above(shares, edges)}")
        ax.axvline(90, color="0.75", linewidth=0.9, linestyle=":")
        ax.set(xlabel="angle between two directions (degrees)", xlim=(0, 180), title=look.label)
        ax.set_xticks(range(0, 181, 45))
    axes[0].set_ylabel("share of the pairs")
    axes[-1].legend(fontsize=9)
    figure.suptitle(f"Angles between the directions w_0 .. w_{k}, dense and sparse")
    caption = (
        f"All pairs of all restarts that recall anything, delay {k}, in hidden space as trained. "
        f"Share above 90 degrees: {'; '.join(told)}."
    )
    return figure, caption


def _share_above(shares: np.ndarray, edges: np.ndarray) -> str:
    share = shares[edges[:-1] >= 90].sum()
    return f"{share:.0%}" if np.isfinite(share) else "all dead"
