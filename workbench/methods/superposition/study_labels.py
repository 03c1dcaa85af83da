"""Attributes of the variables of the study's dataset."""

from typing import Any


def label(text: str, units: str = "1") -> dict[str, Any]:
    """Return the attributes of a variable: what it is, and its unit."""
    return {"long_name": text, "units": units}
