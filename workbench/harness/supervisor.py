"""Watches a child process: its events, its time, its memory; and leaves none of its descendants behind."""

import contextlib
import json
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

Event = dict[str, Any]

_TICK = 0.1
_SAMPLE_EVERY = 0.5


class OutOfTime(Exception):
    """The child was killed: it ran longer than allowed, or (``idle``) had nothing left to do and did not end."""

    def __init__(self, *, idle: bool) -> None:
        super().__init__("idle" if idle else "out of time")
        self.idle = idle


@dataclass(frozen=True)
class Outcome:
    """How a child ended: exit code (negative: killed by that signal) and peak memory of its whole tree."""

    code: int
    peak_bytes: int


@dataclass
class _Tree:
    """A process and all its descendants that were ever seen; a Jupyter kernel is in a session of its own."""

    root: psutil.Process
    seen: set[psutil.Process] = field(default_factory=set)
    peak_bytes: int = 0

    def sample(self) -> None:
        with contextlib.suppress(psutil.Error):
            self.seen |= {self.root, *self.root.children(recursive=True)}
        self.peak_bytes = max(self.peak_bytes, sum(map(_resident, self.seen)))

    def kill(self) -> None:
        self.sample()
        for process in self.seen:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(self.seen - {self.root}, timeout=5)


def supervise(
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str],
    events: Path,
    log: Path,
    on_event: Callable[[Event], None],
    timeout: float,
    patience: float = 60.0,
) -> Outcome:
    """Run a command to its end and pass on the events that it appends to a file.

    Parameters
    ----------
    arguments, environment
        The command, and the whole environment it gets. It is started in a session of its own, with
        a pipe as standard input that closes when this process dies.
    events
        File of JSON lines that the child writes.
    log
        File that receives its output.
    on_event
        Called with each event.
    timeout
        Seconds after which the child is killed.
    patience
        Seconds that it may live on after the event ``{"finished": true}``.

    Raises
    ------
    OutOfTime
        If a limit was passed. However this function ends, no descendant of the child lives on.
    """
    events.touch()
    with log.open("wb") as output, events.open() as lines:
        child = subprocess.Popen(
            arguments,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        tree = _Tree(psutil.Process(child.pid))
        try:
            _watch(child, tree, lines, on_event, timeout, patience)
        finally:
            tree.kill()
            child.wait()
            if child.stdin:
                child.stdin.close()
    return Outcome(child.returncode, tree.peak_bytes)


def _watch(child: subprocess.Popen, tree: _Tree, lines, on_event, timeout: float, patience: float) -> None:
    start = sampled = time.monotonic()
    deadline, idle = start + timeout, False
    tree.sample()
    while True:
        ended = child.poll() is not None
        for event in _new_events(lines):
            if event.get("finished"):
                deadline, idle = min(deadline, time.monotonic() + patience), True
            on_event(event)
        if ended:
            return
        now = time.monotonic()
        if now > deadline:
            raise OutOfTime(idle=idle and now < start + timeout)
        if now - sampled > _SAMPLE_EVERY:
            tree.sample()
            sampled = now
        time.sleep(_TICK)


def _new_events(lines) -> list[Event]:
    """Return the events whose lines are complete since the last call."""
    found = []
    while True:
        position = lines.tell()
        line = lines.readline()
        if not line.endswith("\n"):
            lines.seek(position)
            return found
        found.append(json.loads(line))


def _resident(process: psutil.Process) -> int:
    try:
        return process.memory_info().rss
    except psutil.Error:
        return 0
