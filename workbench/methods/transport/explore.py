"""The transport explorer: two images, the mass on its way between them, and the targets of a pixel."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import ipywidgets
import numpy as np
from numpy.typing import ArrayLike
from skimage.measure import block_reduce

from workbench.errors import DataError, ParameterError
from workbench.harness.controls import command_line, widget_for
from workbench.harness.frame import Frame
from workbench.harness.params import Params, param
from workbench.harness.progress import Progress
from workbench.methods.transport import spec
from workbench.methods.transport.explore_picture import Choice, Picture
from workbench.methods.transport.geometry import check_spacing, measure
from workbench.methods.transport.images import dotmark_image
from workbench.methods.transport.solver import ot2_grid

OWN = "own image"
TIMES = tuple(k / 40 for k in range(41))
SIDES = (16, 20, 24, 28, 32, 40, 48, 56, 64)
FILES = (Path("transport-source.npy"), Path("transport-target.npy"))
COARSEST = 8  # half the study's: the small images here are solved sooner from a smaller coarsest level
LIVE = frozenset({"t", "row", "column"})


class View(Params):
    """What the explorer's controls set."""

    source: str = param("ClassicImages", "class of the source image", choices=(*spec.CLASSES, OWN))
    source_number: int = param(0, "which of the ten images of the source's class", ge=0, le=9)
    target: str = param("ClassicImages", "class of the target image", choices=(*spec.CLASSES, OWN))
    target_number: int = param(1, "which of the ten images of the target's class", ge=0, le=9)
    resolution: int = param(32, "side of the images", unit="pixels", choices=SIDES)
    tolerance: float = param(1e-3, "certified relative gap to reach", ge=1e-6, le=0.1)
    backend: str = param("pdhg", "solver of the restricted problem", choices=("pdhg", "highs"))
    t: float = param(0.5, "time on the way from source (0) to target (1)", choices=TIMES)
    row: int = param(16, "row of the source pixel whose targets are shown", unit="pixels", ge=0, le=63)
    column: int = param(16, "column of the source pixel whose targets are shown", unit="pixels", ge=0, le=63)


def explore(
    a: ArrayLike | None = None,
    b: ArrayLike | None = None,
    *,
    spacing: float | tuple[float, float] | None = None,
    tol: float = 1e-3,
) -> ipywidgets.VBox:
    """Return the explorer of transport between two images.

    Parameters
    ----------
    a, b
        Own source and target, shape (rows, columns), to choose beside the image classes; blocks of their
        pixels are summed until no side exceeds the resolution.
    spacing
        Distance of neighbouring pixel centres of the own images, one number or one an axis; by default the
        longest side is 1.
    tol
        Certified relative gap to begin with.

    Returns
    -------
    ipywidgets.VBox
        A `workbench.harness.frame.Frame`; its controls have the names of the fields of `View`.

    Raises
    ------
    ParameterError
        If one of `a` and `b` is given without the other, or `spacing` or `tol` is not allowed.
    DataError
        If an image is not two axes of finite, non-negative numbers, not all zero.
    """
    own = _own_images(a, b, spacing)
    start = View(tolerance=float(tol))
    if own:
        start = start.replace(source=OWN, target=OWN)
    controls = _controls(start, (*spec.CLASSES, OWN) if own else spec.CLASSES)
    explorer = Explorer(controls, own, spacing)
    frame = Frame(
        "Optimal transport between two images",
        controls,
        explorer.picture.widget,
        explorer.draw,
        command=explorer.command,
        panel=_panel(controls),
        actions={"Save the two images": explorer.save},
    )
    explorer.picture.on_click(lambda row, column: frame.move(row=row, column=column))
    return frame


