"""Temporal superposition in recurrent networks: training, exact losses, geometry; names load on first use."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.methods.superposition.model import DelayRecall as DelayRecall
    from workbench.methods.superposition.sequences import delay_targets as delay_targets
    from workbench.methods.superposition.sequences import sparse_sequences as sparse_sequences
    from workbench.methods.superposition.training import evaluate as evaluate
    from workbench.methods.superposition.training import fit as fit

_NAMES = {
    "DelayRecall": "model",
    "delay_targets": "sequences",
    "sparse_sequences": "sequences",
    "evaluate": "training",
    "fit": "training",
}


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(importlib.import_module(f"{__name__}.{_NAMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_NAMES])
