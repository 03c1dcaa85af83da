"""Result files: written whole or not at all, readable by plain xarray, trusted only if they are what they should be."""

import numpy as np
import pytest
import xarray as xr

from workbench.errors import WorkbenchError
from workbench.harness import results

ATTRIBUTES = {
    "method": "toy", "params_json": "{}", "data_sha256": "", "sources_sha256": "ab", "scale": "quick",
    "verdicts_json": "[]", "workbench_version": "0.1.0",
}  # fmt: skip


def dataset(**variables):
    return xr.Dataset(variables or {"x": ("t", np.arange(5.0))}, attrs=ATTRIBUTES)


def test_what_is_saved_is_loaded(tmp_path):
    saved = dataset(
        x=("t", np.linspace(0, 1, 5), {"units": "s"}),
        flags=("t", np.array([True, False, True, True, False])),
        names=("n", ["a", "bc", "d\u00e9"]),
        counts=("n", np.array([0, 3, 2], dtype="int32")),
        flat=("k", np.array([1.0, np.nan, np.inf, -0.0, 5.0])),
        nothing=("empty", np.zeros(0)),
        one=((), 3),
    )
    results.save(saved, tmp_path / "r.nc")
    loaded = results.load(tmp_path / "r.nc")
    xr.testing.assert_identical(loaded, saved)
    assert loaded.encoding["source"] == str(tmp_path / "r.nc")
    with xr.open_dataset(tmp_path / "r.nc") as plain:
        xr.testing.assert_identical(plain.load(), saved)


def test_a_loaded_file_is_closed(tmp_path):
    results.save(dataset(), tmp_path / "r.nc")
    loaded = results.load(tmp_path / "r.nc")
    results.save(dataset(x=("t", np.zeros(2))), tmp_path / "r.nc")
    assert loaded["x"].size == 5 and results.load(tmp_path / "r.nc")["x"].size == 2


def test_large_arrays_are_compressed(tmp_path):
    results.save(dataset(x=("t", np.zeros(1_000_000))), tmp_path / "r.nc")
    assert (tmp_path / "r.nc").stat().st_size < 200_000


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "r.nc"
    results.save(dataset(), path)
    before = path.read_bytes()

    def half(part):
        part.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        results.write_atomically(path, half)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "no such file"), (b"", "not a readable netCDF file"), (b"\x89HDF\r\n\x1a\nrubbish", "not a readable"),
     (b"a,b\n1,2\n", "not a readable netCDF file")],
)  # fmt: skip
def test_a_file_that_is_no_result_is_refused_in_one_line(tmp_path, content, message):
    path = tmp_path / "r.nc"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(WorkbenchError, match=message) as caught:
        results.load(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_a_foreign_netcdf_file_is_refused(tmp_path):
    xr.Dataset({"x": ("t", [1.0])}).to_netcdf(tmp_path / "r.nc", engine="h5netcdf")
    with pytest.raises(WorkbenchError, match="not a result of the workbench: it has no method, params_json"):
        results.load(tmp_path / "r.nc")


@pytest.mark.parametrize(
    "changed",
    [{"params_json": "{"}, {"params_json": "[]"}, {"params_json": 3}, {"verdicts_json": '[{"claim": "x"}]'},
     {"verdicts_json": "[1]"}, {"verdicts_json": "{}x"}],
)  # fmt: skip
def test_a_result_with_broken_attributes_is_refused(tmp_path, changed):
    dataset().assign_attrs(changed).to_netcdf(tmp_path / "r.nc", engine="h5netcdf")
    with pytest.raises(WorkbenchError, match="its parameters or verdicts are not readable"):
        results.load(tmp_path / "r.nc")


@pytest.mark.parametrize("keep", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_not_reused(tmp_path, keep):
    path = tmp_path / "r.nc"
    results.save(dataset(x=("t", np.random.default_rng(0).random(5000))), path)
    content = path.read_bytes()
    assert results.reusable(path, ATTRIBUTES)[0] is not None
    path.write_bytes(content[: int(keep * len(content))])
    found, reason = results.reusable(path, ATTRIBUTES)
    assert found is None and reason.startswith("not reused: ")


def test_the_result_of_another_run_is_not_reused(tmp_path):
    results.save(dataset(), tmp_path / "r.nc")
    found, reason = results.reusable(tmp_path / "r.nc", ATTRIBUTES | {"params_json": '{"n": 1}'})
    assert found is None and "another run" in reason
    assert results.reusable(tmp_path / "none.nc", ATTRIBUTES) == (None, "")


def test_the_name_tells_method_scale_and_key():
    name = results.stem(ATTRIBUTES)
    assert name.startswith("toy-quick-") and len(name) == len("toy-quick-") + 12
    assert results.stem(ATTRIBUTES | {"scale": "off protocol"}).startswith("toy-custom-")
    for key in results.KEY:
        assert results.stem(ATTRIBUTES | {key: "other"})[-12:] != name[-12:]
    assert results.stem(ATTRIBUTES | {"verdicts_json": "other"}) == name


def test_a_folder_that_cannot_hold_results_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    results.check_folder(tmp_path / "new" / "deep")
    for folder in (tmp_path / "file", tmp_path / "file" / "deep"):
        with pytest.raises(WorkbenchError, match="is a file; give another folder"):
            results.check_folder(folder)
