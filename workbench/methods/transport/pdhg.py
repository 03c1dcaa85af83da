"""Restarted reflected Halpern PDHG for the restricted problem (cuPDLPx, section 2.5).

With ``B`` the incidence of pairs and pixels, the diagonal scaling by the pixels' degrees makes its norm
exactly 1, so the step needs no search. One iteration of the plain step T, with primal weight ``omega``:

    f+ = f + eta / omega (u - row sums of x) / deg           likewise g+ with v
    x+ = max(0, x + eta omega / 2 ((2 f+ - f) + (2 g+ - g) - c))

The iterate moves to ``(k+1)/(k+2) (2 T(z) - z) + 1/(k+2) z0`` with z0 the point of the last restart.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from workbench.harness.threads import numba_at_most
from workbench.methods.transport import _jit_pdhg as _jit
from workbench.methods.transport.support import Edges

ETA = 0.998
EDGES_A_BLOCK = 16384
MOST_BLOCKS = 8


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
    """The state of the iteration on one restricted problem."""

    def __init__(self, edges: Edges, u: np.ndarray, v: np.ndarray, f: np.ndarray, g: np.ndarray, omega: float,
                 dtype: type = np.float32) -> None:
        self.edges, self.u, self.v, self.omega = edges, u, v, omega
        self.base = f.copy(), g.copy()
        rows = edges.rows
        self.slack = (edges.cost - f[rows] - g[edges.cols]).astype(dtype)
        self.degree = np.maximum(np.diff(edges.indptr), 1), np.maximum(np.bincount(edges.cols, minlength=len(v)), 1)
        blocks = int(np.clip(len(edges.cols) // EDGES_A_BLOCK, 1, MOST_BLOCKS))
        self.blocks = np.searchsorted(edges.indptr, np.linspace(0, len(edges.cols), blocks + 1)[:-1])
        self.blocks = np.append(self.blocks, len(u))
        self.partial = np.zeros((blocks, len(v)))
        self.x = edges.flow.astype(dtype)
        self.f, self.g = np.zeros(len(u)), np.zeros(len(v))
        self.row = np.bincount(rows, edges.flow, len(u))
        self.partial[0] = np.bincount(edges.cols, edges.flow, len(v))
        n, m = len(u), len(v)
        self.new = [np.empty_like(self.x), np.empty(n), np.empty(m), np.empty(m), np.empty(n), np.empty(m)]
        self.anchor = self.x.copy(), self.f.copy(), self.g.copy()
        self.since = self.total = 0
        self.first_error = self.last_error = np.inf
        self.integral = 0.0

    def advance(self, count: int) -> None:
        """Do `count` iterations in place."""
        x0, f0, g0 = self.anchor
        with numba_at_most(len(self.blocks) - 1):
            _jit.sweeps(count, self.since, self.edges.indptr, self.edges.cols, self.slack, self.x, x0, self.f, f0, self.row,
                        self.u, ETA / self.omega / self.degree[0], self.g, g0, self.v, ETA / self.omega / self.degree[1],
                        self.partial, self.blocks, ETA * self.omega / 2)
        self.since += count
        self.total += count

    def look(self) -> Point:
        x, f, g, bar, row, col = self.new
        value, moved, cross = _jit.image(
            self.edges.indptr, self.edges.cols, self.slack, self.x, self.f, self.row, self.u,
            ETA / self.omega / self.degree[0], self.g, self.partial.sum(axis=0), self.v,
            ETA / self.omega / self.degree[1], ETA * self.omega / 2, x, f, g, bar, row, col)
        turned = self.degree[0] @ (f - self.f) ** 2 + self.degree[1] @ (g - self.g) ** 2
        error = np.sqrt(max(self.omega * turned + 2 * moved / self.omega - 2 * ETA * cross, 0.0))
        restart = self._due(error)
        misplaced = np.abs(row - self.u).sum() + np.abs(col - self.v).sum()
        f0, g0 = self.base
        dual = self.u @ (f0 + f) + self.v @ (g0 + g)
        value += row @ f0 + col @ g0
        return Point(x, f0 + f, g0 + g, misplaced, value, dual, self.omega, self.total, restart)

    def _due(self, error: float) -> bool:
        if self.first_error == np.inf:
            self.first_error = self.last_error = error
            return True if self.total == self.since else False
        due = (
            self.since >= 0.36 * self.total
            or error <= 0.2 * self.first_error
            or (error <= 0.5 * self.first_error and error > self.last_error)
        )
        self.last_error = error
        return due

    def restart(self) -> None:
        x, f, g, _, row, col = self.new
        x0, f0, g0 = self.anchor
        primal = np.sqrt(2.0) * np.linalg.norm(x - x0)
        dual = np.sqrt(self.degree[0] @ (f - f0) ** 2 + self.degree[1] @ (g - g0) ** 2)
        if primal > 1e-12 and dual > 1e-14:
            err = np.log(primal / dual) - np.log(self.omega)
            self.integral = 0.3 * self.integral + err
            self.omega = float(np.exp(np.log(self.omega) + 0.99 * err + 0.01 * self.integral))
        self.x[:], self.f[:], self.g[:] = x, f, g
        self.row[:] = row
        self.partial[:] = 0
        self.partial[0] = col
        self.anchor = self.x.copy(), self.f.copy(), self.g.copy()
        self.since = 0
        self.first_error = np.inf
