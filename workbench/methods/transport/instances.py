"""The transport problems that the study solves: image pairs, own images, and problems with known answers."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from skimage.measure import block_reduce

from workbench.errors import DataError
from workbench.harness.data import OwnData
from workbench.methods.transport.closed_form import product_value
from workbench.methods.transport.images import dotmark_pair
from workbench.methods.transport.spec import Params

OWN = "own images"


@dataclass(frozen=True, eq=False)
class Instance:
    """A pair of images and where it stands in the study's table."""

    image_class: str
    resolution: int
    pair: int
    source: np.ndarray
    target: np.ndarray

    @property
    def spacing(self) -> float:
        """Pixel size that makes the longest side of the table's images 1."""
        return 1.0 / self.resolution

    def coarsened(self, side: int) -> "Instance":
        """Return the pair with blocks of pixels summed until no side exceeds `side`."""
        factor = -(-self.resolution // side)
        source, target = (block_reduce(image, factor, np.sum) for image in (self.source, self.target))
        return Instance(self.image_class, max(*source.shape, *target.shape), self.pair, source, target)


@dataclass(frozen=True, eq=False)
class KnownInstance:
    """A pair of images whose transport cost has a closed form."""

    name: str
    resolution: int
    source: np.ndarray
    target: np.ndarray
    value: float


def own_instance(data: tuple[OwnData, ...]) -> Instance:
    """Return the user's two images as an instance.

    Raises
    ------
    DataError
        If an image has a value that is no mass, or more than 1024 pixels a side.
    """
    images = [np.asarray(item.array, dtype=float) for item in data]
    for item, image in zip(data, images, strict=True):
        _require_masses(item.name, image)
    source, target = images
    return Instance(OWN, max(*source.shape, *target.shape), 0, source / source.sum(), target / target.sum())


def dotmark_instances(params: Params, resolution: int) -> Iterator[Instance]:
    """Yield the image pairs of every class at one resolution."""
    folder = params.dotmark or None
    for image_class in params.classes:
        for pair in range(params.pairs):
            images = dotmark_pair(image_class, resolution, *pair_indices(pair), seed=params.seed, folder=folder)
            yield Instance(image_class, resolution, pair, *images)


def pair_indices(pair: int) -> tuple[int, int]:
    """Return the two image numbers of pair 0..44 of a class of ten images.

    Examples
    --------
    >>> pair_indices(0), pair_indices(1), pair_indices(44)
    ((0, 1), (0, 2), (8, 9))
    """
    first, second = np.triu_indices(10, k=1)
    return int(first[pair]), int(second[pair])


def known_instances(resolution: int, rng: np.random.Generator) -> Iterator[KnownInstance]:
    """Yield a pair of product measures and a translated image, with their exact costs."""
    marginals = [rng.dirichlet(np.ones(resolution)) for _ in range(4)]
    source, target = np.outer(*marginals[:2]), np.outer(*marginals[2:])
    value = product_value(marginals[:2], marginals[2:], spacing=1.0 / resolution)
    yield KnownInstance("product", resolution, source, target, value)

    rows, columns = max(1, 7 * resolution // 32), max(1, 5 * resolution // 32)
    image = np.zeros((resolution, resolution))
    image[:-rows, :-columns] = rng.random((resolution - rows, resolution - columns))
    image /= image.sum()
    shifted = np.roll(image, (rows, columns), axis=(0, 1))
    yield KnownInstance("translation", resolution, image, shifted, (rows**2 + columns**2) / resolution**2)


def _require_masses(name: str, image: np.ndarray) -> None:
    if image.ndim != 2 or max(image.shape) > 1024:
        raise DataError(
            f"{name}: shape {image.shape} is not allowed: the study takes images of 1 to 1024 pixels a side"
        )
    if not np.isfinite(image).all() or (image < 0).any() or not image.sum() > 0:
        raise DataError(f"{name}: grey levels are masses: they must be finite, not negative and not all zero")
