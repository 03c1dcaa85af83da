"""One look for every picture: colours that all readers can tell apart, and a caption under each figure.

The colours are Okabe and Ito's, of which `PALETTE` holds those that stand out from white by a
contrast of at least 3 to 1 (WCAG 2). Lines also differ by their dashes, so that no colour is needed
to read them. Importing this module changes nothing; `use` does, for a while.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from os import PathLike
from typing import TYPE_CHECKING, Any

import matplotlib
from cycler import cycler
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from IPython.display import HTML

OKABE_ITO = {
    "black": "#000000",
    "orange": "#E69F00",
    "sky blue": "#56B4E9",
    "bluish green": "#009E73",
    "yellow": "#F0E442",
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "reddish purple": "#CC79A7",
}
PALETTE = tuple(OKABE_ITO[name] for name in ("blue", "vermillion", "bluish green", "reddish purple", "black"))
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
TEXT = "#222222"

IMAGE = "gray"
MAGNITUDE = "viridis"

DPI = 80
MATPLOTLIB: dict[Any, Any] = {
    "figure.dpi": DPI,
    "savefig.dpi": DPI,
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
    "font.size": 11,
    "axes.titlesize": 11,
    "figure.titlesize": 13,
    "legend.fontsize": 10,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "axes.prop_cycle": cycler(color=PALETTE) + cycler(linestyle=DASHES),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": TEXT,
    "axes.labelcolor": TEXT,
    "text.color": TEXT,
    "xtick.color": TEXT,
    "ytick.color": TEXT,
    "image.cmap": MAGNITUDE,
    "image.interpolation": "nearest",
}


@contextmanager
def use() -> Iterator[None]:
    """Draw in this style inside the block; matplotlib's settings are as before after it.

    Examples
    --------
    >>> with use():
    ...     matplotlib.rcParams["axes.spines.top"]
    False
    """
    with matplotlib.rc_context(MATPLOTLIB):
        yield


def subplots(
    rows: int = 1, columns: int = 1, *, width: float = 7.0, height: float = 4.2, **options: Any
) -> tuple[Figure, Any]:
    """Return a figure in this style and its axes, as ``matplotlib.pyplot.subplots`` does.

    Parameters
    ----------
    rows, columns
        Number of axes.
    width, height
        Size in inches.
    **options
        Passed to ``Figure.subplots``.

    Returns
    -------
    figure : matplotlib.figure.Figure
        Not registered with pyplot: nothing is to be closed.
    axes : Axes, or ndarray of them

    Examples
    --------
    >>> figure, axes = subplots(1, 2)
    >>> len(figure.axes)
    2
    """
    with use():
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, figure.subplots(rows, columns, **options)


def show(figure: Figure, caption: str, *, dpi: float = DPI) -> None:
    """Display a figure with its caption under it, which is also its alternative text.

    Parameters
    ----------
    figure
        The figure.
    caption
        What is to be seen, with the numbers; Markdown.
    dpi
        Pixels an inch of the picture kept in the notebook.
    """
    from IPython.display import Markdown, display

    picture = {"image/png": _png(figure, caption, dpi), "text/plain": caption}
    display(picture, raw=True, metadata={"image/png": {"alt": caption}})
    display(Markdown(caption))


def save(figure: Figure, path: str | PathLike[str], caption: str, *, dpi: float = DPI) -> None:
    """Write a figure as PNG, with its caption as the description inside the file."""
    data = _png(figure, caption, dpi)
    with open(path, "wb") as file:
        file.write(data)


def table(frame: "pd.DataFrame") -> "HTML":
    """Return a table for a notebook: whole texts, aligned left, without row numbers.

    Examples
    --------
    >>> import pandas
    >>> text = "a text that is longer than the fifty characters which pandas shows of it"
    >>> text in table(pandas.DataFrame({"claim": [text]})).data
    True
    """
    import pandas as pd
    from IPython.display import HTML

    with pd.option_context("display.max_colwidth", None):
        rows = frame.to_html(index=False, border=0, classes="workbench-table")
    align = "text-align: left !important; vertical-align: top; white-space: normal"
    return HTML(f"<style>.workbench-table td, .workbench-table th {{ {align} }}</style>{rows}")


def plotly_template() -> "go.layout.Template":
    """Return the plotly template of this style, for ``figure.update_layout(template=...)``."""
    import plotly.graph_objects as go

    axis = {"showline": True, "linecolor": TEXT, "ticks": "outside", "gridcolor": "#E5E5E5", "zeroline": False}
    return go.layout.Template(
        layout={
            "colorway": PALETTE,
            "font": {"size": 13, "color": TEXT},
            "paper_bgcolor": "white",
            "plot_bgcolor": "white",
            "colorscale": {"sequential": "Viridis", "diverging": "RdBu"},
            "xaxis": axis,
            "yaxis": axis,
            "margin": {"l": 60, "r": 20, "t": 50, "b": 50},
        }
    )


def contrast(color: str, ground: str = "white") -> float:
    """Return the contrast of two colours, 1 to 21, by WCAG 2.

    Examples
    --------
    >>> contrast("black")
    21.0
    """
    light, dark = sorted((_luminance(color), _luminance(ground)), reverse=True)
    return round((light + 0.05) / (dark + 0.05), 10)


def _luminance(color: str) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _png(figure: Figure, caption: str, dpi: float) -> bytes:
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, metadata={"Description": caption}, pil_kwargs={"optimize": True})
    return buffer.getvalue()
