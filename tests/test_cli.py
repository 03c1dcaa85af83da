"""The command line: what each command prints, wrong calls, exit codes."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import workbench
from workbench.cli import main
from workbench.harness import registry

KNOWN = sorted(["toy", *registry.methods()])
HEAVY = {"xarray", "pandas", "scipy", "numba", "matplotlib", "torch", "papermill", "IPython", "h5py", "dask"}


@pytest.fixture
def call(capsys):
    """Call the command line in this process; return the exit code, what was printed, the errors."""
    before = signal.getsignal(signal.SIGTERM)

    def called(*arguments):
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    yield called
    signal.signal(signal.SIGTERM, before)


def result(**params):
    return Path(workbench.run("toy", params).encoding["source"])


def test_list(toy, call):
    code, printed, _ = call("list")
    assert code == 0 and "On means (2020)" in printed and "transport" in printed
    assert max(map(len, printed.splitlines())) <= 100


def test_params(toy, call):
    code, printed, _ = call("params", toy)
    rows = {line.split()[0]: line for line in printed.splitlines() if line[:1].strip()}
    assert code == 0 and list(rows)[1:6] == ["count", "scales", "label", "fault", "seed"]
    assert re.search(r"int +100 +1000 +at least 1 and at most", rows["count"])
    assert re.search(r"list\[float\] +\[1.0, 2.0\]", rows["scales"])


def test_cite(toy, call):
    code, printed, _ = call("cite", toy)
    assert code == 0 and printed.startswith("@article{means") and "@software{workbench" in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "toi"], "unknown method 'toi'; did you mean 'toy'?"),
        (["run", "toy", "-p", "cuont=3"], "unknown parameter 'cuont'; did you mean 'count'?"),
        (["run", "toy", "-p", "count=abc"], "count = 'abc' is not allowed: it takes a whole number, at least 1 and at"),
        (
            ["run", "toy", "-p", "count=0"],
            "count = '0' is not allowed: it takes a whole number, at least 1 and at most",
        ),
        (["run", "toy", "-p", "scales=1,-1"], "scales = '1,-1' is not allowed: it takes a list (a number each), "),
        (["run", "toy", "-p", "count"], "-p count: give a parameter as NAME=VALUE; workbench params toy lists them"),
        (["run", "toy", "-p", "count=1", "-p", "count=2"], "parameter 'count' is given twice"),
        (["run", "toy", "-p", "seed=1", "--seed", "2"], "parameter 'seed' is given twice"),
        (["run", "toy", "--seed", "-1"], "seed = '-1' is not allowed: it takes a whole number, at least 0"),
        (["run", "toy", "-p", "out=here"], "-p out: not a parameter of the study; use --out and --data"),
        (["run", "toy", "--scale", "huge"], "--scale huge is not allowed: it takes quick or full"),
        (["run", "toy", "--threads", "0"], "Invalid value for '--threads'"),
        (["run", "toy", "--data", "none.npy"], "none.npy"),
        (["run", "toy", "--html", "--no-notebook"], "--html shows the notebook: leave out --no-notebook"),
        (["run", "toy", "--fast"], "No such option: --fast"),
        (["run"], "give either the name of a method (see workbench list) or --all"),
        (["run", "toy", "--all"], "give either the name of a method (see workbench list) or --all"),
        (["run", "toy", "--out", "file"], "file cannot hold results: "),
        (["params", "transprt"], "unknown method 'transprt'; did you mean 'transport'?"),
        (["cite", "x"], f"unknown method 'x'; known: {', '.join(KNOWN)}"),
        (["benchmark", "x"], f"unknown method 'x'; known: {', '.join(KNOWN)}"),
        (["show", "none.nc"], "none.nc: no such file; give a result file (.nc) that a run wrote"),
        (["show", "file"], "file is not a readable netCDF file"),
        (["show", "foreign.nc"], "foreign.nc is netCDF, but not a result of the workbench: it has no method"),
        (["show", "sound.nc", "--figures", "file"], "file cannot hold results: "),
        (["compare", "none.nc", "file"], "none.nc: no such file"),
        (["show"], "Missing argument"),
        (["nonsense"], "No such command 'nonsense'"),
    ],
)
def test_wrong_calls_are_refused_in_one_or_two_lines(toy, call, arguments, message):
    Path("file").write_text("text")
    xr.Dataset({"x": ("t", [1.0])}).to_netcdf("foreign.nc", engine="h5netcdf")
    workbench.run(toy, out="").to_netcdf("sound.nc", engine="h5netcdf")
    code, printed, said = call(*arguments)
    assert code == 2 and printed == "" and message in said and said.startswith("workbench: ")
    assert len(said.splitlines()) <= 2
    assert not Path("results").exists()


@pytest.mark.parametrize(
    "arguments",
    [["list"], ["params", "transport"], ["cite", "transport"], ["--help"], ["run", "transport", "-p", "x=1"]],
    ids=" ".join,
)
def test_light_commands_load_nothing_heavy(arguments):
    code = f"import sys; from workbench.cli import main; main({arguments!r}); print('MODULES', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not HEAVY & set(done.stdout.split("MODULES")[1].split())


def test_the_exit_code_reaches_the_shell(toy):
    done = subprocess.run([sys.executable, "-m", "workbench", "run", "x"], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("workbench: unknown method 'x'")


def test_run_through_the_notebook_with_a_page(toy, call):
    code, printed, said = call("run", toy, "--html", "--seed", 5)
    assert code == 0 and "Traceback" not in said
    assert re.search(r"\+ holds .*x fails .*\? undecided", printed, re.DOTALL)
    assert "The mean is 0." in printed and "peak memory" in printed
    assert sorted(path.suffix for path in Path("results").iterdir()) == [".html", ".ipynb", ".nc", ".png"]
    assert all(f"wrote {path}" in printed for path in Path("results").iterdir())
    (page,) = Path("results").glob("*.html")
    text = page.read_text()
    assert not re.search(r"<script|<link|<iframe|src=.http|@import|url\(.?http", text)
    code, printed, _ = call("run", toy, "--seed", 5)
    assert code == 0 and "reused the result of an equal run" in printed and "there is results/" in printed


def test_run_without_the_notebook_then_strictly_and_by_force(toy, call):
    np.save("mine.npy", np.ones((2, 2)))
    options = ("run", toy, "--no-notebook", "-p", "label=a=b")
    code, printed, _ = call(*options, "--threads", 1)
    assert code == 0 and sorted(path.suffix for path in Path("results").iterdir()) == [".nc", ".png"]
    (file,) = Path("results").glob("*.nc")
    assert set(workbench.load(file)["label"].values) == {"a=b"}
    again, printed, _ = call(*options, "--strict")
    assert again == 3 and "reused" in printed
    written = file.stat().st_mtime_ns
    assert call(*options, "--force")[0] == 0
    assert file.stat().st_mtime_ns > written
    code, printed, _ = call(*options, "--strict", "--data", "mine.npy")
    assert code == 0 and "(own data)" in printed and len(list(Path("results").glob("*.nc"))) == 2


def test_run_all_goes_on_after_a_failure(toy, call, monkeypatch):
    from workbench.cli import run
    from workbench.errors import RunError

    def broken(job, timeout):
        raise RunError(f"{job.name} failed")

    monkeypatch.setattr(run, "_done", broken)
    code, _, said = call("run", "--all", "--no-notebook")
    assert code == 1 and said.splitlines() == [f"workbench: {name} failed" for name in KNOWN]


def test_show(toy, call):
    code, printed, _ = call("show", result(seed=2), "--figures", "pictures")
    assert code == 0 and re.search(r"^seed +2 *$", printed, re.MULTILINE) and "sources_sha256" in printed
    assert "+ holds" in printed
    assert sorted(path.name for path in Path("pictures").iterdir()) == ["cover.png", "cover.txt"]
    assert Path("pictures/cover.txt").read_text().startswith("The mean is 0.")


def test_show_goes_on_where_a_picture_cannot_be_drawn(toy, call, monkeypatch):
    def lacking(dataset):
        raise KeyError("older")

    file = result()
    figures = workbench.harness.registry.get(toy).figures
    monkeypatch.setattr(figures, "FIGURES", (lacking, *figures.FIGURES))
    code, _, said = call("show", file, "--figures", "pictures")
    assert code == 1 and said == "workbench: no lacking.png: KeyError: 'older'\n"
    assert sorted(path.name for path in Path("pictures").iterdir()) == ["cover.png", "cover.txt"]


@pytest.mark.parametrize(("closed", "code"), [("<&- >&-", 0), (">&- 2>&-", 0), ("2>&-", 0)])
def test_closed_streams_cost_no_traceback(closed, code):
    done = subprocess.run(f"{sys.executable} -m workbench list {closed}", shell=True, capture_output=True, text=True)
    assert done.returncode == code and done.stderr == ""


def test_compare(toy, call):
    first, second = result(), result(seed=1, count=100)
    code, printed, _ = call("compare", first, second)
    assert code == 0 and re.search(r"^seed +0 +1", printed, re.MULTILINE)
    assert re.search(r"^numbers +100 of 100 values differ +0\.\d+ +\d", printed, re.MULTILINE)
    assert re.search(r"^time or memory .*\n^seconds ", printed, re.MULTILINE)
    assert re.search(r"^centre +holds \(0\.\d+\) +holds \(0\.\d+\)", printed, re.MULTILINE)
    code, printed, _ = call("compare", first, first)
    assert "the parameters are equal" in printed and "no variable differs" in printed


def test_compare_of_different_methods_is_refused(toy, call):
    other = workbench.load(result())
    other.attrs["method"] = "other"
    other.to_netcdf("other.nc", engine="h5netcdf")
    code, _, said = call("compare", result(), "other.nc")
    assert code == 2 and "are results of different methods" in said


def test_doctor(call):
    code, printed, _ = call("doctor")
    assert code == 0, printed
    assert "all that is required is there" in printed and "numba cache" in printed and "extension anywidget" in printed


def test_lab_from_a_wheel_works_on_a_copy_and_keeps_the_users_changes(call, monkeypatch):
    from workbench.cli import machine

    started = []
    monkeypatch.setattr(machine.paths, "checkout", lambda: None)
    monkeypatch.setattr(machine.paths, "notebooks", lambda: Path(__file__).parents[1] / "notebooks")
    monkeypatch.setattr(machine.os, "execve", lambda *arguments: started.append(arguments))
    assert call("lab", "--no-browser")[0] == 0
    mine = Path("workbench-notebooks/transport.ipynb")
    mine.write_text("mine")
    _, printed, _ = call("lab")
    assert mine.read_text() == "mine" and "copied to workbench-notebooks/" in printed
    assert started[0][1][1:] == ["-m", "jupyterlab", "workbench-notebooks", "--no-browser"]


def test_benchmark_hands_its_options_on(toy, call, monkeypatch):
    seen = []
    monkeypatch.setattr("workbench.harness.benchmark.main", lambda name, arguments: seen.append((name, arguments)) or 0)
    assert call("benchmark", toy, "--workload", "a")[0] == 0
    assert seen == [("toy", ["--workload", "a"])]
