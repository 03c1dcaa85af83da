"""Pricing: the pairs outside the support whose dual constraint a potential violates most.

The c-transform names the worst target of every source and the worst source of every target exactly and in O(n);
the pairs around them are candidates too, and the largest violations are proposed.
"""

import numpy as np
from jaxtyping import Float

from workbench.methods.transport import _jit_rounding, _jit_support
from workbench.methods.transport.ctransform import transform
from workbench.methods.transport.geometry import Measure
from workbench.methods.transport.support import VIOLATION, Edges, Proposal

REACH = 1


def restricted_transform(
    edges: Edges, g: Float[np.ndarray, " m"], default: Float[np.ndarray, " n"]
) -> Float[np.ndarray, " n"]:
    """Return ``min_j c_ij - g_j`` over the pairs of the support, `default` for a source without pairs."""
    f = _jit_rounding.row_minimum(edges.indptr, edges.cols, edges.cost, g)
    return np.where(np.isfinite(f), f, default)


def propose(
    source: Measure, target: Measure, f: Float[np.ndarray, " n"], g: Float[np.ndarray, " m"], most: int
) -> Proposal:
    """Return at most `most` pairs with the largest ``f_i + g_j - c_ij > 0``, near the worst of each pixel.

    Cost O(pixels).
    """
    weights = source.grid.weights3
    threshold = 1e-13 * float(np.abs(f).max() + np.abs(g).max())
    _, worst_target = transform(g, target, source)
    _, worst_source = transform(f, source, target)
    rows, cols, excess = _jit_support.violators(
        source.index, worst_target, f, *_sites(target), g, weights, REACH, threshold
    )
    more_cols, more_rows, more = _jit_support.violators(
        target.index, worst_source, g, *_sites(source), f, weights, REACH, threshold
    )
    rows, cols = np.concatenate([rows, more_rows]), np.concatenate([cols, more_cols])
    excess = np.concatenate([excess, more])
    if len(excess) > most:
        chosen = np.argpartition(-excess, most)[:most] if most else slice(0)
        rows, cols = rows[chosen], cols[chosen]
    return Proposal(rows, cols, VIOLATION)


def _sites(measure: Measure) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return measure.index, measure.position, np.array(measure.grid.shape3)
