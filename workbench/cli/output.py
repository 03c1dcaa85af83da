"""What the commands print: tables that hold at 80 columns and in a pipe, messages on standard error."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from workbench.harness.claims import Verdict

STYLES = {"holds": "green", "fails": "red", "undecided": "yellow"}
MARKS = {"holds": "+", "fails": "x", "undecided": "?"}


def console() -> Console:
    """Return a console on standard output; in a pipe it is 100 columns wide and has no colours."""
    return Console(width=None if sys.stdout.isatty() else 100, highlight=False, markup=False)


def say(text: str) -> None:
    """Print one line on standard output, as it is."""
    print(text)


def complain(text: str) -> None:
    """Print an error on standard error."""
    print(f"workbench: {text}", file=sys.stderr)


def table(*columns: str, title: str = "") -> Table:
    """Return an empty table in the one look of all commands."""
    made = Table(title=title or None, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(column, overflow="fold")
    return made


def verdicts(found: "Sequence[Verdict]") -> Table:
    """Return the table of verdicts: the mark, the claim, the paper's number, ours, the bound."""
    made = table("verdict", "claim", "paper", "ours", "bound")
    for item in found:
        word = Text(f"{MARKS[item.verdict]} {item.verdict}", style=STYLES[item.verdict])
        claim = Text(item.statement)
        if item.reason:
            claim.append(f" ({item.reason})", style="dim")
        made.add_row(word, claim, item.paper, number(item.value), item.bound)
    for column, share in zip(made.columns, (0, 5, 3, 0, 0), strict=True):
        column.ratio = share or None
        column.no_wrap = not share
    made.expand = True
    return made


def number(value: float) -> str:
    """Return a measure with four digits, ``-`` where it was not taken.

    Examples
    --------
    >>> number(0.123456), number(float("nan"))
    ('0.1235', '-')
    """
    return "-" if value != value else f"{value:.4g}"


def megabytes(count: float) -> str:
    """Return bytes as megabytes in words.

    Examples
    --------
    >>> megabytes(123_456_789)
    '123 MB'
    """
    return f"{count / 1e6:.0f} MB"
