import hashlib
import os
import pickle
import struct
import zlib
from pathlib import Path

import numpy as np
import psutil
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

from workbench.errors import DataError
from workbench.harness.data import own_data, read
from workbench.harness.registry import DataNeeds

PAIR = DataNeeds("two images, source and target", count=(2, 2), dims=("row", "column"))
SERIES = DataNeeds("one series", count=(1, 1), dims=("time",))


def png_header(width, height):
    """The start of a PNG file of any size, without its pixels."""
    chunk = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return head + struct.pack(">I", 100) + b"IDAT"


def npy_header(shape, descr="<f8"):
    """The start of an NPY file of any shape, without its numbers."""
    text = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    text += b" " * (118 - len(text) - 1) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


class Unpickled(Exception):
    pass


class Trap:
    """Raises if it is ever unpickled."""

    def __reduce__(self):
        return (_spring, ())


def _spring():
    raise Unpickled


def write_png(path):
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (40, 40), dtype=np.uint8)).save(path)
    return path.read_bytes()


def write_objects(path):
    array = np.empty(1, dtype=object)
    array[0] = Trap()
    np.save(path, array, allow_pickle=True)


BROKEN = {
    "empty.png": (b"", "is empty: 0 bytes"),
    "text.png": (b"hello, this is no image", "is not an image"),
    "array.png": (npy_header((2,)) + bytes(16), "is not an image: it looks like a NumPy array"),
    "cut.png": (lambda path: path.write_bytes(write_png(path)[:400]), "is damaged or truncated ("),
    "start.png": (png_header(9, 9)[:33], "is damaged or truncated: export the image again"),
    "vast.png": (png_header(60_000, 60_000), "is too large: an image may have 89,478,485 pixels; make it smaller"),
    "objects.npy": (write_objects, "holds Python objects, which are never unpickled: save an array of numbers"),
    "pickle.npy": (pickle.dumps([1, 2]), "is not an NPY file: it looks like a Python pickle, which is never loaded"),
    "words.npy": (
        lambda path: np.save(path, np.array(["a", "bc"])),
        "holds <U2, not numbers: save an array of numbers",
    ),
    "cut.npy": (
        npy_header((100, 7)) + bytes(80),
        "is truncated: shape (100, 7) of float64 is 5600 bytes, 80 are there",
    ),
    "hollow.npy": (lambda path: np.save(path, np.empty((0, 3))), "holds no numbers: its shape is (0, 3)"),
    "ragged.csv": (b"a,b\n1,2\n\n3,4,5\n", "line 4 has 3 fields, the first row has 2"),
    "words.csv": (b"1,2\n3,four\n", "line 2, field 2: 'four' is not a number"),
    "names.csv": (b"a,b\n", "has a header, but no numbers under it"),
    "blank.tsv": (b"\n\n  \n", "holds no numbers: it is blank"),
    "latin.csv": ("größe\n1\n".encode("latin-1"), "is not text in UTF-8: save it as 'CSV UTF-8'"),
    "image.csv": (png_header(2, 2), "is not text in UTF-8: it looks like a PNG image: save it as 'CSV UTF-8'"),
    "table.xlsx": (b"PK\x03\x04", "is of type '.xlsx'; it takes .png, .jpg, .jpeg, .npy, .csv, .tsv, .txt: convert"),
    "noname": (b"1,2", "is without an extension; it takes .png"),
    "stream.csv": (os.mkfifo, "is neither a file nor a folder"),
    "folder.csv": (lambda path: path.mkdir(), "is a folder without files"),
    "absent.csv": (lambda path: path.with_name("absence.csv").touch(), "does not exist; did you mean 'absence.csv'?"),
    "nowhere/a.csv": (lambda path: None, "does not exist: there is no folder '"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_gets_one_line(tmp_path, name):
    path = tmp_path / name
    content, message = BROKEN[name]
    path.write_bytes(content) if isinstance(content, bytes) else content(path)
    with pytest.raises(DataError) as refusal:
        read(path)
    line = str(refusal.value)
    assert line.startswith(repr(str(path))) and "\n" not in line
    assert message in line


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    path = tmp_path / "secret.png"
    write_png(path)

    def refuse(*_arguments, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataError, match=r"secret.png' cannot be read: Permission denied"):
        read(path)


def test_a_name_that_is_too_long_is_refused_in_a_line(tmp_path):
    with pytest.raises(DataError, match=r"cannot be read: File name too long|does not exist"):
        read(tmp_path / ("x" * 300 + ".csv"))


def test_a_home_that_does_not_exist():
    with pytest.raises(DataError, match=r"'~nobody-of-that-name/a.csv' does not exist: there is no folder"):
        read("~nobody-of-that-name/a.csv")


@pytest.mark.parametrize("name", ["large.npy", "large.png", "large.csv"])
def test_what_does_not_fit_in_memory_is_refused_before_loading(tmp_path, monkeypatch, name):
    path = tmp_path / name
    if name == "large.npy":
        path.write_bytes(npy_header((1 << 18,)))
        with path.open("r+b") as file:
            file.truncate((1 << 21) + 128)
    elif name == "large.png":
        path.write_bytes(png_header(1000, 1000))
    else:
        path.write_bytes(b"1,2\n" * (1 << 17))
    monkeypatch.setattr(psutil, "virtual_memory", lambda: type("Memory", (), {"available": 1 << 20}))
    monkeypatch.setattr(np, "load", None)
    with pytest.raises(
        DataError, match=r"is too large for this machine's memory: 0.0 GiB are needed, 0.0 GiB are free"
    ):
        read(path)


def test_grey_image(tmp_path):
    levels = np.arange(12, dtype=np.uint8).reshape(3, 4)
    Image.fromarray(levels).save(tmp_path / "grey.png")
    item = read(str(tmp_path / "grey.png"))
    assert item.array is not None and item.array.dims == ("row", "column")
    assert_array_equal(item.array, levels)
    assert item.found == "PNG image; row 3 x column 4, uint8, values 0 to 11"
    assert item.sha256 == hashlib.sha256((tmp_path / "grey.png").read_bytes()).hexdigest()
    assert item.name == "grey.png" and item.path == tmp_path / "grey.png"


def test_colour_becomes_luma(tmp_path):
    colours = np.zeros((1, 3, 3), dtype=np.uint8)
    colours[0, range(3), range(3)] = 255
    Image.fromarray(colours).save(tmp_path / "rgb.png")
    item = read(tmp_path / "rgb.png")
    assert_array_equal(item.array, [[76, 150, 29]])
    assert "colour turned to grey" in item.found


def test_transparent_pixels_are_black(tmp_path):
    Image.fromarray(np.array([[[200, 255], [200, 0], [200, 51]]], dtype=np.uint8), "LA").save(tmp_path / "la.png")
    item = read(tmp_path / "la.png")
    assert_array_equal(item.array, [[200, 0, 40]])
    assert "transparency taken as black" in item.found


def test_sixteen_bits_are_kept(tmp_path):
    levels = np.array([[0, 1000, 65535]], dtype=np.uint16)
    Image.fromarray(levels).save(tmp_path / "deep.png")
    item = read(tmp_path / "deep.png")
    assert_array_equal(item.array, levels)
    assert "uint16" in item.found


def test_palette_and_its_transparency(tmp_path):
    picture = Image.new("P", (3, 1))
    picture.putpalette([10, 10, 10, 90, 90, 90, 250, 250, 250])
    picture.putdata([0, 1, 2])
    picture.save(tmp_path / "p.png", transparency=2)
    item = read(tmp_path / "p.png")
    assert_array_equal(item.array, [[10, 90, 0]])
    assert "palette resolved" in item.found


def test_a_photograph_is_turned_upright(tmp_path):
    levels = np.full((8, 16), 200, dtype=np.uint8)
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(levels).save(tmp_path / "photo.JPG", exif=exif)
    item = read(tmp_path / "photo.JPG")
    assert item.array is not None and item.array.shape == (16, 8)
    assert item.found.startswith("JPEG image, turned upright as its EXIF tag says")


@pytest.mark.parametrize("array", [np.arange(6.0).reshape(2, 3), np.array(3), np.ones((2, 2, 2), bool), np.array([1j])])
def test_npy_arrays_of_any_shape(tmp_path, array):
    np.save(tmp_path / "a.npy", array)
    item = read(tmp_path / "a.npy")
    assert item.array is not None and item.array.dtype == array.dtype
    assert_array_equal(item.array, array)


def test_what_is_missing_infinite_or_constant_is_said(tmp_path):
    values = np.array([[1.0, np.nan, 7.0, 3], [2.0, np.inf, 7.0, np.nan], [3.0, 5.0, 7.0, 3]])
    np.save(tmp_path / "a.npy", values)
    found = read(tmp_path / "a.npy").found
    assert "2 of 12 missing (NaN), 1 infinite, values 1 to 7, 1 constant column (2)" in found
    (tmp_path / "a.csv").write_text("left,right\n1,NA\n1,\n")
    assert "2 of 4 missing (NaN), values 1 to 1, 1 constant column (left)" in read(tmp_path / "a.csv").found
    np.save(tmp_path / "flat.npy", np.zeros((3, 3)))
    assert read(tmp_path / "flat.npy").found.endswith("every column is constant")


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("1,2.5\n3,4\n", "commas"),
        ("1;2,5\n3;4\n", "semicolons, decimal comma"),
        ("1;2.5\n3;4\n", "semicolons"),
        ("1\t2.5\n3\t4\n", "tabs"),
        ("# written by savetxt\n 1  2.5\n3 4", "blanks"),
        ("\ufeff1,2.5\r\n3,4\r\n", "commas"),
        ('"1","2.5"\n"3","4"\n', "commas"),
    ],
)
def test_separators_are_found(tmp_path, text, separator):
    (tmp_path / "t.csv").write_bytes(text.encode())
    item = read(tmp_path / "t.csv")
    assert_array_equal(item.array, [[1, 2.5], [3, 4]])
    assert f"separated by {separator};" in item.found


