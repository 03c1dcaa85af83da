"""What the doctor finds on a machine where something is missing."""

from importlib import metadata

import pytest

from workbench.harness import doctor


@pytest.fixture
def installed(monkeypatch):
    """A distribution with one requirement of each sort, and the versions that are installed."""
    requires = ["numpy>=2", "rich>=13", 'jupyterlab>=4; extra == "lab"', 'torch>=2; extra == "torch"']
    versions = {"numpy": "1.26", "jupyterlab": "4.6"}

    def version(name):
        if name not in versions:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    message = metadata.metadata("numpy")
    monkeypatch.setattr(message, "get_all", lambda name: ["lab", "torch"], raising=False)
    monkeypatch.setattr(doctor.metadata, "requires", lambda name: requires)
    monkeypatch.setattr(doctor.metadata, "metadata", lambda name: message)
    monkeypatch.setattr(doctor.metadata, "version", version)


def test_packages(installed):
    found = {item.what: (item.state, item.detail) for item in doctor._packages()}
    assert found == {
        "numpy": ("wrong", "1.26, but needed is >=2: pip install 'numpy>=2'"),
        "rich": ("wrong", "missing: pip install 'rich>=13'"),
        "extra lab": ("ok", "complete"),
        "torch": ("optional", "missing: pip install 'claims-workbench[torch]'"),
    }


def test_without_jupyterlab_its_extensions_are_not_asked_for(installed, monkeypatch):
    monkeypatch.setattr(doctor.metadata, "version", _missing)
    (found,) = doctor._lab()
    assert found.state == "optional" and found.detail == "missing: pip install 'claims-workbench[lab]'"


def test_a_missing_extension_is_wrong(monkeypatch, tmp_path):
    monkeypatch.setattr("jupyter_core.paths.jupyter_path", lambda *parts: [str(tmp_path)])
    found = [item for item in doctor._lab() if item.what.startswith("extension")]
    assert {item.state for item in found} == {"wrong"} and "one environment" in found[0].detail


def test_a_cache_that_cannot_be_written_is_wrong(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "cache"))
    cache = next(doctor._compiled_loops())
    assert cache.state == "wrong" and "set NUMBA_CACHE_DIR" in cache.detail


def test_no_browser_is_no_error(monkeypatch):
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    assert doctor._browser().state == "optional"


def _missing(name):
    raise metadata.PackageNotFoundError(name)
