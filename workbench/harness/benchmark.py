"""Fair timing of a method against its peers.

Ours and the peer do the same work on the same input, warm, in one process, in turns; what counts
is the ratio within a turn. Their results must agree. Peak memory is measured apart, each in a
process of its own, above what that process held after imports and input.
"""

import argparse
import importlib
import json
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatch
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from rich.console import Console

from workbench.errors import WorkbenchError, nearest
from workbench.harness import benchmark_report, registry
from workbench.harness.memory import PeakMemory
from workbench.harness.threads import limited

MOST_TURNS = 9


def _agree(ours: Any, peer: Any) -> str:
    return ""


def _no_facts(result: Any, seconds: float) -> dict[str, float]:
    return {}


@dataclass(frozen=True)
class Workload:
    """A piece of work that ours and a peer both do.

    Attributes
    ----------
    name
        What is timed, unique within the method.
    group
        Workloads whose ratios are summed up by their median.
    prepare
        Makes the input, untimed.
    ours, peer
        Do the work on the input and return the result; `peer` is None where ours runs alone.
    peer_name, peer_module, peer_threads
        What the peer is called, the module it needs, and the threads it uses.
    check
        ``check(ours, peer)`` returns "" if the results agree to the stated accuracy, else what differs;
        without a peer the second argument is None.
    facts
        ``facts(result, seconds)`` returns further numbers by name, e.g. the certified gap reached.
    quick
        Whether it is run with ``--quick``.
    threads
        Threads of ours (and of a peer in numba), None for those in force.
    """

    name: str
    group: str
    prepare: Callable[[], Any]
    ours: Callable[[Any], Any]
    peer: Callable[[Any], Any] | None = None
    peer_name: str = ""
    peer_module: str = ""
    peer_threads: int = 1
    check: Callable[[Any, Any], str] = _agree
    facts: Callable[[Any, float], dict[str, float]] = _no_facts
    quick: bool = True
    threads: int | None = None

    @property
    def peer_missing(self) -> bool:
        """Whether the peer is not installed."""
        return bool(self.peer_module) and find_spec(self.peer_module) is None


@dataclass(frozen=True)
class Row:
    """What was measured of one workload.

    ``seconds``, ``peer_seconds`` and ``ratio`` (peer over ours, of one turn) are medians; without
    a peer the latter two are None. ``memory_bytes`` is None where it was not measured. ``wrong``
    says how the results differ, empty if they agree; ``note`` why there is no peer.
    """

    name: str
    group: str
    turns: int
    seconds: float
    threads: dict[str, int]
    peer_name: str = ""
    peer_seconds: float | None = None
    peer_threads: int | None = None
    ratio: float | None = None
    memory_bytes: int | None = None
    peer_memory_bytes: int | None = None
    facts: dict[str, float] = field(default_factory=dict)
    wrong: str = ""
    note: str = ""


def measure(workload: Workload, *, budget: float = 30.0, least: int = 3) -> Row:
    """Time one workload in this process.

    Parameters
    ----------
    workload
        The work.
    budget
        Seconds to fill with turns after the first, which warms both up and gives the results to compare.
    least
        Least number of turns, whatever they take.

    Returns
    -------
    Row
        Without memory.

    Examples
    --------
    >>> row = measure(Workload("sum", "sums", lambda: [1.0] * 100, sum, peer=sum, peer_name="sum"), budget=0.01)
    >>> row.wrong, row.turns
    ('', 9)
    """
    given = _ready(workload)
    peer = None if workload.peer_missing else workload.peer
    with limited(workload.threads) as threads:
        result = workload.ours(given)
        answer = peer(given) if peer else None
        turns: list[tuple[float, float]] = []
        while len(turns) < least or (len(turns) < MOST_TURNS and sum(map(sum, turns)) < budget):
            turns.append(_turn(workload.ours, peer, given, ours_first=len(turns) % 2 == 0))
        wrong = workload.check(result, answer)
    seconds = statistics.median(ours for ours, _ in turns)
    row = Row(
        name=workload.name,
        group=workload.group,
        turns=len(turns),
        seconds=seconds,
        threads=threads,
        peer_name=workload.peer_name,
        facts=workload.facts(result, seconds),
        wrong=wrong,
        note=f"{workload.peer_module} is not installed" if workload.peer_missing else "",
    )
    if peer is None:
        return row
    return replace(
        row,
        peer_seconds=statistics.median(theirs for _, theirs in turns),
        peer_threads=workload.peer_threads,
        ratio=statistics.median(theirs / ours for ours, theirs in turns),
    )


