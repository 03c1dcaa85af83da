"""The command ``workbench``: a thin face of `workbench.harness`.

Exit codes: 0 done, 1 a run crashed, was killed or ran out of time, 2 wrong input, 3 a claim
fails and ``--strict`` was given, 130 interrupted.
"""

import os
import signal
import sys
from collections.abc import Sequence

import typer
from typer.exceptions import Abort, TyperException

from workbench.cli import catalogue, files, machine, run
from workbench.cli.output import complain
from workbench.errors import WorkbenchError

INTERRUPTED, TERMINATED = 130, 143

app = typer.Typer(
    name="workbench",
    help="Papers as runnable methods: run a study, read its verdicts.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for module in (catalogue, run, files, machine):
    module.register(app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code. Errors are one or two lines, without a traceback."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    _open_closed_streams()
    try:
        return app(args=list(sys.argv[1:] if arguments is None else arguments), standalone_mode=False) or 0
    except WorkbenchError as error:
        complain(str(error))
        return error.exit_code
    except TyperException as error:
        if message := error.format_message().rstrip("."):
            complain(f"{message}; see workbench --help")
        return error.exit_code
    except OSError as error:
        complain(f"{error.strerror or error}: {error.filename or ''}".rstrip(": "))
        return 1
    except (KeyboardInterrupt, Abort):
        complain("interrupted")
        return INTERRUPTED


def _open_closed_streams() -> None:
    """Let what is printed vanish where a stream was closed before the start, as by ``>&-``."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  open as long as the process
