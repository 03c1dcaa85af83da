"""README, citation, data list and the other texts of the repository agree with what is there."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest
import typer.main
import yaml

import workbench
from workbench.cli import app
from workbench.harness import citation, registry

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
GUIDES = ("README.md", "CONTRIBUTING.md")

# Facts of the Citation File Format 1.2.0: what is required, and the keys that this project uses.
CITATION_SCHEMA = {
    "type": "object",
    "required": ["cff-version", "message", "title", "authors"],
    "additionalProperties": False,
    "properties": {
        "cff-version": {"const": "1.2.0"},
        "message": {"type": "string", "minLength": 1},
        "title": {"type": "string", "minLength": 1},
        "type": {"enum": ["software", "dataset"]},
        "abstract": {"type": "string", "minLength": 1},
        "version": {"type": ["string", "number"]},
        "date-released": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
        "license": {"type": "string"},
        "keywords": {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "string"}},
        "authors": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
        },
    },
}

FOREIGN = re.compile(r"/(?:root|home|work|opt|Users)/\w|(?:pypi|pythonhosted|npmjs|debian|anaconda)\.(?:org|com)\b")


def tracked_files():
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a git checkout")
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listing.split("\0") if (ROOT / name).is_file()]


def commands_named(path, program):
    """Return the words that follow `program` where a text calls it: at the start of a line or of a code span."""
    return set(re.findall(rf"(?:^ *|`|[/\t]){program} ([a-z]+)", (ROOT / path).read_text(), flags=re.MULTILINE))


def test_readme_stays_near_a_hundred_lines():
    assert len(README.splitlines()) <= 120


@pytest.mark.parametrize("path", GUIDES)
def test_make_commands_exist(path):
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert commands_named(path, "make") <= targets
    assert commands_named(path, "make") != set()


@pytest.mark.parametrize("path", [*GUIDES, "Makefile", "binder/postBuild"])
def test_workbench_commands_exist(path):
    known = set(typer.main.get_command(app).commands)
    assert commands_named(path, "workbench") <= known
    assert commands_named(path, "workbench") != set()


def test_readme_lists_every_method():
    assert re.findall(r"^\| \[`(\w+)`\]", README, flags=re.MULTILINE) == registry.methods()


@pytest.mark.parametrize("path", [*GUIDES, "CHANGELOG.md", "data/README.md"])
def test_links_and_pictures_exist(path):
    targets = re.findall(r"\]\(([^)#]+)\)", (ROOT / path).read_text())
    missing = [t for t in targets if "://" not in t and not (ROOT / path).parent.joinpath(t).exists()]
    assert missing == []


def test_readme_picture_is_small():
    assert (ROOT / ".github" / "readme.png").stat().st_size < 200_000


def test_readme_example_draws_a_picture(tmp_path):
    (example,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", example], cwd=tmp_path, env=environment, check=True, timeout=300)
    assert list(tmp_path.glob("*.png")) != []


def test_readme_names_the_torch_of_the_constraints():
    pinned = re.findall(r"^torch==(.+)$", (ROOT / "constraints.txt").read_text(), flags=re.MULTILINE)
    assert set(re.findall(r"torch==([\w.]+)", README)) == set(pinned)


def test_citation_file_is_valid_and_agrees_with_the_package():
    content = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    jsonschema.validate(content, CITATION_SCHEMA)
    assert content["version"] == workbench.__version__
    assert content["license"] == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["license"]
    assert content["title"] == citation.TITLE
    assert content["authors"] == [{"name": citation.AUTHOR}]
    assert content["date-released"].startswith(str(citation.YEAR))


def test_changelog_has_an_entry_for_this_version():
    assert f"## {workbench.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_data_files_are_listed_with_their_digests():
    row = re.compile(r"^\| `([^`]+)` \|.+\|.+\|.+\| `([0-9a-f]{64})` \|$", flags=re.MULTILINE)
    listed = dict(row.findall((ROOT / "data" / "README.md").read_text()))
    files = [path for path in tracked_files() if path.parent == ROOT / "data" and path.name != "README.md"]
    assert listed == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_no_tracked_file_names_a_machine_path_or_a_registry_host():
    texts = [path for path in tracked_files() if path != Path(__file__) and b"\0" not in path.read_bytes()]
    found = {str(path.relative_to(ROOT)): FOREIGN.findall(path.read_text()) for path in texts}
    assert {name: matches for name, matches in found.items() if matches} == {}


def test_method_of_the_contributing_guide_runs(tmp_path):
    blocks = re.findall(r"^`(methods/\S+)`\n```py\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.S | re.M)
    for name, source in blocks:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    (tmp_path / "methods" / "buffon" / "__init__.py").touch()
    done = subprocess.run(
        [sys.executable, "-m", "workbench", "run", "buffon", "--no-notebook", "--strict", "--out", "out"],
        cwd=tmp_path,
        env={**os.environ, "WORKBENCH_PATH": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(path.suffix for path in (tmp_path / "out").iterdir()) == [".nc", ".png"]
