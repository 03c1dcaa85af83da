"""The best bounds found so far on one level: "keep best" for the potentials and for the plan."""

import numpy as np
from jaxtyping import Float

from workbench.methods.transport import certificate, rounding
from workbench.methods.transport.forest import Forest
from workbench.methods.transport.geometry import Measure
from workbench.methods.transport.support import Edges


class Bounds:
    """The best dual value and the cheapest plan seen between two measures."""

    def __init__(self, source: Measure, target: Measure, g: Float[np.ndarray, " m"]) -> None:
        self.source, self.target = source, target
        self.dual = certificate.dual(g, source, target)
        self.order = rounding.orders(target, self.dual.best)
        self.plan = rounding.greedy(source, target, self.dual.best, self.order)

    def raise_lower(self, g: Float[np.ndarray, " m"]) -> None:
        """Try a potential: its double c-transform may raise the lower bound."""
        dual = certificate.dual(g, self.source, self.target)
        if dual.lower > self.dual.lower:
            self.dual = dual

    def improve(
        self, edges: Edges, flow: Float[np.ndarray, " edges"], f: Float[np.ndarray, " n"], g: Float[np.ndarray, " m"]
    ) -> Float[np.ndarray, " m"]:
        """Try a flow and potentials, and what a forest of the flow makes of them; return the forest's potential."""
        u, v = self.source.weights, self.target.weights
        forest = Forest(edges, flow, len(u), len(v))
        basic = forest.potential(f, g)
        self.raise_lower(g)
        self.raise_lower(basic)
        pairs = forest.rows, forest.cols, forest.repair(u, v)
        plan = rounding.round_pairs(pairs, forest.cost, self.source, self.target, self.order)
        if plan.value < self.plan.value:
            self.plan = plan
        return basic

    @property
    def lower(self) -> float:
        """The best lower bound, at least 0."""
        return max(self.dual.lower, 0.0)

    @property
    def upper(self) -> float:
        """The cost of the cheapest plan."""
        return self.plan.value

    @property
    def rel_gap(self) -> float:
        """``(upper - lower) / upper``, 0 where both are within rounding of 0."""
        return certificate.relative_gap(self.lower, self.upper, self.rounding)

    @property
    def rounding(self) -> float:
        """The rounding error allowed for in the lower bound."""
        return certificate.rounding_error(self.dual.f, self.dual.g, self.source, self.target)
