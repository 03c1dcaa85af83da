"""A certificate taken anew from a plan and a potential alone, by enumeration.

Nothing of the solver is used: the c-transform is a minimum over all pairs, axis by axis, and
the plan's cost is its sum, charged for any mass that its marginals miss. Slower than the
solver's own certificate, and meant to be obvious: ``O(n r)`` for n pixels of an image with side r.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from workbench.errors import DataError

if TYPE_CHECKING:
    from scipy.sparse import coo_array


@dataclass(frozen=True)
class Verification:
    """Bounds on the transport cost, and how far the plan's marginals are off.

    Attributes
    ----------
    lower, upper
        Bounds on the cost, in squared units of the spacing.
    rel_gap
        ``(upper - lower) / upper``, 0 where both are within rounding of 0.
    marginal_error
        Mass that the plan's two marginals miss, summed over all pixels.
    """

    lower: float
    upper: float
    rel_gap: float
    marginal_error: float


def verify_plan(
    plan: "coo_array", g: ArrayLike, a: ArrayLike, b: ArrayLike, *, spacing: ArrayLike = 1.0
) -> Verification:
    """Bound the transport cost from a plan (above) and a potential (below), by enumeration.

    Parameters
    ----------
    plan
        Masses ``(a.size, b.size)``, pixels in C order.
    g
        Any potential on the pixels of `b`; only its c-transforms are used.
    a, b
        Source and target image of the same number of dimensions; each is scaled to total 1.
    spacing
        Pixel size, common or one for each axis.

    Returns
    -------
    Verification
        True to rounding: a few units in the last place of the cost are not allowed for.

    Raises
    ------
    DataError
        If the shapes of plan and potential are not those of the images.

    Examples
    --------
    >>> from scipy.sparse import coo_array
    >>> plan = coo_array(np.array([[0.0, 1.0], [0.0, 0.0]]))
    >>> verify_plan(plan, [0.0, 1.0], [1, 0], [0, 1])
    Verification(lower=1.0, upper=1.0, rel_gap=0.0, marginal_error=0.0)
    """
    u, v = (np.asarray(image, dtype=float) / np.sum(image) for image in (a, b))
    if plan.shape != (u.size, v.size) or np.shape(g) != v.shape or u.ndim != v.ndim:
        raise DataError(
            f"plan of shape {plan.shape} and g of shape {np.shape(g)} for images of shapes {u.shape} and {v.shape}: "
            "plan needs a row per pixel of a and a column per pixel of b, g the shape of b"
        )
    spacings = np.broadcast_to(np.asarray(spacing, dtype=float), (u.ndim,))
    f = enumerated_c_transform(np.where(v > 0, g, -np.inf), u.shape, spacings)
    f_c = enumerated_c_transform(np.where(u > 0, f, -np.inf), v.shape, spacings)
    lower = float(np.sum(u[u > 0] * f[u > 0]) + np.sum(v[v > 0] * f_c[v > 0]))

    missing = np.abs(plan.sum(axis=1) - u.ravel()).sum() + np.abs(plan.sum(axis=0) - v.ravel()).sum()
    diameter = float(sum((h * max(r, s)) ** 2 for h, r, s in zip(spacings, u.shape, v.shape, strict=True)))
    upper = _plan_cost(plan, u.shape, v.shape, spacings) + float(missing) * diameter
    negligible = upper - lower <= 1e-14 * diameter and upper <= 1e-14 * diameter
    return Verification(lower, upper, 0.0 if negligible else (upper - lower) / upper, float(missing))


def enumerated_c_transform(g: np.ndarray, shape_out: tuple[int, ...], spacing: np.ndarray) -> np.ndarray:
    """Return ``min_j |x_i - y_j|^2 - g_j`` for all pixels i of a grid, by trying every j of each axis.

    ``g`` is minus infinity where j is not allowed.
    """
    values = -g
    for axis, (size, step) in enumerate(zip(shape_out, spacing, strict=True)):
        values = np.moveaxis(values, axis, -1)
        offsets = step * np.arange(values.shape[-1])
        columns = [np.min(values + (step * i - offsets) ** 2, axis=-1) for i in range(size)]
        values = np.moveaxis(np.stack(columns, axis=-1), -1, axis)
    return values


def _plan_cost(plan: "coo_array", source: tuple[int, ...], target: tuple[int, ...], spacing: np.ndarray) -> float:
    plan = plan.tocoo()
    i = np.unravel_index(plan.row, source)
    j = np.unravel_index(plan.col, target)
    cost = sum((h * (p - q)) ** 2 for h, p, q in zip(spacing, i, j, strict=True))
    return float(np.sum(plan.data * cost))
