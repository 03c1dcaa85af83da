"""Dependencies, tested versions and conda environments say the same, and cover what the code imports."""

import ast
import functools
import importlib.metadata
import re
import sys
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
EXTRAS = {extra: [Requirement(line) for line in lines] for extra, lines in PROJECT["optional-dependencies"].items()}
CORE = [Requirement(line) for line in PROJECT["dependencies"]]
OPTIONAL = [requirement for extra, lines in EXTRAS.items() if extra != "all" for requirement in lines]

# Names on conda-forge that differ from the package index.
CONDA_NAMES = {
    "build": "python-build",
    "jupyter-client": "jupyter_client",
    "jupyter-core": "jupyter_core",
    "matplotlib": "matplotlib-base",
    "torch": "pytorch-cpu",
}

# Packages that conda-forge does not have; what they depend on, it has.
PIP_ONLY = {"reservoirpy"}

# Packages that are a part of another one, which pins or requires them.
PARTS = {"pydantic-core": "pydantic", "cycler": "matplotlib"}


def names(requirements):
    return {canonicalize_name(requirement.name) for requirement in requirements}


def constraint_lines():
    return [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]


def constraints():
    return {canonicalize_name(name): version for name, version in (line.split("==") for line in constraint_lines())}


def conda_environment(path):
    """Return the channels, the versions of the packages (None where free) and the pip lines."""
    content = yaml.safe_load((ROOT / path).read_text())
    packages = [entry for entry in content["dependencies"] if isinstance(entry, str)]
    pip = [line for entry in content["dependencies"] if isinstance(entry, dict) for line in entry["pip"]]
    versions = {name: version or None for name, _, version in (package.partition("=") for package in packages)}
    return content["channels"], versions, pip


def imported_packages(path, *, top_level_only=False):
    """Return the canonical names of the distributions that a module imports."""
    tree = ast.parse(path.read_text())
    nodes = tree.body if top_level_only else list(ast.walk(tree))
    modules = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    modules += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    roots = {module.split(".")[0] for module in modules} - sys.stdlib_module_names - {"workbench", "tests"}
    found = {canonicalize_name(owner) for root in roots for owner in owners().get(root, [root])}
    return {PARTS.get(name, name) for name in found}


@functools.cache
def owners():
    """Return the distributions that provide each module."""
    return importlib.metadata.packages_distributions()


def undeclared(paths, declared, *, top_level_only=False):
    return {
        f"{path.relative_to(ROOT)} imports {package}"
        for path in paths
        for package in imported_packages(path, top_level_only=top_level_only) - declared
    }


def test_every_package_that_the_code_imports_is_declared():
    assert undeclared((ROOT / "workbench").rglob("*.py"), names(CORE + OPTIONAL)) == set()


def test_every_package_that_the_tests_import_is_declared():
    assert undeclared((ROOT / "tests").rglob("*.py"), names(CORE + OPTIONAL)) == set()


def test_harness_and_command_line_load_with_the_core_dependencies_alone():
    paths = [path for path in (ROOT / "workbench").rglob("*.py") if "methods" not in path.parts]
    assert undeclared(paths, names(CORE), top_level_only=True) == set()


def test_extra_all_is_the_union_of_the_other_extras():
    (requirement,) = EXTRAS["all"]
    assert requirement.name == PROJECT["name"]
    assert requirement.extras == set(EXTRAS) - {"all"}


def test_constraints_are_exact_public_versions_in_order():
    lines = constraint_lines()
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    assert lines == sorted(lines, key=str.lower)


def test_constraints_meet_every_requirement():
    pinned = constraints()
    for requirement in CORE + OPTIONAL:
        assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)]), requirement


def test_constraints_cover_what_the_dependencies_pull_in():
    pinned, queue, seen = constraints(), CORE + OPTIONAL, set()
    while queue:
        requirement = queue.pop()
        key = (canonicalize_name(requirement.name), frozenset(requirement.extras))
        if key not in seen:
            seen.add(key)
            assert key[0] in pinned, f"{requirement} is not in constraints.txt"
            queue += pulled_in(requirement)


def pulled_in(requirement):
    """Return what the installed distribution of a requirement requires here; nothing if it is not installed."""
    try:
        lines = importlib.metadata.requires(requirement.name) or []
    except importlib.metadata.PackageNotFoundError:
        return []
    cases = [{"extra": extra} for extra in ["", *requirement.extras]]
    children = [Requirement(line) for line in lines]
    return [child for child in children if not child.marker or any(child.marker.evaluate(case) for case in cases)]


def test_root_environment_holds_every_dependency_at_the_tested_version():
    channels, versions, pip = conda_environment("environment.yml")
    assert channels == ["conda-forge", "nodefaults"]
    assert pip == [*(f"{name}=={constraints()[name]}" for name in sorted(PIP_ONLY)), "-e ."]
    wanted = {CONDA_NAMES.get(name, name): constraints()[name] for name in names(CORE + OPTIONAL) - PIP_ONLY}
    assert set(versions) == {*wanted, "python", "pip"}
    minor = {name: ".".join(version.split(".")[:2]) for name, version in wanted.items()}
    assert {name: versions[name] for name in minor} == minor


def test_binder_environment_is_a_subset_of_the_root_one():
    channels, versions, pip = conda_environment("binder/environment.yml")
    root_channels, root_versions, _ = conda_environment("environment.yml")
    assert channels == root_channels
    assert pip == []
    assert versions.items() <= root_versions.items()


def test_binder_environment_holds_the_core_dependencies_alone():
    _, versions, _ = conda_environment("binder/environment.yml")
    assert set(versions) == {CONDA_NAMES.get(name, name) for name in names(CORE)} | {"python", "pip"}


def test_tools_and_environments_use_the_least_supported_python():
    version = PROJECT["requires-python"].removeprefix(">=")
    assert PYPROJECT["tool"]["pyright"]["pythonVersion"] == version
    assert PYPROJECT["tool"]["ruff"]["target-version"] == "py" + version.replace(".", "")
    for path in ("environment.yml", "binder/environment.yml"):
        assert conda_environment(path)[1]["python"] == version