def peak_memory(method: str, name: str, who: str = "ours") -> int:
    """Return the peak memory in bytes of one workload's ``ours`` or ``peer``, run once in a new process.

    What the process holds after imports and input is not counted; compiled loops are.

    Parameters
    ----------
    method, name
        The method and one of its workloads.
    who
        ``"ours"`` or ``"peer"``.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_peak_memory_here, method, name, who).result()


def main(method: str, arguments: Sequence[str] = ()) -> int:
    """Run the benchmark of a method and print its table.

    Parameters
    ----------
    method
        Name of the method.
    arguments
        ``--quick`` (one turn, fewer workloads), ``--only PATTERN`` (names that match, ``*`` for
        anything), ``--json FILE`` (also write everything there), ``--no-memory``.

    Returns
    -------
    int
        0; 1 if a result was wrong.

    Raises
    ------
    WorkbenchError
        If no workload is chosen.
    """
    options = _options(method, arguments)
    chosen = _choose(registry.get(method).benchmark.WORKLOADS, options)
    console = Console(width=None if Console().is_terminal else 120, highlight=False)
    rows = []
    for number, workload in enumerate(chosen, 1):
        console.print(f"{number}/{len(chosen)} {workload.name}", markup=False)
        rows.append(_with_memory(method, workload, options))
    console.print(benchmark_report.table(rows))
    for line in benchmark_report.summary(rows):
        console.print(line, markup=False)
    if options.json:
        report = {"method": method, "machine": benchmark_report.machine(), "rows": [asdict(row) for row in rows]}
        options.json.write_text(json.dumps(report, indent=1) + "\n")
        console.print(f"wrote {options.json}", markup=False)
    return int(any(row.wrong for row in rows))


def _ready(workload: Workload) -> Any:
    """Import the peer, whose threads can be limited only then, and return the input."""
    if workload.peer_module and not workload.peer_missing:
        importlib.import_module(workload.peer_module)
    return workload.prepare()


def _turn(
    ours: Callable[[Any], Any], peer: Callable[[Any], Any] | None, given: Any, *, ours_first: bool
) -> tuple[float, float]:
    if peer is None:
        return _seconds(ours, given), 0.0
    if ours_first:
        return _seconds(ours, given), _seconds(peer, given)
    theirs = _seconds(peer, given)
    return _seconds(ours, given), theirs


def _seconds(work: Callable[[Any], Any], given: Any) -> float:
    start = time.perf_counter()
    work(given)
    return time.perf_counter() - start


def _peak_memory_here(method: str, name: str, who: str) -> int:
    workload = next(work for work in registry.get(method).benchmark.WORKLOADS if work.name == name)
    given = _ready(workload)
    with limited(workload.threads), PeakMemory() as memory:
        getattr(workload, who)(given)
    return memory.increment


def _options(method: str, arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(f"workbench benchmark {method}", description="Time a method against its peers.")
    parser.add_argument("--quick", action="store_true", help="one turn, fewer workloads, no memory of peers")
    parser.add_argument("--only", metavar="PATTERN", default="*", help="workloads whose name matches, e.g. '64*'")
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write all numbers there")
    parser.add_argument("--no-memory", dest="memory", action="store_false", help="measure times alone")
    return parser.parse_args(arguments)


def _choose(workloads: Sequence[Workload], options: argparse.Namespace) -> list[Workload]:
    chosen = [work for work in workloads if fnmatch(work.name, options.only) and (work.quick or not options.quick)]
    if not chosen:
        names = [work.name for work in workloads]
        raise WorkbenchError(f"--only {options.only!r} matches no workload{nearest(options.only, names)}")
    return chosen


def _with_memory(method: str, workload: Workload, options: argparse.Namespace) -> Row:
    row = measure(workload, budget=0, least=1) if options.quick else measure(workload)
    if not options.memory:
        return row
    row = replace(row, memory_bytes=peak_memory(method, workload.name))
    if row.ratio is None or options.quick:
        return row
    return replace(row, peer_memory_bytes=peak_memory(method, workload.name, "peer"))