def test_a_header_names_the_columns(tmp_path):
    (tmp_path / "t.tsv").write_text("time (s)\tfluß\n0\t1\n1\t2\n", encoding="utf-8")
    item = read(tmp_path / "t.tsv")
    assert item.array is not None and list(item.array.coords["column"].values) == ["time (s)", "fluß"]


def test_names_with_blanks_and_other_scripts(tmp_path):
    path = tmp_path / "два изображения 図.csv"
    path.write_text("1,2\n")
    assert read(path).name == "два изображения 図.csv"


def test_a_folder_is_hashed_by_names_and_bytes(tmp_path):
    for folder in ("one", "two", "three"):
        (tmp_path / folder / "deep").mkdir(parents=True)
        (tmp_path / folder / "deep" / "a.csv").write_text("1" if folder != "three" else "2")
    one, two, three = (read(tmp_path / folder) for folder in ("one", "two", "three"))
    assert one.array is None and one.found == "folder of 1 files"
    assert one.sha256 == two.sha256 != three.sha256


@pytest.fixture
def files(tmp_path):
    for name in ("a.npy", "b.npy"):
        np.save(tmp_path / name, np.ones((2, 3)))
    np.save(tmp_path / "cube.npy", np.ones((2, 3, 4)))
    (tmp_path / "series.csv").write_text("level\n1\n2\n3\n")
    return tmp_path


