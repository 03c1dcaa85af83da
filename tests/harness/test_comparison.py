"""Comparing two results: what differs, by how much, and what may."""

import math

import numpy as np
import pytest
import xarray as xr

from workbench.harness.claims import Verdict, to_json
from workbench.harness.comparison import compare


def side(params='{"n": 1}', verdicts=(), **variables):
    return xr.Dataset(variables, attrs={"params_json": params, "verdicts_json": to_json(list(verdicts))})


def test_equal_results_do_not_differ():
    values = ("t", [1.0, math.nan, math.inf])
    found = compare(side(x=values, s=("t", ["a", "b", "c"])), side(x=values, s=("t", ["a", "b", "c"])))
    assert (found.params, found.variables, found.volatile, found.verdicts) == ({}, [], [], {})


@pytest.mark.parametrize(
    ("a", "b", "words", "largest", "relative"),
    [
        ([1.0, 2.0], [1.0, 2.5], "1 of 2 values differ", 0.5, 0.2),
        ([0.0, 0.0], [0.0, 4.0], "1 of 2 values differ", 4.0, 1.0),
        ([1, 2], [1, 3], "1 of 2 values differ", 1.0, 1 / 3),
        ([True, False], [True, True], "1 of 2 values differ", 1.0, 1.0),
        ([1.0, 1.0], [1.0, math.nan], "1 of 2 values differ", math.nan, math.nan),
        ([1 + 1j, 0], [1 - 1j, 0], "1 of 2 values differ", 2.0, math.sqrt(2)),
        (["a", "b"], ["a", "c"], "1 of 2 values differ", math.nan, math.nan),
        ([1.0, 2.0], ["1", "2"], "2 of 2 values differ", math.nan, math.nan),
        ([1.0], [1.0, 2.0], "shapes (1,) and (2,)", math.nan, math.nan),
    ],
)
def test_differences(a, b, words, largest, relative):
    (found,) = compare(side(x=("t", a)), side(x=("t", b))).variables
    assert found.words == words
    np.testing.assert_allclose([found.largest, found.relative], [largest, relative])


def test_measurements_of_time_are_reported_apart():
    found = compare(side(x=((), 1.0, {"volatile": 1})), side(x=((), 2.0, {"volatile": 1})))
    assert found.variables == [] and found.volatile[0].largest == 1.0


def test_what_only_one_side_has():
    found = compare(side('{"n": 1, "m": 2}', x=("t", [1.0])), side('{"n": 3}', y=("t", [1.0])))
    assert found.params == {"n": (1, 3), "m": (2, None)}
    assert [(d.variable, d.words) for d in found.variables] == [("x", "only in the first"), ("y", "only in the second")]


def test_verdicts_side_by_side():
    one = Verdict("c", "holds", 1.0, "at most 2", 1.0, "2", "A sentence")
    found = compare(side(verdicts=[one]), side(verdicts=[]))
    assert found.verdicts == {"c": (one, None)}
