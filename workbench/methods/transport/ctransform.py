"""The c-transform on grids, exact and in O(n): f_i = min_j c_ij - g_j for the squared distance.

The cost is a sum over axes, so the minimum is taken one axis at a time, each as the lower envelope of
parabolas; pixels without mass are masked and never chosen.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from workbench.errors import DataError
from workbench.harness.threads import numba_at_most
from workbench.methods.transport import _jit_ctransform as _jit
from workbench.methods.transport.geometry import AXES, Measure, check_spacing

PIXELS_A_THREAD = 2**14


def c_transform_grid(
    g: np.ndarray,
    shape_out: tuple[int, ...],
    *,
    spacing: float | tuple[float, ...] = 1.0,
    spacing_out: float | tuple[float, ...] | None = None,
    mask: Bool[np.ndarray, "..."] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return ``f_i = min_j |x_i - y_j|^2 - g_j`` at every pixel of a grid, and the minimising pixel.

    Parameters
    ----------
    g
        Potential on the pixels ``y_j``, one to three axes, in squared coordinate units.
    shape_out
        Shape of the grid of the ``x_i``, as many axes as `g`.
    spacing
        Distance of neighbouring pixels of `g`, one number or one per axis.
    spacing_out
        The same for the grid of the ``x_i``; that of `g` if None. Both grids begin at the origin.
    mask
        True where ``y_j`` may be chosen, of the shape of `g`; everywhere if None.

    Returns
    -------
    values : ndarray of shape `shape_out`
        The transform, in squared coordinate units; infinite if `mask` is False everywhere.
    argmin : ndarray of int, shape `shape_out`
        Flat index (C-order) of the minimiser in `g`, -1 if there is none.

    Raises
    ------
    DataError
        If the axes of `g`, `shape_out` and `mask` do not match.

    Notes
    -----
    Cost O(n) an axis, n the pixels of a grid with the longer of both sides along every axis. Felzenszwalb and
    Huttenlocher, "Distance transforms of sampled functions", 2012; the windowed check of
    Xia et al., 2026, is exact here.

    Examples
    --------
    >>> values, argmin = c_transform_grid(np.array([0.0, 3.0, 0.0]), (3,))
    >>> values.tolist(), argmin.tolist()
    ([-2.0, -3.0, -2.0], [1, 1, 1])
    """
    g = np.asarray(g, float)
    shape_out = tuple(int(n) for n in shape_out)
    if not 1 <= g.ndim <= AXES or len(shape_out) != g.ndim:
        raise DataError(f"g of shape {g.shape} and shape_out {shape_out}: both need the same one to {AXES} axes")
    if mask is not None and mask.shape != g.shape:
        raise DataError(f"mask of shape {mask.shape} for g of shape {g.shape}: the shapes must be equal")
    steps = check_spacing(spacing, g.ndim)
    steps_out = steps if spacing_out is None else check_spacing(spacing_out, g.ndim, "spacing_out")
    height = -g if mask is None else np.where(mask, -g, np.inf)
    return _transform(height, shape_out, steps, steps_out)


def _transform(
    height: Float[np.ndarray, "..."],
    shape_out: tuple[int, ...],
    spacing: tuple[float, ...],
    spacing_out: tuple[float, ...],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the transform of ``-height``, axis by axis from the last."""
    origin = np.arange(height.size, dtype=np.int32).reshape(height.shape)
    for axis in reversed(range(height.ndim)):
        queries = (np.arange(shape_out[axis]) + 0.5) * (spacing_out[axis] / spacing[axis]) - 0.5
        before, n, after = height.shape[:axis], height.shape[axis], height.shape[axis + 1 :]
        lines = (int(np.prod(before)), n, int(np.prod(after)))
        shape = (lines[0], len(queries), lines[2])
        out, out_origin = np.empty(shape), np.empty(shape, np.int32)
        with numba_at_most(out.size // PIXELS_A_THREAD):
            _jit.envelope_axis(
                height.reshape(lines), origin.reshape(lines), spacing[axis] ** 2, queries, out, out_origin
            )
        height, origin = (part.reshape(*before, len(queries), *after) for part in (out, out_origin))
    return height, origin


def transform_full(g: Float[np.ndarray, " m"], onto: Measure, at: Measure) -> tuple[np.ndarray, np.ndarray]:
    """Return the transform of `g` (on the mass of `onto`) at all pixels of `at`, flat, with minimising pixels."""
    height = onto.spread(-g, np.inf).reshape(onto.grid.shape)
    values, argmin = _transform(height, at.grid.shape, onto.grid.spacing, at.grid.spacing)
    return values.ravel(), argmin.ravel()


def transform(
    g: Float[np.ndarray, " m"], onto: Measure, at: Measure
) -> tuple[Float[np.ndarray, " n"], Int[np.ndarray, " n"]]:
    """Return the transform of `g` at the pixels of `at` with mass, and the places of the minimisers in `onto`."""
    values, argmin = transform_full(g, onto, at)
    return values[at.pixels], onto.position[argmin[at.pixels]]
