"""Real images: photographs and micrographs inside the installed scikit-image, and files of DOTmark itself."""

import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from workbench.errors import DataError
from workbench.harness.data import read

PHOTOGRAPHS = (
    "camera.png",
    "astronaut.png",
    "chelsea.png",
    "coffee.png",
    "coins.png",
    "rocket.jpg",
    "moon.png",
    "clock_motion.png",
    "gravel.png",
    "brick.png",
)

# File, crop (top, left, side in pixels), whether the structures are darker than their ground.
MICROGRAPHS = (
    ("cell.png", (200, 150, 400), False),
    ("ihc.png", (0, 0, 256), True),
    ("retina.jpg", (450, 150, 400), True),
    ("microaneurysms.png", (0, 0, 102), True),
    ("ihc.png", (0, 256, 256), True),
    ("retina.jpg", (250, 450, 400), True),
    ("ihc.png", (256, 0, 256), True),
    ("retina.jpg", (700, 350, 400), True),
    ("ihc.png", (256, 256, 256), True),
    ("retina.jpg", (500, 750, 400), True),
)


def photograph(index: int) -> npt.NDArray[np.uint8]:
    """Return the central square of photograph `index` (0..9), in grey.

    Raises
    ------
    DataError
        If the file is not inside the installed scikit-image.
    """
    image = _packaged(PHOTOGRAPHS[index])
    side = min(image.shape)
    top, left = ((length - side) // 2 for length in image.shape)
    return image[top : top + side, left : left + side].copy()


def micrograph(index: int) -> npt.NDArray[np.uint8]:
    """Return micrograph `index` (0..9), a square: bright on black, as its ground, the darker half, is subtracted.

    Raises
    ------
    DataError
        If the file is not inside the installed scikit-image.
    """
    name, (top, left, side), dark = MICROGRAPHS[index]
    crop = _packaged(name)[top : top + side, left : left + side].astype(np.float64)
    signal = 255 - crop if dark else crop
    above = (signal - np.median(signal)).clip(min=0)
    return np.rint(above * (255 / above.max())).astype(np.uint8)


def dotmark_file(folder: Path, cls: str, side: int, index: int) -> npt.NDArray[np.float64]:
    """Return the grey levels of DOTmark's image `index` (0..9) of a class, from a folder of its files.

    Raises
    ------
    DataError
        If the folder, the class or the side is not there, or the file is not such an image.
    """
    places = [folder / cls, folder / "Data" / cls]
    place = next((place for place in places if place.is_dir()), None)
    if place is None:
        raise DataError(f"{folder} is not a DOTmark folder: it has neither {cls}/ nor Data/{cls}/")
    path = place / f"data{side}_{1001 + index}.csv"
    if not path.is_file():
        names = (re.fullmatch(r"data(\d+)_10\d\d", file.stem) for file in place.glob("*.csv"))
        sides = sorted({int(name[1]) for name in names if name})
        found = ", ".join(map(str, sides)) or "none"
        raise DataError(f"{path} does not exist; sides found there: {found}")
    return _read_levels(path, side)


def _packaged(name: str) -> npt.NDArray[np.uint8]:
    """Read a file inside the installed scikit-image, in grey."""
    spec = find_spec("skimage")
    path = Path(spec.origin).parent / "data" / name if spec and spec.origin else Path(name)
    if not path.is_file():
        raise DataError(f"{name} is not inside the installed scikit-image: reinstall it, or give a DOTmark folder")
    with Image.open(path) as picture:
        return np.asarray(picture.convert("L"))


def _read_levels(path: Path, side: int) -> npt.NDArray[np.float64]:
    image = np.asarray(read(path).array, dtype=np.float64)
    if image.shape != (side, side) or not (np.isfinite(image).all() and image.min() >= 0 and image.sum() > 0):
        raise DataError(f"{path} holds {image.shape} numbers, not {side} x {side} finite grey levels, at least 0")
    return image
