"""What a result file tells of its own making."""

import json
import shlex
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import workbench
from workbench.harness.params import Params
from workbench.harness.registry import Method

if TYPE_CHECKING:
    from workbench.harness.data import OwnData

_ALWAYS = ("numpy", "scipy", "numba", "xarray")
_IF_IMPORTED = {
    "torch": "torch",
    "qiskit": "qiskit",
    "qiskit_aer": "qiskit-aer",
    "sklearn": "scikit-learn",
    "ot": "POT",
}


def versions() -> dict[str, str]:
    """Return the versions of Python and of the numerical libraries in use."""
    loaded = [name for module, name in _IF_IMPORTED.items() if module in sys.modules]
    python = ".".join(map(str, sys.version_info[:3]))
    return {"python": python} | {name: metadata.version(name) for name in (*_ALWAYS, *loaded)}


def data_digest(data: "Sequence[OwnData] | None") -> str:
    """Return the SHA-256 values of the user's own files, joined by ``+``; empty without files."""
    return "+".join(item.sha256 for item in data or ())


def command(method: Method, params: Params, paths: Sequence[Path] = ()) -> str:
    """Return the command line that repeats a run.

    Only what differs from the preset is named.
    """
    scale = "full" if params.scale() == "full" else "quick"
    preset = type(params).preset(scale).to_dict()
    words = ["workbench", "run", method.name] + (["--scale", "full"] if scale == "full" else [])
    for name, value in params.to_dict().items():
        if value != preset[name]:
            words += ["--seed", str(value)] if name == "seed" else ["-p", f"{name}={literal(value)}"]
    return shlex.join(words + [word for path in paths for word in ("--data", str(path))])


def literal(value: object) -> str:
    """Return a value as ``-p`` takes it: lists in JSON, text bare unless its ends would be lost.

    Examples
    --------
    >>> literal([64, 128]), literal("pdhg"), literal(" a"), literal(True)
    ('[64, 128]', 'pdhg', '" a"', 'true')
    """
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return f'"{value}"' if value != value.strip(" \t\n\"'") else value


def describe(
    method: Method, params: Params, data: "Sequence[OwnData] | None", sources_sha256: str
) -> dict[str, str | int]:
    """Return the attributes of a result that are known before its study runs."""
    return {
        "method": method.name,
        "title": method.spec.TITLE,
        "paper": method.reference.title,
        "paper_identifier": method.reference.identifier,
        "workbench_version": workbench.__version__,
        "params_json": params.to_json(),
        "seed": getattr(params, "seed", 0),
        "scale": params.scale(),
        "data_sha256": data_digest(data),
        "data_names_json": json.dumps([item.name for item in data or ()]),
        "sources_sha256": sources_sha256,
        "command": command(method, params, [item.path for item in data or ()]),
    }
