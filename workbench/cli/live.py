"""Shows the events of a run: a live bar on a terminal, a plain line now and then elsewhere."""

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from workbench.harness.progress import duration, remaining
from workbench.harness.supervisor import Event

_PLAIN_INTERVAL = 5.0


class Live:
    """Context manager, and callback for the events of `workbench.harness.launch`.

    On a terminal a bar shows the running cell, the progress inside it and the time left in
    it. Elsewhere each of these is a line, at most one in five seconds.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._cell = ""
        self._since = time.monotonic()
        self._printed = -_PLAIN_INTERVAL
        self._console = Console(stderr=True, highlight=False)
        columns = (TextColumn("{task.description}", markup=False), BarColumn(bar_width=20), TimeElapsedColumn())
        self._bar = Progress(*columns, console=self._console, transient=True) if sys.stderr.isatty() else None
        self._task = self._bar.add_task(name, total=None) if self._bar else None

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, event: Event) -> None:
        """Show one event."""
        if "cell" in event:
            self._cell = f"[{event['cell']}/{event['of']}] {event['heading']}"
            self._since = time.monotonic()
            self._show(None, "")
        elif "fraction" in event:
            self._show(event["fraction"], event["text"])
        for text in (event.get("note"), event.get("log")):
            if text:
                self._console.print(text, markup=False, soft_wrap=True)

    def _show(self, fraction: float | None, text: str) -> None:
        left = remaining(time.monotonic() - self._since, fraction) if fraction is not None else None
        tail = f", about {duration(left)} left" if left and fraction is not None and fraction < 1 else ""
        line = ": ".join(filter(None, [self._name, self._cell, text])) + tail
        if self._bar and self._task is not None:
            total = None if fraction is None else 1.0
            self._bar.update(
                self._task, description=line[: self._console.width - 32], total=total, completed=fraction or 0
            )
        elif time.monotonic() - self._printed >= _PLAIN_INTERVAL:
            self._printed = time.monotonic()
            share = f" ({fraction:.0%})" if fraction is not None else ""
            self._console.print(line + share, markup=False, soft_wrap=True)
