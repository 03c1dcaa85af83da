"""Starting points of a finer level from a coarser one's plan and potentials."""

import numpy as np
from scipy.ndimage import map_coordinates

from workbench.methods.transport.bounds import Bounds
from workbench.methods.transport.ctransform import transform_full
from workbench.methods.transport.geometry import Measure
from workbench.methods.transport.support import Proposal, prolong

NEGLIGIBLE = 1e-3


def finer_flow(bounds: Bounds, fine: tuple[Measure, Measure]) -> Proposal:
    """Return all pairs of children of the plan's pairs that carry a share of their pixels' mass."""
    plan, coarse = bounds.plan, (bounds.source, bounds.target)
    least = NEGLIGIBLE * np.minimum(coarse[0].weights[plan.rows], coarse[1].weights[plan.cols])
    used = np.flatnonzero(plan.flow > least)
    used = used[used < plan.kept]
    return prolong(plan.rows[used].astype(np.int32), plan.cols[used].astype(np.int32), plan.flow[used], coarse, fine)


def finer_potential(bounds: Bounds, fine: tuple[Measure, Measure]) -> np.ndarray:
    """Return the target's potential interpolated linearly at the finer pixels with mass."""
    coarse, target = bounds.target, fine[1]
    f, _ = transform_full(bounds.dual.g, coarse, bounds.source)
    g, _ = transform_full(f[bounds.source.pixels], bounds.source, coarse)
    ratio = np.where(np.array(coarse.grid.shape) < np.array(target.grid.shape), 2, 1)
    places = (target.index[:, -coarse.grid.ndim :] + 0.5) / ratio - 0.5
    return map_coordinates(g.reshape(coarse.grid.shape), places.T, order=1, mode="nearest")
