"""Notebooks as files: one skeleton, no outputs, short cells, parameters that papermill sees."""

import ast
import json
import re
from itertools import pairwise

import nbformat
import papermill
import pytest

from workbench.harness import paths, registry
from workbench.harness.notebook import CONTROLS, PARAMETERS_TAG, code_cells

ALL = sorted(paths.notebooks().glob("*.ipynb"))
STUDIES = [registry.get(name).notebook for name in registry.methods()]
PARTS = [
    "Parameters", "Check", "The idea", "By hand", "Run the study", "Pictures", "Verdicts", "Turn one knob",
    "Your own data", "Explore", "Exercises", "Provenance",
]  # fmt: skip
LINE = re.compile(r"""(\w+): (list\[)?(int|float|bool|str)\]? = ([^#]+)  # \S.*""")
MOST_LINES = 15

every_notebook = pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
every_study = pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)


def cells(path, kind):
    return [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == kind]


def headings(path):
    text = "\n".join(re.sub(r"```.*?```", "", cell.source, flags=re.DOTALL) for cell in cells(path, "markdown"))
    return [(len(marks), title.strip()) for marks, title in re.findall(r"^(#+) (.+)$", text, re.MULTILINE)]


@every_notebook
def test_the_file_is_stripped_and_sorted(path):
    text = path.read_bytes().decode()
    notebook = json.loads(text)
    assert text == json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert set(notebook["metadata"]) <= {"kernelspec", "language_info"}
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert set(notebook["metadata"].get("language_info", {})) <= {"name"}
    for cell in notebook["cells"]:
        assert set(cell["metadata"]) <= {"tags", "jupyter", "collapsed"}
        assert cell["id"] and cell.get("outputs", []) == [] and cell.get("execution_count") is None
    nbformat.validate(nbformat.from_dict(notebook))


@every_notebook
def test_headings_have_one_top_and_skip_no_level(path):
    levels = [level for level, _ in headings(path)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


@every_notebook
def test_code_cells_are_short_and_hold_no_logic(path):
    for cell in cells(path, "code"):
        tree = ast.parse(cell.source)
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        assert all((node.end_lineno or 0) - node.lineno < 5 for node in functions), cell.id
        assert PARAMETERS_TAG in cell.metadata.get("tags", []) or len(cell.source.splitlines()) <= MOST_LINES, cell.id


@every_study
def test_the_thirteen_parts_stand_in_their_order(path):
    parts = [title for level, title in headings(path) if level == 2]
    assert len(parts) == len(PARTS)
    assert all(title.startswith(part) for title, part in zip(parts, PARTS, strict=True)), parts


@every_study
def test_every_code_cell_stands_under_a_heading(path):
    known = [cell for cell in code_cells(nbformat.read(path, 4)) if cell]
    assert known[-1].number == known[-1].of == len(known)
    assert all(cell.heading for cell in known)


@every_study
def test_each_line_of_the_parameters_cell_is_one_parameter(path):
    (cell,) = [cell for cell in cells(path, "code") if PARAMETERS_TAG in cell.metadata.get("tags", [])]
    for line in cell.source.splitlines():
        match = LINE.fullmatch(line)
        assert match, line
        assert not re.search(r"""(["'])[^"']*[=#][^"']*\1""", match[4]), f"= or # inside text: {line}"


@every_study
def test_papermill_sees_every_parameter(path):
    method = registry.get(path.stem)
    seen = papermill.inspect_notebook(str(path))
    assert list(seen) == [*method.params.fields(), *CONTROLS]
    assert all(parameter["help"] for parameter in seen.values())


@every_study
def test_the_notebook_runs_the_study_with_its_controls(path):
    source = "\n".join(cell.source for cell in cells(path, "code"))
    assert f'workbench.run("{path.stem}", params, data=data, out=out)' in source
    assert "Params.from_namespace(globals())" in source
    assert "if interactive else" in source or "if interactive:" in source
