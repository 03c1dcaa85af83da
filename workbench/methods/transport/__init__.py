"""Hierarchical optimal transport between images, with a certificate; names load on first use."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.methods.transport.certificate import Certificate as Certificate
    from workbench.methods.transport.certificate import certify as certify
    from workbench.methods.transport.closed_form import product_value as product_value
    from workbench.methods.transport.closed_form import transport_1d as transport_1d
    from workbench.methods.transport.ctransform import c_transform_grid as c_transform_grid
    from workbench.methods.transport.hierarchy import hierarchy_grid as hierarchy_grid
    from workbench.methods.transport.images import dotmark_image as dotmark_image
    from workbench.methods.transport.images import dotmark_pair as dotmark_pair
    from workbench.methods.transport.pdhg import pdhg_transport as pdhg_transport
    from workbench.methods.transport.result import OTResult as OTResult
    from workbench.methods.transport.shielding import shield_grid as shield_grid
    from workbench.methods.transport.solver import ot2_grid as ot2_grid
    from workbench.methods.transport.support import ORIGINS as ORIGINS
    from workbench.methods.transport.support import prolong as prolong
    from workbench.methods.transport.verification import verify_plan as verify_plan

_NAMES = {
    "Certificate": "certificate",
    "certify": "certificate",
    "product_value": "closed_form",
    "transport_1d": "closed_form",
    "c_transform_grid": "ctransform",
    "hierarchy_grid": "hierarchy",
    "dotmark_image": "images",
    "dotmark_pair": "images",
    "pdhg_transport": "pdhg",
    "OTResult": "result",
    "shield_grid": "shielding",
    "ot2_grid": "solver",
    "ORIGINS": "support",
    "prolong": "support",
    "verify_plan": "verification",
}


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(importlib.import_module(f"{__name__}.{_NAMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_NAMES])
