"""Finds the methods by name, lazily, and states the shape a method must have.

A method is a folder of ``workbench/methods``, or of ``methods`` in an extra root (see
`workbench.harness.paths`), with the modules

``spec``
    ``TITLE`` (a few words), ``SUMMARY`` (a sentence), ``Params``, ``CLAIMS`` (a tuple of `Claim`),
    ``REFERENCE`` (a `Reference`), ``DATA`` (a `DataNeeds`). Imports numpy and pydantic at most.
``study``
    ``run(params, data=None, *, progress=None) -> xarray.Dataset``.
``figures``
    ``FIGURES``: a tuple of functions ``(dataset) -> (matplotlib Figure, caption)``; the first is the cover.
``explore``
    ``explore(...) -> ipywidgets.VBox``, callable without arguments.
``benchmark``
    ``WORKLOADS``: see `workbench.harness.benchmark`.

and a notebook of the same name in ``notebooks/``.
"""

import importlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType

import workbench.methods
from workbench.errors import WorkbenchError, nearest
from workbench.harness import paths
from workbench.harness.claims import Claim
from workbench.harness.params import Params

MODULES = ("spec", "study", "figures", "explore", "benchmark")


@dataclass(frozen=True)
class Reference:
    """The paper behind a method."""

    title: str
    authors: tuple[str, ...]
    year: int
    identifier: str
    bibtex: str


@dataclass(frozen=True)
class DataNeeds:
    """The user's own data that a study takes.

    Attributes
    ----------
    what
        In words: what to give, or why the study takes none.
    count
        Least and greatest number of files; ``(0, 0)`` where it takes none.
    dims
        Names of the dimensions that each array must have, e.g. ``("time", "channel")``.
    limits
        Size and range in words.
    folders
        Whether a folder may be given in place of files.
    """

    what: str
    count: tuple[int, int] = (0, 0)
    dims: tuple[str, ...] = ()
    limits: str = ""
    folders: bool = False


@dataclass(frozen=True)
class Method:
    """A method, whose modules load when touched."""

    name: str

    @cached_property
    def spec(self) -> ModuleType:
        """The module of parameters, claims and reference."""
        return self._module("spec")

    @cached_property
    def study(self) -> ModuleType:
        """The module with ``run``."""
        return self._module("study")

    @cached_property
    def figures(self) -> ModuleType:
        """The module with ``FIGURES``."""
        return self._module("figures")

    @cached_property
    def explore(self) -> ModuleType:
        """The module with ``explore``."""
        return self._module("explore")

    @cached_property
    def benchmark(self) -> ModuleType:
        """The module with ``WORKLOADS``."""
        return self._module("benchmark")

    @property
    def params(self) -> type[Params]:
        """The class of the study's parameters."""
        return self.spec.Params

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The paper's claims."""
        return self.spec.CLAIMS

    @property
    def reference(self) -> Reference:
        """The paper."""
        return self.spec.REFERENCE

    @property
    def data(self) -> DataNeeds:
        """What the study takes of the user's own data."""
        return self.spec.DATA

    @property
    def folder(self) -> Path:
        """The folder of the method's sources."""
        return _folders()[self.name]

    @property
    def notebook(self) -> Path:
        """The notebook of the same name."""
        return paths.notebook(self.name)

    def _module(self, part: str) -> ModuleType:
        return importlib.import_module(f"workbench.methods.{self.name}.{part}")


def methods() -> list[str]:
    """Return the names of all methods, sorted."""
    return sorted(_folders())


def get(name: str) -> Method:
    """Return the method called `name`.

    Raises
    ------
    WorkbenchError
        If there is none; the message offers the nearest names.
    """
    known = methods()
    if name not in known:
        raise WorkbenchError(f"unknown method {name!r}{nearest(name, known)}")
    return Method(name)


def _folders() -> dict[str, Path]:
    found = [path.parent for root in workbench.methods.__path__ for path in Path(root).glob("*/spec.py")]
    return {folder.name: folder for folder in reversed(found)}
