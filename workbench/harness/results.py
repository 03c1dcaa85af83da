"""Result files: one netCDF file a run, written whole or not at all, read into memory."""

import hashlib
import json
import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError
from workbench.harness import claims

if TYPE_CHECKING:
    import xarray as xr

KEY = ("method", "params_json", "data_sha256", "sources_sha256")
_REQUIRED = (*KEY, "scale", "verdicts_json", "workbench_version")
_COMPRESS_FROM = 64_000


def stem(attributes: Mapping[str, Any]) -> str:
    """Return the name, without suffix, of the files of a run: ``<method>-<scale>-<12 hex>``.

    The hexadecimal digits are a digest of the parameters, the user's data and the sources,
    so that equal names mean equal runs.
    """
    key = json.dumps([attributes[name] for name in KEY])
    scale = attributes["scale"].replace("off protocol", "custom")
    return f"{attributes['method']}-{scale}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"


def save(dataset: "xr.Dataset", path: Path) -> None:
    """Write `dataset` to `path` as netCDF; large arrays are compressed. See `write_atomically`."""
    encoding = {
        str(name): {"zlib": True, "complevel": 4, "shuffle": True}
        for name, variable in dataset.variables.items()
        if variable.nbytes >= _COMPRESS_FROM and variable.dtype.kind in "biuf"
    }
    content = dataset.to_netcdf(engine="h5netcdf", encoding=encoding)
    write_atomically(path, lambda part: part.write_bytes(content))


def check_folder(folder: Path) -> None:
    """Raise `WorkbenchError` if files cannot be written to `folder`, which need not exist yet."""
    place = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    if not place.is_dir():
        raise WorkbenchError(f"{folder} cannot hold results: {place} is a file; give another folder as out")
    if not os.access(place, os.W_OK | os.X_OK):
        raise WorkbenchError(f"{folder} cannot hold results: {place} is not writable; give another folder as out")


def write_atomically(path: Path, write: Callable[[Path], Any]) -> None:
    """Let `write` fill a temporary file beside `path`, then give it its final name.

    If anything fails, neither file is left.

    Raises
    ------
    OSError
        If the disk is full or the folder cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.stem}.{secrets.token_hex(4)}{path.suffix}")
    try:
        write(part)
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def load(path: str | Path) -> "xr.Dataset":
    """Return the dataset of a result file, whole in memory, the file closed.

    ``encoding["source"]`` holds the path.

    Raises
    ------
    WorkbenchError
        If the file is missing, is not netCDF, or was not written by the workbench.
    """
    import xarray as xr

    attributes(path)
    try:
        dataset = xr.load_dataset(path, engine="h5netcdf")
    except Exception as error:
        raise _unreadable(path, error) from None
    dataset.encoding["source"] = str(path)
    return dataset


def attributes(path: str | Path) -> dict[str, Any]:
    """Return the attributes of a result file alone, without loading xarray.

    Raises
    ------
    WorkbenchError
        As `load`.
    """
    if not Path(path).is_file():
        raise WorkbenchError(f"{path}: no such file; give a result file (.nc) that a run wrote")
    try:
        import h5netcdf

        with h5netcdf.File(path, "r") as file:
            found = {name: getattr(value, "tolist", lambda value=value: value)() for name, value in file.attrs.items()}
    except Exception as error:
        raise _unreadable(path, error) from None
    missing = [name for name in _REQUIRED if name not in found]
    if missing:
        raise WorkbenchError(f"{path} is netCDF, but not a result of the workbench: it has no {', '.join(missing)}")
    if not _sound(found):
        raise WorkbenchError(f"{path} was changed since a run wrote it: its parameters or verdicts are not readable")
    return found


def _sound(found: Mapping[str, Any]) -> bool:
    try:
        claims.from_json(found["verdicts_json"])
        return isinstance(json.loads(found["params_json"]), dict)
    except (KeyError, TypeError, ValueError):
        return False


def reusable(path: Path, wanted: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """Return the attributes of the result at `path` if it is whole and of the wanted run, else None and why not."""
    if not path.exists():
        return None, ""
    try:
        found = attributes(path)
    except WorkbenchError as error:
        return None, f"not reused: {error}"
    if any(found[name] != wanted[name] for name in KEY):
        return None, f"not reused: {path} is the result of another run"
    return found, ""


def _unreadable(path: str | Path, error: Exception) -> WorkbenchError:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return WorkbenchError(f"{path} is not a readable netCDF file ({reason})")
