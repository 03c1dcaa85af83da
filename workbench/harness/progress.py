"""Progress of long work: a callback ``progress(fraction, text)`` and the places it can go."""

from collections.abc import Callable

Progress = Callable[[float, str], None]


def silent(fraction: float, text: str) -> None:
    """Ignore progress."""


def part(progress: Progress | None, start: float, stop: float) -> Progress:
    """Return a callback that maps fractions 0..1 onto ``start..stop`` of `progress`."""
    if progress is None:
        return silent
    return lambda fraction, text: progress(start + (stop - start) * fraction, text)
