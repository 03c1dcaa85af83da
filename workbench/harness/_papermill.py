"""Executes a notebook with papermill, in the process that `workbench.harness.launch` watches."""

import logging
import sys
from pathlib import Path
from typing import Any

import papermill
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient.exceptions import DeadKernelError
from papermill.exceptions import PapermillExecutionError

from workbench.errors import RunError, WorkbenchError
from workbench.harness import notebook
from workbench.harness.progress import append_event
from workbench.harness.threads import environment

PREFERRED, FALLBACK = "workbench", "python3"


def execute(job: dict[str, Any], events: Path) -> None:
    """Execute the job's notebook into ``job["executed"]``, telling each cell's start.

    Raises
    ------
    WorkbenchError
        If a cell refuses its input.
    RunError
        If a cell raises anything else, or the kernel dies.
    """
    logging.getLogger("papermill").setLevel(logging.ERROR)
    cells = notebook.code_cells(notebook.read(Path(job["notebook"])), injected=True)

    def on_cell_start(*, cell: Any, cell_index: int) -> None:
        if (known := cells[cell_index]) is not None:
            append_event(events, cell=known.number, of=known.of, heading=known.heading)

    def on_cell_complete(*, cell: Any, cell_index: int) -> None:
        if (known := cells[cell_index]) is not None and known.number == known.of:
            append_event(events, finished=True)

    try:
        papermill.execute_notebook(
            job["notebook"],
            job["executed"],
            parameters=job["parameters"],
            kernel_name=_kernel_name(),
            kernel_manager_class=_manager(job["threads"]),
            progress_bar=False,
            store_widget_state=False,
            on_cell_start=on_cell_start,
            on_cell_complete=on_cell_complete,
        )
    except PapermillExecutionError as error:
        raise _as_ours(error) from None
    except DeadKernelError:
        raise RunError("the kernel died; it was killed, crashed, or ran out of memory") from None


def _kernel_name() -> str:
    return PREFERRED if PREFERRED in KernelSpecManager().find_kernel_specs() else FALLBACK


def _manager(count: int | None) -> type[AsyncKernelManager]:
    """Return a manager whose kernels run on this interpreter, whatever the kernelspec says, with `count` threads."""

    class ThisInterpreter(AsyncKernelManager):
        @property
        def kernel_spec(self):
            spec = super().kernel_spec
            if spec is not None:
                spec.argv[0] = sys.executable
                spec.env |= environment(count)
            return spec

    return ThisInterpreter


def _as_ours(error: PapermillExecutionError) -> WorkbenchError:
    kind = next((kind for kind in _family(WorkbenchError) if kind.__name__ == error.ename), RunError)
    message = str(error.evalue).strip() or "no message"
    mended = WorkbenchError if kind.exit_code == WorkbenchError.exit_code else RunError
    return mended(message if kind is not RunError else f"{error.ename}: {message}")


def _family(kind: type[WorkbenchError]) -> list[type[WorkbenchError]]:
    return [kind, *(one for child in kind.__subclasses__() for one in _family(child))]
