"""The picture of the transport explorer: four plotly panels whose traces are updated in place."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from workbench.harness import style
from workbench.methods.transport.support import ORIGINS

SYMBOLS = ("circle", "square", "diamond", "triangle-up")
TITLES = ("Source: click a pixel", "Target: where its mass goes", "On the way", "Close-up: targets it may use")
SOURCE, TARGET, WAY, CLOSE = "", "2", "3", "4"
LEAST_REACH = 2.5
MOST_NAMED = 4
LEAST_LABELLED = 0.1


@dataclass(frozen=True)
class Choice:
    """One source pixel, the targets it may use, and those that get its mass.

    Attributes
    ----------
    row, column
        The source pixel.
    targets
        Row and column of its admissible targets, shape (n, 2).
    origin
        How each came in, a place in `ORIGINS`, shape (n,).
    receivers
        Row and column of the targets that get its mass, most first, shape (k, 2).
    share
        Share of its mass that each gets, shape (k,).
    """

    row: int
    column: int
    targets: np.ndarray
    origin: np.ndarray
    receivers: np.ndarray
    share: np.ndarray

    def words(self) -> str:
        """Return the choice in words."""
        pixel = f"pixel at row {self.row}, column {self.column}"
        if not len(self.receivers):
            return f"{pixel}: no mass, nothing to send"
        counts = {name: int((self.origin == code).sum()) for code, name in enumerate(ORIGINS)}
        kinds = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        flow = [f"({row}, {column}) {_percent(s)}" for (row, column), s in zip(self.receivers, self.share, strict=True)]
        more = f" and {len(flow) - MOST_NAMED} more" if len(flow) > MOST_NAMED else ""
        return (
            f"{pixel}: may send to {len(self.targets)} targets ({kinds}); sends to {', '.join(flow[:MOST_NAMED])}{more}"
        )

    def frame(self) -> tuple[float, float, float]:
        """Return centre row, centre column and half side of a square around all targets."""
        places = np.concatenate([self.targets, self.receivers])
        if not len(places):
            return self.row, self.column, LEAST_REACH
        low, high = places.min(axis=0), places.max(axis=0)
        row, column = (low + high) / 2
        return row, column, max(LEAST_REACH, float((high - low).max()) / 2 + 1)


class Picture:
    """Source, target, the mass on its way, and a close-up of the targets of one source pixel.

    Attributes
    ----------
    widget : plotly.graph_objects.FigureWidget
        The picture.
    """

    def __init__(self) -> None:
        figure = make_subplots(2, 2, subplot_titles=TITLES, horizontal_spacing=0.1, vertical_spacing=0.14)
        for row, column, trace in _traces():
            figure.add_trace(trace, row, column)
        figure.update_layout(**_layout())
        for panel in (SOURCE, TARGET, WAY, CLOSE):
            axis = {"showgrid": False, "constrain": "domain", "title_standoff": 4}
            figure.layout[f"xaxis{panel}"].update(title_text="column (pixels)", **axis)
            figure.layout[f"yaxis{panel}"].update(title_text="row (pixels)", scaleanchor=f"x{panel}", **axis)
        self.widget = go.FigureWidget(figure)
        self._trace = {trace.name: trace for trace in self.widget.data}

    def on_click(self, call: Callable[[int, int], None]) -> None:
        """Let a click on the source call ``call(row, column)``."""

        def clicked(_: Any, points: Any, __: Any) -> None:
            if points.xs:
                call(round(points.ys[0]), round(points.xs[0]))

        self._trace["source"].on_click(clicked)

    def show_images(self, source: np.ndarray, target: np.ndarray) -> None:
        """Draw the two images, each from black (no mass) to white (its greatest mass)."""
        images = {"source": source, "target": target, "close-up": target}
        with self.widget.batch_update():
            for name, image in images.items():
                self._trace[name].update(z=image.astype(np.float32), zmin=0, zmax=float(image.max()))
            self._trace["way"].update(zmin=0, zmax=float(max(source.max(), target.max())))
            whole = np.maximum(source.shape, target.shape)
            for panel, (rows, columns) in {SOURCE: source.shape, TARGET: target.shape, WAY: whole}.items():
                self._look(panel, (rows - 1) / 2, (columns - 1) / 2, rows / 2, columns / 2)

    def show_way(self, image: np.ndarray, t: float) -> None:
        """Draw the mass at time `t` of its way."""
        with self.widget.batch_update():
            self._trace["way"].z = image
            self.widget.layout["annotations"][2].text = f"{TITLES[2]}: t = {t:g}"

    def show_choice(self, choice: Choice) -> None:
        """Draw one source pixel and the targets it may use."""
        y, x = choice.receivers.T
        row, column, reach = choice.frame()
        corners = reach * np.array([[-1, -1], [-1, 1], [1, 1], [1, -1], [-1, -1]])
        with self.widget.batch_update():
            for name in ("pixel", "from here"):
                self._trace[name].update(x=[choice.column], y=[choice.row])
            self._trace["path"].update(x=_spokes(choice.column, x), y=_spokes(choice.row, y))
            self._trace["frame"].update(x=column + corners[:, 1], y=row + corners[:, 0])
            for code, name in enumerate(ORIGINS):
                rows, columns = choice.targets[choice.origin == code].T
                self._trace[name].update(x=columns, y=rows)
            self._trace["gets mass"].update(
                x=x, y=y, text=[_percent(s) if s >= LEAST_LABELLED else "" for s in choice.share]
            )
            self._look(CLOSE, row, column, reach, reach)

    def _look(self, panel: str, row: float, column: float, half_rows: float, half_columns: float) -> None:
        self.widget.layout[f"xaxis{panel}"].range = (column - half_columns, column + half_columns)
        self.widget.layout[f"yaxis{panel}"].range = (row + half_rows, row - half_rows)


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.005 else "<1%"


def _spokes(start: int, ends: np.ndarray) -> np.ndarray:
    """Return one coordinate of lines from `start` to each of the `ends`, a gap between them."""
    return np.stack([np.full(len(ends), float(start)), ends, np.full(len(ends), np.nan)], axis=1).ravel()


def _traces() -> list[tuple[int, int, go.Scatter | go.Heatmap]]:
    """Return row, column and trace of everything that is drawn, from back to front."""
    pixel = {"size": 11, "color": style.OKABE_ITO["yellow"], "line": {"width": 2, "color": "black"}}
    ring = {"symbol": "circle-open", "size": 17, "color": "black", "line": {"width": 2.5}}
    line = {"mode": "lines", "line": {"color": style.OKABE_ITO["yellow"], "width": 2.5}, "showlegend": False}
    bold = {"textposition": "top center", "textfont": {"size": 11, "color": "black", "weight": "bold"}}
    origins = [_points(name, marker=_origin_marker(code)) for code, name in enumerate(ORIGINS)]
    return [
        (1, 1, _image("source")),
        (1, 1, _points("pixel", marker=pixel, showlegend=False)),
        (1, 2, _image("target")),
        (1, 2, _points("frame", **line)),
        (1, 2, _points("path", **line)),
        (1, 2, _points("from here", marker=pixel, showlegend=False)),
        (2, 1, _image("way")),
        (2, 2, _image("close-up", opacity=0.45)),
        *((2, 2, trace) for trace in origins),
        (2, 2, _points("gets mass", mode="markers+text", marker=ring, **bold)),
    ]


def _image(name: str, **options: Any) -> go.Heatmap:
    hover = "row %{y}, column %{x}<br>mass %{z:.2e}<extra></extra>"
    return go.Heatmap(name=name, colorscale=style.IMAGE, showscale=False, hovertemplate=hover, **options)


def _points(name: str, **options: Any) -> go.Scatter:
    return go.Scatter(name=name, x=[], y=[], **{"mode": "markers", "hoverinfo": "skip", **options})


def _origin_marker(code: int) -> dict[str, Any]:
    return {"symbol": SYMBOLS[code], "size": 9, "color": style.PALETTE[code], "line": {"width": 1, "color": "white"}}


def _layout() -> dict[str, Any]:
    return {
        "template": style.plotly_template(),
        "width": 820,
        "height": 795,
        "margin": {"l": 55, "r": 15, "t": 45, "b": 75},
        "modebar": {"remove": ["zoom", "pan", "select", "lasso", "zoomIn", "zoomOut", "autoScale", "resetScale"]},
        "legend": {"orientation": "h", "x": 1, "xanchor": "right", "y": -0.075, "yanchor": "top", "itemclick": False},
        "dragmode": False,
    }
