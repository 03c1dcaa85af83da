"""Parameters of a study: typed, bounded, documented, with presets.

A study declares a subclass of `Params` whose fields are made with `param`. The same
declaration serves the notebook's parameters cell, the command line, sweeps and widgets;
text becomes values in one place, `parse_literal`.
"""

import json
import re
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Annotated, Any, ClassVar, Self

import pydantic
from pydantic_core import PydanticUndefined

from workbench.errors import ParameterError, nearest

PRESETS = ("quick", "full")
_SCALARS = (int, float, bool, str)


def param(
    default: Any,
    help: str,
    *,
    unit: str = "",
    choices: Sequence[Any] = (),
    protocol: bool = True,
    **bounds: Any,
) -> Any:
    """Declare one parameter of a study.

    Parameters
    ----------
    default
        The value of the quick preset: int, float, bool, str, or a list of them.
    help
        One line: what it is.
    unit
        Its unit, in words or symbols; empty for pure numbers.
    choices
        The allowed values (of each item, for lists); empty for no restriction.
    protocol
        Whether the value belongs to the protocol under which claims are judged. Seeds do not.
    **bounds
        ``ge``, ``gt``, ``le``, ``lt`` (of each item, for lists), ``min_length``, ``max_length`` (of lists).
    """
    extra = {"unit": unit, "choices": list(choices), "protocol": protocol, "bounds": dict(bounds)}
    return pydantic.Field(default=default, description=help, json_schema_extra=extra)


@dataclass(frozen=True)
class FieldInfo:
    """What is known of one parameter; `Params.fields` lists them."""

    name: str
    type: Any
    default: Any
    help: str
    unit: str
    choices: tuple[Any, ...]
    protocol: bool
    bounds: dict[str, Any]

    @property
    def is_list(self) -> bool:
        """Whether the parameter is a list."""
        return typing.get_origin(self.type) is list

    @property
    def item(self) -> Any:
        """The type of the value, or of one item of a list."""
        return typing.get_args(self.type)[0] if self.is_list else self.type

    @property
    def type_name(self) -> str:
        """The type as the parameters cell writes it, e.g. ``list[int]``."""
        return f"list[{self.item.__name__}]" if self.is_list else self.item.__name__

    @cached_property
    def adapter(self) -> pydantic.TypeAdapter:
        """What checks a value's type and bounds."""
        lengths = {key: bound for key, bound in self.bounds.items() if key.endswith("_length")}
        limits = {key: bound for key, bound in self.bounds.items() if key not in lengths}
        if self.item is float:
            limits["allow_inf_nan"] = False
        checked: Any = Annotated[self.item, pydantic.Field(**limits)]
        if self.is_list:
            checked = Annotated[list[checked], pydantic.Field(**lengths)]
        return pydantic.TypeAdapter(checked)

    @property
    def allowed(self) -> str:
        """The allowed values in words, e.g. ``at least 4 and at most 512 pixels``."""
        words = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
        parts = [f"{words[k]} {_shown(self.bounds[k])}" for k in ("ge", "gt", "le", "lt") if k in self.bounds]
        text = " and ".join(parts)
        if self.choices:
            text = "one of " + ", ".join(map(str, self.choices))
        if text and self.unit:
            text += f" {self.unit}"
        if self.is_list:
            text = f"each {text}" if text else ""
            low, high = self.bounds.get("min_length"), self.bounds.get("max_length")
            if low is not None or high is not None:
                count = (
                    f"at least {low} item{'s' if low != 1 else ''}" if high is None else f"{low or 0} to {high} items"
                )
                text = f"{count}, {text}" if text else count
        return text


