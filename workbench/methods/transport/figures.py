"""Static pictures of the transport study: each returns a figure and a caption with the numbers."""

from collections.abc import Callable

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, NullLocator

from workbench.harness import style
from workbench.methods.transport.spec import time_slope

Drawn = tuple[Figure, str]


def transport_map(dataset: xr.Dataset) -> Drawn:
    """Draw source, target and the barycentric map as arrows on the source, coloured by their length."""
    figure, axes = style.subplots(1, 3, width=11, height=3.7)
    for ax, name in zip(axes, ("source", "target"), strict=False):
        _image(ax, dataset[name], title=f"{name.capitalize()} image")
    _image(axes[2], dataset["source"], title="Where the mass goes", alpha=0.35)

    rows, columns = dataset["source_row"].values, dataset["source_column"].values
    step = max(1, len(rows) // 20)
    down = (dataset["map_row"].values - rows[:, None])[step // 2 :: step, step // 2 :: step]
    right = (dataset["map_column"].values - columns[None, :])[step // 2 :: step, step // 2 :: step]
    length = np.hypot(down, right)
    arrows = axes[2].quiver(
        columns[step // 2 :: step],
        rows[step // 2 :: step],
        right,
        down,
        length,
        angles="xy",
        scale_units="xy",
        scale=1,
        width=0.006,
        cmap=style.MAGNITUDE,
    )
    figure.colorbar(arrows, ax=axes[2], label="displacement (image sides)", shrink=0.8)
    figure.suptitle("An optimal transport map, certified")

    mass = dataset["source"].values
    moved = np.hypot(dataset["map_row"].values - rows[:, None], dataset["map_column"].values - columns[None, :])
    mean = float(np.nansum(mass * moved) / mass.sum())
    lower, upper = (_of_shown(dataset, name) for name in ("lower", "upper"))
    caption = (
        f"{dataset.attrs['shown']}: the least cost is between {lower:.6g} and {upper:.6g} squared image sides; "
        f"mass moves {mean:.3f} image sides on average, {np.nanmax(moved):.3f} at most. "
        "Each arrow ends at the mean target of one source pixel."
    )
    return figure, caption


def interpolation(dataset: xr.Dataset) -> Drawn:
    """Draw the displacement interpolation between the images at five times."""
    frames = dataset["interpolation"]
    figure, axes = style.subplots(1, frames.sizes["time"], width=12, height=2.9)
    for ax, time in zip(axes, frames["time"].values, strict=True):
        ax.imshow(frames.sel(time=time), cmap=style.IMAGE, vmin=0, vmax=float(frames.max()))
        ax.set(title=f"t = {time:g}", xlabel="column (pixels)")
    axes[0].set_ylabel("row (pixels)")
    figure.suptitle("Mass on its way along straight lines")
    total = frames.sum(["frame_row", "frame_column"])
    caption = (
        f"{dataset.attrs['shown']}: every parcel of mass at (1 - t) x + t y, shared among the four nearest pixels; "
        f"total mass {float(total.min()):.6f} to {float(total.max()):.6f} at all times."
    )
    return figure, caption


def certificate(dataset: xr.Dataset) -> Drawn:
    """Draw the certified gap of the shown instance over time, and our time against an exact solver's."""
    figure, (left, right) = style.subplots(1, 2, width=11, height=4.4)
    _gap_over_time(left, dataset)
    ratio = _race(right, dataset)
    finals = dataset["recertified_gap"].values
    side = dataset.attrs["exact_resolution"]
    caption = (
        f"Left: {dataset.attrs['shown']}, a point after every inner iteration; a cross for each of the other "
        f"{finals.size - 1} instances at its end. The largest gap, taken anew by enumeration, is {finals.max():.2g}. "
        f"Right, at {side} pixels a side: "
        + (f"the exact solver takes {ratio:.2g} times our time (median)." if np.isfinite(ratio) else "no exact solver.")
    )
    return figure, caption


def _gap_over_time(ax: Axes, dataset: xr.Dataset) -> None:
    instances, side = dataset["event_instance"].values, _shown_side(dataset)
    shown = dataset.isel(event=instances == dataset.attrs["shown_instance"])
    seconds, level = shown["event_seconds"].values, shown["event_level"].values
    gap = np.maximum(shown["event_gap"].values, 1e-12)
    ax.plot(seconds, gap, "-", color="0.7", linewidth=1)
    levels = np.unique(level)[::-1]
    for k, marker, color in zip(levels, "ov^Ds" * 2, style.PALETTE * 2, strict=False):
        here = level == k
        label = f"shown instance, {-(-side // 2**k)} pixels a side"
        ax.plot(seconds[here], gap[here], marker, color=color, label=label, zorder=3)
    last = np.flatnonzero(np.diff(instances, append=-1))
    others = last[instances[last] != dataset.attrs["shown_instance"]]
    ax.plot(
        dataset["event_seconds"].values[others],
        np.maximum(dataset["event_gap"].values[others], 1e-12),
        "x",
        markersize=5,
        color="0.45",
        label="other instances, at their end",
    )
    ax.axhline(dataset.attrs["tolerance"], color=style.PALETTE[1], linestyle="--", label="tolerance")
    ax.set(
        xscale="log",
        yscale="log",
        xlabel="time since the start (s)",
        ylabel="certified relative gap",
        title="The gap closes",
    )
    ax.legend(fontsize=8)


def _race(ax: Axes, dataset: xr.Dataset) -> float:
    """Draw both times of every class; return the median of the exact solver's time over ours."""
    ours, peer = dataset["exact_ours_seconds"].values, dataset["exact_peer_seconds"].values
    rows = np.arange(len(ours))
    ax.hlines(rows, ours, peer, color="0.8", zorder=0)
    ax.plot(ours, rows, "o", color=style.PALETTE[0], label="ours, certificate included")
    ax.plot(peer, rows, "s", color=style.PALETTE[1], label="dense network simplex")
    ax.set_yticks(rows, dataset["class"].values)
    ax.invert_yaxis()
    ax.set(xscale="log", xlabel="time (s)", ylabel="image class", title="Our time and an exact solver's")
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.legend(fontsize=8)
    return float(np.median(peer / ours))


def levels(dataset: xr.Dataset) -> Drawn:
    """Draw the active support and the inner iterations of every refined level."""
    largest = dataset.isel(resolution=-1)
    figure, axes = style.subplots(1, 2, width=10, height=4)
    sides = [-(-int(largest["resolution"]) // 2**level) for level in largest["level"].values]
    names = ("support_per_pixel", "inner_iterations")
    titles = ("The support stays a constant number of edges a pixel", "A level needs few inner iterations")
    labels = ("active support (edges per source pixel)", "inner iterations")
    for ax, name, title, label in zip(axes, names, titles, labels, strict=True):
        cells = largest[name].stack(instance=("class", "pair"))
        ax.bar(
            [str(side) for side in sides],
            cells.mean("instance"),
            color=style.PALETTE[0],
            alpha=0.5,
            width=0.6,
            label="mean",
        )
        spread = np.linspace(-0.2, 0.2, cells.sizes["instance"])
        for x, level in enumerate(largest["level"].values):
            values = cells.sel(level=level).values
            ax.plot(x + spread, values, ".", color=style.PALETTE[1], label="instances" if x == 0 else None)
        ax.set(xlabel="side of the level's images (pixels)", ylabel=label, title=title)
        if bool(cells.notnull().any()):
            ax.set_ylim(0, 1.3 * float(cells.max()))
        ax.yaxis.get_major_locator().set_params(integer=True)
        ax.legend(loc="upper right", ncols=2)
    support = largest["support_per_pixel"].mean(["class", "pair"]).dropna("level").values
    inner = largest["inner_iterations"].mean(["class", "pair"]).dropna("level").values
    caption = (
        f"Finest level first. Edges per source pixel, mean over instances: {_listed(support)}; "
        f"inner iterations: {_listed(inner)}. The coarsest level is solved on all pairs and not shown."
    )
    return figure, caption


def scaling(dataset: xr.Dataset) -> Drawn:
    """Draw time and memory against the number of pixels, beside a dense exact solver."""
    figure, (left, right) = style.subplots(1, 2, width=10, height=4)
    n = dataset["pixels"].max(["class", "pair"]).values.astype(float)
    coarse = min(float(dataset.attrs["exact_resolution"]) ** 2, n[0])
    seconds = dataset["seconds"].mean(["class", "pair"]).values
    times = [float(dataset[name].mean()) for name in ("exact_ours_seconds", "exact_peer_seconds")]
    sizes = np.concatenate([[coarse], n])
    left.plot(sizes, [times[0], *seconds], "o-", color=style.PALETTE[0], label="ours")
    if np.isfinite(times[1]):
        left.plot([coarse], [times[1]], "s", color=style.PALETTE[1], label="dense exact solver")
    left.set(xscale="log", yscale="log", xlabel="pixels n", ylabel="time (s)", title="Time, mean over classes")

    memory = dataset["memory"].max(["class", "pair"]).values / 2**20
    dense = 8 * sizes**2 / 2**20
    right.plot(n, np.maximum(memory, 0.1), "o-", color=style.PALETTE[0], label="ours, largest instance")
    right.plot(sizes, dense, "s--", color=style.PALETTE[1], label="dense cost matrix, 8 n² bytes")
    right.set(xscale="log", yscale="log", xlabel="pixels n", ylabel="memory above the start (MiB)", title="Memory")
    for ax in (left, right):
        ax.set_xticks(sizes, [f"{int(size)}" for size in sizes])
        ax.xaxis.set_minor_locator(NullLocator())
        ax.legend()
    small = f", and {times[0]:.3g} s at {int(coarse)}" if coarse < n[0] else ""
    slope = f", slope {time_slope(dataset):.2f}" if len(n) > 2 else ""
    caption = (
        f"Mean time {_listed(seconds)} s at n = {', '.join(f'{int(k)}' for k in n)}{slope}{small}; "
        f"memory {_listed(memory)} MiB against {dense[-1]:.0f} MiB for the costs of the last n."
    )
    return figure, caption


def residuals(dataset: xr.Dataset) -> Drawn:
    """Draw the solver's residuals and primal weight at the finest level, with its restarts."""
    figure, (left, right) = style.subplots(1, 2, width=11, height=4)
    if "trace_iteration" not in dataset:
        for ax in (left, right):
            ax.set(xlabel="iterations", ylabel="residual")
            ax.text(0.5, 0.5, "this backend keeps no trace", ha="center", transform=ax.transAxes)
        figure.suptitle("No residuals to show")
        return figure, "The chosen backend reports no residuals (0 checks); run with backend=pdhg to see them."
    trace = dataset.isel(check_point=np.flatnonzero(dataset["trace_level"].values == 0))
    iterations = _running_total(trace["trace_iteration"].values, trace["trace_inner"].values)
    labels = {"primal": "missed mass", "dual": "dual value above the cost", "gap": "relative gap"}
    for (name, label), color, dash in zip(labels.items(), style.PALETTE, style.DASHES, strict=False):
        values = trace[f"trace_{name}"].values
        left.plot(iterations, np.where(values > 0, values, np.nan), label=label, color=color, linestyle=dash)
    restarts = iterations[trace["trace_restart"].values > 0]
    for ax in (left, right):
        ax.vlines(restarts, 0, 1, transform=ax.get_xaxis_transform(), color="0.85", linewidth=0.8, zorder=0)
    left.set(
        yscale="log", xlabel="iterations", ylabel="residual (relative)", title="Residuals; grey lines are restarts"
    )
    left.legend()
    right.plot(iterations, trace["trace_omega"].values, color=style.PALETTE[0])
    right.set(yscale="log", xlabel="iterations", ylabel="primal weight ω", title="Primal weight, updated at restarts")
    caption = (
        f"{dataset.attrs['shown']}, finest level: {len(iterations)} checks in {int(iterations[-1])} iterations, "
        f"{len(restarts)} restarts; the gap falls from {float(trace['trace_gap'][0]):.2g} "
        f"to {float(trace['trace_gap'][-1]):.2g}. A residual of exactly 0 leaves a hole in its line."
    )
    return figure, caption


def _running_total(iterations: np.ndarray, inner: np.ndarray) -> np.ndarray:
    """Return iterations counted through all inner iterations, each of which starts at 0."""
    before = np.zeros(len(iterations))
    for k in np.flatnonzero(np.diff(inner)) + 1:
        before[k:] += iterations[k - 1]
    return iterations + before


def coarse_violation(dataset: xr.Dataset) -> Drawn:
    """Draw where the coarser level's potentials break the dual constraints of the finest level."""
    figure, (left, right) = style.subplots(1, 2, width=9, height=4.2)
    _image(left, dataset["source"], title="Source image")
    violation = dataset["coarse_violation"]
    shown = right.imshow(violation, cmap=style.MAGNITUDE, extent=_extent(violation))
    right.set(title="max over targets of f + g - c", xlabel="column (image sides)", ylabel="row (image sides)")
    figure.colorbar(shown, ax=right, label=f"violation ({violation.units})", shrink=0.8)
    figure.suptitle("What the coarser level could not know")
    share = float((violation > 0).sum() / violation.notnull().sum())
    caption = (
        f"{dataset.attrs['shown']}: potentials copied from half the resolution violate a constraint at "
        f"{share:.0%} of the source pixels, by {float(violation.max()):.2g} at most, against a cost of "
        f"{_of_shown(dataset, 'value'):.2g}. Pricing adds such pairs to the support."
    )
    return figure, caption


def active_support(dataset: xr.Dataset) -> Drawn:
    """Draw the admissible targets of one source pixel, by how they entered the support, and the flow chosen."""
    figure, (left, right) = style.subplots(1, 2, width=10, height=4.4)
    pixel = int(np.argmax(dataset["source"].values))
    row, column = np.unravel_index(pixel, dataset["source"].shape)
    _image(left, dataset["source"], title="One source pixel ...")
    left.plot(
        dataset["source_column"][column], dataset["source_row"][row], "s", color=style.PALETTE[1], fillstyle="none"
    )
    _image(right, dataset["target"], title="... and the targets it may use", alpha=0.5)
    mine = dataset["edge_source"].values == pixel
    target_row, target_column = np.unravel_index(dataset["edge_target"].values[mine], dataset["target"].shape)
    origin, flow = dataset["edge_origin"].values[mine], dataset["edge_flow"].values[mine]
    names = dataset["edge_origin"].attrs["flag_meanings"].split()
    markers = "osD^"
    for code, name in enumerate(names):
        chosen = origin == code
        x, y = dataset["target_column"].values[target_column[chosen]], dataset["target_row"].values[target_row[chosen]]
        right.scatter(x, y, marker=markers[code], s=18, color=style.PALETTE[code], label=f"{name} ({chosen.sum()})")
    used = flow > 0
    x, y = dataset["target_column"].values[target_column[used]], dataset["target_row"].values[target_row[used]]
    right.scatter(x, y, s=90, facecolors="none", edgecolors="black", label=f"carries mass ({used.sum()})")
    _zoom(right, dataset["target_column"].values[target_column], dataset["target_row"].values[target_row])
    right.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    caption = (
        f"The brightest source pixel may send mass to {mine.sum()} of {dataset['target'].size} targets and uses "
        f"{used.sum()}; the whole support has {dataset.sizes['edge'] / dataset['source'].size:.1f} edges a pixel."
    )
    return figure, caption


FIGURES: tuple[Callable[[xr.Dataset], Drawn], ...] = (
    transport_map,
    interpolation,
    active_support,
    coarse_violation,
    levels,
    certificate,
    residuals,
    scaling,
)


def _image(ax: Axes, image: xr.DataArray, *, title: str, alpha: float = 1.0) -> None:
    ax.imshow(image, cmap=style.IMAGE, extent=_extent(image), alpha=alpha)
    ax.set(title=title, xlabel="column (image sides)", ylabel="row (image sides)")


def _extent(image: xr.DataArray) -> tuple[float, float, float, float]:
    """Return the outer edges of the pixels, first row on top."""
    rows, columns = (image[dim].values for dim in image.dims)
    half = rows[0]
    return (columns[0] - half, columns[-1] + half, rows[-1] + half, rows[0] - half)


def _zoom(ax: Axes, x: np.ndarray, y: np.ndarray) -> None:
    """Show a square around the points."""
    reach = max(np.ptp(x), np.ptp(y)) * 0.75 + 0.05
    centre_x, centre_y = (x.min() + x.max()) / 2, (y.min() + y.max()) / 2
    ax.set_xlim(centre_x - reach, centre_x + reach)
    ax.set_ylim(centre_y + reach, centre_y - reach)


def _of_shown(dataset: xr.Dataset, name: str) -> float:
    """Return a variable of the table at the instance that the pictures show."""
    image_class = dataset.attrs["shown"].split(",")[0]
    return float(dataset[name].sel({"class": image_class}).isel(resolution=0, pair=0))


def _shown_side(dataset: xr.Dataset) -> int:
    return max(dataset["source"].shape + dataset["target"].shape)


def _listed(values: np.ndarray) -> str:
    return ", ".join(f"{value:.3g}" for value in values)
