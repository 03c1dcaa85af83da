from dataclasses import replace

import numpy as np
import pytest

from workbench.harness.benchmark import measure
from workbench.methods.transport import benchmark
from workbench.methods.transport.benchmark import WORKLOADS, certified, sweep
from workbench.methods.transport.spec import CLASSES


def test_names_are_unique_and_all_classes_are_there():
    names = [work.name for work in WORKLOADS]
    assert len(set(names)) == len(names)
    assert all(f"{side} {cls}" in names for side in (64, 128, 256) for cls in CLASSES)


@pytest.mark.parametrize("cls", CLASSES)
def test_every_class_is_certified_and_encloses_the_exact_value(cls):
    pytest.importorskip("ot")
    row = measure(certified(cls, 8, exact=True), budget=0, least=1)
    assert row.wrong == "" and row.ratio is not None
    assert row.facts["gap"] <= 1e-4


def test_without_an_exact_solver_ours_runs_alone():
    row = measure(certified("Shapes", 8, exact=False), budget=0, least=1)
    assert row.wrong == "" and row.ratio is None


def test_a_value_outside_the_interval_is_told():
    given = certified("Shapes", 8, exact=False)
    result = given.ours(given.prepare())
    assert benchmark._enclosed(result, 2 * result.upper + 1).startswith("exact ")
    assert benchmark._enclosed(replace(result, rel_gap=1e-3), None) == "certified gap 0.001, not 0.0001"


@pytest.mark.parametrize("threads", [None, 1])
def test_sweep_counts_its_edges(threads):
    row = measure(sweep(8, threads=threads), budget=0, least=1)
    edges = 16 * 64
    assert row.facts["ns an edge and iteration"] == pytest.approx(1e9 * row.seconds / edges / benchmark.ITERATIONS)
    assert row.peer_threads == row.threads["numba"]


def test_the_copy_moves_as_many_bytes_as_the_sweep():
    given = benchmark._iteration(8)
    assert given.source.nbytes + given.target.nbytes == pytest.approx(given.edges * benchmark.BYTES_AN_EDGE)
    benchmark._copy(given)
    assert np.array_equal(given.source, given.target)
