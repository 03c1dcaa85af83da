"""Claims: bounds, verdicts and their reasons, the stored form."""

import json
import math

import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from workbench.harness import claims
from workbench.harness.claims import Claim, Undecided, at_least, at_most, between, judge

VALUE = xr.Dataset({"x": 2.0})


def claim(measure, bound=None, **options):
    return Claim("c", "A sentence", "section 1", "about 2", measure, bound or at_most(3), **options)


def reading(dataset):
    return dataset["x"]


@pytest.mark.parametrize(
    ("bound", "value", "margin"),
    [
        (at_most(3), 2, 1),
        (at_most(3), 3, 0),
        (at_most(3), 4, -1),
        (at_least(3), 4, 1),
        (at_least(3), 3, 0),
        (between(1, 4), 2, 1),
        (between(1, 4), 5, -1),
        (between(1, 4), 0, -1),
        (at_most(3), math.inf, -math.inf),
        (at_least(3), math.inf, math.inf),
    ],
)
def test_margin_is_the_distance_inside_the_bound(bound, value, margin):
    assert bound.margin(value) == margin


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_a_value_is_inside_exactly_if_its_margin_is_not_negative(low, high, value):
    assert (between(low, high).margin(value) >= 0) == (low <= value <= high)


@pytest.mark.parametrize("bound", [at_most(1), at_least(1), between(0, 1)])
def test_nan_has_no_margin(bound):
    assert math.isnan(bound.margin(math.nan))


@pytest.mark.parametrize(
    ("scale", "options", "verdict", "reason"),
    [
        ("quick", {}, "holds", ""),
        ("full", {}, "holds", ""),
        ("quick", {"bound": at_most(1)}, "fails", ""),
        ("off protocol", {}, "undecided", "parameters off the protocol"),
        ("own data", {}, "undecided", "own data"),
        ("quick", {"presets": ("full",)}, "undecided", "needs the full preset"),
        ("full", {"presets": ("full",)}, "holds", ""),
    ],
)
def test_verdicts_and_reasons(scale, options, verdict, reason):
    (found,) = judge(VALUE, [claim(reading, **options)], scale)
    assert (found.verdict, found.reason, found.value) == (verdict, reason, 2.0)


def test_a_measure_that_is_not_a_number_fails():
    (found,) = judge(VALUE, [claim(lambda ds: ds["x"] * math.nan)], "quick")
    assert (found.verdict, found.reason) == ("fails", "the measure is not a number")


def test_a_measure_that_cannot_be_taken_is_undecided_with_its_reason():
    def missing(dataset):
        raise Undecided("POT is not installed")

    (found,) = judge(VALUE, [claim(missing)], "quick")
    assert (found.verdict, found.reason) == ("undecided", "POT is not installed")
    assert math.isnan(found.value) and math.isnan(found.margin)


def test_an_error_in_a_measure_is_not_hidden():
    with pytest.raises(KeyError):
        judge(VALUE, [claim(lambda ds: ds["y"])], "quick")


@pytest.mark.parametrize("value", [1.5, math.nan, math.inf, -math.inf, -0.0])
def test_the_stored_form_gives_the_same_verdicts(value):
    before = judge(VALUE, [claim(lambda ds: value)], "quick")
    text = claims.to_json(before)
    (after,) = claims.from_json(text)
    assert repr(after) == repr(before[0])
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_the_table_has_a_row_a_claim():
    stored = claims.to_json(judge(VALUE, [claim(reading), claim(lambda ds: math.nan)], "quick"))
    table = claims.verdict_table(xr.Dataset(attrs={"verdicts_json": stored}))
    assert list(table.columns) == ["claim", "paper", "ours", "bound", "verdict", "reason"]
    assert list(table["ours"]) == ["2", "-"] and list(table["verdict"]) == ["holds", "fails"]


def test_no_claims_no_verdicts():
    assert judge(VALUE, [], "quick") == []
    assert len(claims.verdict_table(xr.Dataset(attrs={"verdicts_json": "[]"}))) == 0
