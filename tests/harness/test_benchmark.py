import json
import sys
from contextlib import contextmanager

import numpy as np
import pytest

from workbench.errors import WorkbenchError
from workbench.harness import benchmark
from workbench.harness.benchmark import Row, Workload, main, measure, peak_memory
from workbench.harness.benchmark_report import summary


def work(name="total", **changes):
    settings = {"prepare": lambda: np.arange(5.0), "ours": np.sum, "peer": np.mean, "peer_name": "mean"} | changes
    return Workload(name, "sums", **settings)


def calls_of(turns):
    calls = []
    note = {"ours": lambda given: calls.append("ours"), "peer": lambda given: calls.append("peer")}
    measure(work(**note), budget=0, least=turns)
    return calls


def test_turns_are_interleaved_and_begin_with_each_in_turn():
    assert calls_of(3) == ["ours", "peer", "ours", "peer", "peer", "ours", "ours", "peer"]


def test_input_is_made_once():
    made = []
    measure(work(prepare=lambda: made.append("input") or np.ones(3)), budget=0)
    assert made == ["input"]


def test_ratio_is_the_median_within_turns(monkeypatch):
    ticks = iter([*(0, 1, 0, 2), *(0, 4, 0, 1), *(0, 1, 0, 9)])
    monkeypatch.setattr(benchmark.time, "perf_counter", lambda: next(ticks))
    row = measure(work(), budget=0)
    assert (row.seconds, row.peer_seconds, row.ratio, row.turns) == (1, 4, 4, 3)


def test_results_are_compared_and_facts_kept():
    differ = work(check=lambda ours, peer: f"{ours:g} is not {peer:g}", facts=lambda ours, seconds: {"total": ours})
    row = measure(differ, budget=0, least=1)
    assert row.wrong == "10 is not 2" and row.facts == {"total": 10}


def test_a_missing_peer_is_said():
    row = measure(work(peer_module="no_such_module_anywhere"), budget=0)
    assert row.note == "no_such_module_anywhere is not installed"
    assert row.ratio is None and row.peer_seconds is None and row.seconds >= 0


def test_turns_fill_the_budget(monkeypatch):
    ticks = iter([0, 0.5] * 100)
    monkeypatch.setattr(benchmark.time, "perf_counter", lambda: next(ticks))
    alone = work(peer=None, peer_name="")
    assert [measure(alone, budget=budget, least=1).turns for budget in (0, 1, 2.1, 100)] == [1, 2, 5, 9]


def test_threads_are_set_for_the_time_of_the_work():
    numba = pytest.importorskip("numba")
    row = measure(work(ours=lambda given: numba.get_num_threads(), check=lambda ours, peer: str(ours), threads=1))
    assert row.wrong == "1" and row.threads["numba"] == 1


def test_a_peer_is_imported_before_its_threads_are_limited(monkeypatch, tmp_path):
    (tmp_path / "late_peer.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    seen = []

    @contextmanager
    def limited(threads):
        seen.append("late_peer" in sys.modules)
        yield {}
        seen.append("limits end")

    monkeypatch.setattr(benchmark, "limited", limited)
    measure(work(peer_module="late_peer", check=lambda ours, peer: seen.append("check") or ""), budget=0, least=1)
    assert seen == [True, "check", "limits end"]
    del sys.modules["late_peer"]


def test_ours_alone():
    row = measure(work(peer=None, peer_name=""), budget=0)
    assert row.ratio is None and row.note == ""


def test_summary_is_by_group():
    rows = [Row(f"w{ratio}", group, 1, 1.0, {}, ratio=ratio) for group, ratio in (("a", 2.0), ("a", 4.0), ("b", None))]
    assert summary(rows) == ["a: peer / ours 3 (median of 2; 2 to 4)"]


def test_main_prints_a_table_and_writes_json(toy, tmp_path, capsys):
    assert main(toy, ["--quick", "--only", "[tbs]*", "--no-memory", "--json", str(tmp_path / "b.json")]) == 0
    printed = capsys.readouterr().out
    assert "total" in printed and "slow" not in printed and "results agree" in printed
    assert "sums: peer / ours" in printed
    report = json.loads((tmp_path / "b.json").read_text())
    assert [row["name"] for row in report["rows"]] == ["total", "bulky"]
    assert report["machine"]["versions"]["numpy"] and report["rows"][0]["turns"] == 1


def test_main_tells_of_wrong_results(toy, capsys):
    assert main(toy, ["--quick", "--only", "wrong", "--no-memory"]) == 1
    assert "WRONG: 10 is not 10 + 1" in capsys.readouterr().out


def test_main_refuses_a_pattern_that_matches_nothing(toy):
    with pytest.raises(WorkbenchError, match=r"--only 'totl' matches no workload; did you mean 'total'\?"):
        main(toy, ["--only", "totl"])


def test_memory_is_the_peak_of_a_new_process_above_its_start(toy):
    assert 80_000_000 < peak_memory(toy, "bulky") < 140_000_000
    assert peak_memory(toy, "total", "peer") < 10_000_000
