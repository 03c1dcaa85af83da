"""Reads one file of a known type: each reader returns a labelled array and notes on how it was read.

The readers refuse what would not fit in memory from the header or the file's size, before loading it.
"""

import csv
import math
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import xarray as xr
from PIL import Image, ImageOps, UnidentifiedImageError

from workbench.errors import DataError

Read = tuple[xr.DataArray, list[str]]

MISSING = frozenset({"", "na", "nan", "n/a", "null", "none", "-"})
MAGIC = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"\x93NUMPY": "a NumPy array",
    b"PK\x03\x04": "a ZIP",
}
MAGIC |= {b"\x80\x04": "a Python pickle, which is never loaded", b"\x80\x05": "a Python pickle, which is never loaded"}
MAGIC |= {b"\x89HDF": "an HDF5 or netCDF file", b"%PDF": "a PDF", b"GIF8": "a GIF image", b"\x1f\x8b": "a gzip file"}


def read_image(path: Path) -> Read:
    """Return the grey levels of a PNG or JPEG image.

    Colour becomes luma (0.299 R + 0.587 G + 0.114 B), transparency darkens, 16-bit grey stays 16-bit.

    Returns
    -------
    array : xarray.DataArray, dims (row, column)
        Grey levels, uint8 or wider.
    notes : list of str

    Raises
    ------
    DataError
        If the file is no image, damaged, or too large.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            picture = Image.open(path)
        with picture:
            require_memory(path, 4 * math.prod(picture.size))
            levels, notes = _grey(picture, path)
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        limit = f"{Image.MAX_IMAGE_PIXELS:,}"
        raise DataError(f"{named(path)} is too large: an image may have {limit} pixels; make it smaller") from None
    except UnidentifiedImageError:
        found = _looks_like(path)
        wrong = "is damaged or truncated: export the image again" if "image" in found else f"is not an image{found}"
        raise DataError(f"{named(path)} {wrong}") from None
    except (OSError, SyntaxError, ValueError, EOFError, zlib.error) as error:
        raise DataError(f"{named(path)} is damaged or truncated ({error}): export the image again") from None
    return xr.DataArray(levels, dims=("row", "column"), attrs={"long_name": "grey level"}), notes


def _grey(picture: Image.Image, path: Path) -> tuple[np.ndarray, list[str]]:
    notes = [f"{picture.format} image"]
    deep_colour = picture.format == "PNG" and picture.mode.startswith("RGB") and _png_depth(path) == 16
    if (frames := getattr(picture, "n_frames", 1)) > 1:
        notes.append(f"first of {frames} frames")
    upright = ImageOps.exif_transpose(picture)
    if upright.size != picture.size or upright.getexif() != picture.getexif():
        notes.append("turned upright as its EXIF tag says")
    if upright.mode == "P":
        notes.append("palette resolved")
        upright = upright.convert("RGBA" if "transparency" in upright.info else "RGB")
    if upright.mode.startswith("I") or upright.mode == "F":
        return np.asarray(upright), notes
    if upright.mode not in ("1", "L", "LA"):
        notes.append("colour turned to grey" + (", 16-bit colour read as 8-bit" if deep_colour else ""))
    levels = np.asarray(upright.convert("L"))
    if upright.has_transparency_data:
        alpha = np.asarray(upright.convert("RGBA").getchannel("A"))
        notes.append("transparency taken as black")
        levels = np.rint(levels * (alpha / 255)).astype(np.uint8)
    return levels, notes


def _png_depth(path: Path) -> int:
    """Return the bits a channel that a PNG header states, its 25th byte."""
    with path.open("rb") as file:
        return file.read(25)[24]


def read_npy(path: Path) -> Read:
    """Return the array of an NPY file; arrays of Python objects are never unpickled.

    Returns
    -------
    array : xarray.DataArray, dims (dim_0, dim_1, ...)
        Any shape, of the file's type.
    notes : list of str

    Raises
    ------
    DataError
        If the file is no NPY file, truncated, too large, or holds no numbers.
    """
    with path.open("rb") as file:
        try:
            version = np.lib.format.read_magic(file)
            header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = header(file)
        except ValueError:
            raise DataError(f"{named(path)} is not an NPY file{_looks_like(path)}") from None
        start = file.tell()
    if dtype.hasobject:
        raise DataError(f"{named(path)} holds Python objects, which are never unpickled: save an array of numbers")
    if dtype.kind not in "buifc":
        raise DataError(f"{named(path)} holds {dtype}, not numbers: save an array of numbers")
    expected, found = math.prod(shape) * dtype.itemsize, path.stat().st_size - start
    if found < expected:
        raise DataError(f"{named(path)} is truncated: shape {shape} of {dtype} is {expected} bytes, {found} are there")
    require_memory(path, expected)
    return xr.DataArray(np.load(path, allow_pickle=False)), ["NumPy array"]


def read_table(path: Path) -> Read:
    """Return the numbers of a CSV or TSV file.

    The separator (tab, semicolon, comma or blanks) and a header are found; with semicolons the
    comma may be the decimal sign. Missing entries are nan; lines that start with ``#`` are skipped.

    Returns
    -------
    array : xarray.DataArray, dims (row, column)
        float64, with the header's names as coordinate ``column``.
    notes : list of str

    Raises
    ------
    DataError
        If the file is no text, a row is longer or shorter than the first, or an entry is no number.
    """
    require_memory(path, 8 * path.stat().st_size)
    lines = [(number, line) for number, line in enumerate(_text(path).splitlines(), 1) if _counts(line)]
    if not lines:
        raise DataError(f"{named(path)} holds no numbers: it is blank")
    separator = _separator([line for _, line in lines[:20]])
    comma_decimal = separator == ";" and _has_decimal_comma([line for _, line in lines[-20:]])
    number_of = _number_with_comma if comma_decimal else _number
    first = _fields(lines[0][1], separator)
    header = _is_header(first, number_of)
    if header and len(lines) == 1:
        raise DataError(f"{named(path)} has a header, but no numbers under it")
    values = np.empty((len(lines) - header, len(first)))
    for row, (number, line) in zip(values, lines[header:], strict=True):
        fields = _fields(line, separator)
        if len(fields) != len(first):
            raise DataError(f"{named(path)}: line {number} has {len(fields)} fields, the first row has {len(first)}")
        row[:] = [_checked(path, number, field, text, number_of) for field, text in enumerate(fields, 1)]
    notes = ["table", f"separated by {_SEPARATORS[separator]}"]
    notes += ["decimal comma"] if comma_decimal else []
    notes += ["first line taken as names"] if header else []
    return xr.DataArray(values, dims=("row", "column"), coords={"column": first} if header else None), notes


_SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas", " ": "blanks"}


def _text(path: Path) -> str:
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise DataError(f"{named(path)} is not text in UTF-8{_looks_like(path)}: save it as 'CSV UTF-8'")
    return text


def _counts(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _separator(lines: list[str]) -> str:
    return next((mark for mark in "\t;," if all(mark in line for line in lines)), " ")


def _has_decimal_comma(lines: list[str]) -> bool:
    return any("," in line for line in lines) and not any("." in line for line in lines)


def _fields(line: str, separator: str) -> list[str]:
    fields = line.split() if separator == " " else next(csv.reader([line], delimiter=separator))
    return [field.strip() for field in fields]


def _is_header(fields: list[str], number_of: Callable[[str], float]) -> bool:
    try:
        for field in fields:
            number_of(field)
    except ValueError:
        return True
    return False


def _number(text: str) -> float:
    return math.nan if text.lower() in MISSING else float(text)


def _number_with_comma(text: str) -> float:
    return _number(text.replace(",", "."))


def _checked(path: Path, line: int, field: int, text: str, number_of: Callable[[str], float]) -> float:
    try:
        return number_of(text)
    except ValueError:
        raise DataError(f"{named(path)}: line {line}, field {field}: {text[:30]!r} is not a number") from None


def require_memory(path: Path, needed: int) -> None:
    """Refuse a file whose array takes more than half of the memory that is free.

    Raises
    ------
    DataError
        If `needed` bytes are too many.
    """
    free = psutil.virtual_memory().available
    if needed > free / 2:
        have = f"{needed / 2**30:.1f} GiB are needed, {free / 2**30:.1f} GiB are free"
        raise DataError(f"{named(path)} is too large for this machine's memory: {have}; give a smaller part of it")


def named(path: Path) -> str:
    """Return the path as messages quote it."""
    return repr(str(path))


def _looks_like(path: Path) -> str:
    with path.open("rb") as file:
        start = file.read(8)
    kind = next((kind for magic, kind in MAGIC.items() if start.startswith(magic)), "")
    return f": it looks like {kind}" if kind else ""
