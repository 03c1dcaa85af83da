"""A child process under watch: its events, its limits, and nothing of it left."""

import os
import sys
import time

import psutil
import pytest

from workbench.harness.supervisor import OutOfTime, supervise

TELL = "open(sys.argv[1], 'a').write"


def watch(tmp_path, code, *, timeout=60, patience=60):
    events = []
    outcome = supervise(
        [sys.executable, "-c", f"import sys, time, os\n{code}", str(tmp_path / "events")],
        environment=os.environ,
        events=tmp_path / "events",
        log=tmp_path / "log",
        on_event=events.append,
        timeout=timeout,
        patience=patience,
    )
    return outcome, events


def test_events_arrive_whole_and_in_order(tmp_path):
    code = f"""
for i in range(3):
    {TELL}('{{"n": ' + str(i))
    time.sleep(0.2)
    {TELL}('}}\\n')
print("said"); sys.exit(7)
"""
    outcome, events = watch(tmp_path, code)
    assert events == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert outcome.code == 7 and outcome.peak_bytes > 1_000_000
    assert (tmp_path / "log").read_text() == "said\n"


def test_a_child_that_runs_too_long_is_killed(tmp_path, new_children):
    with pytest.raises(OutOfTime) as caught:
        watch(tmp_path, "time.sleep(600)", timeout=0.5)
    assert not caught.value.idle and not new_children()


def test_a_child_that_has_finished_but_does_not_end_is_idle(tmp_path, new_children):
    with pytest.raises(OutOfTime) as caught:
        watch(tmp_path, f"""{TELL}('{{"finished": true}}\\n'); time.sleep(600)""", patience=0.5)
    assert caught.value.idle and not new_children()


def test_a_grandchild_in_a_session_of_its_own_is_killed_too(tmp_path):
    code = f"""
import subprocess
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
{TELL}('{{"pid": ' + str(child.pid) + '}}\\n')
time.sleep(1.5)
"""
    outcome, events = watch(tmp_path, code)
    assert outcome.code == 0
    deadline = time.monotonic() + 30
    while psutil.pid_exists(events[0]["pid"]) and psutil.Process(events[0]["pid"]).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_what_a_callback_raises_ends_the_child(tmp_path, new_children):
    with pytest.raises(KeyError):
        supervise(
            [sys.executable, "-c", f"import sys, time; {TELL}('{{}}\\n'); time.sleep(600)", str(tmp_path / "events")],
            environment=os.environ,
            events=tmp_path / "events",
            log=tmp_path / "log",
            on_event=lambda event: event["missing"],
            timeout=60,
        )
    assert not new_children()
