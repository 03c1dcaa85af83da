"""The shape of a method: every method of the package is held to it."""

import ast
import inspect
import json
import shlex
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

import workbench
from workbench.harness import registry
from workbench.harness.claims import Claim
from workbench.harness.notebook import CONTROLS, PARAMETERS_TAG
from workbench.harness.params import PRESETS, Params
from workbench.harness.registry import DataNeeds, Reference

METHODS = registry.methods()
LIGHT = {"numpy", "pydantic", "pydantic_core", "annotated_types", "typing_extensions", "typing_inspection"}
LEAVES = {
    "params",
    "claims",
    "registry",
    "style",
    "controls",
    "frame",
    "threads",
    "data",
    "benchmark",
    "progress",
    "memory",
}
every_method = pytest.mark.parametrize("name", METHODS)


def imports(path):
    """Return the modules that a file imports, at the top or inside functions."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_there_are_methods():
    assert "transport" in METHODS


@every_method
def test_a_spec_declares_everything(name):
    method = registry.get(name)
    assert method.spec.TITLE and method.spec.SUMMARY.endswith(".")
    assert issubclass(method.params, Params)
    assert isinstance(method.reference, Reference) and isinstance(method.data, DataNeeds) and method.data.what
    assert method.claims and all(isinstance(claim, Claim) for claim in method.claims)
    names = [claim.name for claim in method.claims]
    assert len(set(names)) == len(names)
    assert all(claim.statement and claim.where and set(claim.presets) <= set(PRESETS) for claim in method.claims)


@every_method
def test_a_reference_is_bibtex_of_the_paper(name):
    reference = registry.get(name).reference
    assert reference.bibtex.startswith("@") and reference.bibtex.rstrip().endswith("}")
    assert reference.title in reference.bibtex and str(reference.year) in reference.bibtex
    assert reference.bibtex.count("{") == reference.bibtex.count("}")


@every_method
def test_parameters_are_declared_with_help_and_a_seed(name):
    fields = registry.get(name).params.fields()
    assert all(field.help for field in fields.values())
    assert fields["seed"].item is int and not fields["seed"].protocol
    assert not set(fields) & set(CONTROLS)


@every_method
def test_presets_are_valid_and_recognised(name):
    params = registry.get(name).params
    quick, full = params.preset("quick"), params.preset("full")
    assert (quick.scale(), full.scale()) == ("quick", "full") and quick == params()
    assert params.parse({key: json.dumps(value) for key, value in full.to_dict().items()}) == full.to_dict()


@every_method
def test_the_parts_of_a_method(name):
    method = registry.get(name)
    run = inspect.signature(method.study.run).parameters
    assert list(run) == ["params", "data", "progress"]
    assert run["data"].default is None and run["progress"].kind is inspect.Parameter.KEYWORD_ONLY
    assert isinstance(method.figures.FIGURES, tuple) and all(map(callable, method.figures.FIGURES))
    inspect.signature(method.explore.explore).bind()
    assert method.benchmark.WORKLOADS
    assert method.notebook.is_file()


@every_method
def test_an_explorer_opens_resets_and_gives_a_command_that_is_understood(name):
    method = registry.get(name)
    frame = method.explore.explore()
    assert frame.state == "ready", frame.status
    frame.reset()
    assert frame.state == "ready", frame.status
    program, verb, called, *options = shlex.split(frame.command)
    assert (program, verb, called) == ("workbench", "run", name)
    pairs = zip(options[::2], options[1::2], strict=True)
    method.params.parse(dict(text.split("=", 1) for flag, text in pairs if flag == "-p"))


@every_method
def test_the_parameters_cell_is_params(name):
    method = registry.get(name)
    cells = nbformat.read(method.notebook, 4).cells
    (cell,) = [cell for cell in cells if PARAMETERS_TAG in cell.metadata.get("tags", [])]
    found = [statement for statement in ast.parse(cell.source).body if isinstance(statement, ast.AnnAssign)]
    cell_says = [(node.target.id, ast.unparse(node.annotation), ast.literal_eval(node.value)) for node in found]
    fields = list(method.params.fields().values())
    assert cell_says[: len(fields)] == [(field.name, field.type_name, field.default) for field in fields]
    assert [name for name, _, _ in cell_says[len(fields) :]] == list(CONTROLS)
    comments = [line.split("  # ")[1] for line in cell.source.splitlines()]
    assert comments[: len(fields)] == [f"{f.help} ({f.unit})" if f.unit else f.help for f in fields]


@every_method
def test_a_spec_imports_nothing_heavy(name):
    code = f"""
import sys, workbench.methods.{name}.spec
files = {{module: getattr(sys.modules[module], "__file__", None) or "" for module in sys.modules}}
print(*{{module.split(".")[0] for module, file in files.items() if "site-packages" in file}})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {package for package in done.stdout.split() if package[0] != "_"} - {"workbench"} <= LIGHT


@every_method
def test_a_method_imports_only_the_leaves_of_the_harness_and_no_other_method(name):
    for path in registry.get(name).folder.rglob("*.py"):
        for module in imports(path):
            parts = module.split(".")
            if parts[:2] == ["workbench", "harness"] and len(parts) > 2:
                assert parts[2] in LEAVES, f"{path} imports {module}"
            if parts[:2] == ["workbench", "methods"] and len(parts) > 2:
                assert parts[2] == name, f"{path} imports {module}"
            assert parts[:2] != ["workbench", "cli"], f"{path} imports {module}"


def test_the_harness_knows_no_method_by_name():
    for path in (Path(workbench.__path__[0]) / "harness").glob("*.py"):
        assert not any(module.startswith("workbench.methods.") for module in imports(path)), path
