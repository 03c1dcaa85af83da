"""Runs a study in this process: parameters and own data in, a judged and stamped dataset out."""

import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import ParameterError
from workbench.harness import claims, provenance, registry, results, sources
from workbench.harness.memory import PeakMemory
from workbench.harness.params import Params
from workbench.harness.progress import Progress, reporting, silent
from workbench.harness.threads import limited, thread_counts

if TYPE_CHECKING:
    import xarray as xr

    from workbench.harness.data import OwnData


def run(
    method: str,
    params: Params | Mapping[str, Any] | None = None,
    *,
    data: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
    out: str | PathLike[str] = "results",
    progress: Progress | None = None,
    force: bool = False,
    threads: int | None = None,
) -> "xr.Dataset":
    """Return the dataset of a method's study: run it, or reuse the result of an equal run.

    Parameters
    ----------
    method
        Name of the method.
    params
        The study's parameters, or a mapping of those that differ from the quick preset.
    data
        The user's own files in place of the generated input, as the method's ``DATA`` asks.
    out
        Folder of the result file; empty to write none (and reuse none).
    progress
        Callback ``progress(fraction, text)``; None for what suits the place (see `workbench.harness.progress`).
    force
        Run even if the result is there; so does the environment variable ``WORKBENCH_FORCE``.
    threads
        Threads of numba, torch and BLAS; None for the counts in force.

    Returns
    -------
    xarray.Dataset
        In memory, with provenance and verdicts as attributes; ``encoding["source"]`` is the path of its file.

    Raises
    ------
    WorkbenchError
        If the method, a parameter or a file is not what it should be; nothing has run then.
    """
    work = Run(method, params, data=data, out=out)
    with nullcontext(progress) if progress else reporting(method) as report:
        if not (force or os.environ.get(FORCE_VARIABLE)) and work.path and work.reusable(report):
            report(1.0, f"reused {work.path}")
            return results.load(work.path)
        dataset = work.execute(report, threads)
        report(1.0, "done")
    return dataset


FORCE_VARIABLE = "WORKBENCH_FORCE"


class Run:
    """One run that is fully specified and checked, but not yet done.

    Attributes
    ----------
    method, params, data
        What runs on what.
    attributes
        The attributes of its result that are known beforehand.
    path
        Its result file, None if none is written.
    """

    def __init__(
        self,
        method: str,
        params: Params | Mapping[str, Any] | None = None,
        *,
        data: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
        out: str | PathLike[str] = "results",
    ) -> None:
        self.method = registry.get(method)
        self.params = _params(self.method, params)
        self.params.check()
        self.data = _own_data(self.method, data)
        self.attributes = provenance.describe(
            self.method, self.params, self.data, sources.of_method(self.method.folder)
        )
        self.path = Path(out) / f"{results.stem(self.attributes)}.nc" if str(out) else None
        if self.path:
            results.check_folder(self.path.parent)

    def reusable(self, report: Progress = silent) -> dict[str, Any] | None:
        """Return the attributes of an equal earlier run's result, None if there is none that can be trusted."""
        if self.path is None:
            return None
        found, reason = results.reusable(self.path, self.attributes)
        if reason:
            report(0.0, reason)
        return found

    def execute(self, report: Progress = silent, count: int | None = None) -> "xr.Dataset":
        """Run the study, judge its claims, write its file; return the dataset."""
        started, clock = datetime.now(UTC), time.perf_counter()
        study = self.method.study
        with limited(count) as counts, PeakMemory() as memory:
            dataset = study.run(self.params, self.data, progress=report)
            counts |= thread_counts()
        seconds = time.perf_counter() - clock
        scale = "own data" if self.data else self.params.scale()
        dataset.attrs |= self.attributes | {
            "versions_json": json.dumps(provenance.versions()),
            "threads_json": json.dumps(counts),
            "seconds": seconds,
            "peak_memory_bytes": memory.increment,
            "started": started.isoformat(timespec="seconds"),
            "verdicts_json": claims.to_json(claims.judge(dataset, self.method.claims, scale)),
        }
        if self.path is None:
            return dataset
        results.save(dataset, self.path)
        return results.load(self.path)


def _params(method: registry.Method, params: Params | Mapping[str, Any] | None) -> Params:
    if params is None or isinstance(params, Mapping):
        return method.params(**(params or {}))
    if not isinstance(params, method.params):
        raise ParameterError(
            f"params is {type(params).__module__}.{type(params).__name__}, not the Params of {method.name!r}: "
            f"give workbench.methods.{method.name}.spec.Params or a mapping"
        )
    return params


def _own_data(method: registry.Method, data: Any) -> "tuple[OwnData, ...] | None":
    paths = [data] if isinstance(data, str | PathLike) else list(data)
    if not paths:
        return None
    from workbench.harness.data import own_data

    return own_data(paths, method.data)
