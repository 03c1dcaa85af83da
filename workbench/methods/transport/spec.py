"""Parameters, claims and reference of the transport study (HALO, ICLR 2026)."""

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from workbench.harness.claims import Claim, Undecided, at_least, at_most
from workbench.harness.params import Params as BaseParams
from workbench.harness.params import param
from workbench.harness.registry import DataNeeds, Reference

if TYPE_CHECKING:
    import xarray as xr

TITLE = "Hierarchical optimal transport with a certificate"
SUMMARY = "Exact transport between images, coarse to fine on a small active support, with a certified gap."

CLASSES = (
    "WhiteNoise",
    "GRFrough",
    "GRFmoderate",
    "GRFsmooth",
    "LogGRF",
    "LogitGRF",
    "CauchyDensity",
    "Shapes",
    "ClassicImages",
    "MicroscopyImages",
)


class Params(BaseParams):
    """Parameters of the transport study."""

    classes: list[str] = param(list(CLASSES), "image classes, one instance of each a pair", choices=CLASSES, min_length=1)
    resolutions: list[int] = param([64], "image sides", unit="pixels", ge=16, le=1024, min_length=1)
    exact_resolution: int = param(32, "image side of the comparison with an exact solver", unit="pixels", ge=8, le=64)
    pairs: int = param(1, "image pairs a class", ge=1, le=45)
    tolerance: float = param(1e-4, "certified relative gap to reach", gt=0, le=1)
    backend: str = param("pdhg", "solver of the restricted problem", choices=("pdhg", "highs"))
    beta: float = param(0.25, "pairs added a pricing round, as a share of the pixels", ge=0, le=4)
    neighbors: int = param(8, "shielding neighbours of a pixel", choices=(4, 8))
    keep_support: bool = param(True, "keep the whole previous support (conservative union)")
    coarsest: int = param(16, "least image side of the coarsest level", unit="pixels", ge=2, le=128)
    max_inner: int = param(5, "most inner iterations a level", ge=1, le=50)
    dotmark: str = param("", "folder of the DOTmark files, empty for regenerated images", protocol=False)
    seed: int = param(0, "seed of the images", ge=0, protocol=False)

    FULL: ClassVar[dict] = {"resolutions": [64, 128, 256], "pairs": 2}


def _share_certified(dataset: "xr.Dataset") -> float:
    """Return the share of instances whose certificate, recomputed from the plan alone, reaches 1e-4."""
    return float((dataset["recertified_gap"] <= 1e-4).mean())
