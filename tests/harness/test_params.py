"""Parameters: what is accepted, what is refused and how the refusal reads."""

import json
import math
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import ParameterError
from workbench.harness.params import Params, param, parse_literal


class Sample(Params):
    sides: list[int] = param([64], "image sides", unit="pixels", ge=4, le=512, min_length=1, max_length=3)
    rate: float = param(0.5, "rate", unit="1/s", gt=0, lt=1)
    count: int = param(3, "how many", ge=1)
    keep: bool = param(True, "keep it")
    solver: str = param("fast", "solver", choices=("fast", "exact"))
    names: list[str] = param(["a"], "names")
    seed: int = param(0, "seed", ge=0, protocol=False)

    FULL: ClassVar[dict] = {"sides": [64, 128], "count": 5}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rte": 0.1}, "unknown parameter 'rte'; did you mean 'rate'?"),
        ({"zzz": 1}, "unknown parameter 'zzz'; known: sides, rate, count, keep, solver, names, seed"),
        ({"rate": 1.0}, "rate = 1.0 is not allowed: it takes a number, more than 0 and less than 1 1/s"),
        ({"rate": "fast"}, "rate = 'fast' is not allowed: it takes a number, more than 0 and less than 1 1/s"),
        ({"count": 0}, "count = 0 is not allowed: it takes a whole number, at least 1"),
        ({"count": 2.5}, "count = 2.5 is not allowed: it takes a whole number, at least 1"),
        ({"count": True}, "count = True is not allowed: it takes a whole number, at least 1"),
        ({"count": None}, "count = None is not allowed: it takes a whole number, at least 1"),
        ({"keep": 1}, "keep = 1 is not allowed: it takes true or false"),
        ({"solver": "slow"}, "solver = 'slow' is not allowed: it takes text, one of fast, exact"),
        (
            {"sides": [64, 2]},
            "sides = [64, 2] is not allowed: it takes a list (a whole number each), "
            "1 to 3 items, each at least 4 and at most 512 pixels",
        ),
        (
            {"sides": []},
            "sides = [] is not allowed: it takes a list (a whole number each), "
            "1 to 3 items, each at least 4 and at most 512 pixels",
        ),
        ({"names": "a"}, "names = 'a' is not allowed: it takes a list (text each)"),
        ({"names": [1]}, "names = [1] is not allowed: it takes a list (text each)"),
    ],
)
def test_refusals_say_what_was_given_and_what_is_allowed(values, message):
    with pytest.raises(ParameterError) as caught:
        Sample(**values)
    assert str(caught.value) == message


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 0.0, 1.0, 2, True, "0.1", [0.1], None])
def test_a_bounded_float_refuses(value):
    with pytest.raises(ParameterError, match=r"^rate = "):
        Sample(rate=value)


@pytest.mark.parametrize("value", [1.0, "1", False, np.float64(1.0), np.bool_(True), [1], 10**30j])
def test_a_whole_number_refuses(value):
    with pytest.raises(ParameterError, match=r"^count = "):
        Sample(count=value)


def test_a_whole_number_is_a_float_too():
    class Wide(Params):
        x: float = param(0.0, "x")

    assert Wide(x=3).x == 3.0 and isinstance(Wide(x=3).x, float)
    with pytest.raises(ParameterError):
        Wide(x=True)


def test_numpy_values_become_plain_ones():
    params = Sample(count=np.int64(4), rate=np.float32(0.5), sides=np.array([8, 16]), keep=np.bool_(False))
    assert params.to_dict() | {"names": 0} == {
        "sides": [8, 16], "rate": 0.5, "count": 4, "keep": False, "solver": "fast", "names": 0, "seed": 0,
    }  # fmt: skip
    assert {type(value) for value in params.to_dict().values()} == {list, float, int, bool, str}
    json.loads(params.to_json())


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("count", "7", 7),
        ("count", " 7 ", 7),
        ("count", "1_000", 1000),
        ("rate", "1e-3", 0.001),
        ("rate", ".25", 0.25),
        ("keep", "false", False),
        ("keep", "True", True),
        ("keep", "no", False),
        ("solver", "exact", "exact"),
        ("solver", "'exact'", "exact"),
        ("sides", "64,128", [64, 128]),
        ("sides", "[64, 128]", [64, 128]),
        ("sides", "64", [64]),
        ("names", "a,b", ["a", "b"]),
        ("names", "[\"a b\", 'c,d']", ["a b", "c,d"]),
        ("names", '"x, y"', ["x, y"]),
        ("names", "it's,'it\\'s'", ["it's", "it's"]),
        ("names", "a,", ["a"]),
        ("names", "[]", []),
        ("names", "", []),
    ],
)
def test_text_of_the_command_line_becomes_values(name, text, value):
    assert Sample.parse({name: text}) == {name: value}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("count", "2.5"), ("count", ""), ("count", "seven"), ("count", "true"), ("count", "1e3x"), ("rate", "nan"),
        ("rate", "inf"), ("rate", "0,5"), ("keep", "maybe"), ("keep", "2"), ("solver", ""), ("sides", "[64"),
        ("sides", "64,,128"), ("sides", "64;128"), ("sides", "[[64]]"), ("names", '["a'), ("names", '"\\x"'),
    ],
)  # fmt: skip
def test_text_that_is_not_of_the_type_is_refused(name, text):
    with pytest.raises(ParameterError, match=f"^{name} = "):
        Sample.parse({name: text})


