"""Guards around every test: types and shapes checked, no global state changed, no network, files in a temporary folder.

Annotations of the methods are checked on every call; compiled loops are left out, numba cannot compile checked ones.
"""

import os
import socket
import sys
from pathlib import Path

import hypothesis
import numpy as np
import psutil
import pytest
from jaxtyping import install_import_hook

import workbench.methods

hypothesis.settings.register_profile("workbench", derandomize=True, deadline=None)
hypothesis.settings.load_profile("workbench")

METHODS = Path(workbench.__path__[0]) / "methods"
FILES = [path for path in METHODS.glob("*/*.py") if not path.stem.startswith(("_jit", "__init__"))]
CHECKED = [f"workbench.methods.{path.parent.name}.{path.stem}" for path in FILES]
install_import_hook(CHECKED, "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))")

os.environ["MPLBACKEND"] = "Agg"
for name in ("WORKBENCH_PATH", "WORKBENCH_FORCE", "WORKBENCH_PROGRESS"):
    os.environ.pop(name, None)

collect_ignore = ["toy"]
TOY = Path(__file__).parent / "toy"


@pytest.fixture(autouse=True)
def same_global_state():
    """Fails a test that changes what other tests see: random state, plot style, thread counts, environment."""
    np.random.seed(0)
    before = _global_state()
    yield
    after = _global_state()
    changed = [name for name in before.keys() & after.keys() if before[name] != after[name]]
    assert not changed, f"the test changed global state: {', '.join(sorted(changed))}"


def _global_state():
    state = {"numpy.random": repr(np.random.get_state()), "numpy.errstate": np.geterr()}
    if matplotlib := sys.modules.get("matplotlib"):
        state["matplotlib.rcParams"] = dict(matplotlib.rcParams)
    if numba := sys.modules.get("numba"):
        state["numba threads"] = numba.get_num_threads()
    if torch := sys.modules.get("torch"):
        state["torch threads"] = torch.get_num_threads()
        state["torch dtype"] = torch.get_default_dtype()
    ours = ("WORKBENCH", "NUMBA", "OMP_", "OPENBLAS_", "MKL_", "JUPYTER", "MPL")
    state["environment"] = {name: value for name, value in os.environ.items() if name.startswith(ours)}
    return state


@pytest.fixture(autouse=True)
def own_folder(same_global_state, tmp_path, monkeypatch):
    """The working directory is a temporary one, so that the default ``results/`` lands there."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def loopback_only(same_global_state, monkeypatch):
    """Connections to other machines are refused."""
    connect = socket.socket.connect

    def guarded(self, address):
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise OSError(f"tests use no network: {address}")
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture
def toy(monkeypatch):
    """The method ``toy`` of tests/toy can be found, in this process and in its children."""
    monkeypatch.setenv("WORKBENCH_PATH", str(TOY))
    monkeypatch.setattr(workbench.methods, "__path__", [*workbench.methods.__path__, str(TOY / "methods")])
    yield "toy"
    for name in [name for name in sys.modules if name.startswith("workbench.methods.toy")]:
        del sys.modules[name]
    vars(workbench.methods).pop("toy", None)


@pytest.fixture
def new_children():
    """Return the descendants of this process that a test has started and that still live."""
    before = set(psutil.Process().children(recursive=True))
    return lambda: set(psutil.Process().children(recursive=True)) - before
