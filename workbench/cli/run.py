"""The command ``run``: a study through its notebook, or alone, with progress and a table of verdicts."""

from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.live import Live
from workbench.cli.output import complain, console, megabytes, say, verdicts
from workbench.errors import ParameterError, WorkbenchError
from workbench.harness import claims, registry, results
from workbench.harness.job import Job
from workbench.harness.launch import Finished, finished_before, launch
from workbench.harness.notebook import CONTROLS
from workbench.harness.params import PRESETS, Params
from workbench.harness.progress import duration
from workbench.harness.runner import Run

FAILED_CLAIM = 3


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command("run")(run)


def run(
    name: Annotated[str, typer.Argument(help="Name of a method, see workbench list.", show_default=False)] = "",
    all_methods: Annotated[bool, typer.Option("--all", help="Run every method.")] = False,
    param: Annotated[list[str] | None, typer.Option("-p", metavar="NAME=VALUE", help="Set a parameter.")] = None,
    scale: Annotated[str, typer.Option(help="Preset to start from: quick or full.")] = "quick",
    seed: Annotated[int | None, typer.Option(help="Set the parameter seed.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads of numba, torch and BLAS.")] = None,
    out: Annotated[Path, typer.Option(help="Folder of the files written.")] = Path("results"),
    data: Annotated[list[Path] | None, typer.Option(exists=True, help="A file of yours, for generated data.")] = None,
    no_notebook: Annotated[bool, typer.Option("--no-notebook", help="Run the study alone.")] = False,
    html: Annotated[bool, typer.Option("--html", help="Also write the notebook as a web page.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 3 if a claim fails.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Run even if the result is there.")] = False,
    timeout: Annotated[
        float | None, typer.Option(min=0.1, help="Seconds allowed; else 15 minutes, 2 hours off the quick preset.")
    ] = None,
) -> int:
    """Run a study and print its verdicts; an equal earlier run is reused."""
    if bool(name) == all_methods:
        raise WorkbenchError("give either the name of a method (see workbench list) or --all")
    if html and no_notebook:
        raise WorkbenchError("--html shows the notebook: leave out --no-notebook")
    names = registry.methods() if all_methods else [name]
    works = [_specified(one, param or [], scale, seed, data or [], out) for one in names]
    codes = []
    for work in works:
        try:
            finished = _done(Job(work, not no_notebook, force, threads), timeout)
        except WorkbenchError as error:
            if not all_methods or error.exit_code > 2:
                raise
            complain(str(error))
            codes.append(error.exit_code)
            continue
        codes.append(_report(work, finished, html=html, strict=strict))
    return max(codes, default=0)


def assignments(method: registry.Method, texts: list[str], seed: int | None) -> dict[str, object]:
    """Turn ``-p NAME=VALUE`` and ``--seed`` into checked values.

    Raises
    ------
    ParameterError
        If one is not of that form, is given twice, is unknown or has a value that is not allowed.
    """
    pairs = [text.partition("=") for text in texts] + ([("seed", "=", str(seed))] if seed is not None else [])
    found: dict[str, str] = {}
    for name, equals, value in pairs:
        name = name.strip()
        if not equals:
            raise ParameterError(
                f"-p {name}: give a parameter as NAME=VALUE; workbench params {method.name} lists them"
            )
        if name in CONTROLS:
            raise ParameterError(f"-p {name}: not a parameter of the study; use --out and --data")
        if name in found:
            raise ParameterError(f"parameter {name!r} is given twice")
        found[name] = value
    return method.params.parse(found)


def _specified(name: str, texts: list[str], scale: str, seed: int | None, data: list[Path], out: Path) -> Run:
    method = registry.get(name)
    if scale not in PRESETS:
        raise ParameterError(f"--scale {scale} is not allowed: it takes quick or full")
    params: Params = method.params.preset(scale, **assignments(method, texts, seed))
    return Run(name, params, data=data, out=out)


def _done(job: Job, timeout: float | None) -> Finished:
    if not job.force and (finished := finished_before(job)):
        say(f"{job.name}: reused the result of an equal run (--force runs it again)")
        return finished
    with Live(job.name) as live:
        return launch(job, on_event=live, timeout=timeout)


def _report(work: Run, finished: Finished, *, html: bool, strict: bool) -> int:
    """Print verdicts and files; return the exit code."""
    found = claims.from_json(finished.attributes["verdicts_json"])
    console().print(verdicts(found))
    files = [finished.result, finished.notebook, _cover(work, finished)]
    if html and finished.notebook:
        from workbench.harness.webpage import write

        files.append(write(finished.notebook))
    if not finished.reused:
        say(f"\n{duration(finished.seconds)}, peak memory {megabytes(finished.peak_bytes)} with all processes")
    for path in filter(None, files):
        say(f"wrote {path}" if not finished.reused else f"there is {path}")
    return FAILED_CLAIM if strict and any(item.verdict == claims.FAILS for item in found) else 0


def _cover(work: Run, finished: Finished) -> Path | None:
    """Write the first figure beside the result and print its caption; a figure that fails costs no run."""
    path = finished.result.with_suffix(".png")
    if finished.reused and path.is_file():
        return path
    from workbench.harness.pictures import save

    try:
        caption = save(work.method.figures.FIGURES[0], results.load(finished.result), path)
    except Exception as error:
        complain(f"no picture: {type(error).__name__}: {error}")
        return None
    say(f"\n{caption}")
    return path