def test_the_given_text_is_what_the_refusal_shows():
    with pytest.raises(ParameterError, match=r"^sides = '64;128' is not allowed: it takes a list"):
        Sample.parse({"sides": "64;128"})


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=8), max_size=4))
def test_any_list_of_text_survives_being_written_as_json(values):
    field = Sample.fields()["names"]
    assert parse_literal(json.dumps(values, ensure_ascii=False), field) == values


@given(st.floats(min_value=1e-300, max_value=0.999))
def test_any_number_survives_being_written(value):
    assert Sample.parse({"rate": repr(value)}) == {"rate": value}


def test_scale_is_the_preset_whose_protocol_the_values_share():
    assert Sample().scale() == "quick"
    assert Sample.preset("full").scale() == "full"
    assert Sample(seed=9).scale() == "quick"
    assert Sample(rate=0.1).scale() == "off protocol"
    assert Sample(sides=[64, 128]).scale() == "off protocol"
    assert Sample.preset("full", seed=3, count=3).scale() == "off protocol"


def test_a_preset_with_changes_on_top():
    assert Sample.preset("full", count=9).to_dict()["count"] == 9
    assert Sample.preset("full").sides == [64, 128]
    with pytest.raises(ParameterError, match="scale = 'huge' is not a preset; known: quick, full"):
        Sample.preset("huge")
    with pytest.raises(ParameterError, match="did you mean 'full'"):
        Sample.preset("ful")


def test_params_are_values():
    assert Sample() == Sample(count=3) and hash(Sample()) == hash(Sample(count=3))
    assert Sample() != Sample(count=4)
    assert Sample().replace(count=4).count == 4
    with pytest.raises(ParameterError):
        Sample().replace(count=0)
    with pytest.raises(ParameterError):
        Sample().model_copy(update={"cont": 1})
    with pytest.raises(Exception, match="frozen"):
        Sample().count = 9


def test_the_default_list_is_not_shared():
    first = Sample()
    first.sides.append(3)
    assert Sample().sides == [64]


def test_a_namespace_may_hold_more_and_less():
    assert Sample.from_namespace({"count": 8, "other": object()}) == Sample(count=8)
    with pytest.raises(ParameterError):
        Sample.from_namespace({"count": "8"})


def test_fields_tell_everything():
    field = Sample.fields()["sides"]
    assert (field.type_name, field.item, field.is_list, field.unit) == ("list[int]", int, True, "pixels")
    assert Sample.fields()["seed"].protocol is False
    assert Sample.fields()["keep"].allowed == ""


@pytest.mark.parametrize("annotation", [int | None, dict, list, list[int | str], tuple[int, int], list[list[int]]])
def test_other_types_are_refused_when_a_study_declares_them(annotation):
    class Wrong(Params):
        x: annotation = param(None, "x")

    with pytest.raises(TypeError, match="parameter 'x' must be int, float, bool, str or a list of one of them"):
        Wrong.fields()


def test_a_plain_default_is_refused_when_a_study_declares_it():
    class Wrong(Params):
        x: int = 3

    with pytest.raises(TypeError, match=r"workbench\.harness\.params\.param"):
        Wrong.fields()


@pytest.mark.parametrize("default", [0, "a", 5.5])
def test_a_default_out_of_its_own_bounds_is_an_error_of_the_study(default):
    class Wrong(Params):
        x: int = param(default, "x", ge=1)

    with pytest.raises(TypeError, match="default"):
        Wrong.fields()
