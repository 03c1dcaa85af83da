"""The certificate: a lower bound from potentials and an upper bound from a plan, valid whatever made them.

The lower bound is the dual value of a potential's double c-transform, which is feasible for any potential;
a bound on its rounding error is subtracted. The upper bound is the cost of a plan whose marginals are those of
the images, to rounding.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import coo_array

from workbench.errors import DataError
from workbench.methods.transport.ctransform import transform
from workbench.methods.transport.geometry import Measure, measure
from workbench.methods.transport.rounding import orders, pair_costs, round_pairs

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Certificate:
    """Bounds on the optimal value.

    Parameters
    ----------
    lower, upper
        Bounds on the transport cost, in squared coordinate units.
    rel_gap
        ``(upper - lower) / upper``, 0 where both are within rounding of 0.
    leftover
        Mass that the given flow misplaced and that was coupled anew.
    """

    lower: float
    upper: float
    rel_gap: float
    leftover: float


@dataclass(frozen=True)
class Dual:
    """A feasible pair of potentials on the pixels with mass, its value and each source's best target."""

    f: Float[np.ndarray, " n"]
    g: Float[np.ndarray, " m"]
    best: Int[np.ndarray, " n"]
    lower: float


def relative_gap(lower: float, upper: float, rounding: float) -> float:
    """Return ``(upper - lower) / upper``, 0 where both are within `rounding` of 0.

    Examples
    --------
    >>> relative_gap(0.75, 1.0, 1e-15), relative_gap(-1e-16, 0.0, 1e-15)
    (0.25, 0.0)
    """
    if max(abs(lower), abs(upper)) <= rounding:
        return 0.0
    return max(upper - lower, 0.0) / upper


def rounding_error(f: np.ndarray, g: np.ndarray, source: Measure, target: Measure) -> float:
    """Return a bound on the rounding error of a dual value and of its feasibility.

    A transform does a few operations an axis on numbers of at most the sizes of `f`, `g` and the cost;
    each lower envelope decides by a quotient known to a few units in the last place.
    """
    reach = np.sum((np.maximum(source.grid.shape3, target.grid.shape3) - 1.0) ** 2 * source.grid.weights3)
    size = float(np.max(np.abs(f)) + np.max(np.abs(g)) + reach)
    return EPS * size * (16 * source.grid.ndim + 16 + float(np.log2(len(f) + len(g))))


def dual(g: Float[np.ndarray, " m"], source: Measure, target: Measure) -> Dual:
    """Return the double c-transform of `g` and the lower bound it gives, less its rounding error.

    Cost O(pixels).
    """
    f, best = transform(g, target, source)
    g, _ = transform(f, source, target)
    value = float(np.sum(source.weights * f) + np.sum(target.weights * g))
    return Dual(f, g, best, float(value - rounding_error(f, g, source, target)))


def certify(
    g: np.ndarray, plan: coo_array, a: np.ndarray, b: np.ndarray, *, spacing: float | tuple[float, ...] = 1.0
) -> Certificate:
    """Return bounds on the transport cost between two images from any potential and any flow.

    Parameters
    ----------
    g
        Potential on the pixels of `b`; any values, a better one gives a higher bound.
    plan
        Mass from pixel to pixel, of shape (size of a, size of b), pixels in C-order; need not be feasible.
    a, b
        The images, each scaled to total 1.
    spacing
        Distance of neighbouring pixels of both, one number or one per axis.

    Returns
    -------
    Certificate
        Both bounds, the relative gap, and the mass of `plan` that was coupled anew.

    Raises
    ------
    DataError
        If the shapes do not match.

    Notes
    -----
    Cost O(pixels + entries of the plan).

    Examples
    --------
    >>> plan = coo_array(([1.0], ([0], [2])), shape=(3, 3))
    >>> certify(np.zeros(3), plan, np.array([1, 0, 0]), np.array([0, 0, 1])).upper
    4.0
    """
    source, target = measure(a, spacing, name="a"), measure(b, spacing, name="b")
    g = np.asarray(g, float).ravel()
    if plan.shape != (source.grid.size, target.grid.size) or g.size != target.grid.size:
        raise DataError(
            f"g of {g.size} values and plan of shape {plan.shape} for images of {source.grid.size} and "
            f"{target.grid.size} pixels: g needs one value per pixel of b, plan one row per pixel of a"
        )
    best = dual(g[target.pixels], source, target)
    plan = plan.tocoo()
    rows, cols = source.position[plan.row], target.position[plan.col]
    valid = (rows >= 0) & (cols >= 0) & (plan.data > 0)
    pairs = rows[valid], cols[valid], plan.data[valid]
    cost = pair_costs(source, target, pairs[0], pairs[1])
    rounded = round_pairs(pairs, cost, source, target, orders(target, best.best))
    gap = relative_gap(best.lower, rounded.value, rounding_error(best.f, best.g, source, target))
    return Certificate(best.lower, rounded.value, gap, rounded.leftover)
