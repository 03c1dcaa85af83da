"""Peak memory of a piece of work, as the increment above what the process held at its start."""

import ctypes
import gc
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

_STATUS = Path("/proc/self/status")


class PeakMemory:
    """Context manager that measures the peak of resident memory above its level at entry.

    On Linux, memory freed before is given back at entry and the kernel's high-water mark is
    reset, so that all that the work uses counts and earlier peaks do not. Elsewhere the mark of
    the whole process is used, and an earlier higher peak hides later ones.

    Attributes
    ----------
    increment
        Bytes, set at exit.

    Examples
    --------
    >>> with PeakMemory() as memory:
    ...     block = bytearray(20_000_000)
    >>> memory.increment > 10_000_000
    True
    """

    increment: int = 0

    def __enter__(self) -> Self:
        _give_back()
        self._resettable = _reset_mark()
        self._start = _linux("VmRSS") if self._resettable else _mark()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.increment = max(0, (_linux("VmHWM") if self._resettable else _mark()) - self._start)


def _give_back() -> None:
    """Return what the process has freed to the system, where its allocator (glibc's) can."""
    gc.collect()
    if psutil.LINUX and hasattr(allocator := ctypes.CDLL(None), "malloc_trim"):
        allocator.malloc_trim(0)


def _reset_mark() -> bool:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return _STATUS.exists()


def _linux(key: str) -> int:
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(key + ":"))
    return int(line.split()[1]) * 1024


def _mark() -> int:
    if psutil.WINDOWS:
        return psutil.Process().memory_info()._asdict()["peak_wset"]
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if psutil.MACOS else 1024)
