"""What Binder would build, as repo2docker plans it; nothing is built and no Docker is needed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OWN_VENV = ROOT / ".venv-repo2docker" / "bin" / "repo2docker"


@pytest.fixture(scope="module")
def plan():
    """Return what repo2docker prints for this checkout: its log and the Dockerfile."""
    command = str(OWN_VENV) if OWN_VENV.exists() else shutil.which("repo2docker")
    if command is None:
        message = "repo2docker is not installed: make test puts it into .venv-repo2docker"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    done = subprocess.run(
        [command, "--no-build", "--debug", "."], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "part", ['--file "binder/environment.yml"', "python=3.11", "./binder/postBuild", "binder/start"]
)
def test_binder_builds_from_its_own_folder(plan, part):
    assert part in plan


def test_binder_does_not_fall_back_to_another_python_or_to_the_root_environment(plan):
    assert "Python version unspecified" not in plan
    assert '--file "environment.yml"' not in plan


@pytest.mark.parametrize("script", ["postBuild", "start"])
def test_scripts_are_executable_and_read_as_bash(script):
    path = ROOT / "binder" / script
    assert os.access(path, os.X_OK)
    subprocess.run(["bash", "-n", str(path)], check=True)


def test_start_hands_over_to_the_command_it_is_given():
    done = subprocess.run(
        ["bash", str(ROOT / "binder" / "start"), "printenv", "NUMBA_NUM_THREADS"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "2\n"
