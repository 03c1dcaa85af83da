"""Papers as runnable methods: a library, a parameterised notebook and a verdict on every headline claim.

The names below load on first use, so that ``import workbench`` costs milliseconds;
``workbench.<method>`` is the package ``workbench.methods.<method>``.
"""

import importlib
from importlib.util import find_spec
from typing import Any

from workbench.errors import WorkbenchError as WorkbenchError

__version__ = "0.1.0"

_NAMES = {
    "run": "workbench.harness.runner",
    "load": "workbench.harness.results",
    "own_data": "workbench.harness.data",
    "verdict_table": "workbench.harness.claims",
    "set_threads": "workbench.harness.threads",
    "methods": "workbench.harness.registry",
    "style": "workbench.harness.style",
}


def __getattr__(name: str) -> Any:
    if name == "style":
        return importlib.import_module(_NAMES[name])
    if name in _NAMES:
        return getattr(importlib.import_module(_NAMES[name]), name)
    if not name.startswith("_") and find_spec(f"workbench.methods.{name}") is not None:
        return importlib.import_module(f"workbench.methods.{name}")
    raise AttributeError(f"module 'workbench' has no attribute {name!r}")


def __dir__() -> list[str]:
    from workbench.harness.registry import methods

    return sorted(["WorkbenchError", "__version__", *_NAMES, *methods()])
