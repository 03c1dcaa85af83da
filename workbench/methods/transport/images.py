"""Images in the manner of DOTmark, the benchmark of transport between grey-level images.

DOTmark (Schrieber, Schuhmacher and Gottschlich, arXiv:1610.03368) has ten classes of ten images.
Its files are read from a folder if one is given; otherwise the random classes are drawn anew and
the photographs and micrographs come from the files inside the installed scikit-image.

An image is made once, at 512 x 512 pixels (photographs: at their own size) with integer grey levels
0..255. Any other side shares that image's mass out by area: for sides that divide 512 these are
block sums, as in DOTmark; for 1024 each pixel is split into four equal ones. White noise alone is
drawn at the side asked for, since its block sums tend to a constant image.
"""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from workbench.errors import ParameterError, nearest
from workbench.methods.transport.random_fields import gaussian_field
from workbench.methods.transport.real_images import dotmark_file, micrograph, photograph
from workbench.methods.transport.shapes import draw_shapes
from workbench.methods.transport.spec import CLASSES

Image = npt.NDArray[np.float64]

BASE = 512
LARGEST = 4096
COUNT = 10

MATERN = {
    "GRFrough": {"variance": 1.0, "nu": 0.25, "scale": 0.05},
    "GRFmoderate": {"variance": 1.0, "nu": 1.0, "scale": 0.15},
    "GRFsmooth": {"variance": 1.0, "nu": 2.5, "scale": 0.3},
    "LogGRF": {"variance": 1.0, "nu": 0.5, "scale": 0.4},
    "LogitGRF": {"variance": 4.0, "nu": 4.5, "scale": 0.1},
}


def dotmark_image(
    cls: str, side: int, *, seed: int = 0, matern: str = "handcock", folder: str | Path | None = None
) -> Image:
    """Return one image of a DOTmark class as a measure.

    Parameters
    ----------
    cls
        One of ``spec.CLASSES``.
    side
        Pixels a side, 2 to 4096; see the module for how sides relate.
    seed
        Number of the image. The real images of a class are numbered 0..9; from 10 on they come
        round again in a shuffled order (photographs, micrographs and files).
    matern
        Convention of the range of the Gaussian fields: ``"handcock"``, ``"matern"`` or ``"whittle"``,
        see `workbench.methods.transport.random_fields.matern_covariance`.
    folder
        Folder of the DOTmark files, ``<class>/data<side>_10NN.csv`` in it or in its ``Data``; read
        instead of drawing.

    Returns
    -------
    ndarray, shape (side, side)
        Non-negative, total 1.

    Raises
    ------
    ParameterError
        If the class, the side, the seed or the convention is not allowed.
    DataError
        If a file is missing or is not an image of that side.

    Notes
    -----
    Cost ``O(512^2 log 512)`` for a new image, ``O(512^2 side)`` arithmetic to change the side; the
    last 32 images are kept.

    Examples
    --------
    >>> image = dotmark_image("GRFmoderate", 64, seed=3)
    >>> image.shape, round(float(image.sum()), 12)
    ((64, 64), 1.0)
    """
    _require(cls, side, seed)
    if folder:
        image = dotmark_file(Path(folder), cls, side, _turn(seed))
    elif cls == "WhiteNoise":
        image = np.random.default_rng([CLASSES.index(cls), seed, side]).integers(0, 256, (side, side))
    else:
        image = share_out(_base_image(cls, seed, matern), side)
    return image / image.sum()


def dotmark_pair(
    cls: str, side: int, i: int = 0, j: int = 1, *, seed: int = 0, folder: str | Path | None = None
) -> tuple[Image, Image]:
    """Return images `i` and `j` of the ten of a class.

    Parameters
    ----------
    cls, side, folder
        See `dotmark_image`.
    i, j
        Which of the ten images, 0 to 9.
    seed
        Which ten: the images numbered ``10 * seed`` to ``10 * seed + 9``.

    Returns
    -------
    tuple of two ndarrays, shape (side, side)

    Raises
    ------
    ParameterError
        As `dotmark_image`, or if `i` or `j` is not 0 to 9.

    Examples
    --------
    >>> a, b = dotmark_pair("Shapes", 32)
    >>> a.shape == b.shape, bool((a == b).all())
    (True, False)
    """
    for name, index in (("i", i), ("j", j)):
        _require_whole(name, index, 0, COUNT - 1)
    first, second = (dotmark_image(cls, side, seed=COUNT * seed + index, folder=folder) for index in (i, j))
    return first, second


