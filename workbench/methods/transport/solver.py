"""Certified optimal transport between images: the outer loop from the coarsest to the finest level."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.sparse import coo_array

from workbench.errors import DataError, ParameterError
from workbench.methods.transport import highs, pricing, shielding
from workbench.methods.transport.bounds import Bounds
from workbench.methods.transport.ctransform import transform_full
from workbench.methods.transport.geometry import Measure, check_spacing, measure
from workbench.methods.transport.hierarchy import levels
from workbench.methods.transport.pdhg import CHECK, Halpern, Point, first_omega
from workbench.methods.transport.prolongation import finer_flow, finer_potential
from workbench.methods.transport.result import HISTORY, TRACE, OTResult, Support
from workbench.methods.transport.sums import dot
from workbench.methods.transport.support import KEPT, Edges, Proposal, full, largest, unite

WAIT = 1.1
PRICE = 0.5


@dataclass(frozen=True)
class Options:
    """The options of `ot2_grid`, checked."""

    tol: float
    backend: str
    beta: float
    neighbors: int
    keep_support: bool
    max_inner: int
    coarsest: int
    max_iterations: int

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        shielding.directions(2, self.neighbors)
        if self.backend not in ("pdhg", "highs"):
            raise ParameterError(f"backend={self.backend!r}: give 'pdhg' or 'highs'")
        for name in ("tol", "beta"):
            if not (isinstance(value := getattr(self, name), Real) and 0 <= float(value) < np.inf):
                raise ParameterError(f"{name}={value!r}: give a finite number, at least 0")
        for name in ("max_inner", "coarsest", "max_iterations"):
            if not (isinstance(value := getattr(self, name), Integral) and int(value) >= 1):
                raise ParameterError(f"{name}={value!r}: give a whole number, at least 1")


def ot2_grid(
    a: ArrayLike,
    b: ArrayLike,
    *,
    spacing: float | tuple[float, ...] = 1.0,
    tol: float = 1e-4,
    backend: str = "pdhg",
    beta: float = 0.25,
    neighbors: int = 8,
    keep_support: bool = True,
    max_inner: int = 5,
    coarsest: int = 8,
    max_iterations: int = 20_000,
    normalize: bool = True,
    potentials: tuple[np.ndarray, np.ndarray] | None = None,
    trace: bool = False,
    callback: Callable[[float, str], Any] | None = None,
) -> OTResult:
    """Return the least cost of moving one image into another for the squared distance, with a certificate.

    Parameters
    ----------
    a, b
        Source and target: masses on one to three axes, finite, at least zero. Shapes may differ.
    spacing
        Distance of neighbouring pixel centres, one number or one per axis, common to both images; pixel ``i``
        has its centre at ``(i + 1/2) spacing``.
    tol
        Relative gap between the certified bounds at which to stop.
    backend
        Solver of the restricted problems: "pdhg" (restarted Halpern PDHG) or "highs".
    beta
        Violated pairs added in an inner iteration, as a share of the source pixels.
    neighbors
        Shielding neighbours: 4 along the axes, 8 with diagonals (the names are those of two axes).
    keep_support
        Keep all pairs of the previous support instead of those with flow alone.
    max_inner
        Most inner iterations (updates of the support) of a level.
    coarsest
        Sides are halved while the longest stays at least this, in pixels, and further until all pairs of the last
        level are at most a million.
    max_iterations
        Most PDHG iterations of one inner iteration.
    normalize
        Scale both images to total 1; if False, totals must agree to a relative 1e-6. Plan and values are those
        of images of total 1 in both cases.
    potentials
        Earlier potentials ``(f, g)`` on the pixels, from which the finest level starts at once.
    trace
        Keep the residuals of the restricted solver.
    callback
        Called with the fraction done and a text; an exception it raises ends the work.

    Returns
    -------
    OTResult
        Value, bounds, plan, potentials, history and support. ``rel_gap`` says what was reached, also if it is
        more than `tol`.

    Raises
    ------
    DataError
        If an image is not fit, totals or axes differ, or the potentials do not match.
    ParameterError
        If an option is out of range.

    Notes
    -----
    Xia et al., 2026: hierarchy, shielding, pricing, conservative union. Memory
    O(pixels); time about O(pixels x side).

    The solver's flows are in single precision. Images that differ in less than about 1e-4 of their mass, and
    thin images laid across each other, may end above `tol`; the bounds hold all the same.

    Examples
    --------
    >>> a = np.zeros((8, 8)); a[2, 2] = 1.0
    >>> b = np.zeros((8, 8)); b[5, 6] = 1.0
    >>> ot2_grid(a, b).value
    25.0
    """
    options = Options(tol, backend, beta, neighbors, keep_support, max_inner, coarsest, max_iterations)
    source, target = _measures(a, b, spacing, normalize)
    if callback is not None and not callable(callback):
        raise ParameterError(f"callback={callback!r}: give a function of a fraction and a text, or none")
    run = Run(options, callback, [] if trace else None)
    bounds, edges = run.all_levels(source, target, _start(potentials, source, target))
    return _result(bounds, edges, run)


def _measures(a: ArrayLike, b: ArrayLike, spacing: Any, normalize: bool) -> tuple[Measure, Measure]:
    a, b = np.asanyarray(a), np.asanyarray(b)
    if a.ndim != b.ndim:
        raise DataError(f"a has shape {a.shape} and b {b.shape}: give images of equally many axes")
    each = check_spacing(spacing, a.ndim) if 1 <= a.ndim <= 3 else 1.0
    measures = measure(a, each, name="a"), measure(b, each, name="b")
    totals = (1.0, 1.0) if normalize else (float(a.sum(dtype=float)), float(b.sum(dtype=float)))
    if abs(totals[0] - totals[1]) > 1e-6 * max(totals):
        raise DataError(
            f"the totals differ: a sums to {totals[0]:.9g}, b to {totals[1]:.9g}; "
            "make them equal, or give normalize=True to scale both to 1"
        )
    return measures


def _start(potentials: tuple | None, source: Measure, target: Measure) -> np.ndarray | None:
    """Return the given potential at the target's pixels with mass, None without; that of the source follows from it."""
    if potentials is None:
        return None
    if not (isinstance(potentials, tuple | list) and len(potentials) == 2):
        raise DataError(f"potentials is {type(potentials).__name__}: give a pair (f, g), or none")
    f, g = (np.asarray(p, float) for p in potentials)
    if f.shape != source.grid.shape or g.shape != target.grid.shape:
        raise DataError(
            f"potentials of shapes {f.shape} and {g.shape} for images of shapes {source.grid.shape} and "
            f"{target.grid.shape}: the shapes must be equal"
        )
    if not (np.isfinite(f).all() and np.isfinite(g).all()):
        raise DataError("potentials hold NaN or infinite values: give finite ones, or none")
    return g.ravel()[target.pixels]


