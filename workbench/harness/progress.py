"""Progress of long work: a callback ``progress(fraction, text)`` and the places it can go.

`reporting` chooses the place: the file that ``WORKBENCH_PROGRESS`` names (the command line
follows it while a notebook runs), a bar in a notebook or on a terminal, or nowhere.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any

Progress = Callable[[float, str], None]

FILE_VARIABLE = "WORKBENCH_PROGRESS"
_INTERVAL = 0.1


def silent(fraction: float, text: str) -> None:
    """Ignore progress."""


def part(progress: Progress | None, start: float, stop: float) -> Progress:
    """Return a callback that maps fractions 0..1 onto ``start..stop`` of `progress`."""
    if progress is None:
        return silent
    return lambda fraction, text: progress(start + (stop - start) * fraction, text)


@contextmanager
def reporting(title: str) -> Iterator[Progress]:
    """Yield the progress callback that suits where this process runs; `title` names the work.

    Calls that follow one another within a tenth of a second are dropped, except the last of a work.
    """
    if path := os.environ.get(FILE_VARIABLE):
        yield _throttled(_to_file(Path(path)))
    elif _in_notebook():
        yield _throttled(_to_cell(title))
    elif sys.stderr.isatty():
        with _terminal_bar(title) as report:
            yield report
    else:
        yield silent


def append_event(path: Path, **event: Any) -> None:
    """Append one event to the progress file as a line of JSON."""
    with path.open("a") as file:
        file.write(json.dumps(event) + "\n")


def remaining(elapsed: float, fraction: float) -> float | None:
    """Return the seconds that are probably left after `elapsed`, None while it is too early to tell.

    Examples
    --------
    >>> remaining(30.0, 0.75)
    10.0
    >>> remaining(0.1, 0.0) is None
    True
    """
    if fraction < 0.05 or elapsed < 0.5:
        return None
    return elapsed * (1 - min(fraction, 1.0)) / min(fraction, 1.0)


def duration(seconds: float) -> str:
    """Return `seconds` in words that fit a line of progress.

    Examples
    --------
    >>> duration(7.31), duration(75), duration(7300)
    ('7.3 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes = round(seconds) // 60
    if minutes < 60:
        return f"{minutes} min {round(seconds) % 60} s"
    return f"{minutes // 60} h {minutes % 60} min"


def _throttled(report: Progress) -> Progress:
    last = -_INTERVAL

    def throttled(fraction: float, text: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _INTERVAL or fraction >= 1:
            last = now
            report(fraction, text)

    return throttled


def _to_file(path: Path) -> Progress:
    return lambda fraction, text: append_event(path, fraction=float(fraction), text=text)


def _to_cell(title: str) -> Progress:
    from IPython.display import HTML, DisplayHandle

    handle = DisplayHandle()
    handle.display(HTML(""))
    start = time.monotonic()

    def report(fraction: float, text: str) -> None:
        elapsed = time.monotonic() - start
        if fraction >= 1:
            line = f"{title}: {text} ({duration(elapsed)})"
            handle.update(HTML(f"<small>{escape(line)}</small>"))
            return
        left = remaining(elapsed, fraction)
        tail = f", about {duration(left)} left" if left is not None else ""
        bar = f'<progress value="{fraction:.3f}" max="1" aria-label="{escape(title)}"></progress>'
        handle.update(HTML(f"{bar} <small>{escape(f'{title}: {text}{tail}')}</small>"))

    return report


@contextmanager
def _terminal_bar(title: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn(compact=True))
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=1.0)
        yield lambda fraction, text: bar.update(task, completed=fraction, description=f"{title}: {text}")


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return type(shell).__name__ == "ZMQInteractiveShell"
