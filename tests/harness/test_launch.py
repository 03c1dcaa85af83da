"""Runs in a child process that go wrong, each for real: what is said, what is left, which code."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

import workbench
from workbench.errors import RunError
from workbench.harness import supervisor
from workbench.harness.job import Job
from workbench.harness.launch import launch
from workbench.harness.runner import Run

TOY = Path(__file__).parents[1] / "toy"
STUDY = 'in cell 4 of 6 ("Run the study") after '
LONG = 120


class Command:
    """A call of the command line in a folder of its own, with its own folder for temporary files."""

    def __init__(self, folder, *options, out=None, limit=None):
        self.folder, self.out = folder, out or folder / "out"
        self.temporary = folder / "tmp"
        self.temporary.mkdir(parents=True)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "workbench", "run", "toy", "--out", str(self.out), *options],
            cwd=folder,
            env=os.environ | {"WORKBENCH_PATH": str(TOY), "TMPDIR": str(self.temporary)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=limit,
        )

    def finish(self):
        self.stdout, self.stderr = self.process.communicate(timeout=LONG)
        self.code = self.process.returncode
        return self

    def started(self):
        """Wait until the endless study runs."""
        return wait_for((self.folder / "started").exists)

    def left(self):
        """Return the processes that still work in the folder."""
        return [process for process in psutil.process_iter() if _cwd(process).startswith(str(self.folder))]

    def suffixes(self):
        return sorted("".join(path.suffixes) for path in self.out.iterdir()) if self.out.exists() else []

    def assert_clean(self):
        assert wait_for(lambda: not self.left()), self.left()
        assert [path.name for path in self.temporary.iterdir() if path.name.startswith("workbench")] == []
        assert not self.out.exists() or not [path for path in self.out.iterdir() if path.name.startswith(".")]
        assert "Traceback" not in self.stderr and "TCP" not in self.stderr


def _cwd(process):
    try:
        return process.cwd()
    except psutil.Error:
        return ""


def wait_for(condition, seconds=LONG):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def small_disk(folder):
    """Give `folder` a disk of 4 MB of its own, or else let files end at 4 MB; return the limit for the child."""
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder], capture_output=True).returncode == 0:
        return None
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, 4_000_000))


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """Several commands that fail by themselves, run side by side."""
    top = tmp_path_factory.mktemp("commands")
    limit = small_disk(top / "disk")
    calls = {
        "kill": Command(top / "kill", "-p", "fault=kill"),
        "raise": Command(top / "raise", "-p", "fault=raise"),
        "refuse": Command(top / "refuse", "-p", "fault=refuse"),
        "disk": Command(top / "full", "-p", "count=2000000", out=top / "disk", limit=limit),
        "alone": Command(top / "alone", "-p", "fault=kill", "--no-notebook"),
        "slow": Command(top / "slow", "-p", "fault=endless", "--no-notebook", "--timeout", "15"),
    }
    yield {name: call.finish() for name, call in calls.items()}
    subprocess.run(["umount", top / "disk"], capture_output=True)


def test_a_killed_kernel(ended):
    call = ended["kill"]
    assert call.code == 1
    assert f"toy failed {STUDY}" in call.stderr and "the kernel died" in call.stderr
    assert call.suffixes() == [".failed.ipynb"] and "is kept in" in call.stderr
    call.assert_clean()


def test_a_cell_that_raises(ended):
    call = ended["raise"]
    assert call.code == 1
    assert f"toy failed {STUDY}" in call.stderr and "ZeroDivisionError: nothing to divide by" in call.stderr
    assert call.suffixes() == [".failed.ipynb"]
    assert "ZeroDivisionError" in next(call.out.iterdir()).read_text()
    call.assert_clean()


def test_input_that_only_the_study_can_refuse(ended):
    call = ended["refuse"]
    assert call.code == 2
    assert call.stderr.splitlines()[-1] == "workbench: an array of shape (0,) is empty: give at least one number"
    call.assert_clean()


def test_a_full_disk(ended):
    call = ended["disk"]
    assert call.code == 1
    assert f"toy failed {STUDY}" in call.stderr
    assert "No space left on device" in call.stderr or "File too large" in call.stderr
    assert call.suffixes() == [".failed.ipynb"]
    call.assert_clean()


def test_a_killed_study_without_a_notebook(ended):
    call = ended["alone"]
    assert call.code == 1
    assert "toy failed after" in call.stderr and "signal 9" in call.stderr
    assert call.suffixes() == []
    call.assert_clean()


def test_an_endless_study(ended):
    call = ended["slow"]
    assert call.code == 1
    assert "toy was stopped after " in call.stderr
    assert "the time allowed is 15.0 s; allow more with --timeout" in call.stderr
    call.assert_clean()


def test_an_endless_cell(toy, monkeypatch, new_children):
    """The clock is put forward when the endless cell starts, so that the test need not wait."""
    ahead = 0.0
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + ahead, sleep=time.sleep)
    monkeypatch.setattr(supervisor, "time", clock)

    def on_event(event):
        nonlocal ahead
        ahead = 10_000.0 if event.get("heading") == "Run the study" else ahead

    with pytest.raises(RunError) as caught:
        launch(Job(Run(toy, {"fault": "endless"}, out="out"), notebook=True), on_event=on_event, timeout=1000)
    assert f"toy was stopped {STUDY}" in str(caught.value) and caught.value.exit_code == 1
    assert "the time allowed is 16 min 40 s; allow more with --timeout; what ran is kept in out/" in str(caught.value)
    assert [path.name[-13:] for path in Path("out").iterdir()] == [".failed.ipynb"]
    assert not new_children()


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """Commands with an endless study, run side by side and stopped from outside once it runs."""
    top = tmp_path_factory.mktemp("stopped")
    stops = {
        "group": lambda call: os.killpg(call.process.pid, signal.SIGINT),
        "parent": lambda call: call.process.send_signal(signal.SIGINT),
        "terminate": lambda call: call.process.terminate(),
        "kill": lambda call: call.process.kill(),
    }
    calls = {name: Command(top / name, "-p", "fault=endless") for name in stops}
    for name, call in calls.items():
        assert call.started() and len(call.left()) == 3
        stops[name](call)
    return {name: call.finish() for name, call in calls.items()}


@pytest.mark.parametrize("name", ["group", "parent"])
def test_interrupt(stopped, name):
    call = stopped[name]
    assert call.code == 130
    assert f"toy was interrupted {STUDY}" in call.stderr
    assert call.suffixes() == [".failed.ipynb"]
    call.assert_clean()


def test_terminate(stopped):
    call = stopped["terminate"]
    assert call.code == 143 and call.suffixes() == []
    call.assert_clean()


def test_when_the_command_itself_is_killed_no_kernel_lives_on(stopped):
    call = stopped["kill"]
    assert call.code == -signal.SIGKILL and call.suffixes() == []
    call.assert_clean()


def test_a_run_that_does_not_end_is_started_once_more(toy, monkeypatch):
    from workbench.harness import launch as module

    events, calls = [], []

    def first_idle(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 1:
            raise module.OutOfTime(idle=True)
        return supervisor.supervise(*arguments, **options)

    monkeypatch.setattr(module, "supervise", first_idle)
    finished = launch(Job(Run(toy, out="out"), notebook=False), on_event=events.append)
    assert finished.result.is_file()
    assert [event["note"] for event in events if "note" in event] == [
        "toy did not end within 60 s of its last cell; starting once more"
    ]


def test_a_child_that_never_ends_is_an_error_after_the_second_time(toy, monkeypatch):
    from workbench.harness import launch as module

    def idle(*arguments, **options):
        raise module.OutOfTime(idle=True)

    monkeypatch.setattr(module, "supervise", idle)
    with pytest.raises(RunError, match="toy did not end after its last cell, twice"):
        launch(Job(Run(toy, out="out"), notebook=False), on_event=lambda event: None)


def test_plain_papermill_runs_the_notebook_too(toy):
    """Without our runner: parameters in, a result file out, and a line that says how it went."""
    command = [
        "papermill",
        str(TOY / "notebooks" / "toy.ipynb"),
        "executed.ipynb",
        "-p",
        "count",
        "50",
        "-p",
        "out",
        "here",
    ]
    subprocess.run([sys.executable, "-m", *command], check=True, capture_output=True)
    (result,) = Path("here").iterdir()
    assert workbench.load(result).sizes["draw"] == 50
    assert "<small>toy: done (" in Path("executed.ipynb").read_text()
