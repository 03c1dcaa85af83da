"""Restarted reflected Halpern PDHG for the restricted problem (the method of cuPDLPx).

With ``B`` the incidence of pairs and pixels, the diagonal scaling by the pixels' degrees makes its norm
exactly 1, so the step needs no search. One iteration of the plain step T, with primal weight ``omega``:

    f+ = f + eta / omega (u - row sums of x) / deg           likewise g+ with v
    x+ = max(0, x + eta omega / 2 ((2 f+ - f) + (2 g+ - g) - c))

The iterate moves to ``(k+1)/(k+2) (2 T(z) - z) + 1/(k+2) z0`` with z0 the point of the last restart.

Ours is the choice of pairs to iterate on: those that carry flow and a few more of least reduced cost, chosen anew
from the whole support at every restart. It saves most of the work: a support has some 16 pairs a pixel, a solution 2.
The chosen pairs may be unable to carry the masses; the dual value then grows without bound, far above the cost.
That, or too many iterations, doubles the number of pairs allowed, in the end to the whole support.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from workbench.errors import DataError
from workbench.harness.threads import numba_at_most
from workbench.methods.transport import _jit_pdhg as _jit
from workbench.methods.transport.geometry import Measure
from workbench.methods.transport.pricing import restricted_transform
from workbench.methods.transport.sums import dot
from workbench.methods.transport.support import Edges, Proposal, unite

ETA = 0.998
CHECK = 60
BLOCK = 65536
MOST_BLOCKS = 8
MOST_DRIFT = 20.0
PAIRS_A_PIXEL = 5
UNBOUNDED = 0.5
PATIENCE = 8000


@dataclass(frozen=True)
class Point:
    """A flow with its potentials, and how far it is from a solution of the restricted problem.

    Parameters
    ----------
    x
        Flow on each pair, at least zero.
    f, g
        Potentials.
    misplaced
        Mass that the marginals of `x` miss, summed over all pixels.
    value, dual
        Cost of `x` and ``<u, f> + <v, g>``.
    omega
        Primal weight.
    iteration
        Iterations done.
    restart
        Whether the iteration restarts here.
    """

    x: Float[np.ndarray, " edges"]
    f: Float[np.ndarray, " n"]
    g: Float[np.ndarray, " m"]
    misplaced: float
    value: float
    dual: float
    omega: float
    iteration: int
    restart: bool


class Halpern:
    """The state of the iteration on one restricted problem.

    Flows and slacks are held in single precision, relative to the potentials at the start; sums in double.

    Parameters
    ----------
    edges
        The support, with the flow to start from.
    u, v
        Masses of sources and targets.
    f, g
        Potentials to start from.
    omega
        Primal weight to start from.
    """

    def __init__(self, edges: Edges, u: np.ndarray, v: np.ndarray, f: np.ndarray, g: np.ndarray, omega: float) -> None:
        self.edges, self.rows = edges, edges.rows
        self.u, self.v, self.base = u, v, (f, g)
        self.edge_slack = (edges.cost - f[self.rows] - g[edges.cols]).astype(np.float32)
        self.f, self.g = np.zeros(len(u)), np.zeros(len(v))
        self.row = np.bincount(self.rows, edges.flow, len(u))
        self.pairs = PAIRS_A_PIXEL * max(len(u), len(v))
        self._choose(edges.flow.astype(np.float32), np.bincount(edges.cols, edges.flow, len(v)))
        self.omega = self.first_omega = omega
        self.integral = 0.0
        self.since = self.total = 0
        self.errors: list[float] = []

    def advance(self, count: int) -> None:
        """Do `count` iterations."""
        x0, f0, g0 = self.anchor
        steps = self._steps()
        with numba_at_most(len(self.blocks) - 1):
            _jit.sweeps(
                count, self.since, self.indptr, self.cols, self.slack, self.x, x0, self.f, f0, self.row, self.u,
                steps[0], self.g, g0, self.v, steps[1], self.partial, self.blocks, steps[2],
            )  # fmt: skip
        self.since += count
        self.total += count

    def look(self) -> Point:
        """Return the image of the plain step, and restart from it if it is time."""
        x, f, g, row, col = self.new
        steps = self._steps()
        value, moved, cross = _jit.image(
            self.indptr, self.cols, self.slack, self.x, self.f, self.row, self.u, steps[0], self.g,
            self.partial.sum(axis=0), self.v, steps[1], steps[2], x, f, g, row, col,
        )  # fmt: skip
        turned = self._turned(f - self.f, g - self.g)
        self.errors.append(float(np.sqrt(max(self.omega * turned + 2 * moved / self.omega - 2 * ETA * cross, 0.0))))
        f, g = self.base[0] + f, self.base[1] + g
        misplaced = np.abs(row - self.u).sum() + np.abs(col - self.v).sum()
        value += dot(row, self.base[0]) + dot(col, self.base[1])
        omega, restart = self.omega, self._due()
        dual = dot(self.u, f) + dot(self.v, g)
        point = Point(self._spread(x), f, g, float(misplaced), float(value), dual, omega, self.total, restart)
        if restart:
            self._widen(value, dual)
            self._restart()
        return point

    def _choose(self, flow: Float[np.ndarray, " edges"], col: Float[np.ndarray, " m"]) -> None:
        """Take up the pairs with flow, those of least reduced cost, and the least of every row and column."""
        edges, m = self.edges, len(self.v)
        keep = np.ones(len(flow), bool)
        if len(flow) > self.pairs:
            reduced = self.edge_slack - self.f.astype(np.float32)[self.rows] - self.g.astype(np.float32)[edges.cols]
            reduced[flow > 0] = -np.inf
            bound = np.partition(reduced, self.pairs)[self.pairs]
            _jit.choose(edges.indptr, edges.cols, reduced, bound, m, keep)
        self.chosen = np.flatnonzero(keep)
        self.indptr = np.concatenate([[0], np.cumsum(keep)])[edges.indptr]
        self.cols = edges.cols[self.chosen].astype(np.uint32)
        self.slack, self.x = self.edge_slack[self.chosen], flow[self.chosen]
        self.degree = np.maximum(np.diff(self.indptr), 1.0), np.maximum(np.bincount(self.cols, minlength=m), 1.0)
        self.blocks = _blocks(self.indptr)
        self.partial = np.zeros((len(self.blocks) - 1, m))
        self.partial[0] = col
        self.new = tuple(np.empty_like(part) for part in (self.x, self.f, self.g, self.row, col))
        self.anchor = self.x.copy(), self.f.copy(), self.g.copy()

    def _widen(self, value: float, dual: float) -> None:
        """Allow twice as many pairs if those chosen seem unable to carry the masses, or take very long."""
        if dual - value > UNBOUNDED * value or self.total > PATIENCE:
            self.pairs *= 2

    def _spread(self, x: Float[np.ndarray, " chosen"]) -> Float[np.ndarray, " edges"]:
        """Return the flow on all pairs of the support."""
        flow = np.zeros(len(self.rows), np.float32)
        flow[self.chosen] = x
        return flow

    def _steps(self) -> tuple[np.ndarray, np.ndarray, float]:
        row, col = (ETA / self.omega / degree for degree in self.degree)
        return row, col, ETA * self.omega / 2

    def _turned(self, f: np.ndarray, g: np.ndarray) -> float:
        """Return the squared length of a change of the potentials in the scaled space."""
        return dot(self.degree[0], f**2) + dot(self.degree[1], g**2)

    def _due(self) -> bool:
        """Return whether to restart: at once, after a long stretch, or as the fixed-point error falls."""
        first, last = self.errors[0], self.errors[-1]
        rose = len(self.errors) > 1 and last > self.errors[-2]
        long = self.since >= 0.36 * self.total
        return long or last <= 0.2 * first or (last <= 0.5 * first and rose)

    def _restart(self) -> None:
        x, f, g, row, col = self.new
        self._balance(x - self.anchor[0], f - self.anchor[1], g - self.anchor[2])
        self.f, self.g, self.row = f, g, row
        self._choose(self._spread(x), col)
        self.since = 0
        self.errors = []

    def _balance(self, x: np.ndarray, f: np.ndarray, g: np.ndarray) -> None:
        """Set the primal weight from how far flow and potentials moved since the restart (PID rule)."""
        moved, turned = np.sqrt(2 * dot(x, x)), np.sqrt(self._turned(f, g))
        noise = 1e-6 * np.sqrt(dot(self.anchor[0], self.anchor[0]))  # of single precision
        if moved > noise and turned > 0:
            error = np.log(moved / turned / self.omega)
            self.integral = 0.3 * self.integral + error
            omega = self.omega * np.exp(0.99 * error + 0.01 * self.integral)
            self.omega = float(np.clip(omega, self.first_omega / MOST_DRIFT, self.first_omega * MOST_DRIFT))


def _blocks(indptr: np.ndarray) -> np.ndarray:
    """Return where blocks of rows with about equally many edges begin; their number depends on the edges alone."""
    count = int(np.clip(indptr[-1] // BLOCK, 1, MOST_BLOCKS))
    inner = np.searchsorted(indptr, np.arange(1, count) * indptr[-1] // count)
    return np.concatenate([[0], inner, [len(indptr) - 1]])


def first_omega(edges: Edges, u: np.ndarray, v: np.ndarray) -> float:
    """Return the primal weight to begin with: length of the masses over that of the costs."""
    costs = dot(edges.cost, edges.cost)
    return float(np.sqrt((dot(u, u) + dot(v, v)) / costs)) if costs > 0 else 1.0


def pdhg_transport(
    rows: ArrayLike,
    cols: ArrayLike,
    source: Measure,
    target: Measure,
    *,
    tol: float = 1e-5,
    max_iterations: int = 20_000,
) -> Point:
    """Return the least-cost flow on the given pairs of pixels, to a tolerance that is not a certificate.

    Parameters
    ----------
    rows, cols
        Places of source and target of each pair, among the pixels with mass.
    source, target
        The measures.
    tol
        Stop when the misplaced mass and the relative gap of the cost and the dual value over all pairs are at
        most this; single-precision flows carry it to about 1e-6.
    max_iterations
        Most iterations.

    Returns
    -------
    Point
        Flow of each pair sorted by row and column, potentials, residuals and iterations.

    Raises
    ------
    DataError
        If rows and columns differ in length or point beyond the pixels.

    Notes
    -----
    See the module for the iteration. Cost O(pairs) an iteration.

    Examples
    --------
    >>> from workbench.methods.transport.geometry import measure
    >>> a, b = measure(np.array([1.0, 1.0])), measure(np.array([0.0, 1.0, 1.0]))
    >>> point = pdhg_transport([0, 0, 1, 1], [0, 1, 0, 1], a, b)
    >>> abs(point.value - 1.0) < 1e-4
    True
    """
    rows, cols = np.asarray(rows, np.int32), np.asarray(cols, np.int32)
    n, m = len(source.pixels), len(target.pixels)
    if rows.shape != cols.shape or rows.ndim != 1 or not len(rows):
        raise DataError(f"rows of shape {rows.shape} and cols of shape {cols.shape}: give equally many, at least one")
    if min(rows.min(), cols.min()) < 0 or rows.max() >= n or cols.max() >= m:
        raise DataError(f"pairs point beyond the {n} and {m} pixels with mass: count from 0 among those")
    edges = unite(source, target, [Proposal(rows, cols, 0)])
    u, v = source.weights, target.weights
    state = Halpern(edges, u, v, np.zeros(n), np.zeros(m), first_omega(edges, u, v))
    while True:
        state.advance(min(CHECK, max_iterations - state.total))
        point = state.look()
        dual = dot(u, restricted_transform(edges, point.g, np.zeros(n))) + dot(v, point.g)
        gap = abs(point.value - dual) / max(abs(point.value), 1e-300)
        if max(point.misplaced, gap) <= tol or state.total >= max_iterations:
            return point
