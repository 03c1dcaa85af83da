"""The software's citation states the facts of CITATION.cff."""

from pathlib import Path

import yaml

import workbench
from workbench.harness import citation


def test_the_facts_are_those_of_citation_cff():
    facts = yaml.safe_load((Path(__file__).parents[2] / "CITATION.cff").read_text())
    assert facts["title"] == citation.TITLE
    assert [author["name"] for author in facts["authors"]] == [citation.AUTHOR]
    assert str(facts["version"]) == workbench.__version__
    assert str(facts["date-released"]).startswith(str(citation.YEAR))


def test_bibtex_is_balanced():
    text = citation.software()
    assert text.startswith("@software{workbench,\n") and text.count("{") == text.count("}")
