"""What a benchmark prints and writes: its table, the median ratio of each group, and the machine."""

import os
import platform
import statistics
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from workbench.harness.provenance import versions
from workbench.harness.threads import thread_counts

if TYPE_CHECKING:
    from workbench.harness.benchmark import Row


HEADINGS = ("workload", "ours s", "threads", "MB", "peer", "peer s", "threads", "MB", "ratio", "turns", "found")


def table(rows: "Sequence[Row]") -> Table:
    """Return the rows as a table to print."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for heading in HEADINGS:
        made.add_column(heading, justify="left" if heading in ("workload", "peer", "found") else "right")
    for row in rows:
        found = [f"{name} {value:.3g}" for name, value in row.facts.items()]
        found += [f"WRONG: {row.wrong}"] if row.wrong else ["results agree"] if row.ratio is not None else []
        made.add_row(
            row.name,
            f"{row.seconds:.3g}",
            str(row.threads.get("numba", 1)),
            _megabytes(row.memory_bytes),
            row.note or row.peer_name or "-",
            "-" if row.peer_seconds is None else f"{row.peer_seconds:.3g}",
            "-" if row.peer_threads is None else str(row.peer_threads),
            _megabytes(row.peer_memory_bytes),
            "-" if row.ratio is None else f"{row.ratio:.3g}",
            str(row.turns),
            ", ".join(found),
        )
    return made


def summary(rows: "Sequence[Row]") -> list[str]:
    """Return a line for each group with a peer: the median, least and greatest ratio."""
    lines = []
    for group in dict.fromkeys(row.group for row in rows):
        ratios = [row.ratio for row in rows if row.group == group and row.ratio is not None]
        if ratios:
            spread = f"{min(ratios):.3g} to {max(ratios):.3g}"
            lines.append(f"{group}: peer / ours {statistics.median(ratios):.3g} (median of {len(ratios)}; {spread})")
    return lines


def machine() -> dict[str, Any]:
    """Return what the times depend on: date, system, processor, load, threads, versions."""
    return {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "system": platform.platform(),
        "processor": _processor(),
        "load": os.getloadavg()[0],
        "threads": thread_counts(),
        "versions": versions(),
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next(
        (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor()
    )


def _megabytes(count: int | None) -> str:
    return "-" if count is None else f"{count / 1e6:.0f}"
