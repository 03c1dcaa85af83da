"""The result of a transport problem: bounds, plan, potentials, and what follows from the plan."""

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import coo_array

from workbench.errors import DataError
from workbench.methods.transport.geometry import Grid

HISTORY = ("level", "side", "inner", "pixels", "edges", "lp_iterations", "lower", "upper", "rel_gap", "seconds")
TRACE = ("level", "inner", "iteration", "primal", "dual", "gap", "omega", "restart")


@dataclass(frozen=True)
class Support:
    """The active support of the finest level.

    Parameters
    ----------
    rows, cols
        Flat indices (C-order) of the source and the target pixel of every pair.
    origin
        The step that first proposed the pair, a place in `workbench.methods.transport.ORIGINS`.
    """

    rows: np.ndarray
    cols: np.ndarray
    origin: np.ndarray


@dataclass(frozen=True)
class OTResult:
    """The certified transport between two images, each scaled to total mass 1.

    Parameters
    ----------
    value
        Cost of the plan, equal to `upper`, in squared coordinate units.
    lower, upper
        Bounds on the optimal cost.
    rel_gap
        ``(upper - lower) / upper``, 0 where both are within rounding of 0.
    plan
        Mass moved from pixel to pixel, of shape (size of a, size of b), pixels in C-order, total 1.
    f, g
        Potentials on all pixels of a and of b, ``f_i + g_j <= c_ij`` between pixels with mass.
    history
        One row for each inner iteration: level (0 the finest), side, inner, pixels, edges, lp_iterations,
        lower, upper, rel_gap (bounds of that level's problem), seconds since the start.
    support
        The active support of the finest level.
    trace
        Residuals of the restricted solver at every check, if asked for.
    spacing
        Distance of neighbouring pixels along each axis.
    """

    value: float
    lower: float
    upper: float
    rel_gap: float
    plan: coo_array
    f: np.ndarray
    g: np.ndarray
    history: pd.DataFrame
    support: Support
    trace: pd.DataFrame | None
    spacing: tuple[float, ...]

    def map(self) -> np.ndarray:
        """Return the barycentric target of every source pixel.

        Returns
        -------
        ndarray of shape (shape of a) + (axes,)
            Mean coordinates of where the pixel's mass goes, nan where it has none (or less than rounds away
            beside the total).
        """
        targets = Grid(self.g.shape, self.spacing).centres()
        mass = np.bincount(self.plan.row, self.plan.data, self.f.size)
        moved = [np.bincount(self.plan.row, self.plan.data * x[self.plan.col], self.f.size) for x in targets.T]
        with np.errstate(invalid="ignore", divide="ignore"):
            return (np.stack(moved, axis=-1) / mass[:, None]).reshape(*self.f.shape, -1)

    def interpolate(self, t: float, shape: tuple[int, ...] | None = None) -> np.ndarray:
        """Return the displacement interpolation at time `t`, splatted linearly on pixels of the same spacing.

        Parameters
        ----------
        t
            Time between 0 (a) and 1 (b).
        shape
            Shape of the image; the larger of both along each axis if None.

        Returns
        -------
        ndarray
            Masses of total 1, as far as `shape` holds them.

        Raises
        ------
        DataError
            If `t` is outside 0..1 or `shape` has other axes than the images.

        Notes
        -----
        Each entry of the plan carries its mass to ``(1 - t) x_i + t y_j``. Cost O(entries of the plan).
        """
        if not 0 <= t <= 1:
            raise DataError(f"t={t!r}: give a time from 0 (a) to 1 (b)")
        shape = tuple(map(max, self.f.shape, self.g.shape)) if shape is None else tuple(shape)
        if len(shape) != self.f.ndim:
            raise DataError(f"shape={shape} for images of {self.f.ndim} axes: give {self.f.ndim} sizes")
        starts, ends = (Grid(image.shape, self.spacing).centres() for image in (self.f, self.g))
        places = (1 - t) * starts[self.plan.row] + t * ends[self.plan.col]
        return _splat(places / np.array(self.spacing) - 0.5, self.plan.data, shape)

    def certificate(self) -> dict[str, Any]:
        """Return the bounds and how they were computed, ready for JSON."""
        return {
            "lower": self.lower,
            "upper": self.upper,
            "rel_gap": self.rel_gap,
            "shapes": [list(self.f.shape), list(self.g.shape)],
            "spacing": list(self.spacing),
            "cost": "squared distance of pixel centres, images scaled to total mass 1",
            "lower_by": "dual value of the double c-transform of g, less a bound on its rounding error",
            "upper_by": "cost of a plan whose marginals are exact to rounding",
        }


def _splat(places: np.ndarray, mass: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Share each mass linearly among the pixels around its place; mass beyond the frame is dropped."""
    base = np.floor(places).astype(int)
    part = places - base
    image = np.zeros(int(np.prod(shape)))
    for corner in product((0, 1), repeat=len(shape)):
        share = mass * np.prod(np.where(corner, part, 1 - part), axis=1)
        pixel = base + corner
        inside = ((pixel >= 0) & (pixel < shape)).all(axis=1) & (share > 0)
        image += np.bincount(np.ravel_multi_index(tuple(pixel[inside].T), shape), share[inside], image.size)
    return image.reshape(shape)
