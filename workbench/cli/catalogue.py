"""The commands that read what methods declare: ``list``, ``params``, ``cite``."""

from typing import Annotated

import typer

from workbench.cli.output import console, say, table
from workbench.harness import citation, registry
from workbench.harness.params import FieldInfo
from workbench.harness.provenance import literal

Name = Annotated[str, typer.Argument(help="Name of a method, see workbench list.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.command("list")(list_methods)
    app.command("params")(list_params)
    app.command("cite")(cite)


def list_methods() -> None:
    """List the methods, their papers and what each shows."""
    rows = table("method", "paper", "what it shows")
    for name in registry.methods():
        method = registry.get(name)
        rows.add_row(name, f"{method.reference.title} ({method.reference.year})", method.spec.SUMMARY)
    rows.columns[0].no_wrap = True
    console().print(rows)


def list_params(name: Name) -> None:
    """List the parameters of a method: type, defaults of both presets, what is allowed."""
    method = registry.get(name)
    rows = table("name", "type", "quick", "full", "allowed", "what it is")
    full = method.params.preset("full").to_dict()
    for field in method.params.fields().values():
        quick = literal(field.default)
        at_full = literal(full[field.name])
        rows.add_row(
            field.name, field.type_name, quick, "" if at_full == quick else at_full, field.allowed, _help(field)
        )
    for column in rows.columns[:2]:
        column.no_wrap = True
    console().print(rows)
    say(f"\nSet one with: workbench run {name} -p NAME=VALUE")
    say("data: " + "; ".join(filter(None, [method.data.what, method.data.limits])))


def cite(name: Name) -> None:
    """Print BibTeX for the paper of a method and for this software."""
    say(registry.get(name).reference.bibtex.strip() + "\n\n" + citation.software())


def _help(field: FieldInfo) -> str:
    unit = f" ({field.unit})" if field.unit and field.unit not in field.allowed else ""
    return field.help + unit + ("" if field.protocol else " [not part of the protocol]")
