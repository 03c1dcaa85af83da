"""From an almost feasible flow to a plan with exact marginals (Altschuler, Weed and Rigollet, 2017).

The flow is scaled down to at most its marginals; the mass left over is coupled along a space-filling
order of the targets, sources standing at the target their potential prefers, so it stays near its goal.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from workbench.methods.transport import _jit_rounding as _jit
from workbench.methods.transport.geometry import Measure


@dataclass(frozen=True)
class Plan:
    """A plan with exact marginals, as pairs of pixels with mass.

    Parameters
    ----------
    rows, cols, flow
        Source, target and mass of each pair; pairs may repeat.
    cost
        Squared distance of each pair.
    value
        Sum of mass times cost.
    leftover
        Mass that the scaled flow did not carry.
    kept
        Pairs that belong to the flow; those of the left-over mass follow.
    """

    rows: Int[np.ndarray, " pairs"]
    cols: Int[np.ndarray, " pairs"]
    flow: Float[np.ndarray, " pairs"]
    cost: Float[np.ndarray, " pairs"]
    value: float
    leftover: float
    kept: int


def pair_costs(source: Measure, target: Measure, rows: np.ndarray, cols: np.ndarray) -> Float[np.ndarray, " pairs"]:
    """Return the squared distance of each pair."""
    return (source.index[rows].astype(float) - target.index[cols]) ** 2 @ source.grid.weights3


def morton(index: Int[np.ndarray, "n 3"]) -> Int[np.ndarray, " n"]:
    """Return the place of each pixel on a Z-shaped space-filling curve."""
    code = np.zeros(len(index), np.int64)
    for bit in range(21):
        for axis in range(3):
            code |= ((index[:, axis].astype(np.int64) >> bit) & 1) << (3 * bit + axis)
    return code


def orders(target: Measure, best: Int[np.ndarray, " n"]) -> tuple[Int[np.ndarray, " n"], Int[np.ndarray, " m"]]:
    """Return sources and targets in the order in which left-over mass is coupled."""
    code = morton(target.index)
    return np.argsort(code[best], kind="stable"), np.argsort(code, kind="stable")


def round_pairs(
    pairs: tuple, cost: Float[np.ndarray, " pairs"], source: Measure, target: Measure, order: tuple
) -> Plan:
    """Return a plan with exact marginals near a flow given as rows, columns and masses.

    Cost O(pairs + pixels).
    """
    rows, cols, flow = pairs
    flow = flow.astype(float)
    rest = _jit.scale_down(rows, cols, flow, source.weights, target.weights)
    used = flow > 0
    return _complete((rows[used], cols[used], flow[used]), cost[used], rest, order, source, target)


def greedy(source: Measure, target: Measure, best: Int[np.ndarray, " n"], order: tuple) -> Plan:
    """Return the plan that sends each source to its best target as far as there is room."""
    flow, rest, room = _jit.push(source.weights, target.weights, best)
    used = np.flatnonzero(flow > 0)
    pairs = used, best[used], flow[used]
    return _complete(pairs, pair_costs(source, target, used, best[used]), (rest, room), order, source, target)


def _complete(pairs: tuple, cost: np.ndarray, rest: tuple, order: tuple, source: Measure, target: Measure) -> Plan:
    """Couple the left-over mass and return everything as one plan."""
    more = _jit.staircase(*rest, *order)
    rows, cols, flow = (np.concatenate(parts) for parts in zip(pairs, more, strict=True))
    cost = np.concatenate([cost, pair_costs(source, target, more[0], more[1])])
    return Plan(rows, cols, flow, cost, float(np.sum(flow * cost)), float(more[2].sum()), len(pairs[0]))
