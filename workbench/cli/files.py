"""The commands that read result files: ``show``, ``compare``."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from workbench.cli.output import complain, console, number, say, table, verdicts
from workbench.errors import WorkbenchError
from workbench.harness import claims, registry, results

if TYPE_CHECKING:
    import xarray as xr

    from workbench.harness.comparison import Comparison, Difference


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.command("show")(show)
    app.command("compare")(compare)


File = Annotated[Path, typer.Argument(help="A result file (.nc).", show_default=False)]


def show(
    file: File,
    figures: Annotated[Path | None, typer.Option(help="Folder to write the pictures and captions to.")] = None,
) -> int:
    """Show the parameters, provenance and verdicts of a result; with --figures write its pictures."""
    dataset = results.load(file)
    if figures is not None:
        results.check_folder(figures)
    for title, values in (("parameters", _params(dataset)), ("provenance", _provenance(dataset))):
        rows = table(title, "")
        for name, value in values.items():
            rows.add_row(name, str(value))
        console().print(rows)
        say("")
    console().print(verdicts(claims.from_json(dataset.attrs["verdicts_json"])))
    return 0 if figures is None else _write_figures(dataset, figures)


def _params(dataset: "xr.Dataset") -> dict[str, object]:
    return json.loads(dataset.attrs["params_json"])


def _provenance(dataset: "xr.Dataset") -> dict[str, object]:
    left_out = ("params_json", "verdicts_json")
    return {name: value for name, value in dataset.attrs.items() if name not in left_out and value != ""}


def _write_figures(dataset: "xr.Dataset", folder: Path) -> int:
    """Write what pictures can be drawn: a result of other sources may lack what one shows. Return the exit code."""
    from workbench.harness.pictures import save

    code = 0
    for figure in registry.get(dataset.attrs["method"]).figures.FIGURES:
        path = folder / f"{figure.__name__}.png"
        try:
            caption = save(figure, dataset, path)
        except OSError:
            raise
        except Exception as error:
            complain(f"no {path.name}: {type(error).__name__}: {error}")
            code = 1
            continue
        results.write_atomically(path.with_suffix(".txt"), lambda part, text=caption: part.write_text(text + "\n"))
        say(f"wrote {path}")
    return code


def compare(a: File, b: File) -> None:
    """Compare two results: parameters and variables that differ, verdicts side by side."""
    from workbench.harness.comparison import compare as compared

    first, second = results.load(a), results.load(b)
    if first.attrs["method"] != second.attrs["method"]:
        raise WorkbenchError(f"{a} and {b} are results of different methods: compare results of one method")
    _print_comparison(compared(first, second))


def _print_comparison(found: "Comparison") -> None:
    params = table("parameter", "first", "second")
    for name, (x, y) in found.params.items():
        params.add_row(name, str(x), str(y))
    console().print(params if found.params else "the parameters are equal")
    for title, differences in (("variable", found.variables), ("time or memory", found.volatile)):
        say("")
        console().print(_differences(title, differences) if differences else f"no {title} differs")
    say("")
    sides = table("claim", "first", "second")
    for name, pair in found.verdicts.items():
        sides.add_row(name, *(f"{v.verdict} ({number(v.value)})" if v else "-" for v in pair))
    console().print(sides)


def _differences(title: str, found: "list[Difference]") -> Table:
    rows = table(title, "how", "largest", "relative")
    for item in found:
        rows.add_row(item.variable, item.words, number(item.largest), number(item.relative))
    return rows
