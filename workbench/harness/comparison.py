"""Compares two results of one method: parameters, variables, verdicts."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.harness import claims
from workbench.harness.claims import Verdict

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Difference:
    """How a variable differs: in words if it cannot be subtracted, else by its largest differences."""

    variable: str
    words: str
    largest: float = float("nan")
    relative: float = float("nan")


@dataclass(frozen=True)
class Comparison:
    """What two results do not share.

    Attributes
    ----------
    params
        For each parameter that differs, its two values.
    variables
        Differences of variables that should be equal if the parameters are.
    volatile
        Differences of measurements of time and memory.
    verdicts
        For each claim, the two verdicts (None where a result lacks it).
    """

    params: dict[str, tuple[Any, Any]]
    variables: list[Difference]
    volatile: list[Difference]
    verdicts: dict[str, tuple[Verdict | None, Verdict | None]]


def compare(first: "xr.Dataset", second: "xr.Dataset") -> Comparison:
    """Return how two results of one method differ. Two nan count as equal."""
    names = list(dict.fromkeys([*map(str, first.variables), *map(str, second.variables)]))
    found = [(name, difference) for name in names if (difference := _difference(name, first, second))]
    moving = {name for name in names for side in (first, second) if name in side and side[name].attrs.get("volatile")}
    return Comparison(
        params=_paired(*(json.loads(side.attrs["params_json"]) for side in (first, second)), only_unequal=True),
        variables=[difference for name, difference in found if name not in moving],
        volatile=[difference for name, difference in found if name in moving],
        verdicts=_paired(*({v.claim: v for v in claims.from_json(s.attrs["verdicts_json"])} for s in (first, second))),
    )


def _paired(a: dict[str, Any], b: dict[str, Any], *, only_unequal: bool = False) -> dict[str, tuple[Any, Any]]:
    pairs = {name: (a.get(name), b.get(name)) for name in dict.fromkeys([*a, *b])}
    return {name: (x, y) for name, (x, y) in pairs.items() if not only_unequal or x != y}


def _difference(name: str, first: "xr.Dataset", second: "xr.Dataset") -> Difference | None:
    if name not in first.variables or name not in second.variables:
        return Difference(name, "only in the first" if name in first.variables else "only in the second")
    a, b = first[name].values, second[name].values
    if a.shape != b.shape:
        return Difference(name, f"shapes {a.shape} and {b.shape}")
    if a.dtype.kind not in "biufc" or b.dtype.kind not in "biufc":
        unequal = int((a != b).sum())
        return Difference(name, f"{unequal} of {a.size} values differ") if unequal else None
    return _numbers(name, a, b)


def _numbers(name: str, a: np.ndarray, b: np.ndarray) -> Difference | None:
    kind = complex if "c" in a.dtype.kind + b.dtype.kind else float
    a, b = a.astype(kind), b.astype(kind)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if same.all():
        return None
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = np.abs(a - b)[~same]
        relative = gap / np.maximum(np.abs(a), np.abs(b))[~same]
    return Difference(name, f"{gap.size} of {a.size} values differ", float(np.max(gap)), float(np.max(relative)))
