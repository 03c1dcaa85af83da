"""Examines the installation: what is there, what is missing and the line that installs it."""

import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

import workbench
from workbench.harness import paths, threads

DISTRIBUTION = "claims-workbench"
EXTENSIONS = ("@jupyter-widgets/jupyterlab-manager", "anywidget", "jupyterlab-plotly")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: fine, missing but optional, or wrong."""

    what: str
    state: Literal["ok", "optional", "wrong"]
    detail: str


def examine() -> list[Finding]:
    """Return everything that was looked at. Cost: some seconds, numba compiles a loop."""
    return [*_base(), *_packages(), *_compiled_loops(), *_kernels(), *_lab(), _browser()]


def _base() -> Iterator[Finding]:
    python = f"{platform.python_version()} at {sys.executable}"
    yield Finding("python", "ok" if sys.version_info >= (3, 11) else "wrong", python)
    yield Finding("workbench", "ok", f"{workbench.__version__} at {paths.package()}")


def _packages() -> Iterator[Finding]:
    """Look for each requirement of this distribution; those of extras are optional."""
    from packaging.requirements import Requirement

    try:
        requirements = [Requirement(line) for line in metadata.requires(DISTRIBUTION) or ()]
    except metadata.PackageNotFoundError:
        yield Finding("packages", "optional", f"{DISTRIBUTION} is not installed, only imported: pip install -e .")
        return
    extras = sorted(metadata.metadata(DISTRIBUTION).get_all("Provides-Extra") or ())
    core = [one for one in requirements if one.marker is None or one.marker.evaluate({"extra": ""})]
    yield from (_package(one, "") for one in core)
    for extra in extras:
        needed = [
            one for one in requirements if one not in core and one.marker and one.marker.evaluate({"extra": extra})
        ]
        missing = [finding for one in needed if (finding := _package(one, extra)).state != "ok"]
        yield from missing or [Finding(f"extra {extra}", "ok", "complete")]


def _package(requirement, extra: str) -> Finding:
    install = (
        f"pip install '{DISTRIBUTION}[{extra}]'"
        if extra
        else f"pip install '{requirement.name}{requirement.specifier}'"
    )
    state = "optional" if extra else "wrong"
    try:
        found = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return Finding(requirement.name, state, f"missing: {install}")
    if not requirement.specifier.contains(found, prereleases=True):
        return Finding(requirement.name, state, f"{found}, but needed is {requirement.specifier}: {install}")
    return Finding(requirement.name, "ok", found)


def _compiled_loops() -> Iterator[Finding]:
    threads.prepare()
    folder = threads.cache_folder()
    writable = _writable(folder)
    hint = "" if writable else "; not writable: set NUMBA_CACHE_DIR to a folder that is"
    yield Finding("numba cache", "ok" if writable else "wrong", f"{folder}{hint}")
    try:
        layer, counts = threads.threading_layer(), threads.thread_counts()
    except Exception as error:
        yield Finding("numba", "wrong", f"cannot run a parallel loop: {type(error).__name__}: {error}")
        return
    described = ", ".join(f"{name} {count}" for name, count in counts.items())
    yield Finding("threads", "ok", f"{described}; numba's layer is {layer}")


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _kernels() -> Iterator[Finding]:
    from jupyter_client.kernelspec import KernelSpecManager

    found = KernelSpecManager().find_kernel_specs()
    for name in ("workbench", "workbench-1"):
        missing = "not installed; workbench run finds its own in a checkout, else pip install again"
        yield Finding(f"kernel {name}", "ok" if name in found else "optional", found.get(name, missing))


def _lab() -> Iterator[Finding]:
    from jupyter_core.paths import jupyter_path

    try:
        yield Finding("jupyterlab", "ok", metadata.version("jupyterlab"))
    except metadata.PackageNotFoundError:
        yield Finding("jupyterlab", "optional", f"missing: pip install '{DISTRIBUTION}[lab]'")
        return
    for name in EXTENSIONS:
        places = [place for place in jupyter_path("labextensions") if (Path(place) / name / "package.json").is_file()]
        detail = places[0] if places else "missing: widgets will not show; install everything in one environment"
        yield Finding(f"extension {name}", "ok" if places else "wrong", detail)


def _browser() -> Finding:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    return Finding("chromium", "ok" if found else "optional", found or "missing; only the browser test needs it")
