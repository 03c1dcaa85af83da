from typing import ClassVar

from workbench.harness.claims import Claim, at_most, between
from workbench.harness.params import Params as BaseParams
from workbench.harness.params import param
from workbench.harness.registry import DataNeeds, Reference

TITLE = "The mean of random numbers"
SUMMARY = "Draws numbers and averages them."
FAULTS = ("none", "endless", "kill", "raise", "refuse")


class Params(BaseParams):
    count: int = param(100, "numbers drawn", unit="numbers", ge=1, le=10_000_000)
    scales: list[float] = param([1.0, 2.0], "factors", gt=0, min_length=1)
    label: str = param("a b", "text", protocol=False)
    fault: str = param("none", "what goes wrong", choices=FAULTS, protocol=False)
    seed: int = param(0, "seed of the numbers", ge=0, protocol=False)

    FULL: ClassVar[dict] = {"count": 1000}


CLAIMS = (
    Claim("centre", "The mean is near one half", "section 1", "0.5", lambda ds: ds["mean"][0], between(0.3, 0.7)),
    Claim("low", "The mean is below 0.1", "ours", "-", lambda ds: ds["mean"][0], at_most(0.1)),
    Claim("full", "Decided at full scale only", "ours", "-", lambda ds: 0.0, at_most(0.1), presets=("full",)),
)
REFERENCE = Reference(
    title="On means",
    authors=("A. Author",),
    year=2020,
    identifier="none",
    bibtex="@article{means, title = {On means}, year = {2020}}",
)
DATA = DataNeeds(what="one array", count=(0, 1), dims=("row", "column"), limits="any size")
