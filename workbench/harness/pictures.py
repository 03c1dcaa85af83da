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
    """Draw one figure of `dataset` into `path` (PNG); return its caption, which is also inside the file."""
    from workbench.harness import style

    drawn, caption = figure(dataset)
    write_atomically(path, lambda part: style.save(drawn, part, caption, dpi=DPI))
    return caption