class Params(pydantic.BaseModel):
    """Base of a study's parameters: immutable, every value checked.

    Subclasses declare fields with `param`; the defaults are the quick preset and ``FULL``
    holds what the full preset changes. Equal parameters compare equal and hash alike.
    """

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")
    FULL: ClassVar[dict[str, Any]] = {}

    def __init__(self, **values: Any) -> None:
        super().__init__(**type(self)._checked(values))

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr_args__(self):
        return ((name, value) for name, value in self.to_dict().items())

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with some values changed; the new values are checked."""
        return type(self)(**{**self.to_dict(), **(update or {})})

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some values changed; the new values are checked."""
        return self.model_copy(update=changes)

    @classmethod
    def fields(cls) -> dict[str, FieldInfo]:
        """Return what is known of every parameter, in the order of declaration."""
        return dict(_fields(cls))

    @classmethod
    def preset(cls, name: str = "quick", **changes: Any) -> Self:
        """Return the parameters of a preset, with `changes` on top.

        Raises
        ------
        ParameterError
            If the preset or a name is unknown, or a value is not allowed.
        """
        if name not in PRESETS:
            raise ParameterError(f"scale = {name!r} is not a preset{nearest(str(name), PRESETS)}")
        return cls(**{**(cls.FULL if name == "full" else {}), **changes})

    @classmethod
    def from_namespace(cls, namespace: Mapping[str, Any]) -> Self:
        """Return the parameters found by name in `namespace`, e.g. a notebook's ``globals()``."""
        return cls(**{name: namespace[name] for name in cls.model_fields if name in namespace})

    @classmethod
    def parse(cls, texts: Mapping[str, str]) -> dict[str, Any]:
        """Turn text, as typed on a command line, into checked values of the parameters' types."""
        known = cls.fields()
        for name in texts:
            _require_known(name, known)
        return cls._checked({name: parse_literal(text, known[name]) for name, text in texts.items()})

    def check(self) -> None:
        """Refuse what only this machine can judge, such as a folder that is missing; called before a run starts."""

    def to_dict(self) -> dict[str, Any]:
        """Return the values as plain Python objects."""
        return {name: _plain(getattr(self, name)) for name in type(self).model_fields}

    def to_json(self) -> str:
        """Return the values as one line of JSON, in the order of declaration."""
        return json.dumps(self.to_dict())

    def scale(self) -> str:
        """Return ``"quick"`` or ``"full"`` if the protocol's values are a preset's, else ``"off protocol"``."""
        protocol = [name for name, field in self.fields().items() if field.protocol]
        for name in PRESETS:
            preset = type(self).preset(name)
            if all(getattr(preset, field) == getattr(self, field) for field in protocol):
                return name
        return "off protocol"

    @classmethod
    def _checked(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        known = cls.fields()
        for name in values:
            _require_known(name, known)
        return {name: _check(value, known[name]) for name, value in values.items()}


def parse_literal(text: str, field: FieldInfo) -> Any:
    """Turn `text` into a checked value of the field's type.

    Lists may be written with or without brackets and quotes: ``64,128`` or ``["a, b", "c"]``.

    Raises
    ------
    ParameterError
        If the text does not read as that type, or the value is not allowed.
    """
    value = _items(text, field) if field.is_list else _unquoted(text.strip())
    return _check(value, field, strict=False, shown=text)


_ITEM = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^,"'][^,]*|)\s*(,|$)""")


def _items(text: str, field: FieldInfo) -> list[str]:
    """Return the items of a list: quoted ones may hold commas and escapes, others end at the next comma."""
    inner = text.strip()
    if inner.startswith("[") != inner.endswith("]"):
        raise _refusal(text, field)
    inner = inner[1:-1].rstrip() if inner.startswith("[") else inner
    items, position = [], 0
    while position < len(inner):
        found = _ITEM.match(inner, position)
        if found is None or not found[1]:
            raise _refusal(text, field)
        items.append(_item(found[1].strip(), text, field))
        position = found.end()
    return items


def _item(text: str, whole: str, field: FieldInfo) -> str:
    if text[0] == "'":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    try:
        return json.loads(text) if text[0] == '"' else text
    except json.JSONDecodeError:
        raise _refusal(whole, field) from None


def _shown(bound: float) -> str:
    return f"{bound:g}" if isinstance(bound, float) else str(bound)


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text


def _require_known(name: str, known: Mapping[str, FieldInfo]) -> None:
    if name not in known:
        raise ParameterError(f"unknown parameter {name!r}{nearest(name, known)}")


def _check(value: Any, field: FieldInfo, *, strict: bool = True, shown: Any = None) -> Any:
    value = _plain(value)
    shown = value if shown is None else shown
    try:
        checked = field.adapter.validate_python(value, strict=strict)
    except pydantic.ValidationError:
        raise _refusal(shown, field) from None
    items = checked if field.is_list else [checked]
    if field.choices and any(item not in field.choices for item in items):
        raise _refusal(shown, field)
    return checked


def _refusal(value: Any, field: FieldInfo) -> ParameterError:
    kinds = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
    kind = f"a list ({kinds[field.item]} each)" if field.is_list else kinds[field.item]
    allowed = f", {field.allowed}" if field.allowed else ""
    return ParameterError(f"{field.name} = {value!r} is not allowed: it takes {kind}{allowed}")


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return value.tolist()
    return value


@cache
def _fields(params: type[Params]) -> dict[str, FieldInfo]:
    return {name: _field_info(name, info) for name, info in params.model_fields.items()}


def _field_info(name: str, info: Any) -> FieldInfo:
    extra = info.json_schema_extra
    if not isinstance(extra, dict) or info.default is PydanticUndefined:
        raise TypeError(f"parameter {name!r} must be declared with workbench.harness.params.param")
    item = typing.get_args(info.annotation)[:1] if typing.get_origin(info.annotation) is list else [info.annotation]
    if not item or item[0] not in _SCALARS:
        raise TypeError(f"parameter {name!r} must be int, float, bool, str or a list of one of them")
    field = FieldInfo(
        name=name,
        type=info.annotation,
        default=info.default,
        help=info.description or "",
        unit=extra["unit"],
        choices=tuple(extra["choices"]),
        protocol=extra["protocol"],
        bounds=extra["bounds"],
    )
    try:
        _check(field.default, field)
    except ParameterError as error:
        raise TypeError(f"the default of a parameter must be allowed: {error}") from None
    return field
