"""Simple geometric shapes in constant grey levels on black, as in the Shapes class of DOTmark."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]
Coordinate = npt.NDArray[np.float64]


def _disc(x: Coordinate, y: Coordinate, aspect: float) -> Mask:
    return x**2 + (y / aspect) ** 2 <= 1


def _ring(x: Coordinate, y: Coordinate, aspect: float) -> Mask:
    radius = x**2 + (y / aspect) ** 2
    return (radius <= 1) & (radius >= 0.35)


def _rectangle(x: Coordinate, y: Coordinate, aspect: float) -> Mask:
    return (abs(x) <= 0.9) & (abs(y) <= 0.9 * aspect)


def _frame(x: Coordinate, y: Coordinate, aspect: float) -> Mask:
    return _rectangle(x, y, aspect) & ~_rectangle(1.6 * x, 1.6 * y, aspect)


def _triangle(x: Coordinate, y: Coordinate, aspect: float) -> Mask:
    return (y >= -0.6) & (abs(x) * 1.6 + y <= 1)


def _cross(x: Coordinate, y: Coordinate, aspect: float) -> Mask:
    arm = 0.45 * aspect
    return (np.maximum(abs(x), abs(y)) <= 1) & (np.minimum(abs(x), abs(y)) <= arm)


def _star(x: Coordinate, y: Coordinate, aspect: float) -> Mask:
    return np.hypot(x, y) <= 0.7 + 0.3 * np.cos(5 * np.arctan2(y, x))


def _diamond(x: Coordinate, y: Coordinate, aspect: float) -> Mask:
    return abs(x) + abs(y) / aspect <= 1


KINDS: tuple[Callable[[Coordinate, Coordinate, float], Mask], ...] = (
    _disc,
    _ring,
    _rectangle,
    _frame,
    _triangle,
    _cross,
    _star,
    _diamond,
)


def draw_shapes(side: int, *, rng: np.random.Generator) -> npt.NDArray[np.uint8]:
    """Return an image of a few shapes that leave about half of the pixels black.

    Parameters
    ----------
    side
        Pixels a side.
    rng
        Source of kinds, places, sizes and grey levels.

    Returns
    -------
    ndarray, shape (side, side)
        Grey levels, 0 outside the shapes.

    Notes
    -----
    Shapes of random kind are laid over one another until 42 % to 52 % of the square is covered;
    a shape that would cover more is drawn again, smaller. DOTmark's own Shapes have 45 % black pixels.

    Examples
    --------
    >>> image = draw_shapes(64, rng=np.random.default_rng(0))
    >>> bool(0.45 <= (image == 0).mean() <= 0.6)
    True
    """
    centres = (np.arange(side) + 0.5) / side
    y, x = np.meshgrid(centres, centres, indexing="ij")
    image = np.zeros((side, side), dtype=np.uint8)
    largest = rng.uniform(0.22, 0.38)
    kinds = rng.permutation(len(KINDS))
    for attempt in range(200):
        mask = _shape(x, y, KINDS[kinds[attempt % len(kinds)]], largest, rng)
        covered = ((image > 0) | mask).mean()
        if covered > 0.52:
            largest *= 0.9
            continue
        image[mask] = rng.integers(60, 256)
        if covered >= 0.42:
            break
    return image


def _shape(x: Coordinate, y: Coordinate, kind: Callable[..., Mask], largest: float, rng: np.random.Generator) -> Mask:
    size = rng.uniform(0.5, 1.0) * largest
    cx, cy = rng.uniform(0.7 * size, 1 - 0.7 * size, 2)
    angle = rng.uniform(0, 2 * np.pi)
    u = (np.cos(angle) * (x - cx) + np.sin(angle) * (y - cy)) / size
    v = (np.cos(angle) * (y - cy) - np.sin(angle) * (x - cx)) / size
    return kind(u, v, rng.uniform(0.5, 1.0))
