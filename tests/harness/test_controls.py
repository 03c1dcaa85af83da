import shlex
from pathlib import Path

import ipywidgets
import pytest

from workbench.harness import registry
from workbench.harness.controls import command_line, widget_for
from workbench.harness.params import Params, param


class Study(Params):
    kinds: list[str] = param(["a", "b"], "the kinds", choices=("a", "b", "c"))
    sides: list[int] = param([64], "image sides", unit="pixels", ge=16, le=1024, min_length=1)
    shares: list[float] = param([0.5], "the shares", ge=0, le=1)
    words: list[str] = param([], "some words")
    layer: str = param("ssm", "the layer", choices=("ssm", "rnn"))
    depth: int = param(4, "the depth", choices=(2, 4, 8))
    delay: int = param(3, "the delay", unit="steps", gt=0, lt=10)
    seed: int = param(0, "the seed", ge=0)
    rate: float = param(3e-3, "the rate", gt=0, le=1)
    angle: float = param(0.0, "the angle", unit="degrees", ge=-90, le=90)
    weight: float = param(1.0, "the weight", ge=0)
    tied: bool = param(True, "whether tied")
    folder: str = param("", "a folder")


FIELDS = Study.fields()

KINDS = {
    "kinds": ipywidgets.SelectMultiple,
    "sides": ipywidgets.IntsInput,
    "shares": ipywidgets.FloatsInput,
    "words": ipywidgets.TagsInput,
    "layer": ipywidgets.Dropdown,
    "depth": ipywidgets.SelectionSlider,
    "delay": ipywidgets.IntSlider,
    "seed": ipywidgets.BoundedIntText,
    "rate": ipywidgets.SelectionSlider,
    "angle": ipywidgets.FloatSlider,
    "weight": ipywidgets.BoundedFloatText,
    "tied": ipywidgets.Checkbox,
    "folder": ipywidgets.Text,
}


@pytest.mark.parametrize("name", FIELDS)
def test_each_field_gets_the_control_of_its_kind_with_name_unit_and_help(name):
    field = FIELDS[name]
    widget = widget_for(field)
    assert type(widget) is KINDS[name]
    assert widget.description == (f"{name} ({field.unit})" if field.unit else name)
    assert widget.tooltip.startswith(field.help)
    assert field.allowed in widget.tooltip


@pytest.mark.parametrize("name", FIELDS)
def test_the_value_of_a_control_is_a_value_of_the_parameter(name):
    assert Study(**{name: widget_for(FIELDS[name]).value}) == Study()


@pytest.mark.parametrize("name", FIELDS)
def test_only_live_controls_report_while_dragged(name):
    widget = widget_for(FIELDS[name])
    if widget.has_trait("continuous_update"):
        assert not widget.continuous_update
        assert widget_for(FIELDS[name], live=True).continuous_update


@pytest.mark.parametrize("name", ["delay", "angle"])
def test_the_ends_of_a_slider_are_allowed_and_nothing_beyond(name):
    widget = widget_for(FIELDS[name])
    for end in (widget.min, widget.max):
        Study(**{name: end})
    with pytest.raises(ValueError, match=name):
        Study(**{name: widget.max + 1})


def test_a_range_of_decades_is_walked_in_steps_of_one_two_five():
    rate = widget_for(FIELDS["rate"])
    labels = [label for label, _ in rate.options]
    assert labels[:4] == ["3e-05", "5e-05", "0.0001", "0.0002"]
    assert labels[-2:] == ["0.5", "1"]
    assert rate.value == 3e-3
    rate.value = 1e-2
    for _, value in rate.options:
        Study(rate=value)


@pytest.mark.parametrize("changes", [{}, {"tolerance": 1e-5, "keep_support": False, "classes": ["Shapes"], "seed": 3}])
def test_the_command_line_parses_back_to_the_same_parameters_and_files(changes):
    transport = registry.get("transport").params
    params = transport(**changes)
    program, verb, method, *options = shlex.split(command_line("transport", params, [Path("own file.npy")]))
    assert (program, verb, method, *options[-2:]) == ("workbench", "run", "transport", "--data", "own file.npy")
    pairs = zip(options[:-2:2], options[1:-2:2], strict=True)
    words = [f"seed={text}" if flag == "--seed" else text for flag, text in pairs]
    assert transport(**transport.parse(dict(word.split("=", 1) for word in words))) == params
