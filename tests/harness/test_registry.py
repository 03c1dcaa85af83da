"""Finding methods: the package's own and those of extra roots."""

import subprocess
import sys

import pytest

from workbench.errors import WorkbenchError
from workbench.harness import paths, registry


def test_a_method_of_an_extra_root_is_found(toy):
    assert toy in registry.methods()
    method = registry.get(toy)
    assert method.spec.TITLE == "The mean of random numbers"
    assert method.folder.parts[-2:] == ("methods", "toy")
    assert method.notebook.name == "toy.ipynb"


def test_without_the_root_there_is_no_such_method():
    with pytest.raises(WorkbenchError, match=r"^unknown method 'toy'; "):
        registry.get("toy")


def test_a_mistyped_method_gets_suggestions():
    with pytest.raises(WorkbenchError, match="unknown method 'transprt'; did you mean 'transport'"):
        registry.get("transprt")


@pytest.mark.parametrize("name", ["", "..", "transport/spec", "__pycache__", "Transport "])
def test_strange_names_are_unknown_methods(name):
    with pytest.raises(WorkbenchError, match="unknown method"):
        registry.get(name)


def test_the_environment_names_extra_roots(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_PATH", f"{tmp_path}::~")
    assert paths.extra_roots()[0] == tmp_path.resolve() and len(paths.extra_roots()) == 2


def test_a_method_without_a_notebook_says_what_to_do(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_PATH", str(tmp_path))
    with pytest.raises(WorkbenchError, match=r"'toy' has no notebook toy\.ipynb.*--no-notebook"):
        registry.get(toy).notebook  # noqa: B018


@pytest.mark.parametrize("statement", ["import workbench", "import workbench.harness.registry as r; r.methods()"])
def test_the_table_of_contents_loads_nothing_heavy(statement):
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numba", "torch", "xarray", "scipy", "matplotlib", "pandas"} & set(loaded)
