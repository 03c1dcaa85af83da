"""Repair of an almost feasible flow along a spanning forest of its largest pairs.

The forest is what a simplex method would call a basis: on it the flow is determined by the marginals, from
the leaves inwards, and the potentials by the costs, from the roots outwards. If the flow is near a vertex of
the restricted problem, the repaired flow is that vertex and the potentials are its dual.
"""

import numpy as np
from jaxtyping import Float

from workbench.methods.transport import _jit_forest as _jit
from workbench.methods.transport.support import Edges


class Forest:
    """A spanning forest of the pairs with flow, the largest flows first.

    Cost O(E log E) for E pairs with flow.
    """

    def __init__(self, edges: Edges, flow: Float[np.ndarray, " edges"], n: int, m: int) -> None:
        self.n = n
        self.used = np.flatnonzero(flow > 0)
        self.flow = flow[self.used].astype(float)
        self.rows, self.cols = edges.rows[self.used], edges.cols[self.used]
        self.cost = edges.cost[self.used]
        chosen = _jit.spanning_forest(self.rows, self.cols, np.argsort(-self.flow, kind="stable"), n, m)
        self.pairs = _jit.leaves_first(self.rows, self.cols, chosen, n, m)

    def repair(self, u: Float[np.ndarray, " n"], v: Float[np.ndarray, " m"]) -> Float[np.ndarray, " pairs"]:
        """Return the flow of the pairs in use, its marginals moved to `u` and `v` as far as it stays positive."""
        flow = self.flow.copy()
        have = np.bincount(self.rows, flow, len(u)), np.bincount(self.cols, flow, len(v))
        need = np.concatenate([u - have[0], v - have[1]])
        _jit.pass_inwards(*self.pairs, flow, need)
        return flow

    def potential(self, f: Float[np.ndarray, " n"], g: Float[np.ndarray, " m"]) -> Float[np.ndarray, " m"]:
        """Return the targets' potential with ``f_i + g_j = c_ij`` on the forest, roots as given."""
        both = np.concatenate([f, g])
        _jit.tighten(*self.pairs, self.cost, both)
        return both[self.n :]
