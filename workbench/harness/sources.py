"""A digest of source files: results and compiled code are reused only while their sources are the same."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from workbench.harness import paths


def digest(folders: Iterable[Path]) -> str:
    """Return the SHA-256 (hex) of the names and contents of all Python files under `folders`.

    Cost: reads every file, about 1 ms a folder.
    """
    total = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            total.update(f"{path.relative_to(folder).as_posix()}\0".encode())
            total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def of_method(folder: Path) -> str:
    """Return the digest of what a method's results depend on: its folder, the harness, shared numerics."""
    package = paths.package()
    return digest([folder, package / "harness", package / "numerics"])


def of_package() -> str:
    """Return the digest of the package and of the methods in extra roots."""
    return digest([paths.package(), *(root / "methods" for root in paths.extra_roots())])
