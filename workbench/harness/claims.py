"""Claims of a paper and the verdicts that a run's dataset gives on them."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from workbench.harness.params import PRESETS

if TYPE_CHECKING:
    import xarray as xr

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"


class Undecided(Exception):
    """Raised by a measure that cannot be taken on a dataset; the text is the reason."""


@dataclass(frozen=True)
class Bound:
    """The values for which a claim holds: an interval, ends included.

    Examples
    --------
    >>> str(at_most(1e-4)), str(between(75, 115))
    ('at most 0.0001', 'between 75 and 115')
    """

    low: float = -math.inf
    high: float = math.inf

    def __str__(self) -> str:
        if self.low == -math.inf:
            return f"at most {self.high:g}"
        if self.high == math.inf:
            return f"at least {self.low:g}"
        return f"between {self.low:g} and {self.high:g}"

    def margin(self, value: float) -> float:
        """Return the distance of `value` from the nearer end: negative outside, nan for nan."""
        return min(value - self.low, self.high - value)


def at_most(high: float) -> Bound:
    """Return the bound that values up to `high` meet."""
    return Bound(high=high)


def at_least(low: float) -> Bound:
    """Return the bound that values from `low` on meet."""
    return Bound(low=low)


def between(low: float, high: float) -> Bound:
    """Return the bound that values in ``[low, high]`` meet."""
    return Bound(low, high)


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, with the measure and the bound that decide it.

    Attributes
    ----------
    name
        A short slug, unique within the method.
    statement
        The claim as one sentence that is true or false.
    where
        Where the paper says it (section, table), or ``"ours"`` for a check of this implementation.
    paper
        The paper's own number, as text.
    measure
        The number measured on a run's dataset; raises `Undecided` where it cannot be taken.
    bound
        The values for which the claim holds at our scale.
    presets
        The presets whose runs decide the claim.
    """

    name: str
    statement: str
    where: str
    paper: str
    measure: "Callable[[xr.Dataset], float]"
    bound: Bound
    presets: tuple[str, ...] = PRESETS


@dataclass(frozen=True)
class Verdict:
    """What a run says of one claim.

    ``value`` is the measure (nan where it was not taken), ``margin`` its distance inside the
    bound (negative outside), ``reason`` why the claim is undecided or how it fails.
    """

    claim: str
    verdict: Literal["holds", "fails", "undecided"]
    value: float
    bound: str
    margin: float
    paper: str
    statement: str
    reason: str = ""


def judge(dataset: "xr.Dataset", claims: Sequence[Claim], scale: str) -> list[Verdict]:
    """Return the verdict of `dataset` on each claim.

    Parameters
    ----------
    dataset
        What the study returned.
    claims
        The method's claims.
    scale
        ``"quick"``, ``"full"`` or ``"off protocol"`` (see `Params.scale`), or another reason,
        as text, why this run decides nothing, e.g. ``"own data"``.

    Notes
    -----
    A measure that comes out as nan fails: a study that diverged has not shown its claim.
    """
    return [_judge_one(dataset, claim, scale) for claim in claims]


def _judge_one(dataset: "xr.Dataset", claim: Claim, scale: str) -> Verdict:
    def verdict(word: Any, value: float, reason: str = "") -> Verdict:
        margin = claim.bound.margin(value)
        return Verdict(claim.name, word, value, str(claim.bound), margin, claim.paper, claim.statement, reason)

    if scale not in PRESETS:
        undecided = "parameters off the protocol" if scale == "off protocol" else scale
    else:
        undecided = "" if scale in claim.presets else f"needs the {' or '.join(claim.presets)} preset"
    try:
        value = float(claim.measure(dataset))
    except Undecided as reason:
        return verdict(UNDECIDED, math.nan, undecided or str(reason))
    if undecided:
        return verdict(UNDECIDED, value, undecided)
    if math.isnan(value):
        return verdict(FAILS, value, "the measure is not a number")
    return verdict(HOLDS if claim.bound.margin(value) >= 0 else FAILS, value)


def to_json(verdicts: Sequence[Verdict]) -> str:
    """Return verdicts as one line of JSON; it knows neither nan (null) nor infinity (text)."""
    return json.dumps([{k: _to_json(v) for k, v in asdict(verdict).items()} for verdict in verdicts])


def from_json(text: str) -> list[Verdict]:
    """Return the verdicts that `to_json` wrote."""
    rows = json.loads(text)
    return [Verdict(**row | {k: _from_json(row[k]) for k in ("value", "margin")}) for row in rows]


def _to_json(value: Any) -> Any:
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else str(value)


def _from_json(value: Any) -> float:
    return math.nan if value is None else float(value)


def verdict_table(dataset: "xr.Dataset") -> Any:
    """Return the verdicts stored with a run's dataset as a table.

    Returns
    -------
    pandas.DataFrame
        One row a claim: claim, paper, ours, bound, verdict, reason.
    """
    import pandas as pd

    verdicts = from_json(dataset.attrs["verdicts_json"])
    rows = [
        {
            "claim": v.statement,
            "paper": v.paper,
            "ours": "-" if v.value != v.value else f"{v.value:.4g}",
            "bound": v.bound,
            "verdict": v.verdict,
            "reason": v.reason,
        }
        for v in verdicts
    ]
    return pd.DataFrame(rows, columns=["claim", "paper", "ours", "bound", "verdict", "reason"])
