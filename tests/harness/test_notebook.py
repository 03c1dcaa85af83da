"""Cells of a notebook file, numbered and named by the heading they stand under."""

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from workbench.harness.notebook import Cell, code_cells


def parameters():
    return new_code_cell("n: int = 1  # n", metadata={"tags": ["parameters"]})


def test_numbers_and_headings():
    cells = [
        new_markdown_cell("# Top\ntext\n## Parameters ##"), parameters(), new_code_cell(" "), new_markdown_cell("text"),
        new_code_cell("1 / 0  # not a heading\n# nor this"), new_markdown_cell("## Run *it*"), new_code_cell("run()"),
    ]  # fmt: skip
    known = [cell for cell in code_cells(new_notebook(cells=cells)) if cell]
    assert known == [Cell(1, 3, "Parameters"), Cell(2, 3, "Parameters"), Cell(3, 3, "Run *it*")]


def test_the_injected_cell_is_counted_where_papermill_puts_it():
    notebook = new_notebook(
        cells=[new_code_cell("import x"), parameters(), new_markdown_cell("# Next"), new_code_cell("1")]
    )
    assert code_cells(notebook, injected=True) == [
        Cell(1, 4, ""), Cell(2, 4, ""), Cell(3, 4, ""), None, Cell(4, 4, "Next"),
    ]  # fmt: skip
    bare = new_notebook(cells=[new_code_cell("1")])
    assert code_cells(bare, injected=True) == [Cell(1, 2, ""), Cell(2, 2, "")]
