"""The user's own files: read, examined, and handed over as labelled arrays."""

import difflib
import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
import xarray as xr

from workbench.errors import DataError
from workbench.harness.readers import Read, named, read_image, read_npy, read_table
from workbench.harness.registry import DataNeeds

READERS: dict[str, Callable[[Path], Read]] = {
    ".png": read_image,
    ".jpg": read_image,
    ".jpeg": read_image,
    ".npy": read_npy,
    ".csv": read_table,
    ".tsv": read_table,
    ".txt": read_table,
}


@dataclass(frozen=True)
class OwnData:
    """A file, or a folder, that the user gave.

    Attributes
    ----------
    name
        Its name without the folders.
    path
        Its path as given.
    array
        What it holds; None for a folder.
    sha256
        Digest of its bytes; of a folder, of the names and bytes of all files in it.
    found
        What was found, in one line: type, shape, missing values, constant columns.
    """

    name: str
    path: Path
    array: xr.DataArray | None
    sha256: str
    found: str


def read(path: str | PathLike[str]) -> OwnData:
    r"""Read one of the user's files: PNG, JPEG, NPY, CSV, TSV, TXT, or a folder (only examined).

    Parameters
    ----------
    path
        The file; ``~`` is expanded.

    Returns
    -------
    OwnData

    Raises
    ------
    DataError
        In one line: what is wrong with the file, and where.

    Notes
    -----
    Nothing of a file is executed: arrays of Python objects are refused.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "tide.csv"
    >>> _ = file.write_text("hour,level\n0,1.5\n1,2.5\n")
    >>> read(file).found
    'table, separated by commas, first line taken as names; row 2 x column 2, float64, values 0 to 2.5'
    """
    place = Path(os.path.expanduser(path))
    try:
        if place.is_dir():
            return _folder(place)
        _require_file(place)
        reader = _reader(place)
        array, notes = reader(place)
        with place.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{named(place)} cannot be read: {error.strerror or error}") from None
    if array.size == 0:
        raise DataError(f"{named(place)} holds no numbers: its shape is {array.shape}")
    examined = [_examine(array)] if reader is read_image else [_examine(array), *_constant_columns(array)]
    return OwnData(place.name, place, array, digest, f"{', '.join(notes)}; {', '.join(examined)}")


def own_data(paths: Iterable[str | PathLike[str]], needs: DataNeeds) -> tuple[OwnData, ...] | None:
    """Read the user's files and check them against what a method takes.

    Parameters
    ----------
    paths
        The files, or a folder where the method takes one.
    needs
        The method's ``spec.DATA``.

    Returns
    -------
    tuple of OwnData, or None
        With the dimensions named as the method names them; None if `paths` is empty.

    Raises
    ------
    DataError
        If the number of files, a file, or an array's dimensions are not what the method takes.
    """
    places = list(paths)
    if not places:
        return None
    if needs.count[1] == 0 and not needs.folders:
        raise DataError(f"this method takes no files of your own: {needs.what}")
    if needs.folders and len(places) == 1 and os.path.isdir(os.path.expanduser(places[0])):
        return (read(places[0]),)
    _require_count(places, needs)
    return tuple(_labelled(read(place), needs) for place in places)


def _require_file(path: Path) -> None:
    if not path.exists():
        raise DataError(f"{named(path)} does not exist{_neighbours(path)}")
    if not path.is_file():
        raise DataError(f"{named(path)} is neither a file nor a folder")
    if path.stat().st_size == 0:
        raise DataError(f"{named(path)} is empty: 0 bytes")
    with path.open("rb"):
        return


def _neighbours(path: Path) -> str:
    if not path.parent.is_dir():
        return f": there is no folder {named(path.parent)}"
    names = sorted(entry.name for entry in path.parent.iterdir())
    close = difflib.get_close_matches(path.name, names, n=3, cutoff=0.6)
    return "; did you mean " + " or ".join(map(repr, close)) + "?" if close else ""


def _reader(path: Path) -> Callable[[Path], Read]:
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        kind = f"of type {path.suffix!r}" if path.suffix else "without an extension"
        raise DataError(f"{named(path)} is {kind}; it takes {', '.join(READERS)}: convert the file")
    return reader


def _folder(path: Path) -> OwnData:
    files = sorted(file for file in path.rglob("*") if file.is_file())
    if not files:
        raise DataError(f"{named(path)} is a folder without files")
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(path).as_posix()}\0".encode())
        with file.open("rb") as content:
            digest.update(hashlib.file_digest(content, "sha256").digest())
    return OwnData(path.name, path, None, digest.hexdigest(), f"folder of {len(files)} files")


def _examine(array: xr.DataArray) -> str:
    """Return shape, type, missing values and range in words."""
    shape = " x ".join(f"{dim} {size}" for dim, size in array.sizes.items()) or "a single number"
    parts = [f"{shape}, {array.dtype}"]
    values = array.values
    if values.dtype.kind in "fc":
        missing, infinite = int(np.isnan(values).sum()), int(np.isinf(values).sum())
        parts += [f"{missing} of {values.size} missing (NaN)"] if missing else []
        parts += [f"{infinite} infinite"] if infinite else []
        values = values[np.isfinite(values)]
    if values.size and values.dtype.kind != "c":
        parts.append(f"values {values.min():g} to {values.max():g}")
    return ", ".join(parts)


def _constant_columns(array: xr.DataArray) -> list[str]:
    if array.ndim != 2 or array.shape[0] < 2:
        return []
    values = array.values
    constant = np.flatnonzero((values == values[:1]).all(axis=0))
    if not constant.size:
        return []
    if constant.size == array.shape[1]:
        return ["every column is constant"]
    labels = array.coords["column"].values if "column" in array.coords else np.arange(array.shape[1])
    shown = ", ".join(map(str, labels[constant][:3])) + (", ..." if constant.size > 3 else "")
    return [f"{constant.size} constant {'column' if constant.size == 1 else 'columns'} ({shown})"]


def _require_count(places: Sequence[str | PathLike[str]], needs: DataNeeds) -> None:
    least, most = needs.count
    if not least <= len(places) <= most:
        count = "1 file is" if len(places) == 1 else f"{len(places)} files are"
        given = ", ".join(Path(place).name for place in places[:4])
        wanted = f"{least}" if least == most else f"{least} to {most}"
        raise DataError(f"{count} given ({given}), {wanted} are wanted: {needs.what}")


def _labelled(item: OwnData, needs: DataNeeds) -> OwnData:
    """Name the dimensions as the method does; a table of one row or column may stand for a series."""
    if item.array is None:
        files = [file.name for file in sorted(item.path.iterdir()) if file.is_file()][:3]
        raise DataError(
            f"{named(item.path)} is a folder, a file is wanted: give one of its files, as {', '.join(files)}"
        )
    array = item.array
    if len(needs.dims) == 1 and array.ndim == 2 and 1 in array.shape:
        array = array.squeeze(drop=True)
    if needs.dims and array.ndim != len(needs.dims):
        wanted = f"{len(needs.dims)} ({', '.join(needs.dims)})"
        raise DataError(f"{named(item.path)}: shape {array.shape} has {array.ndim} dimensions, {wanted} are wanted")
    if needs.dims:
        array = array.rename(dict(zip(array.dims, needs.dims, strict=True)))
    return OwnData(item.name, item.path, array, item.sha256, item.found)
