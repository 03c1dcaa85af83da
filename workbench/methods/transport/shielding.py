"""Shielding: pairs on which a plan that is optimal is optimal among all pairs (Schmitzer's ShortCut, 2016).

The pair of a neighbour ``s'`` and its target ``t(s')`` shields ``s`` from ``d`` when
``c(s, d) + c(s', t(s')) > c(s, t(s')) + c(s', d)``, for squared distances ``(s' - s) . (d - t(s')) > 0``.
"""

from itertools import product

import numpy as np
from jaxtyping import Int

from workbench.errors import DataError, ParameterError
from workbench.methods.transport import _jit_support as _jit
from workbench.methods.transport.geometry import AXES, Grid, Measure, check_spacing
from workbench.methods.transport.support import SHIELD, Proposal

NO_LIMIT = 2**62


def directions(ndim: int, neighbors: int) -> Int[np.ndarray, "count 3"]:
    """Return the steps to a pixel's neighbours: along the axes only if `neighbors` is 4, diagonals too if 8.

    The two numbers are those of images of two axes; one axis has 2, three have 6 or 26.
    """
    if neighbors not in (4, 8):
        raise ParameterError(f"neighbors={neighbors!r}: give 4 (along the axes) or 8 (diagonals too)")
    steps = [s for s in product((-1, 0, 1), repeat=ndim) if any(s)]
    steps.sort(key=lambda s: sum(map(abs, s)))
    kept = [s for s in steps if neighbors == 8 or sum(map(abs, s)) == 1]
    return np.array([(0,) * (AXES - ndim) + s for s in kept], np.int64)


def propose(
    source: Measure, target: Measure, tmap: Int[np.ndarray, " n"], neighbors: int, most: int = NO_LIMIT
) -> Proposal:
    """Return each source's and its neighbours' targets and all targets that no neighbour shields.

    A neighbour without mass is replaced by the next pixel with mass in its direction. `most` limits the
    unshielded targets of one source. Cost O(pixels of the boxes that the axis neighbours leave open).
    """
    rows, cols = _jit.shield(
        source.index,
        source.position,
        np.array(source.grid.shape3),
        np.ascontiguousarray(tmap, np.int64),
        target.index,
        target.position,
        np.array(target.grid.shape3),
        source.grid.weights3,
        directions(source.grid.ndim, neighbors),
        most,
    )
    return Proposal(rows, cols, SHIELD)


def shield_grid(
    tmap: np.ndarray,
    shape: tuple[int, ...] | None = None,
    *,
    neighbors: int = 8,
    spacing: float | tuple[float, ...] = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of pixels that a map's shields leave open, with the pairs of the map itself.

    Parameters
    ----------
    tmap
        Flat index (C-order) of the target pixel of every source pixel, one to three axes; -1 for a pixel without mass.
    shape
        Shape of the target image, that of `tmap` if None.
    neighbors
        4 for shields along the axes only, 8 for diagonals too (the names are those of two axes).
    spacing
        Distance of neighbouring pixels of both images, one number or one per axis.

    Returns
    -------
    rows, cols : ndarray of int
        Flat indices of source and target of every pair, possibly repeated: ``(s, t(s))``, ``(s, t(s'))`` for the
        neighbours ``s'``, and ``(s, d)`` for every ``d`` that no neighbour shields.

    Raises
    ------
    DataError
        If `tmap` points outside the target or axes do not match.

    Notes
    -----
    Cost O(pixels of the boxes that the axis neighbours leave open).

    Examples
    --------
    >>> rows, cols = shield_grid(np.arange(4))
    >>> sorted(set(zip(rows.tolist(), cols.tolist())))[:4]
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    tmap = np.asarray(tmap)
    shape = tmap.shape if shape is None else tuple(shape)
    if not 1 <= tmap.ndim <= AXES or len(shape) != tmap.ndim:
        raise DataError(f"tmap of shape {tmap.shape} and target shape {shape}: both need the same one to {AXES} axes")
    if tmap.size and not -1 <= tmap.min() <= tmap.max() < np.prod(shape):
        raise DataError(f"tmap holds {tmap.min()}..{tmap.max()} for a target of {np.prod(shape)} pixels: use -1 and up")
    steps = check_spacing(spacing, tmap.ndim)
    source = Measure(Grid(tmap.shape, steps), (tmap.ravel() >= 0).astype(float))
    target = Measure(Grid(shape, steps), np.ones(int(np.prod(shape))))
    found = propose(source, target, tmap.ravel()[source.pixels], neighbors)
    return source.pixels[found.rows], found.cols
