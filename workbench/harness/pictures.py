"""Writes a method's figures as files."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.harness.results import write_atomically

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

DPI = 150


def save(figure: "Callable[[xr.Dataset], tuple[Figure, str]]", dataset: "xr.Dataset", path: Path) -> str:
    """Draw one figure of `dataset` into `path` (PNG); return its caption.

    The caption is also the picture's embedded description.
    """
    drawn, caption = figure(dataset)
    description = {"Description": caption}
    write_atomically(path, lambda part: drawn.savefig(part, dpi=DPI, bbox_inches="tight", metadata=description))
    _close(drawn)
    return caption


def _close(figure: "Figure") -> None:
    import matplotlib.pyplot as plt

    plt.close(figure)
