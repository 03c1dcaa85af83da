"""Runs a study, or its notebook, in a supervised child process, and says in one line what went wrong."""

import contextlib
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.errors import RunError, WorkbenchError
from workbench.harness import paths
from workbench.harness.notebook import Cell
from workbench.harness.progress import FILE_VARIABLE, duration
from workbench.harness.results import attributes, write_atomically
from workbench.harness.runner import FORCE_VARIABLE, Run
from workbench.harness.supervisor import Event, Outcome, OutOfTime, supervise
from workbench.harness.threads import environment

TIMEOUTS = {"quick": 15 * 60.0, "full": 2 * 3600.0, "off protocol": 2 * 3600.0}
PATIENCE = 60.0
_NOISE = "TCP without encryption"


@dataclass(frozen=True)
class Finished:
    """What a run has left: its attributes, its files, and what the whole tree of processes took."""

    attributes: dict[str, Any]
    result: Path
    notebook: Path | None
    seconds: float = 0.0
    peak_bytes: int = 0
    reused: bool = False


def finished_before(work: Run, *, notebook: bool) -> Finished | None:
    """Return the files of an equal earlier run, None if any is missing or not to be trusted."""
    result, executed = _files(work, notebook)
    if executed and not executed.is_file():
        return None
    found = work.reusable()
    return None if found is None else Finished(found, result, executed, reused=True)


def launch(
    work: Run,
    *,
    notebook: bool,
    on_event: Callable[[Event], None],
    force: bool = False,
    threads: int | None = None,
    timeout: float | None = None,
    patience: float = PATIENCE,
) -> Finished:
    """Do `work` in a child process, through its notebook or not.

    Parameters
    ----------
    work
        The run, with a result file.
    notebook
        Whether to execute the method's notebook rather than the study alone.
    on_event
        Called with each event: ``cell``, ``of`` and ``heading``; ``fraction`` and ``text``; ``note``; ``log``.
    force
        Run even if the result is there.
    threads
        Threads of numba, torch and BLAS.
    timeout
        Seconds of wall clock allowed; None for what suits the scale.
    patience
        Seconds that the child may live on after its last cell; it is then killed and started once more.

    Raises
    ------
    RunError
        If the run crashed, was killed or ran out of time or disk. No process is left, no half file under a
        final name; what was executed of the notebook is kept as ``*.failed.ipynb``.
    WorkbenchError
        If the study refuses its input.
    """
    start = time.monotonic()
    result, executed = _files(work, notebook)
    job = _job(work, notebook, threads)
    variables = _environment(force, threads)
    limit = timeout or TIMEOUTS[work.params.scale()]
    for last in (False, True):
        position = _Position(work.method.name, on_event)
        try:
            outcome = _attempt(job, executed, variables, position, limit, patience)
            return Finished(attributes(result), result, executed, time.monotonic() - start, outcome.peak_bytes)
        except _Idle:
            if last:
                raise RunError(f"{work.method.name} did not end after its last cell, twice") from None
            on_event({"note": f"the kernel did not end within {patience:g} s of its last cell; starting once more"})
    raise AssertionError("unreachable")


class _Idle(Exception):
    """All cells ran, but the child did not end."""


@dataclass
class _Position:
    """Passes events on and remembers where the work stands, to name the place of a failure."""

    name: str
    on_event: Callable[[Event], None]
    cell: Cell | None = None
    since: float = field(default_factory=time.monotonic)
    error: Event | None = None

    def __call__(self, event: Event) -> None:
        if "cell" in event:
            self.cell, self.since = Cell(event["cell"], event["of"], event["heading"]), time.monotonic()
        if "error" in event:
            self.error = event
        self.on_event(event)

    def sentence(self, what: str, reason: str, kept: Path | None) -> str:
        place = f" in {self.cell}" if self.cell else ""
        kept_in = f"; what ran is kept in {kept}" if kept else ""
        return f"{self.name} {what}{place} after {duration(time.monotonic() - self.since)}{reason}{kept_in}"


def _attempt(
    job: dict[str, Any],
    executed: Path | None,
    variables: dict[str, str],
    position: _Position,
    limit: float,
    patience: float,
) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="workbench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        draft = folder / "executed.ipynb"
        (folder / "job.json").write_text(json.dumps(job | {"executed": str(draft)}))
        try:
            outcome = supervise(
                [sys.executable, "-m", "workbench.harness._child", name],
                environment=variables | {FILE_VARIABLE: str(folder / "events")},
                events=folder / "events",
                log=folder / "log",
                on_event=position,
                timeout=limit,
                patience=patience,
            )
        except OutOfTime as stop:
            if stop.idle:
                raise _Idle from None
            reason = f": the time allowed is {duration(limit)}; allow more with --timeout"
            raise RunError(position.sentence("was stopped", reason, _keep(draft, executed))) from None
        except KeyboardInterrupt:
            error = RunError(position.sentence("was interrupted", "", _keep(draft, executed)))
            error.exit_code = 130
            raise error from None
        if position.error or outcome.code:
            raise _failure(position, outcome, folder / "log", _keep(draft, executed))
        if executed:
            _put(draft, executed)
            _failed(executed).unlink(missing_ok=True)
    return outcome


def _failure(position: _Position, outcome: Outcome, log: Path, kept: Path | None) -> WorkbenchError:
    """Return the error that tells how the child failed; its output is passed on as an event."""
    if position.error and position.error["exit"] == WorkbenchError.exit_code:
        return WorkbenchError(position.error["error"])
    lines = [line for line in log.read_text(errors="replace").splitlines() if _NOISE not in line]
    if lines and not kept:
        position.on_event({"log": "\n".join(lines)})
    reason = position.error["error"] if position.error else _ending(outcome.code)
    return RunError(position.sentence("failed", f": {reason}", kept))


def _ending(code: int) -> str:
    return f"its process was killed by signal {-code}" if code < 0 else f"its process ended with code {code}"


def _files(work: Run, notebook: bool) -> tuple[Path, Path | None]:
    if work.path is None:
        raise WorkbenchError("a run in a child process needs a folder for its result: give out")
    return work.path, work.path.with_suffix(".ipynb") if notebook else None


def _job(work: Run, notebook: bool, threads: int | None) -> dict[str, Any]:
    assert work.path is not None
    data = [str(item.path.resolve()) for item in work.data or ()]
    out = str(work.path.parent.resolve())
    values, defaults = work.params.to_dict(), type(work.params).preset("quick").to_dict()
    changed = {name: value for name, value in values.items() if value != defaults[name]}
    return {
        "method": work.method.name,
        "params": values,
        "data": data,
        "out": out,
        "threads": threads,
        "notebook": str(work.method.notebook) if notebook else None,
        "parameters": changed | {"interactive": False, "out": out, "data": data},
    }


def _environment(force: bool, threads: int | None) -> dict[str, str]:
    variables = paths.jupyter_environment() | environment(threads)
    for name in ("MPLBACKEND", FORCE_VARIABLE):
        variables.pop(name, None)
    return variables | ({FORCE_VARIABLE: "1"} if force else {})


def _keep(draft: Path, executed: Path | None) -> Path | None:
    """Keep what was executed of a notebook under a name that says that it failed, if there is room."""
    if executed is None or not draft.exists():
        return None
    with contextlib.suppress(OSError):
        _put(draft, _failed(executed))
        return _failed(executed)
    return None


def _failed(executed: Path) -> Path:
    return executed.with_suffix(".failed.ipynb")


def _put(draft: Path, final: Path) -> None:
    write_atomically(final, lambda part: shutil.copyfile(draft, part))
