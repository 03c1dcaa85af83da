"""What the pictures show of one instance: images, map, interpolation, potentials, support, solver trace."""

from typing import Any

import numpy as np
from skimage.measure import block_reduce

from workbench.harness.progress import Progress
from workbench.methods.transport.ctransform import c_transform_grid
from workbench.methods.transport.instances import Instance
from workbench.methods.transport.result import OTResult
from workbench.methods.transport.solver import ot2_grid
from workbench.methods.transport.spec import Params
from workbench.methods.transport.support import ORIGINS

COST = "squared image sides"
_LENGTH = {"units": "image sides"}
TIMES = (0.0, 0.25, 0.5, 0.75, 1.0)
SOURCE = ("source_row", "source_column")
TARGET = ("target_row", "target_column")


def shown_variables(instance: Instance, params: Params, progress: Progress) -> dict[str, Any]:
    """Solve one instance with its trace kept and return the variables that the figures draw.

    Returns
    -------
    dict
        Variables for `xarray.Dataset`: images and fields on the pixels of source and target, frames of
        the displacement interpolation, the active support as a list of edges, the solver's residuals.
    """
    progress(0.0, f"{instance.image_class} in detail")
    result = ot2_grid(
        instance.source,
        instance.target,
        spacing=instance.spacing,
        **params.solver_options(),
        trace=True,
    )
    return {
        **_pixels(instance, result),
        **_frames(result),
        **_support(result),
        **_trace(result),
        "coarse_violation": (
            SOURCE,
            coarse_violation(instance, params.tolerance),
            {"long_name": "worst violation of the dual constraint by the coarser level's potentials", "units": COST},
        ),
    }


def coarse_violation(instance: Instance, tolerance: float) -> np.ndarray:
    """Return ``max_j f_i + g_j - c_ij`` at every source pixel, for potentials copied from half the resolution.

    Positive values are constraints that the coarser level did not know of; pricing adds such pairs.
    """
    source, target = instance.source, instance.target
    halves = [block_reduce(image, 2, np.sum) for image in (source, target)]
    coarse = ot2_grid(*halves, spacing=2 * instance.spacing, tol=tolerance)
    f = np.kron(coarse.f, np.ones((2, 2)))[: source.shape[0], : source.shape[1]]
    g = np.kron(coarse.g, np.ones((2, 2)))[: target.shape[0], : target.shape[1]]
    transform, _ = c_transform_grid(g, source.shape, spacing=instance.spacing, mask=target > 0)
    return np.where(source > 0, f - transform, np.nan)


def _pixels(instance: Instance, result: OTResult) -> dict[str, Any]:
    targets = result.map()
    axes = {
        name: (name, instance.spacing * (np.arange(size) + 0.5), {"long_name": name.replace("_", " "), **_LENGTH})
        for names, image in ((SOURCE, instance.source), (TARGET, instance.target))
        for name, size in zip(names, image.shape, strict=True)
    }
    return {
        **axes,
        "source": (SOURCE, instance.source, {"long_name": "source mass", "units": "1"}),
        "target": (TARGET, instance.target, {"long_name": "target mass", "units": "1"}),
        "map_row": (SOURCE, targets[..., 0], {"long_name": "barycentric target, row", **_LENGTH}),
        "map_column": (SOURCE, targets[..., 1], {"long_name": "barycentric target, column", **_LENGTH}),
        "f": (SOURCE, result.f, {"long_name": "potential f", "units": COST}),
        "g": (TARGET, result.g, {"long_name": "potential g", "units": COST}),
    }


def _frames(result: OTResult) -> dict[str, Any]:
    frames = np.stack([result.interpolate(t) for t in TIMES])
    dims = ("time", "frame_row", "frame_column")
    return {
        "time": ("time", list(TIMES), {"long_name": "time of the interpolation", "units": "1"}),
        "interpolation": (dims, frames, {"long_name": "mass at time t", "units": "1"}),
    }


def _support(result: OTResult) -> dict[str, Any]:
    support = result.support
    columns = result.g.size
    plan = result.plan.tocsr()
    flow = np.asarray(plan[support.rows, support.cols]).ravel()
    return {
        "edge_source": ("edge", support.rows, {"long_name": "source pixel, C order", "units": "1"}),
        "edge_target": ("edge", support.cols, {"long_name": f"target pixel of {columns}, C order", "units": "1"}),
        "edge_flow": ("edge", flow, {"long_name": "mass carried", "units": "1"}),
        "edge_origin": (
            "edge",
            support.origin,
            {
                "long_name": "how the edge entered",
                "flag_values": list(range(len(ORIGINS))),
                "flag_meanings": " ".join(ORIGINS),
            },
        ),
    }


def _trace(result: OTResult) -> dict[str, Any]:
    """Return the solver's residuals at each check; none of them where the backend keeps no trace."""
    if result.trace is None or result.trace.empty:
        return {}
    labels = {
        "level": "level",
        "inner": "inner iteration",
        "iteration": "iteration since the start of the inner iteration",
        "primal": "mass that the marginals miss",
        "dual": "excess of the dual value over the cost, relative",
        "gap": "relative gap of the restricted problem",
        "omega": "primal weight",
        "restart": "restarted here",
    }
    return {
        f"trace_{name}": (
            "check_point",
            result.trace[name].to_numpy().astype(float),
            {"long_name": label, "units": "1"},
        )
        for name, label in labels.items()
    }
