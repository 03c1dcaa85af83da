"""Progress: parts, throttling, the places it goes, words for durations."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.harness import progress


def test_a_part_maps_onto_its_share():
    seen = []
    report = progress.part(lambda fraction, text: seen.append((fraction, text)), 0.5, 0.75)
    for fraction in (0, 0.5, 1):
        report(fraction, "x")
    assert seen == [(0.5, "x"), (0.625, "x"), (0.75, "x")]
    progress.part(None, 0, 1)(0.5, "ignored")


def test_calls_in_quick_succession_are_dropped_except_the_last(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_PROGRESS", str(tmp_path / "events"))
    with progress.reporting("work") as report:
        for step in range(10_000):
            report(step / 10_000, "step")
        report(1.0, "done")
    events = [json.loads(line) for line in (tmp_path / "events").read_text().splitlines()]
    assert 2 <= len(events) < 100 and events[-1] == {"fraction": 1.0, "text": "done"}


def test_in_a_pipe_nothing_is_said():
    code = "from workbench.harness.progress import reporting\nwith reporting('x') as r: r(0.5, 'a'); r(1, 'b')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == done.stderr == ""


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0.0 s"), (59.94, "59.9 s"), (59.96, "1 min 0 s"), (3599.6, "1 h 0 min")]
)
def test_durations(seconds, words):
    assert progress.duration(seconds) == words


@given(st.floats(0.05, 1), st.floats(0.5, 1e6))
def test_what_is_left_and_what_is_done_make_the_whole(fraction, elapsed):
    left = progress.remaining(elapsed, fraction)
    assert left is not None and left >= 0
    assert (elapsed + left) * fraction == pytest.approx(elapsed)


def test_too_early_to_tell():
    assert progress.remaining(100, 0.01) is None and progress.remaining(0.1, 0.5) is None
    assert progress.remaining(10, 2.0) == 0