@dataclass
class Run:
    """One call of `ot2_grid`: its options, its log, its clock."""

    options: Options
    callback: Callable[[float, str], Any] | None
    trace: list | None
    history: list = field(default_factory=list)
    begun: float = field(default_factory=time.perf_counter)
    omega: float | None = None
    share: tuple[float, float] = (0.0, 1.0)

    def all_levels(self, source: Measure, target: Measure, g: np.ndarray | None) -> tuple[Bounds, Edges]:
        """Solve from the coarsest to the finest level, or the finest alone from a given potential."""
        if g is not None:
            return self.level(0, Bounds(source, target, g), [])
        shift = Bounds(source, target, _shift_potential(source, target))
        if shift.rel_gap <= self.options.tol:
            return self._at_once(shift)
        stack = levels(source, target, self.options.coarsest)
        sizes = np.array([len(s.pixels) ** 1.5 for s, _ in reversed(stack)])
        ends = np.concatenate([[0.0], np.cumsum(sizes) / sizes.sum()])
        self.share = ends[0], ends[1]
        coarse = Bounds(*stack[-1], np.zeros(len(stack[-1][1].pixels)))
        bounds, edges = self.level(len(stack) - 1, coarse, [full(*stack[-1])])
        for k, level in enumerate(reversed(range(len(stack) - 1)), 1):
            self.share = ends[k], ends[k + 1]
            fine = stack[level]
            start = finer_flow(bounds, fine)
            bounds, edges = self.level(level, Bounds(*fine, finer_potential(bounds, fine)), [start])
        return bounds, edges

    def level(self, level: int, bounds: Bounds, start: list[Proposal]) -> tuple[Bounds, Edges]:
        """Update the support and solve on it until the certificate is good enough."""
        source, target = bounds.source, bounds.target
        g, tmap = bounds.dual.g, bounds.dual.best
        kept = start or [_plan_pairs(bounds)]
        whole = bool(self.history == [] and start)
        for inner in range(self.options.max_inner):
            edges = unite(source, target, kept)
            if not whole or inner:
                edges = self.update(edges, kept, bounds, g, tmap)
            flow, g, iterations = self.solve(level, inner, edges, bounds, g)
            self.note(level, inner, edges, iterations, bounds)
            if bounds.rel_gap <= self.options.tol:
                break
            edges = Edges(edges.indptr, edges.cols, edges.cost, edges.origin, flow)
            tmap = largest(edges, bounds.dual.best)
            kept = [self.kept(edges), _plan_pairs(bounds)]
        return bounds, edges

    def update(self, edges: Edges, kept: list[Proposal], bounds: Bounds, g: np.ndarray, tmap: np.ndarray) -> Edges:
        """Return the support with the shielding and the violated pairs added."""
        source, target = bounds.source, bounds.target
        f = pricing.restricted_transform(edges, g, bounds.dual.f)
        most = int(self.options.beta * len(source.pixels))
        shields = shielding.propose(source, target, tmap, self.options.neighbors)
        return unite(source, target, [*kept, shields, pricing.propose(source, target, f, g, most)])

    def kept(self, edges: Edges) -> Proposal:
        """Return what the next support keeps of this one."""
        chosen = slice(None) if self.options.keep_support else edges.flow > 0
        return Proposal(edges.rows[chosen], edges.cols[chosen], edges.origin[chosen], edges.flow[chosen])

    def solve(
        self, level: int, inner: int, edges: Edges, bounds: Bounds, g: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """Solve the restricted problem as far as the certificate asks; return flow, potential and iterations."""
        if self.options.backend == "highs":
            answer = highs.solve(edges, bounds.source.weights, bounds.target.weights)
            if answer is not None:
                flow, g, iterations = answer
                bounds.improve(edges, flow, bounds.dual.f, g)
                return flow, g, iterations
            return edges.flow, g, 0
        return self.pdhg(level, inner, edges, bounds, g)

    def pdhg(
        self, level: int, inner: int, edges: Edges, bounds: Bounds, g: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """Iterate until the gap is small enough, or small against what the support lacks."""
        u, v = bounds.source.weights, bounds.target.weights
        f = pricing.restricted_transform(edges, g, bounds.dual.f)
        state = Halpern(edges, u, v, f, g, self.omega or first_omega(edges, u, v))
        most, due, done = self.options.max_iterations, 0, False
        while not done:
            state.advance(min(CHECK, most - state.total))
            point = state.look()
            if state.total >= due or state.total >= most:
                due = state.total * WAIT
                gap = self.restricted_gap(edges, bounds, point)
                self.record(level, inner, point, gap)
                self.report(level, bounds)
                enough = max(self.options.tol / 2, PRICE * bounds.rel_gap)
                done = bounds.rel_gap <= self.options.tol or gap <= enough or state.total >= most
        self.omega = state.omega
        return point.x.astype(float), point.g, state.total

    def restricted_gap(self, edges: Edges, bounds: Bounds, point: Point) -> float:
        """Try the point for better bounds; return the relative gap of the problem restricted to the support."""
        u, v = bounds.source.weights, bounds.target.weights
        basic = bounds.improve(edges, point.x, point.f, point.g)
        below = max(bounds.lower, *(self.restricted_dual(edges, g, u, v) for g in (point.g, basic)))
        return (bounds.upper - below) / max(bounds.upper, 1e-300)

    def restricted_dual(self, edges: Edges, g: np.ndarray, u: np.ndarray, v: np.ndarray) -> float:
        """Return the dual value of a potential in the restricted problem."""
        return dot(u, pricing.restricted_transform(edges, g, np.zeros(len(u)))) + dot(v, g)

    def record(self, level: int, inner: int, point: Point, gap: float) -> None:
        """Keep the residuals if a trace is asked for."""
        if self.trace is not None:
            excess = max(point.dual - point.value, 0.0) / max(point.value, 1e-300)
            residuals = point.misplaced, excess, gap, point.omega, point.restart
            self.trace.append((level, inner, point.iteration, *residuals))

    def note(self, level: int, inner: int, edges: Edges, iterations: int, bounds: Bounds) -> None:
        """Add a row to the history."""
        side, pixels = max(bounds.source.grid.shape), len(bounds.source.pixels)
        gap = bounds.lower, bounds.upper, bounds.rel_gap
        seconds = time.perf_counter() - self.begun
        self.history.append((level, side, inner, pixels, len(edges.cols), iterations, *gap, seconds))

    def report(self, level: int, bounds: Bounds) -> None:
        """Tell the callback how far the gap has come."""
        if self.callback is not None:
            gap = min(max(bounds.rel_gap, self.options.tol, 1e-12), 1.0)
            done = np.log(gap) / np.log(max(self.options.tol, 1e-12)) if self.options.tol < 1 else 1.0
            fraction = self.share[0] + float(done) * (self.share[1] - self.share[0])
            self.callback(fraction, f"level {level}, gap {bounds.rel_gap:.1e}")

    def _at_once(self, bounds: Bounds) -> tuple[Bounds, Edges]:
        edges = unite(bounds.source, bounds.target, [_plan_pairs(bounds)])
        self.note(0, 0, edges, 0, bounds)
        return bounds, edges


def _shift_potential(source: Measure, target: Measure) -> np.ndarray:
    """Return the potential of the translation that matches the means: exact for shifted and for equal images."""
    shift = (target.mean() - source.mean()) * source.grid.weights3
    return 2.0 * (target.index - target.mean()) @ shift


def _plan_pairs(bounds: Bounds) -> Proposal:
    plan = bounds.plan
    return Proposal(plan.rows.astype(np.int32), plan.cols.astype(np.int32), KEPT, 0.0)


def _result(bounds: Bounds, edges: Edges, run: Run) -> OTResult:
    source, target, plan = bounds.source, bounds.target, bounds.plan
    pairs = source.pixels[plan.rows], target.pixels[plan.cols]
    matrix = coo_array((plan.flow, pairs), shape=(source.grid.size, target.grid.size))
    matrix.sum_duplicates()
    f, _ = transform_full(bounds.dual.g, target, source)
    g, _ = transform_full(f[source.pixels], source, target)
    return OTResult(
        value=bounds.upper,
        lower=bounds.lower,
        upper=bounds.upper,
        rel_gap=bounds.rel_gap,
        plan=matrix,
        f=f.reshape(source.grid.shape),
        g=g.reshape(target.grid.shape),
        history=pd.DataFrame(run.history, columns=list(HISTORY)),
        support=Support(source.pixels[edges.rows], target.pixels[edges.cols], edges.origin),
        trace=None if run.trace is None else pd.DataFrame(run.trace, columns=list(TRACE)),
        spacing=source.grid.spacing,
    )
