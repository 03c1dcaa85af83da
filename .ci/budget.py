"""Measures time and memory against the budgets, prints them side by side; exits with 1 if one is exceeded.

Run it on an idle machine: ``make budget``. Every measure is taken in a process of its own.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import xarray as xr

from workbench.harness import registry

ROOT = Path(__file__).parents[1]
WORKBENCH = [sys.executable, "-m", "workbench"]
IMPORT = "import time; start = time.perf_counter(); import workbench; print(time.perf_counter() - start)"


def main() -> int:
    """Print every measure beside its budget; return the exit code."""
    over = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(MPLBACKEND="Agg", NUMBA_CACHE_DIR=f"{folder}/numba")
        for what, measured, allowed, unit in measures(Path(folder)):
            over += measured > allowed
            verdict = "OVER" if measured > allowed else "ok"
            print(f"{what:<42} {measured:>9.3f} {unit:<2} of {allowed:g} {unit}  {verdict}", flush=True)
    return 1 if over else 0


def measures(folder: Path) -> Iterator[tuple[str, float, float, str]]:
    """Yield what is measured, the measure, what is allowed, and the unit."""
    yield "import workbench", import_seconds(), 0.05, "s"
    for name in registry.methods():
        out = folder / name
        run = [*WORKBENCH, "run", name, "--out", str(out)]
        yield f"{name}: wrong input refused", seconds([*run, "-p", "no_such=1"], code=2), 2, "s"
        yield f"{name}: quick run, nothing compiled yet", seconds(run), 120, "s"
        yield f"{name}: quick run, compiled", seconds([*run, "--force"]), 60, "s"
        yield f"{name}: memory above the start of the study", peak_gigabytes(out), 1, "GB"
        yield f"{name}: equal run again", seconds(run), 3, "s"
    yield "README's example", seconds([sys.executable, "-c", readme_example()], folder=folder), 15, "s"


def import_seconds() -> float:
    """Return the least time of five imports, each in a new process."""
    outputs = [subprocess.check_output([sys.executable, "-c", IMPORT]) for _ in range(5)]
    return min(map(float, outputs))


def seconds(command: list[str], *, code: int = 0, folder: Path = ROOT) -> float:
    """Return the wall time of a command, which must exit with `code`."""
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    elapsed = time.perf_counter() - start
    if done.returncode != code:
        sys.exit(f"{' '.join(command)} exited with {done.returncode}, not {code}:\n{done.stdout}{done.stderr}")
    return elapsed


def peak_gigabytes(out: Path) -> float:
    """Return the memory that the run in `out` took above the start of its study."""
    (path,) = out.glob("*.nc")
    with xr.open_dataset(path) as dataset:
        return float(dataset.attrs["peak_memory_bytes"]) / 1e9


def readme_example() -> str:
    """Return the Python code of README's example."""
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    return example


if __name__ == "__main__":
    sys.exit(main())
