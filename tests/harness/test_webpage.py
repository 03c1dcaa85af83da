"""Notebooks as pages that need no network: formulas, code, pictures with their texts."""

import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from workbench.harness import paths, webpage
from workbench.harness.notebook import read

pytest.importorskip("nbconvert")


def page(tmp_path, *cells):
    import nbformat

    path = tmp_path / "n.ipynb"
    nbformat.write(new_notebook(cells=list(cells)), path)
    return webpage.write(path).read_text()


def test_formulas_become_mathml_and_code_stays(tmp_path):
    text = page(tmp_path, new_markdown_cell("# On $x_1^2$\nPay `$5`, \\$6 or $a_i * b_i * c_i$:\n\n$$\\sum_i x_i$$\n"))
    assert text.count("<math") == 3 and text.count('display="block"') == 1
    assert "<code>$5</code>" in text and "$6" in text and "<em>" not in text
    assert "FORMULA" not in re.sub("<[^>]*>", "", text)


def test_two_sums_of_money_are_no_formula(tmp_path):
    assert "<math" not in page(tmp_path, new_markdown_cell("It costs $5 here and $6 there."))


def test_a_formula_that_cannot_be_read_is_shown_as_it_is(tmp_path):
    text = page(tmp_path, new_markdown_cell(r"Broken $x < \frac$ formula"))
    assert r'<code class="tex">x &lt; \frac</code>' in text


def test_a_picture_keeps_its_text(tmp_path):
    output = new_output("display_data", {"image/png": "aGVsbG8="}, metadata={"image/png": {"alt": "A curve rises."}})
    text = page(tmp_path, new_code_cell("draw()", outputs=[output]))
    assert 'alt="A curve rises."' in text and "data:image/png;base64" in text


@pytest.mark.parametrize("path", sorted(paths.notebooks().glob("*.ipynb")), ids=lambda path: path.stem)
def test_every_formula_of_our_notebooks_can_be_shown(path, tmp_path):
    text = page(tmp_path, *read(path).cells)
    assert not re.search(r"<script|<link|<iframe|@import|src=.http", text)
    assert 'class="tex"' not in text
