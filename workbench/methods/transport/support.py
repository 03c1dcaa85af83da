"""The active support: the pairs of pixels the restricted problem may use, and where they came from."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float64, Int, Int32, Int64, UInt8

from workbench.methods.transport import _jit_support as _jit
from workbench.methods.transport.geometry import Measure

ORIGINS = ("prolonged", "shield", "violation", "kept")
PROLONGED, SHIELD, VIOLATION, KEPT = range(len(ORIGINS))


@dataclass(frozen=True)
class Edges:
    """A set of pairs sorted by source, with a flow on each.

    Parameters
    ----------
    indptr
        Where the pairs of each source begin, and their count.
    cols
        Target of each pair, increasing for one source.
    cost
        Squared distance of each pair.
    origin
        Place in `ORIGINS` of the step that first proposed each pair.
    flow
        Mass on each pair.
    """

    indptr: Int64[np.ndarray, " n1"]
    cols: Int32[np.ndarray, " edges"]
    cost: Float64[np.ndarray, " edges"]
    origin: UInt8[np.ndarray, " edges"]
    flow: Float64[np.ndarray, " edges"]

    @property
    def rows(self) -> Int32[np.ndarray, " edges"]:
        """Source of each pair."""
        return np.repeat(np.arange(len(self.indptr) - 1, dtype=np.int32), np.diff(self.indptr))


@dataclass(frozen=True)
class Proposal:
    """Pairs proposed for the support by one step, with the flow they start from."""

    rows: Int32[np.ndarray, " edges"]
    cols: Int32[np.ndarray, " edges"]
    origin: int | UInt8[np.ndarray, " edges"]
    flow: Float[np.ndarray, " edges"] | float = 0.0


def unite(source: Measure, target: Measure, proposals: list[Proposal]) -> Edges:
    """Return the union of the proposed pairs; a pair proposed twice keeps its first origin and flow.

    Cost O(pairs).
    """
    lengths = [len(p.rows) for p in proposals]
    origin = [np.broadcast_to(np.uint8(p.origin), k) for p, k in zip(proposals, lengths, strict=True)]
    flow = [np.broadcast_to(np.float64(p.flow), k) for p, k in zip(proposals, lengths, strict=True)]
    indptr, cols, codes, flows = _jit.merge(
        len(source.pixels),
        len(target.pixels),
        np.concatenate([p.rows for p in proposals]),
        np.concatenate([p.cols for p in proposals]),
        np.concatenate(origin),
        np.concatenate(flow),
    )
    cost = _jit.edge_costs(indptr, cols, source.index, target.index, source.grid.weights3)
    return Edges(indptr, cols, cost, codes, flows)


def full(source: Measure, target: Measure) -> Proposal:
    """Return all pairs, with the flow of the product of both masses."""
    n, m = len(source.pixels), len(target.pixels)
    rows = np.repeat(np.arange(n, dtype=np.int32), m)
    cols = np.tile(np.arange(m, dtype=np.int32), n)
    return Proposal(rows, cols, PROLONGED, np.outer(source.weights, target.weights).ravel())


def largest(edges: Edges, default: Int[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
    """Return each source's target of the largest flow, `default` where no flow leaves it."""
    flow, rows = edges.flow, edges.rows
    order = np.lexsort((flow, rows))
    last = edges.indptr[1:] - 1
    best = order[np.maximum(last, 0)]
    some = (np.diff(edges.indptr) > 0) & (flow[best] > 0)
    return np.where(some, edges.cols[best], default)


def prolong(
    rows: Int32[np.ndarray, " edges"],
    cols: Int32[np.ndarray, " edges"],
    flow: Float[np.ndarray, " edges"],
    coarse: tuple[Measure, Measure],
    fine: tuple[Measure, Measure],
) -> Proposal:
    """Return all pairs of the children of coarse pairs, a pair's flow shared out by the children's masses.

    Parameters
    ----------
    rows, cols, flow
        Pairs of pixels with mass of the coarse level, and the flow on each.
    coarse, fine
        Source and target of both levels.

    Returns
    -------
    Proposal
        Pairs of the fine level. The flow has the fine marginals if `flow` has the coarse ones.

    Notes
    -----
    Xia et al., 2026, share the flow evenly; by mass it stays feasible. Cost O(pairs).
    """
    families = [_children(c, f) for c, f in zip(coarse, fine, strict=True)]
    rows, cols, flow = _jit.prolong(rows, cols, flow, *families[0], *families[1])
    return Proposal(rows, cols, PROLONGED, flow)


def _children(coarse: Measure, fine: Measure) -> tuple:
    """Return where each coarse pixel's children begin, the children, and their shares of its mass."""
    ratio = np.where(np.array(coarse.grid.shape3) < np.array(fine.grid.shape3), 2, 1)
    parent = coarse.position[np.ravel_multi_index(tuple((fine.index // ratio).T), coarse.grid.shape3)]
    child = np.argsort(parent, kind="stable").astype(np.int32)
    start = np.searchsorted(parent[child], np.arange(len(coarse.pixels) + 1))
    return start, child, fine.weights[child] / coarse.weights[parent[child]]
