"""Reads notebooks as files: their code cells with the headings they stand under, their parameters cell."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PARAMETERS_TAG = "parameters"
CONTROLS = ("interactive", "out", "data")


@dataclass(frozen=True)
class Cell:
    """A code cell: its number among the code cells, how many there are, and the heading it stands under.

    Examples
    --------
    >>> str(Cell(4, 15, "Run the study"))
    'cell 4 of 15 ("Run the study")'
    """

    number: int
    of: int
    heading: str

    def __str__(self) -> str:
        return f'cell {self.number} of {self.of} ("{self.heading}")'


def read(path: Path) -> Any:
    """Return the notebook at `path` as an ``nbformat`` node of version 4."""
    import nbformat

    return nbformat.read(path, as_version=4)


def code_cells(notebook: Any, *, injected: bool = False) -> list[Cell | None]:
    """Return what is known of each cell, None for cells that hold no code.

    With `injected`, an injected parameters cell is counted where papermill puts it:
    behind the parameters cell.
    """
    cells = list(notebook.cells)
    if injected:
        position = next((i for i, cell in enumerate(cells) if PARAMETERS_TAG in cell.metadata.get("tags", [])), -1)
        cells.insert(position + 1, type(cells[0])(cell_type="code", source="# injected"))
    total = sum(map(_is_code, cells))
    found, heading, number = [], "", 0
    for cell in cells:
        heading = _last_heading(cell) or heading
        number += _is_code(cell)
        found.append(Cell(number, total, heading) if _is_code(cell) else None)
    return found


def _is_code(cell: Any) -> bool:
    return cell.cell_type == "code" and bool(cell.source.strip())


def _last_heading(cell: Any) -> str:
    headings = re.findall(r"^#{1,6} +(.+?) *#*$", cell.source, re.MULTILINE) if cell.cell_type == "markdown" else []
    return headings[-1] if headings else ""
