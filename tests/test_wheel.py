"""The built wheel carries all that an installation without the checkout needs, and nothing else."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from workbench.harness import registry

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        return archive.namelist()


def test_wheel_holds_every_file_of_the_package(wheel):
    sources = {path for path in (ROOT / "workbench").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert {str(path.relative_to(ROOT)) for path in sources} <= set(wheel)


def test_wheel_holds_a_notebook_for_every_method_and_the_data(wheel):
    assert {f"workbench/notebooks/{name}.ipynb" for name in registry.methods()} <= set(wheel)
    assert "workbench/data/README.md" in wheel


@pytest.mark.parametrize("name", ["workbench", "workbench-1"])
@pytest.mark.parametrize("file", ["kernel.json", "logo-32x32.png", "logo-64x64.png", "logo-svg.svg"])
def test_wheel_installs_the_kernelspecs(wheel, name, file):
    assert any(path.endswith(f".data/data/share/jupyter/kernels/{name}/{file}") for path in wheel)


def test_wheel_holds_the_licence_and_the_command(wheel):
    assert any(path.endswith(".dist-info/licenses/LICENSE") for path in wheel)
    assert any(path.endswith(".dist-info/entry_points.txt") for path in wheel)


def test_wheel_holds_nothing_else(wheel):
    tops = {path.split("/")[0].split("-")[0] for path in wheel}
    assert tops == {"workbench", "claims_workbench"}
    assert [path for path in wheel if path.endswith((".nc", ".pyc")) or "checkpoint" in path] == []
