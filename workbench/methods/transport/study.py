"""The transport study: image classes at several resolutions, certified, and checked against exact solvers."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from workbench.harness.data import OwnData
from workbench.harness.memory import PeakMemory
from workbench.harness.progress import Progress, part
from workbench.methods.transport.instances import (
    Instance,
    KnownInstance,
    dotmark_instances,
    known_instances,
    own_instance,
)
from workbench.methods.transport.result import OTResult
from workbench.methods.transport.shown import COST, shown_variables
from workbench.methods.transport.solver import ot2_grid
from workbench.methods.transport.spec import Params
from workbench.methods.transport.verification import verify_plan

ROUNDING = 1e-15  # squared image sides
TABLE = ("class", "resolution", "pair")


def run(params: Params, data: tuple[OwnData, ...] | None = None, *, progress: Progress | None = None) -> xr.Dataset:
    """Solve every instance of the study and return one labelled dataset.

    Parameters
    ----------
    params
        The study's parameters.
    data
        Two own images, source and target, in place of the image classes.
    progress
        Called with the fraction done and what is being done.

    Returns
    -------
    xarray.Dataset
        The table over class, resolution and pair (value, bounds, gaps, seconds, memory, and per level
        the support and the inner iterations), the comparison with exact values, and what the
        pictures need of one instance.

    Raises
    ------
    DataError
        If own images are not masses on at most 1024 pixels a side.
    """
    groups = [[own_instance(data)]] if data else [list(dotmark_instances(params, r)) for r in params.resolutions]
    instances = [instance for group in groups for instance in group]
    shown = next((i for i in instances if i.image_class == params.shown), instances[0])

    _warm_up(params)
    solved = solve_all(instances, params, part(progress, 0.0, 0.6))
    exact = compare_exact([i for i in groups[0] if i.pair == 0], params, part(progress, 0.6, 0.8))
    known = compare_known(params, part(progress, 0.8, 0.95))
    pictures = shown_variables(shown, params, part(progress, 0.95, 1.0))

    shape = tuple(len({getattr(i, name) for i in instances}) for name in ("image_class", "resolution", "pair"))
    coords = {
        "class": ("class", list(dict.fromkeys(i.image_class for i in instances)), {"long_name": "image class"}),
        "resolution": ("resolution", list(dict.fromkeys(i.resolution for i in instances)), _pixels("image side")),
        "pair": ("pair", np.arange(shape[2]), {"long_name": "image pair of the class"}),
    }
    variables = {**_table(solved, shape), **_levels(solved, shape), **_events(solved), **exact, **known, **pictures}
    attrs = {
        "shown": f"{shown.image_class}, {shown.resolution} pixels a side",
        "shown_instance": instances.index(shown),
        "tolerance": params.tolerance,
        "exact_resolution": params.exact_resolution,
    }
    return xr.Dataset(variables, coords, attrs)


def _warm_up(params: Params) -> None:
    """Compile the loops on a small problem, so that no instance's seconds and memory hold the compiler's."""
    image = np.random.default_rng(0).random((2, 8, 8))
    ot2_grid(image[0], image[1], **params.solver_options())


@dataclass(frozen=True)
class Solved:
    """One instance with its solution, the gap taken anew, and what it cost."""

    result: OTResult
    recertified_gap: float
    pixels: int
    seconds: float
    memory: int


def solve_all(instances: list[Instance], params: Params, progress: Progress) -> list[Solved]:
    """Solve the instances one after the other, in the order given."""
    solved = []
    for k, instance in enumerate(instances):
        label = f"{instance.image_class}, {instance.resolution} pixels a side ({k + 1} of {len(instances)})"
        progress(k / len(instances), label)
        mine = part(progress, k / len(instances), (k + 1) / len(instances))
        solved.append(_solve(instance, params, _labelled(mine, label)))
    return solved


def _labelled(progress: Progress, label: str) -> Progress:
    return lambda fraction, text: progress(fraction, f"{label}: {text}")


def _solve(instance: Instance, params: Params, progress: Progress) -> Solved:
    start = time.perf_counter()
    with PeakMemory() as memory:
        result = _ot2(instance, params, callback=progress)
    seconds = time.perf_counter() - start
    anew = verify_plan(result.plan, result.g, instance.source, instance.target, spacing=instance.spacing)
    pixels = int(np.count_nonzero(instance.source))
    return Solved(result, anew.rel_gap, pixels, seconds, memory.increment)


def _ot2(instance: Instance | KnownInstance, params: Params, **options: Any) -> OTResult:
    return ot2_grid(
        instance.source, instance.target, spacing=1.0 / instance.resolution, **params.solver_options(), **options
    )


def compare_exact(instances: list[Instance], params: Params, progress: Progress) -> dict[str, Any]:
    """Solve one coarse instance of each class with ours and with POT's network simplex.

    The exact values are nan where POT is not installed.
    """
    rows = []
    exact_solver = _exact_solver()
    for k, instance in enumerate(instances):
        progress(k / len(instances), f"exact value of {instance.image_class}")
        coarse = instance.coarsened(params.exact_resolution)
        start = time.perf_counter()
        result = _ot2(coarse, params)
        middle = time.perf_counter()
        exact = exact_solver(coarse) if exact_solver else np.nan
        times = (middle - start, time.perf_counter() - middle if exact_solver else np.nan)
        rows.append((exact, result.lower, result.upper, _outside(exact, result), *times))
    columns = np.array(rows).T
    names = ("exact_value", "exact_lower", "exact_upper", "outside_exact", "exact_ours_seconds", "exact_peer_seconds")
    labels = (
        _cost("value of the exact solver"),
        _cost("our lower bound"),
        _cost("our upper bound"),
        _ratio("exact value's excess over the certified interval, relative to it"),
        _seconds("seconds of ours, certificate included"),
        _seconds("seconds of the exact solver"),
    )
    return {name: ("class", column, attrs) for name, column, attrs in zip(names, columns, labels, strict=True)}


def _exact_solver() -> Callable[[Instance], float] | None:
    try:
        import ot
    except ImportError:
        return None

    def value(instance: Instance) -> float:
        x, y = (instance.spacing * np.argwhere(image > 0) for image in (instance.source, instance.target))
        u, v = (image[image > 0] for image in (instance.source, instance.target))
        return float(np.asarray(ot.emd2(u, v, ot.dist(x, y), numItermax=10**7)))

    return value


def compare_known(params: Params, progress: Progress) -> dict[str, Any]:
    """Solve problems whose value has a closed form, at every resolution."""
    excess = []
    for k, resolution in enumerate(params.resolutions):
        progress(k / len(params.resolutions), f"closed forms at {resolution} pixels a side")
        rng = np.random.default_rng([params.seed, resolution])
        known = list(known_instances(resolution, rng))
        results = [_ot2(i, params) for i in known]
        excess.append([_outside(i.value, result) for i, result in zip(known, results, strict=True)])
    label = _ratio("closed-form value's excess over the certified interval, relative to it")
    return {
        "outside_closed_form": (("check_resolution", "check"), np.array(excess), label),
        "check": ("check", ["product", "translation"], {"long_name": "problem with a closed-form value"}),
        "check_resolution": ("check_resolution", params.resolutions, _pixels("image side of the closed forms")),
    }


def _outside(exact: float, result: OTResult) -> float:
    """Return by how much `exact` leaves the interval, beyond what its own sum may round, relative to it."""
    excess = max(result.lower - exact, exact - result.upper) - ROUNDING
    return max(excess, 0.0) / max(exact, ROUNDING) if exact == exact else np.nan


def _table(solved: list[Solved], shape: tuple[int, ...]) -> dict[str, Any]:
    columns: dict[str, tuple[list, dict]] = {
        "value": ([s.result.value for s in solved], _cost("transport cost of the plan")),
        "lower": ([s.result.lower for s in solved], _cost("certified lower bound")),
        "upper": ([s.result.upper for s in solved], _cost("certified upper bound")),
        "certified_gap": ([s.result.rel_gap for s in solved], _ratio("relative gap of the solver's certificate")),
        "recertified_gap": ([s.recertified_gap for s in solved], _ratio("relative gap taken anew by enumeration")),
        "pixels": ([s.pixels for s in solved], {"long_name": "source pixels with mass", "units": "pixels"}),
        "plan_entries": ([s.result.plan.nnz for s in solved], {"long_name": "entries of the plan", "units": "1"}),
        "seconds": ([s.seconds for s in solved], _seconds("seconds, certificate included")),
        "memory": (
            [s.memory for s in solved],
            {"long_name": "peak memory above the start", "units": "bytes", "volatile": 1},
        ),
    }
    return {name: (TABLE, _by_table(values, shape), attrs) for name, (values, attrs) in columns.items()}


def _levels(solved: list[Solved], shape: tuple[int, ...]) -> dict[str, Any]:
    """Return what each refined level took; the coarsest level, solved on the full support, is left out."""
    deepest = [s.result.history["level"].to_numpy().max() for s in solved]
    depth = max(1, *deepest)
    inner, support, iterations = (np.full((len(solved), depth), np.nan) for _ in range(3))
    for row, s in enumerate(solved):
        level, edges, pixels, steps = s.result.history[["level", "edges", "pixels", "lp_iterations"]].to_numpy().T
        for k in range(deepest[row]):
            here = level == k
            inner[row, k] = here.sum()
            support[row, k] = (edges[here] / pixels[here]).max()
            iterations[row, k] = steps[here].sum()
    dims = (*TABLE, "level")
    return {
        "level": ("level", np.arange(depth), {"long_name": "level, 0 is the finest", "units": "1"}),
        "inner_iterations": (dims, _by_table(inner, shape), {"long_name": "inner iterations", "units": "1"}),
        "support_per_pixel": (
            dims,
            _by_table(support, shape),
            {"long_name": "largest active support |N| over source pixels n", "units": "edges per pixel"},
        ),
        "lp_iterations": (dims, _by_table(iterations, shape), {"long_name": "iterations of the solver", "units": "1"}),
    }


def _events(solved: list[Solved]) -> dict[str, Any]:
    """Return the bounds over time of all instances, one after the other, with a count for each."""
    histories = [s.result.history for s in solved]
    instance = np.repeat(np.arange(len(solved)), [len(h) for h in histories])

    def column(name: str) -> np.ndarray:
        return np.concatenate([h[name].to_numpy() for h in histories])

    return {
        "event_instance": ("event", instance, {"long_name": "instance, by resolution, class, pair", "units": "1"}),
        "event_level": ("event", column("level"), {"long_name": "level", "units": "1"}),
        "event_gap": ("event", column("rel_gap"), _ratio("certified relative gap at the level")),
        "event_seconds": ("event", column("seconds"), _seconds("seconds since the start")),
    }


def _by_table(values: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Arrange rows in the order they were solved (resolution, class, pair) as (class, resolution, pair)."""
    array = np.asarray(values)
    classes, resolutions, pairs = shape
    return np.moveaxis(array.reshape(resolutions, classes, pairs, *array.shape[1:]), 0, 1)


def _cost(name: str) -> dict[str, Any]:
    return {"long_name": name, "units": COST}


def _ratio(name: str) -> dict[str, Any]:
    return {"long_name": name, "units": "1"}


def _pixels(name: str) -> dict[str, Any]:
    return {"long_name": name, "units": "pixels"}


def _seconds(name: str) -> dict[str, Any]:
    return {"long_name": name, "units": "s", "volatile": 1}
