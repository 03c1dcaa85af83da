"""Running a study in this process: provenance, reuse, bit-equal repetition."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import workbench
from workbench.errors import ParameterError, WorkbenchError
from workbench.harness import claims, registry
from workbench.harness.provenance import command

REQUIRED = {
    "method", "title", "paper", "paper_identifier", "workbench_version", "params_json", "seed", "scale", "data_sha256",
    "data_names_json", "sources_sha256", "versions_json", "threads_json", "seconds", "peak_memory_bytes", "started",
    "verdicts_json", "command",
}  # fmt: skip


def files(folder="results"):
    return sorted(path.name for path in Path(folder).iterdir())


def test_a_run_writes_one_file_that_plain_xarray_reads(toy):
    dataset = workbench.run(toy)
    (name,) = files()
    assert name.startswith("toy-quick-") and dataset.encoding["source"] == f"results/{name}"
    with xr.open_dataset(f"results/{name}") as plain:
        xr.testing.assert_identical(plain.load(), dataset)
        assert set(plain.attrs) == REQUIRED
        assert all(isinstance(value, str | int | float | np.number) for value in plain.attrs.values())


def test_provenance(toy):
    attributes = workbench.run(toy, {"count": 50, "seed": 7, "label": "it's"}).attrs
    assert json.loads(attributes["params_json"])["count"] == 50
    assert attributes["seed"] == 7 and attributes["scale"] == "off protocol"
    assert attributes["command"] == """workbench run toy -p count=50 -p 'label=it'"'"'s' --seed 7"""
    assert attributes["workbench_version"] == workbench.__version__
    assert attributes["peak_memory_bytes"] >= 0 and attributes["seconds"] > 0
    assert {"python", "numpy", "numba", "xarray"} <= set(json.loads(attributes["versions_json"]))
    assert json.loads(attributes["threads_json"])["cores"] >= 1
    assert attributes["started"].endswith("+00:00") and attributes["data_sha256"] == ""


def test_verdicts_follow_the_scale(toy):
    words = [v.verdict for v in claims.from_json(workbench.run(toy, out="").attrs["verdicts_json"])]
    assert words == ["holds", "fails", "undecided"]
    off = claims.from_json(workbench.run(toy, {"count": 5}, out="").attrs["verdicts_json"])
    assert {v.reason for v in off} == {"parameters off the protocol"}
    full = registry.get(toy).params.preset("full")
    assert [v.verdict for v in claims.from_json(workbench.run(toy, full, out="").attrs["verdicts_json"])][2] == "holds"


def test_an_equal_run_is_reused_and_a_forced_one_is_not(toy):
    said = []
    first = workbench.run(toy)
    again = workbench.run(toy, {"count": 100}, progress=lambda fraction, text: said.append(text))
    xr.testing.assert_identical(first, again)
    assert said == [f"reused {first.encoding['source']}"]
    forced = workbench.run(toy, force=True)
    assert forced["seconds"] != first["seconds"] and len(files()) == 1
    workbench.run(toy, {"seed": 1})
    assert len(files()) == 2


def test_a_broken_file_in_the_place_of_the_result_is_not_trusted(toy):
    first = workbench.run(toy)
    path = Path(first.encoding["source"])
    path.write_bytes(path.read_bytes()[:2000])
    said = []
    again = workbench.run(toy, progress=lambda fraction, text: said.append(text))
    assert said[0].startswith("not reused: ") and again["numbers"].equals(first["numbers"])


def test_without_a_folder_nothing_is_written(toy):
    dataset = workbench.run(toy, out="")
    assert not Path("results").exists() and "source" not in dataset.encoding


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"method": "toi"}, "unknown method 'toi'; did you mean 'toy'"),
        ({"params": {"cnt": 1}}, "unknown parameter 'cnt'; did you mean 'count'"),
        ({"params": {"count": 0}}, "count = 0 is not allowed: it takes a whole number, at least 1 and at most"),
        ({"data": "none.npy"}, "none.npy"),
        ({"data": ["a.npy", "b.npy"]}, "a.npy|2 files"),
        ({"threads": 0}, "threads = 0 is not allowed: it takes a whole number, at least 1"),
        ({"threads": True}, "threads = True is not allowed"),
    ],
)
def test_wrong_input_is_refused_before_anything_is_written(toy, call, message):
    with pytest.raises(WorkbenchError, match=message):
        workbench.run(**{"method": toy} | call)
    assert not Path("results").exists()


def test_parameters_of_another_method_are_refused(toy):
    with pytest.raises(ParameterError, match=r"not the Params of 'toy': give workbench\.methods\.toy\.spec\.Params"):
        workbench.run(toy, registry.get("transport").params())


def test_a_crash_of_the_study_reaches_the_caller_and_leaves_no_file(toy):
    with pytest.raises(ZeroDivisionError, match="nothing to divide by"):
        workbench.run(toy, {"fault": "raise"})
    assert not Path("results").exists() or files() == []


def test_own_data_decide_nothing(toy):
    np.save("mine.npy", np.ones((2, 3)))
    dataset = workbench.run(toy, data="mine.npy")
    assert {v.reason for v in claims.from_json(dataset.attrs["verdicts_json"])} == {"own data"}
    assert len(dataset.attrs["data_sha256"]) == 64 and json.loads(dataset.attrs["data_names_json"]) == ["mine.npy"]
    assert dataset.attrs["command"].endswith("--data mine.npy")
    np.save("mine.npy", np.zeros((2, 3)))
    assert workbench.run(toy, data="mine.npy").encoding["source"] != dataset.encoding["source"]


def test_the_command_in_a_result_gives_its_parameters_back(toy):
    from shlex import split

    from workbench.cli.run import assignments

    method = registry.get(toy)
    params = method.params.preset("full", scales=[0.5, 3.0], label=' "a, b" ', seed=4)
    words = split(command(method, params))
    texts = [words[i + 1] for i, word in enumerate(words) if word == "-p"]
    scale = words[words.index("--scale") + 1] if "--scale" in words else "quick"
    seed = int(words[words.index("--seed") + 1])
    assert method.params.preset(scale, **assignments(method, texts, seed)) == params


def test_two_processes_with_one_thread_agree_to_the_last_bit(toy):
    code = "import workbench, sys; workbench.run('toy', {'seed': 3}, out=sys.argv[1], threads=1)"
    for out in ("one", "two"):
        subprocess.run([sys.executable, "-c", code, out], check=True, env=os.environ)
    one, two = (workbench.load(Path(out, files(out)[0])) for out in ("one", "two"))
    assert files("one") == files("two")
    steady = [name for name in one.variables if not one[name].attrs.get("volatile")]
    numeric = [name for name in steady if one[name].dtype.kind in "biuf"]
    assert {"mean", "numbers"} <= set(numeric)
    assert all(one[name].values.tobytes() == two[name].values.tobytes() for name in numeric)
    xr.testing.assert_equal(one[steady], two[steady])


def test_progress_goes_to_the_file_that_the_environment_names(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_PROGRESS", str(tmp_path / "events"))
    workbench.run(toy, out="")
    events = [json.loads(line) for line in (tmp_path / "events").read_text().splitlines()]
    assert events[0] == {"fraction": 0.0, "text": "step 1 of 5"} and events[-1]["fraction"] == 1.0
