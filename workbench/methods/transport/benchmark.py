"""What the transport method is timed on: certified values against an exact solver, and its sweep against a copy."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import get_num_threads

from workbench.harness.benchmark import Workload
from workbench.methods.transport import _jit_benchmark as _jit
from workbench.methods.transport.images import dotmark_pair
from workbench.methods.transport.pdhg import Halpern
from workbench.methods.transport.result import OTResult
from workbench.methods.transport.solver import ot2_grid
from workbench.methods.transport.spec import CLASSES
from workbench.methods.transport.support import Edges

TOLERANCE = 1e-4
QUICK_CLASSES = ("GRFmoderate", "Shapes", "ClassicImages")
BYTES_AN_EDGE = 20  # float32: flow read and written, anchor, slack; int32: target
ITERATIONS = 200

Pair = tuple[np.ndarray, np.ndarray]


def certified(cls: str, side: int, *, exact: bool, quick: bool = False) -> Workload:
    """Return the workload: two images in, a cost within 1e-4 out, with its certificate.

    Parameters
    ----------
    cls, side
        Class and side of the images.
    exact
        Whether the peer is POT's dense network simplex, ``ot.emd2``, whose cost matrix is part of its work.
    quick
        Whether it is run with ``--quick``.
    """
    peer: dict[str, Any] = {"peer": _emd2, "peer_name": "POT emd2, dense", "peer_module": "ot"} if exact else {}
    group = f"{side} x {side}, certified {TOLERANCE:g}"
    return Workload(
        f"{side} {cls}",
        group,
        prepare=lambda: dotmark_pair(cls, side),
        ours=_solve,
        check=_enclosed,
        facts=_certificate,
        quick=quick,
        **peer,
    )


def sweep(side: int, *, threads: int | None = None, quick: bool = True) -> Workload:
    """Return the workload: iterations of PDHG on a support of 16 targets a pixel.

    The peer is a compiled copy that moves as many bytes; its share of our time is our share of
    the memory's bandwidth.
    """
    return Workload(
        f"sweep {side}" + (", one thread" if threads == 1 else ""),
        "PDHG sweep",
        prepare=lambda: _iteration(side),
        ours=_advance,
        peer=_copy,
        peer_name="numba copy of as many bytes",
        peer_threads=threads or get_num_threads(),
        facts=_rates,
        threads=threads,
        quick=quick,
    )


@dataclass(frozen=True)
class _Iteration:
    """A PDHG iteration in progress, and the arrays for a copy of as many bytes."""

    state: Halpern
    edges: int
    source: np.ndarray
    target: np.ndarray


def _solve(pair: Pair) -> OTResult:
    a, b = pair
    return ot2_grid(a, b, spacing=1 / len(a), tol=TOLERANCE)


def _emd2(pair: Pair) -> float:
    import ot

    a, b = pair
    squares = np.subtract.outer(np.arange(len(a)), np.arange(len(b))) ** 2 / len(a) ** 2
    cost = squares[:, None, :, None] + squares[None, :, None, :]
    return float(np.asarray(ot.emd2(a.ravel(), b.ravel(), cost.reshape(a.size, b.size), numItermax=10_000_000)))


def _enclosed(ours: OTResult, exact: float | None) -> str:
    if ours.rel_gap > TOLERANCE:
        return f"certified gap {ours.rel_gap:.2g}, not {TOLERANCE:g}"
    slack = 1e-9 * ours.upper
    if exact is not None and not ours.lower - slack <= exact <= ours.upper + slack:
        return f"exact {exact!r} is not in [{ours.lower!r}, {ours.upper!r}]"
    return ""


def _certificate(result: OTResult, seconds: float) -> dict[str, float]:
    return {"gap": float(result.rel_gap), "edges a pixel": len(result.support.rows) / result.f.size}


def _iteration(side: int) -> _Iteration:
    """Every pixel may go to a 4 x 4 window some pixels away, as far as the grid reaches."""
    pixel = np.arange(side)
    shift = np.rint(3 * np.sin(2 * np.pi * pixel / side)).astype(int)
    window = np.arange(-1, 3)
    reach = np.clip(pixel[:, None] + shift[:, None] + window, 0, side - 1)
    targets = reach[:, None, :, None] * side + reach[None, :, None, :]
    squares = (reach - pixel[:, None]) ** 2 / side**2
    cost = squares[:, None, :, None] + squares[None, :, None, :]
    n, count = side * side, targets.size
    indptr = np.arange(0, count + 1, window.size**2, dtype=np.int64)
    mass = np.full(n, 1 / n)
    flow = np.full(count, 1 / count)
    origin = np.zeros(count, dtype=np.uint8)
    edges = Edges(indptr, targets.reshape(-1).astype(np.int32), cost.reshape(-1), origin, flow)
    state = Halpern(edges, mass, mass, np.zeros(n), np.zeros(n), 1.0)
    source = np.ones(count * BYTES_AN_EDGE // 8, dtype=np.float32)
    return _Iteration(state, count, source, np.empty_like(source))


def _advance(given: _Iteration) -> _Iteration:
    given.state.advance(ITERATIONS)
    return given


def _copy(given: _Iteration) -> None:
    _jit.copy(ITERATIONS, given.source, given.target)


def _rates(given: _Iteration, seconds: float) -> dict[str, float]:
    each = seconds / (given.edges * ITERATIONS)
    return {"ns an edge and iteration": 1e9 * each, "GB/s": 1e-9 * BYTES_AN_EDGE / each}


WORKLOADS = (
    sweep(256),
    sweep(256, threads=1),
    *(certified(cls, 64, exact=True, quick=cls in QUICK_CLASSES) for cls in CLASSES),
    *(certified(cls, 128, exact=False, quick=cls == "GRFmoderate") for cls in CLASSES),
    *(certified(cls, 256, exact=False) for cls in CLASSES),
)
