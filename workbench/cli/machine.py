"""The commands about this machine: ``doctor``, ``lab``, ``benchmark``."""

from typing import Annotated

import typer

from workbench.cli.output import console, say, table
from workbench.harness import registry


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.command("benchmark")(benchmark)


def benchmark(
    name: Annotated[str, typer.Argument(help="Name of a method, see workbench list.", show_default=False)],
) -> int:
    """Time a method against its peers."""
    return 0
