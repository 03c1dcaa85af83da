"""The restricted problem solved as a general linear program by HiGHS, as scipy ships it."""

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, vstack

from workbench.methods.transport.support import Edges

MASS = 1e6  # total mass that HiGHS sees: its tolerance of 1e-7 is absolute


def solve(edges: Edges, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, int] | None:
    """Return the optimal flow, the potential of the targets and the iterations; None if there is no flow.

    Cost: the simplex or interior point method's, grows faster than the number of pairs.
    """
    count = len(edges.cols)
    ones, each = np.ones(count), np.arange(count)
    rows = csr_array((ones, (edges.rows, each)), (len(u), count))
    cols = csr_array((ones, (edges.cols, each)), (len(v), count))
    scale = max(float(np.max(edges.cost)), np.finfo(float).tiny)
    masses = MASS * np.concatenate([u, v])
    answer = linprog(edges.cost / scale, A_eq=vstack([rows, cols]), b_eq=masses, method="highs")
    if answer.x is None or answer.eqlin is None:
        return None
    return np.maximum(answer.x, 0.0) / MASS, scale * answer.eqlin.marginals[len(u) :], int(answer.nit)