def test_own_data_names_the_dimensions(files):
    needs = DataNeeds("two tables", count=(1, 2), dims=("time", "channel"))
    items = own_data([files / "a.npy", files / "b.npy"], needs)
    assert items is not None and [item.array.dims for item in items] == [("time", "channel")] * 2
    assert own_data([], needs) is None


def test_own_data_takes_one_column_as_a_series(files):
    items = own_data([files / "series.csv"], SERIES)
    assert items is not None and items[0].array.dims == ("time",)
    assert_array_equal(items[0].array, [1, 2, 3])


@pytest.mark.parametrize(
    ("names", "needs", "message"),
    [
        (["a.npy"], DataNeeds("it makes its own"), "this method takes no files of your own: it makes its own"),
        (["a.npy"], PAIR, "1 file is given (a.npy), 2 are wanted: two images, source and target"),
        (["a.npy", "cube.npy"], PAIR, "shape (2, 3, 4) has 3 dimensions, 2 (row, column) are wanted"),
        (["a.npy"], SERIES, "shape (2, 3) has 2 dimensions, 1 (time) are wanted"),
        ([""], SERIES, "is a folder, a file is wanted: give one of its files, as a.npy, b.npy, cube.npy"),
    ],
)
def test_own_data_that_does_not_fit_the_method(files, names, needs, message):
    with pytest.raises(DataError) as refusal:
        own_data([files / name for name in names], needs)
    assert message in str(refusal.value)


def test_own_data_takes_a_folder_where_the_method_does(files):
    items = own_data([files], DataNeeds("a folder of DOTmark files", count=(0, 0), folders=True))
    assert items is not None and items[0].array is None
