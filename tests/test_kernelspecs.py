"""The kernelspecs are found in the checkout and after an installation, and their environment reaches the kernel."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager
from PIL import Image

from workbench.harness import threads

ROOT = Path(__file__).parents[1]
KERNELS = ("workbench", "workbench-1")


def spec(name):
    return json.loads((ROOT / "kernels" / name / "kernel.json").read_text())


def test_the_folder_holds_these_kernels_alone():
    assert sorted(path.name for path in (ROOT / "kernels").iterdir()) == list(KERNELS)


@pytest.mark.parametrize("name", KERNELS)
def test_spec_starts_the_python_of_whoever_launches_it(name):
    assert spec(name)["argv"][0] == "python"
    assert spec(name)["language"] == "python"


def test_kernels_differ_in_their_thread_counts_alone():
    many, one = (spec(name)["env"] for name in KERNELS)
    assert many.items() <= one.items()
    assert all(name.endswith("_NUM_THREADS") or name == "VECLIB_MAXIMUM_THREADS" for name in one.keys() - many.keys())


def test_one_thread_kernel_sets_every_count_that_the_workbench_knows():
    assert threads.environment(1).items() <= spec("workbench-1")["env"].items()


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("side", [32, 64])
def test_logos_have_the_sizes_that_jupyter_asks_for(name, side):
    with Image.open(ROOT / "kernels" / name / f"logo-{side}x{side}.png") as logo:
        assert logo.size == (side, side)


def test_both_are_found_with_jupyter_path_at_the_checkout(monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", str(ROOT))
    found = KernelSpecManager().find_kernel_specs()
    assert {name: found[name] for name in KERNELS} == {name: str(ROOT / "kernels" / name) for name in KERNELS}


def test_both_are_found_after_an_editable_install(tmp_path, monkeypatch):
    install = [sys.executable, "-m", "pip", "install", "--ignore-installed", "--no-deps", "--no-build-isolation"]
    subprocess.run([*install, "--prefix", str(tmp_path), "--editable", str(ROOT)], check=True, capture_output=True)
    (share,) = tmp_path.glob("**/share/jupyter")
    monkeypatch.setenv("JUPYTER_PATH", str(share))
    found = KernelSpecManager().find_kernel_specs()
    assert {name: found[name] for name in KERNELS} == {name: str(share / "kernels" / name) for name in KERNELS}


@pytest.mark.parametrize("name", KERNELS)
def test_environment_reaches_the_kernel(name, monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", str(ROOT))
    manager = KernelManager(kernel_name=name)
    manager.start_kernel()
    client = manager.blocking_client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=60)
        printed = []
        client.execute_interactive(
            "import json, os; print(json.dumps(dict(os.environ)))",
            timeout=60,
            output_hook=lambda message: printed.append(message["content"].get("text", "")),
        )
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert spec(name)["env"].items() <= json.loads("".join(printed)).items()
