"""Grids and measures: pixel centres, spacing, and the pixels that carry mass.

Everything below works on three axes: images of one or two axes get leading axes of length one.
A pixel with index ``i`` along an axis of spacing ``h`` has its centre at ``(i + 1/2) h``; the origin is
common to both images, so the cost between two pixels is ``sum_k h_k^2 (i_k - j_k)^2``, exactly.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int, Int32

from workbench.errors import DataError, ParameterError

AXES = 3
MOST_PIXELS = 2**27


@dataclass(frozen=True)
class Grid:
    """A regular grid of pixels.

    Parameters
    ----------
    shape
        Pixels along each axis, one to three axes.
    spacing
        Distance of neighbouring pixel centres along each axis, in coordinate units.

    Examples
    --------
    >>> Grid((2, 3), (1.0, 0.5)).centres()[-1].tolist()
    [1.5, 1.25]
    """

    shape: tuple[int, ...]
    spacing: tuple[float, ...]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of pixels."""
        return int(np.prod(self.shape))

    @property
    def shape3(self) -> tuple[int, int, int]:
        """The shape with leading axes of length one."""
        return (1,) * (AXES - self.ndim) + self.shape  # type: ignore[return-value]

    @property
    def weights3(self) -> Float[np.ndarray, "3"]:
        """Squared spacing of the three axes, the weights of the cost."""
        return np.array((1.0,) * (AXES - self.ndim) + self.spacing) ** 2

    def centres(self) -> Float[np.ndarray, "size ndim"]:
        """Return the coordinates of all pixel centres, C-order."""
        axes = [(np.arange(n) + 0.5) * h for n, h in zip(self.shape, self.spacing, strict=True)]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, self.ndim)


@dataclass(frozen=True)
class Measure:
    """Mass on the pixels of a grid, and the pixels where it is positive.

    Parameters
    ----------
    grid
        The pixels.
    mass
        Mass of every pixel, C-order, at least zero.
    """

    grid: Grid
    mass: Float[np.ndarray, " size"]

    @cached_property
    def pixels(self) -> Int[np.ndarray, " n"]:
        """Flat indices of the pixels with positive mass."""
        return np.flatnonzero(self.mass > 0)

    @cached_property
    def weights(self) -> Float[np.ndarray, " n"]:
        """Mass of these pixels."""
        return self.mass[self.pixels]

    @cached_property
    def index(self) -> Int32[np.ndarray, "n 3"]:
        """Integer position of these pixels along the three axes."""
        return np.stack(np.unravel_index(self.pixels, self.grid.shape3), axis=1).astype(np.int32)

    @cached_property
    def position(self) -> Int32[np.ndarray, " size"]:
        """Place of each pixel among those with mass, -1 where there is none."""
        position = np.full(self.grid.size, -1, np.int32)
        position[self.pixels] = np.arange(len(self.pixels), dtype=np.int32)
        return position

    def spread(self, values: Float[np.ndarray, " n"], fill: float) -> Float[np.ndarray, " size"]:
        """Return `values` of the pixels with mass on the whole grid, `fill` elsewhere."""
        full = np.full(self.grid.size, fill)
        full[self.pixels] = values
        return full

    def mean(self) -> Float[np.ndarray, " 3"]:
        """Return the mean integer position, weighted by mass."""
        return self.weights @ self.index / self.weights.sum()


def check_spacing(spacing: float | tuple[float, ...], ndim: int, name: str = "spacing") -> tuple[float, ...]:
    """Return `spacing` once per axis, or say what is wrong with it.

    Parameters
    ----------
    spacing
        One positive number, or one for each of the `ndim` axes.
    ndim
        Number of axes of the images.
    name
        Name of the argument, for the message.

    Raises
    ------
    ParameterError
        If a value is not a positive finite number or their count is wrong.

    Examples
    --------
    >>> check_spacing(0.5, 2)
    (0.5, 0.5)
    """
    values = np.asarray(spacing)
    if values.dtype.kind not in "iuf":
        raise ParameterError(f"{name}={spacing!r}: give one number, or {ndim}")
    each = (values.item(),) * ndim if values.ndim == 0 else tuple(values.ravel().tolist())
    if len(each) != ndim:
        raise ParameterError(f"{name} has {len(each)} values for images of {ndim} axes: give one number, or {ndim}")
    if not all(1e-30 <= h <= 1e30 for h in each):
        raise ParameterError(f"{name}={spacing!r}: every value must be a positive number, 1e-30 to 1e30")
    return tuple(float(h) for h in each)


def measure(image: np.ndarray, spacing: float | tuple[float, ...] = 1.0, *, name: str = "image") -> Measure:
    """Return an image as a measure of total mass 1.

    Parameters
    ----------
    image
        Array of one to three axes, finite, not negative, not all zero.
    spacing
        Distance of neighbouring pixel centres, one number or one per axis.
    name
        Name of the argument, for messages.

    Returns
    -------
    Measure
        The grid and the masses, scaled to total 1.

    Raises
    ------
    DataError
        If the image has no axis or more than three, is empty or too large, or if a value is not a number,
        not finite or negative, or all are zero.

    Examples
    --------
    >>> measure(np.array([1, 0, 3])).weights.tolist()
    [0.25, 0.75]
    """
    if np.ma.is_masked(image):
        raise DataError(f"{name} has masked pixels: fill them, with .filled(0) if they hold no mass")
    array = np.asarray(image)
    _check_image(array, name)
    grid = Grid(array.shape, check_spacing(spacing, array.ndim))
    scaled = array.astype(float).ravel() / float(array.max())
    return Measure(grid, scaled / scaled.sum())


def _check_image(array: np.ndarray, name: str) -> None:
    what = f"{name} of shape {array.shape}"
    if not 1 <= array.ndim <= AXES:
        raise DataError(f"{what} has {array.ndim} axes: images have one to {AXES}; convert colours to one grey channel")
    if array.size == 0:
        raise DataError(f"{what} holds no pixel: give at least one")
    if array.size > MOST_PIXELS:
        raise DataError(f"{what} has {array.size} pixels, more than {MOST_PIXELS}: crop it or sum blocks of pixels")
    if array.dtype.kind not in "biuf":
        raise DataError(f"{what} has dtype {array.dtype}: give real numbers")
    if not np.isfinite(array).all():
        bad = int(array.size - np.isfinite(array).sum())
        raise DataError(f"{what} has {bad} values that are NaN or infinite: masses are finite; replace them first")
    if array.min() < 0:
        raise DataError(
            f"{what} has negative values (least {array.min():g}): masses are at least 0; subtract the least"
        )
    if array.max() == 0:
        raise DataError(f"{what} is zero everywhere: some pixel must have mass")
