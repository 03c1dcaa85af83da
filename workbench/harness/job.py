"""What a child process is told to do: a run, through its notebook or not, and where its files go."""

import json
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import WorkbenchError
from workbench.harness import paths
from workbench.harness.runner import FORCE_VARIABLE, Run
from workbench.harness.threads import environment


@dataclass(frozen=True)
class Job:
    """A run to be done by a child process.

    Attributes
    ----------
    work
        The run; it has a result file.
    notebook
        Whether to execute the method's notebook rather than the study alone.
    force
        Run even if the result is there.
    threads
        Threads of numba, torch and BLAS; None for the default.
    """

    work: Run
    notebook: bool
    force: bool = False
    threads: int | None = None

    @property
    def name(self) -> str:
        """The method's name."""
        return self.work.method.name

    @property
    def result(self) -> Path:
        """The result file."""
        if self.work.path is None:
            raise WorkbenchError("a run in a child process needs a folder for its result: give out")
        return self.work.path

    @property
    def executed(self) -> Path | None:
        """The executed notebook, None for a run of the study alone."""
        return self.result.with_suffix(".ipynb") if self.notebook else None

    @property
    def failed(self) -> Path | None:
        """What is kept of a notebook that failed."""
        return self.result.with_suffix(".failed.ipynb") if self.notebook else None

    def to_json(self, draft: Path) -> str:
        """Return what `workbench.harness._child` reads; it executes the notebook into `draft`."""
        params = self.work.params
        values, defaults = params.to_dict(), type(params).preset("quick").to_dict()
        data = [str(item.path.expanduser().resolve()) for item in self.work.data or ()]
        out = str(self.result.parent.resolve())
        changed = {name: value for name, value in values.items() if value != defaults[name]}
        return json.dumps(
            {
                "method": self.name,
                "params": values,
                "data": data,
                "out": out,
                "threads": self.threads,
                "notebook": str(self.work.method.notebook) if self.notebook else None,
                "executed": str(draft),
                "parameters": changed | {"interactive": False, "out": out, "data": data},
            }
        )

    def environment(self) -> dict[str, str]:
        """Return the whole environment of the child; its kernel chooses how pictures are drawn."""
        variables = paths.jupyter_environment() | environment(self.threads)
        for name in ("MPLBACKEND", FORCE_VARIABLE):
            variables.pop(name, None)
        return variables | ({FORCE_VARIABLE: "1"} if self.force else {})
