"""Runs a study, or its notebook, in a supervised child process, and says in one line what went wrong."""

import contextlib
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.errors import RunError, WorkbenchError
from workbench.harness.job import Job
from workbench.harness.notebook import Cell
from workbench.harness.progress import FILE_VARIABLE, duration
from workbench.harness.results import attributes, write_atomically
from workbench.harness.supervisor import Event, Outcome, OutOfTime, supervise

TIMEOUTS = {"quick": 15 * 60.0, "full": 2 * 3600.0, "off protocol": 2 * 3600.0}
PATIENCE = 60.0
INTERRUPTED = 130
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


def finished_before(job: Job) -> Finished | None:
    """Return the files of an equal earlier run, None if any is missing or not to be trusted."""
    if job.executed and not job.executed.is_file():
        return None
    found = job.work.reusable()
    return None if found is None else Finished(found, job.result, job.executed, reused=True)


def launch(
    job: Job, *, on_event: Callable[[Event], None], timeout: float | None = None, patience: float = PATIENCE
) -> Finished:
    """Do `job` in a child process.

    Parameters
    ----------
    job
        The run, and how it is to be done.
    on_event
        Called with each event: ``cell``, ``of`` and ``heading``; ``fraction`` and ``text``; ``note``; ``log``.
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
    limit = timeout or TIMEOUTS[job.work.params.scale()]
    try:
        outcome = _attempt(job, on_event, limit, patience)
    except _Idle:
        on_event({"note": f"{job.name} did not end within {patience:g} s of its last cell; starting once more"})
        try:
            outcome = _attempt(job, on_event, limit, patience)
        except _Idle:
            raise RunError(f"{job.name} did not end after its last cell, twice") from None
    return Finished(attributes(job.result), job.result, job.executed, time.monotonic() - start, outcome.peak_bytes)


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


def _attempt(job: Job, on_event: Callable[[Event], None], limit: float, patience: float) -> Outcome:
    """Start the child once; put its notebook in place, or raise what went wrong."""
    position = _Position(job.name, on_event)
    with tempfile.TemporaryDirectory(prefix="workbench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        draft = folder / "executed.ipynb"
        (folder / "job.json").write_text(job.to_json(draft))
        try:
            outcome = _supervised(job, folder, position, limit, patience)
        except OutOfTime as stop:
            if stop.idle:
                raise _Idle from None
            reason = f": the time allowed is {duration(limit)}; allow more with --timeout"
            raise RunError(position.sentence("was stopped", reason, _keep(draft, job))) from None
        except KeyboardInterrupt:
            error = RunError(position.sentence("was interrupted", "", _keep(draft, job)))
            error.exit_code = INTERRUPTED
            raise error from None
        if position.error or outcome.code:
            raise _failure(position, outcome, folder / "log", _keep(draft, job))
        _put(draft, job)
    return outcome


def _supervised(job: Job, folder: Path, position: _Position, limit: float, patience: float) -> Outcome:
    events = folder / "events"
    return supervise(
        [sys.executable, "-m", "workbench.harness._child", str(folder)],
        environment=job.environment() | {FILE_VARIABLE: str(events)},
        events=events,
        log=folder / "log",
        on_event=position,
        timeout=limit,
        patience=patience,
    )


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


def _put(draft: Path, job: Job) -> None:
    """Give the executed notebook its final name; what an earlier failure left is out of date."""
    if job.executed is None or job.failed is None:
        return
    try:
        write_atomically(job.executed, lambda part: shutil.copyfile(draft, part))
    except OSError as error:
        raise RunError(f"{job.name} ran, but {job.executed} cannot be written: {error.strerror}") from None
    job.failed.unlink(missing_ok=True)


def _keep(draft: Path, job: Job) -> Path | None:
    """Keep what was executed of a notebook under a name that says that it failed, if there is room."""
    if job.failed is None or not draft.exists():
        return None
    with contextlib.suppress(OSError):
        write_atomically(job.failed, lambda part: shutil.copyfile(draft, part))
        return job.failed
    return None
