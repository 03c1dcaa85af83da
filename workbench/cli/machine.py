"""The commands about this machine: ``doctor``, ``lab``, ``benchmark``."""

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.output import console, say, table
from workbench.errors import MissingExtra
from workbench.harness import paths, registry

COPY = Path("workbench-notebooks")
_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.command("doctor")(doctor)
    app.command("lab", context_settings=_PASS_ON)(lab)
    app.command("benchmark", context_settings=_PASS_ON)(benchmark)


def doctor() -> int:
    """Examine the installation; exit with 0 if all that is required is there."""
    from workbench.harness.doctor import examine

    found = examine()
    rows = table("", "what", "found")
    for item in found:
        rows.add_row({"ok": "ok", "optional": "-", "wrong": "WRONG"}[item.state], item.what, item.detail)
    console().print(rows)
    wrong = [item.what for item in found if item.state == "wrong"]
    say(f"\nwrong: {', '.join(wrong)}" if wrong else "\nall that is required is there")
    return 1 if wrong else 0


def lab(context: typer.Context) -> None:
    """Open JupyterLab on the notebooks; further options are passed on to it."""
    if find_spec("jupyterlab") is None:
        raise MissingExtra("jupyterlab", "lab", "workbench lab")
    folder = paths.notebooks() if paths.checkout() else _writable_copy()
    say(f"JupyterLab on {folder}")
    sys.stdout.flush()
    command = [sys.executable, "-m", "jupyterlab", str(folder), *context.args]
    os.execve(sys.executable, command, paths.jupyter_environment())


def benchmark(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name of a method, see workbench list.", show_default=False)],
) -> int:
    """Time a method against its peers; further options are passed on to the benchmark."""
    registry.get(name)
    from workbench.harness.benchmark import main

    return main(name, context.args) or 0


def _writable_copy() -> Path:
    """Copy the notebooks that come with the package; those already there stay, they may be the user's work."""
    COPY.mkdir(exist_ok=True)
    for source in sorted(paths.notebooks().glob("*.ipynb")):
        if not (COPY / source.name).exists():
            shutil.copyfile(source, COPY / source.name)
    say(f"the notebooks are copied to {COPY}/, where you may change them; delete one to get it anew")
    return COPY