def share_out(image: npt.NDArray, side: int) -> Image:
    """Return `image` on `side` x `side` pixels over the same square, mass shared by area.

    Parameters
    ----------
    image
        Shape (n, n).
    side
        New side; if it divides ``n`` the result holds block sums.

    Examples
    --------
    >>> share_out(np.array([[1, 2], [3, 4]]), 1).tolist()
    [[10.0]]
    >>> share_out(np.array([[4.0]]), 2).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    size = image.shape[0]
    if size == side:
        return image.astype(np.float64)
    edges = np.arange(side + 1) * size / side
    pixels = np.arange(size)
    overlap = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    overlap = overlap.clip(min=0)
    return overlap @ image.astype(np.float64) @ overlap.T


def _require(cls: str, side: int, seed: int) -> None:
    if cls not in CLASSES:
        raise ParameterError(f"cls = {cls!r} is not a class of images{nearest(str(cls), CLASSES)}")
    _require_whole("side", side, 2, LARGEST)
    _require_whole("seed", seed, 0, 2**32)


def _require_whole(name: str, value: int, least: int, most: int) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not (whole and least <= value <= most):
        raise ParameterError(f"{name} = {value!r} is not allowed: it takes a whole number from {least} to {most}")


@lru_cache(maxsize=32)
def _base_image(cls: str, seed: int, matern: str) -> npt.NDArray[np.uint8]:
    rng = np.random.default_rng([CLASSES.index(cls), seed])
    if cls in MATERN:
        image = _grey_levels(_TRANSFORMS[cls](gaussian_field(BASE, **MATERN[cls], convention=matern, rng=rng)))
    elif cls == "CauchyDensity":
        image = _grey_levels(_cauchy_density(rng))
    elif cls == "Shapes":
        image = draw_shapes(BASE, rng=rng)
    elif cls == "ClassicImages":
        image = photograph(_turn(seed))
    else:
        image = micrograph(_turn(seed))
    image.setflags(write=False)
    return image


def _from_zero(field: npt.NDArray) -> npt.NDArray:
    return field - field.min()


def _logistic(field: npt.NDArray) -> npt.NDArray:
    return 1 / (1 + np.exp(-field))


_TRANSFORMS: dict[str, Callable[[npt.NDArray], npt.NDArray]] = {
    "GRFrough": _from_zero,
    "GRFmoderate": _from_zero,
    "GRFsmooth": _from_zero,
    "LogGRF": np.exp,
    "LogitGRF": _logistic,
}


def _grey_levels(values: npt.NDArray) -> npt.NDArray[np.uint8]:
    """Scale non-negative values so that the greatest is 255, and round."""
    return np.rint(values * (255 / values.max())).astype(np.uint8)


def _cauchy_density(rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Bivariate Cauchy density with random centre and random ellipse of scale."""
    cx, cy = rng.uniform(0.15, 0.85, 2)
    axes = np.exp(rng.uniform(np.log(0.05), np.log(0.25), 2))
    angle = rng.uniform(0, np.pi)
    centres = (np.arange(BASE) + 0.5) / BASE
    y, x = np.meshgrid(centres - cy, centres - cx, indexing="ij")
    u = (np.cos(angle) * x + np.sin(angle) * y) / axes[0]
    v = (np.cos(angle) * y - np.sin(angle) * x) / axes[1]
    return (1 + u**2 + v**2) ** -1.5


def _turn(seed: int) -> int:
    """Return which of the ten real images has the number `seed`."""
    turn, index = divmod(seed, COUNT)
    return int(np.random.default_rng(turn).permutation(COUNT)[index]) if turn else index