class Explorer:
    """What is on the screen: two images, the solution, its frames on the way, and the picture of them."""

    def __init__(self, controls: dict[str, Any], own: tuple[np.ndarray, ...], spacing: Any) -> None:
        self.picture = Picture()
        self._controls, self._own, self._spacing = controls, own, spacing
        self._images: tuple[np.ndarray, ...] = ()
        self._result: Any = None
        self._way: list[np.ndarray] = []

    def draw(self, values: dict[str, Any], changed: frozenset[str], progress: Progress) -> str:
        """Bring the picture up to date with the controls; return in words what it shows."""
        solve = not changed <= LIVE
        if solve:
            self._solve(values, progress)
        if solve or "t" in changed:
            self.picture.show_way(self._way[TIMES.index(values["t"])], values["t"])
        choice = self._choice(values["row"], values["column"])
        if not changed <= {"t"}:
            self.picture.show_choice(choice)
        return f"{self._solution_words(values)}\n{choice.words()}"

    def command(self, values: dict[str, Any]) -> str:
        """Return the command line that solves what is shown: by class where the study has the pair, else from files."""
        solver = {"coarsest": COARSEST, **{name: values[name] for name in ("tolerance", "backend")}}
        first_pair = (values["source_number"], values["target_number"]) == (0, 1)
        if values["source"] == values["target"] != OWN and first_pair:
            params = spec.Params(classes=[values["source"]], resolutions=[values["resolution"]], **solver)
            return command_line("transport", params)
        return command_line("transport", spec.Params(**solver), FILES)

    def save(self) -> str:
        """Write the two images as shown, for the command line's ``--data``."""
        for path, image in zip(FILES, self._images, strict=True):
            np.save(path, image)
        return f"wrote {FILES[0]} and {FILES[1]} beside the notebook"

    def _solve(self, values: dict[str, Any], progress: Progress) -> None:
        images = self._pair(values)
        options = {"tol": values["tolerance"], "backend": values["backend"], "coarsest": COARSEST}
        spacing = self._pixel(images, values["resolution"])
        result = ot2_grid(*images, spacing=spacing, **options, callback=progress)
        self._way = [result.interpolate(t).astype(np.float32) for t in TIMES]
        self._images, self._result = images, result
        self.picture.show_images(*images)
        for name, size in zip(("row", "column"), images[0].shape, strict=True):
            self._controls[name].max = size - 1

    def _pair(self, values: dict[str, Any]) -> tuple[np.ndarray, ...]:
        side = values["resolution"]
        return tuple(
            self._summed(place, side)
            if values[name] == OWN
            else dotmark_image(values[name], side, seed=values[f"{name}_number"])
            for place, name in enumerate(("source", "target"))
        )

    def _summed(self, place: int, side: int) -> np.ndarray:
        """Return own image 0 or 1 with total 1, blocks of pixels summed until no side exceeds `side`."""
        size: Any = (self._block(side), self._block(side))
        image = block_reduce(self._own[place], size, np.sum)
        return image / image.sum()

    def _block(self, side: int) -> int:
        """Return how many pixels of the own images make one side of a block."""
        return -(-max(size for image in self._own for size in image.shape) // side)

    def _pixel(self, images: tuple[np.ndarray, ...], side: int) -> Any:
        """Return the spacing of the images shown."""
        if self._own and self._spacing is not None:
            return tuple(self._block(side) * h for h in check_spacing(self._spacing, 2))
        return 1 / max(size for image in images for size in image.shape)

    def _choice(self, row: int, column: int) -> Choice:
        """Return the targets of a pixel and the shares of its mass; beyond the image its nearest pixel counts."""
        source, target = self._images
        row, column = min(row, source.shape[0] - 1), min(column, source.shape[1] - 1)
        pixel = row * source.shape[1] + column
        support, plan = self._result.support, self._result.plan
        admissible, chosen = support.rows == pixel, plan.row == pixel
        mass, receivers = plan.data[chosen], plan.col[chosen]
        order = np.argsort(-mass)
        return Choice(
            row=row,
            column=column,
            targets=_places(support.cols[admissible], target),
            origin=support.origin[admissible],
            receivers=_places(receivers[order], target),
            share=mass[order] / mass.sum(),
        )

    def _solution_words(self, values: dict[str, Any]) -> str:
        result = self._result
        sizes = " to ".join(dict.fromkeys(" x ".join(map(str, image.shape)) for image in self._images))
        unit = "squared units of the spacing" if self._own and self._spacing is not None else "squared image sides"
        return (
            f"{_name(values, 'source')} to {_name(values, 'target')}, {sizes} pixels, t = {values['t']:g}: "
            f"cost between {result.lower:.7g} and {result.upper:.7g} {unit}, relative gap {result.rel_gap:.1e}"
        )


def _places(pixels: np.ndarray, image: np.ndarray) -> np.ndarray:
    """Return row and column of flat indices, shape (n, 2)."""
    return np.stack(np.unravel_index(pixels, image.shape), axis=1)


def _name(values: dict[str, Any], image: str) -> str:
    return OWN if values[image] == OWN else f"{values[image]} {values[f'{image}_number']}"


def _own_images(a: Any, b: Any, spacing: Any) -> tuple[np.ndarray, ...]:
    if (a is None) != (b is None):
        missing = "a" if a is None else "b"
        raise ParameterError(f"{missing} is not given: an own source and an own target come together")
    if a is None or b is None:
        return ()
    for name, image in (("a", a), ("b", b)):
        shape = np.shape(image)
        if len(shape) != 2:
            raise DataError(f"{name} has shape {shape}: the explorer shows images of two axes, (rows, columns)")
        measure(np.asarray(image), 1.0 if spacing is None else spacing, name=name)
    return np.asarray(a, dtype=float), np.asarray(b, dtype=float)


def _controls(start: View, images: tuple[str, ...]) -> dict[str, Any]:
    fields = {name: replace(field, default=getattr(start, name)) for name, field in View.fields().items()}
    fields |= {name: replace(fields[name], choices=images) for name in ("source", "target")}
    return {name: widget_for(field, live=name in LIVE) for name, field in fields.items()}


def _panel(controls: dict[str, Any]) -> list[ipywidgets.Widget]:
    """Return the controls in groups, the time with a button that plays it."""
    play = ipywidgets.Play(min=0, max=len(TIMES) - 1, value=TIMES.index(controls["t"].value), interval=100)
    ipywidgets.jslink((play, "value"), (controls["t"], "index"))
    groups = {
        "Images": ["source", "source_number", "target", "target_number", "resolution"],
        "Solver": ["tolerance", "backend"],
        "On the way": ["t"],
        "Targets of a pixel": ["row", "column"],
    }
    panel: list[ipywidgets.Widget] = []
    for heading, names in groups.items():
        panel += [ipywidgets.HTML(f"<b>{heading}</b>"), *(controls[name] for name in names)]
        if "t" in names:
            panel.append(play)
    return panel
