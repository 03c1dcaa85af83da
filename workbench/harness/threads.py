"""Thread counts of numba, torch and BLAS in one place, and the place of numba's cache.

Numba and BLAS use all cores by default, torch one (its models here are small). A count is set
in two ways: through the environment for processes yet to start (`environment`), and in
this process (`set_threads`, `limited`).
"""

import importlib
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import workbench
from workbench.errors import ParameterError
from workbench.harness import paths, sources

_LATER = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_VARIABLES = ("NUMBA_NUM_THREADS", *_LATER)
_CACHE = "NUMBA_CACHE_DIR"
_LAYERS = "NUMBA_THREADING_LAYER_PRIORITY"


def prepare() -> None:
    """Set the environment that numba reads when it is imported: cache folder and threading layers.

    The cache folder changes with the package's version and sources, because numba does not
    notice when a function that a cached one calls has changed. A folder set by the user stays.
    """
    os.environ.setdefault(_LAYERS, "omp tbb workqueue")
    chosen = os.environ.get(_CACHE)
    if "numba" in sys.modules or (chosen and Path(chosen).parent.name != "workbench-numba"):
        return
    name = f"{workbench.__version__}-{sources.of_package()[:12]}"
    os.environ[_CACHE] = str(_writable_cache() / name)


def cache_folder() -> Path:
    """Return the folder in which numba keeps compiled loops."""
    return Path(os.environ[_CACHE])


def environment(count: int | None) -> dict[str, str]:
    """Return the environment variables that make a new process use `count` threads; none for None."""
    return {} if count is None else dict.fromkeys(_VARIABLES, str(_checked(count)))


def set_threads(count: int | None = None) -> dict[str, int]:
    """Make numba, torch and BLAS use `count` threads in this process.

    Parameters
    ----------
    count
        Threads; None for the default: all cores, one for torch.

    Returns
    -------
    dict of str to int
        What is in force, see `thread_counts`. Numba cannot go above the count it started with.

    Raises
    ------
    ParameterError
        If `count` is not a whole number of at least 1.

    Notes
    -----
    Numba is imported, because its count can be told in no other way and changed again; other
    libraries that are imported later follow the environment. Numba's first parallel loop resets
    torch's count; its threads are therefore started here first.

    Examples
    --------
    >>> set_threads(1)["numba"]
    1
    >>> _ = set_threads(None)
    """
    for name in _LATER:
        if count is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = str(_checked(count))
    importlib.import_module("numba")
    _apply(count or _cores(), count or 1)
    return thread_counts()


@contextmanager
def limited(count: int | None) -> Iterator[dict[str, int]]:
    """Use `count` threads inside the block, then as before; None keeps the counts, but one for torch unless told."""
    if count is not None:
        _checked(count)
        importlib.import_module("numba")
    before = thread_counts()
    _apply(count, count or _told() or 1)
    try:
        yield thread_counts()
    finally:
        _apply(before.get("numba"), before.get("torch", 1), blas=before.get("blas"))


@contextmanager
def numba_at_most(count: int) -> Iterator[None]:
    """Let numba use at most `count` threads inside the block.

    Threads that share little work wait for one another longer than they work, above all on a busy machine.
    Entering costs microseconds.
    """
    numba = importlib.import_module("numba")
    before = numba.get_num_threads()
    numba.set_num_threads(max(1, min(before, count)))
    try:
        yield
    finally:
        numba.set_num_threads(before)


def thread_counts() -> dict[str, int]:
    """Return the cores of this machine and the threads that each imported library uses."""
    counts = {"cores": _cores()}
    if numba := sys.modules.get("numba"):
        counts["numba"] = numba.get_num_threads()
    if torch := sys.modules.get("torch"):
        counts["torch"] = torch.get_num_threads()
    if "numpy" in sys.modules:
        pools = [pool for pool in _pools().info() if pool["user_api"] == "blas"]
        counts |= {"blas": max(pool["num_threads"] for pool in pools)} if pools else {}
    return counts


def threading_layer() -> str:
    """Return the name of numba's threading layer, starting its threads if need be."""
    numba = importlib.import_module("numba")

    @numba.njit(parallel=True)
    def touch(values):
        for i in numba.prange(values.size):
            values[i] += 1.0

    touch(importlib.import_module("numpy").zeros(2))
    return numba.threading_layer()


def _apply(count: int | None, torch_count: int, *, blas: int | None = None) -> None:
    if count is not None and (numba := sys.modules.get("numba")):
        numba.set_num_threads(min(count, numba.config.NUMBA_NUM_THREADS))
    if (blas or count) and "numpy" in sys.modules:
        _pools().limit(limits=blas or count, user_api="blas")
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(torch_count)


def _pools():
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _checked(count: int) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ParameterError(f"threads = {count!r} is not allowed: it takes a whole number, at least 1")
    return count


def _told() -> int | None:
    """Return the count that `set_threads`, ``--threads`` or the user put into the environment."""
    text = os.environ.get("OMP_NUM_THREADS", "")
    return int(text) if text.isdigit() and int(text) else None


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _writable_cache() -> Path:
    for base in (paths.cache(), Path(tempfile.gettempdir()) / f"workbench-{os.getuid()}"):
        folder = base / "workbench-numba"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return Path(tempfile.gettempdir()) / "workbench-numba"
