"""Controls made from parameters: ipywidgets whose ``value`` is the value of the parameter."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ipywidgets

from workbench.harness import registry
from workbench.harness.params import FieldInfo, Params
from workbench.harness.provenance import command

LARGEST_INT = 2**31 - 1
DECADES_OF_A_LINEAR_SLIDER = 2


def widget_for(field: FieldInfo, *, live: bool = False) -> Any:
    """Return the control of a parameter: its name and unit as description, its help as tooltip.

    Parameters
    ----------
    field
        What is known of the parameter (`Params.fields`).
    live
        Whether the control reports while it is dragged; for what redraws in less than 50 ms.

    Returns
    -------
    ipywidgets.ValueWidget
        A checkbox for bool; a list to choose from for choices (several at once for lists, a slider for
        numbers); a slider for numbers with two ends, in steps of 1, 2, 5, 10... where they span decades;
        a box otherwise. Its ``value`` is the default.

    Examples
    --------
    >>> from workbench.harness.params import Params, param
    >>> class Study(Params):
    ...     rate: float = param(1e-3, "learning rate", ge=1e-4, le=1.0)
    >>> rate = widget_for(Study.fields()["rate"])
    >>> rate.description, rate.tooltip
    ('rate', 'learning rate: at least 0.0001 and at most 1')
    >>> [label for label, _ in rate.options][:4]
    ['0.0001', '0.0002', '0.0005', '0.001']
    """
    kind, traits = _kind(field)
    words = field.name.replace("_", " ")
    widget = kind(
        **traits,
        value=field.default,
        description=f"{words} ({field.unit})" if field.unit else words,
        tooltip=": ".join(part for part in (field.help, field.allowed) if part),
        style={"description_width": "9em"},
        layout={"width": "24em"},
    )
    if widget.has_trait("continuous_update"):
        widget.continuous_update = live
    return widget


def command_line(method: str, params: Params, paths: Sequence[Path] = ()) -> str:
    """Return the ``workbench run`` line that runs `method` with these parameters and own files.

    Examples
    --------
    >>> from workbench.harness import registry
    >>> command_line("transport", registry.get("transport").params(tolerance=0.001))
    'workbench run transport -p tolerance=0.001'
    """
    return command(registry.get(method), params, paths)


def _kind(field: FieldInfo) -> tuple[Any, dict[str, Any]]:
    if field.choices:
        return _choice(field)
    if field.is_list:
        return {int: ipywidgets.IntsInput, float: ipywidgets.FloatsInput}.get(field.item, ipywidgets.TagsInput), {}
    if field.item is bool:
        return ipywidgets.Checkbox, {}
    return (ipywidgets.Text, {}) if field.item is str else _number(field)


def _choice(field: FieldInfo) -> tuple[Any, dict[str, Any]]:
    options = {"options": list(field.choices)}
    if field.is_list:
        return ipywidgets.SelectMultiple, {**options, "rows": min(len(field.choices), 10)}
    return (ipywidgets.Dropdown if field.item is str else ipywidgets.SelectionSlider), options


def _number(field: FieldInfo) -> tuple[Any, dict[str, Any]]:
    whole = field.item is int
    low, high = _least(field), _greatest(field)
    if not (math.isfinite(low) and math.isfinite(high)):
        if whole:
            low, high = max(low, -LARGEST_INT), min(high, LARGEST_INT)
        return (ipywidgets.BoundedIntText if whole else ipywidgets.BoundedFloatText), {"min": low, "max": high}
    if whole:
        return ipywidgets.IntSlider, {"min": low, "max": high}
    if low > 0 and math.log10(high / low) > DECADES_OF_A_LINEAR_SLIDER:
        return ipywidgets.SelectionSlider, {"options": _decades(low, high, field.default)}
    return ipywidgets.FloatSlider, {"min": low, "max": high, "step": (high - low) / 100, "readout_format": ".3g"}


def _least(field: FieldInfo) -> Any:
    if "ge" in field.bounds or "gt" not in field.bounds:
        return field.bounds.get("ge", -math.inf)
    above = field.bounds["gt"]
    if field.item is int:
        return above + 1
    return field.default / 100 if above == 0 else math.nextafter(above, math.inf)


def _greatest(field: FieldInfo) -> Any:
    if "le" in field.bounds or "lt" not in field.bounds:
        return field.bounds.get("le", math.inf)
    below = field.bounds["lt"]
    return below - 1 if field.item is int else math.nextafter(below, -math.inf)


def _decades(low: float, high: float, default: float) -> list[tuple[str, float]]:
    """Return 1, 2, 5, 10... times powers of ten from `low` to `high`, with the ends and the default among them."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values = {float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)}
    inside = {value for value in values if low < value < high}
    return [(f"{value:g}", value) for value in sorted(inside | {low, high, default})]
