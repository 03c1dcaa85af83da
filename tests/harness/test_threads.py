"""Thread counts and the place of numba's cache."""

import os
import subprocess
import sys

import pytest

from workbench.errors import ParameterError
from workbench.harness import threads


def child(code, **environment):
    own = ("NUMBA", "OMP", "OPENBLAS", "MKL")
    env = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env | environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("count", [0, -1, 1.5, "2", True])
def test_a_count_that_is_none_is_refused(count):
    with pytest.raises(ParameterError, match=r"threads = .* is not allowed: it takes a whole number, at least 1"):
        threads.set_threads(count)


def test_the_environment_of_a_child():
    assert set(threads.environment(3).values()) == {"3"} and "NUMBA_NUM_THREADS" in threads.environment(3)
    assert threads.environment(None) == {}


def test_set_threads_reaches_every_library_in_whatever_order_they_come():
    code = """
import workbench, numpy
{first}
workbench.set_threads(1)
import numba, os
{last}
print(workbench.set_threads(1), os.environ["OMP_NUM_THREADS"])
"""
    for order in ({"first": "import numba", "last": ""}, {"first": "", "last": ""}):
        found = child(code.format(**order))
        assert "'numba': 1" in found and "'blas': 1" in found and found.endswith(" 1")


def test_numbas_parallel_loops_leave_torch_at_its_count():
    pytest.importorskip("torch")
    code = """
import torch, numba, numpy as np
from workbench.harness.threads import limited, threading_layer
with limited(None):
    threading_layer()
    print(torch.get_num_threads())
"""
    assert child(code) == "1"


def test_limited_restores_the_counts():
    code = """
import numba, numpy, workbench
from workbench.harness.threads import limited, thread_counts
before = thread_counts()
with limited(1) as inside:
    assert inside["numba"] == inside["blas"] == 1, inside
assert thread_counts() == before, (before, thread_counts())
"""
    child(code)


def test_the_cache_folder_follows_the_sources(tmp_path):
    show = "import workbench.methods, os; print(os.environ['NUMBA_CACHE_DIR'])"
    plain = child(show, XDG_CACHE_HOME=str(tmp_path))
    assert plain.startswith(str(tmp_path)) and child(show, XDG_CACHE_HOME=str(tmp_path)) == plain
    (tmp_path / "root" / "methods" / "mine").mkdir(parents=True)
    (tmp_path / "root" / "methods" / "mine" / "spec.py").write_text("x = 1\n")
    extra = child(show, XDG_CACHE_HOME=str(tmp_path), WORKBENCH_PATH=str(tmp_path / "root"))
    assert extra != plain
    assert child(show, XDG_CACHE_HOME=str(tmp_path), NUMBA_CACHE_DIR=extra) == plain
    assert child(show, NUMBA_CACHE_DIR=str(tmp_path / "mine")) == str(tmp_path / "mine")


def test_a_home_that_cannot_be_written_is_no_obstacle(tmp_path):
    (tmp_path / "file").write_text("")
    show = "import workbench.methods, os; print(os.environ['NUMBA_CACHE_DIR'])"
    assert "workbench-numba" in child(show, XDG_CACHE_HOME=str(tmp_path / "file"), HOME=str(tmp_path / "file"))
