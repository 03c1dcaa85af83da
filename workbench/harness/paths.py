"""Where methods, notebooks and example data lie: in the checkout, in the wheel, in extra roots.

The environment variable ``WORKBENCH_PATH`` names extra roots (separated like ``PATH``). A root
holds ``methods/<name>/`` and ``notebooks/<name>.ipynb``, so that private methods live outside
this package and are run by the same commands.
"""

import os
from pathlib import Path

import workbench
from workbench.errors import WorkbenchError

EXTRA_ROOTS = "WORKBENCH_PATH"


def package() -> Path:
    """Return the folder of the package's sources."""
    return Path(workbench.__path__[0]).resolve()


def checkout() -> Path | None:
    """Return the top folder of the checkout that the package is imported from, None for a wheel."""
    top = package().parent
    return top if (top / "pyproject.toml").is_file() and (top / "notebooks").is_dir() else None


def extra_roots() -> list[Path]:
    """Return the folders that ``WORKBENCH_PATH`` names, in its order."""
    return [Path(root).expanduser().resolve() for root in os.environ.get(EXTRA_ROOTS, "").split(os.pathsep) if root]


def notebooks() -> Path:
    """Return the folder of the notebooks that come with the package."""
    return _share("notebooks")


def data() -> Path:
    """Return the folder of the example data that come with the package."""
    return _share("data")


def notebook(name: str) -> Path:
    """Return the notebook of the method called `name`.

    Raises
    ------
    WorkbenchError
        If there is no such file.
    """
    folders = [root / "notebooks" for root in extra_roots()] + [notebooks()]
    for folder in folders:
        if (folder / f"{name}.ipynb").is_file():
            return folder / f"{name}.ipynb"
    raise WorkbenchError(f"method {name!r} has no notebook {name}.ipynb in {folders[-1]}; run it with --no-notebook")


def jupyter_environment() -> dict[str, str]:
    """Return the environment in which Jupyter finds the checkout's kernelspecs without their being installed."""
    top = checkout()
    places = [str(top)] if top else []
    return dict(os.environ) | {"JUPYTER_PATH": os.pathsep.join(filter(None, [*places, os.environ.get("JUPYTER_PATH")]))}


def cache() -> Path:
    """Return the folder in which the workbench may keep what it can make again."""
    if os.uname().sysname == "Darwin":
        return Path.home() / "Library" / "Caches" / "workbench"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "workbench"


def _share(kind: str) -> Path:
    return (checkout() or package()) / kind
