"""Writes an executed notebook as one web page that needs no network: no scripts, formulas as MathML."""

import re
from html import escape
from pathlib import Path
from typing import Any

from workbench.errors import MissingExtra
from workbench.harness.notebook import read
from workbench.harness.results import write_atomically

_TEMPLATE = """{% extends 'classic/index.html.j2' %}
{% block html_head_js %}{% endblock %}
{% block html_head_js_mathjax %}{% endblock %}
{% block mathjax %}{% endblock %}
"""
_CODE_OR_FORMULA = re.compile(
    r"(?P<ticks>`+).+?(?P=ticks)"
    r"|(?<!\\)\$\$(?P<display>.+?)(?<!\\)\$\$"
    r"|(?<![\\$])\$(?P<inline>[^$\s](?:[^$\n]*[^$\s\\])?)\$(?!\d)",
    re.DOTALL,
)
_UNREAD = "\\"
_TAG_OR_TOKEN = re.compile("<[^>]*>|FORMULA([0-9]+)X")


def write(executed: Path) -> Path:
    """Write ``<executed>.html`` beside an executed notebook; return its path.

    Raises
    ------
    MissingExtra
        If nbconvert or latex2mathml is not installed.
    """
    page = executed.with_suffix(".html")
    text = _exporter().from_notebook_node(read(executed), {"metadata": {"name": executed.stem}})[0]
    write_atomically(page, lambda part: part.write_text(text, encoding="utf-8"))
    return page


def _exporter() -> Any:
    try:
        from jinja2 import pass_context
        from nbconvert import HTMLExporter
    except ImportError:
        raise MissingExtra("nbconvert", "lab", "--html") from None

    class Page(HTMLExporter):
        """HTMLExporter whose formulas are MathML."""

        @pass_context
        def markdown2html(self, context: Any, source: str) -> str:
            formulas: list[str] = []
            html = super().markdown2html(context, _set_aside(source, formulas))
            return _TAG_OR_TOKEN.sub(lambda found: formulas[int(found[1])] if found[1] else found[0], html)

    return Page(template_name="classic", raw_template=_TEMPLATE)


def _set_aside(source: str, formulas: list[str]) -> str:
    """Replace each formula outside code by a token and append its MathML to `formulas`."""

    def replace(found: re.Match[str]) -> str:
        if found["ticks"]:
            return found[0]
        tex = found["display"] or found["inline"]
        formulas.append(mathml(tex, display=bool(found["display"])))
        return f"FORMULA{len(formulas) - 1}X"

    return _CODE_OR_FORMULA.sub(replace, source)


def mathml(tex: str, *, display: bool = False) -> str:
    """Return a formula in TeX as MathML, which browsers and screen readers know without scripts.

    What the converter cannot read stays TeX, as code.

    Raises
    ------
    MissingExtra
        If latex2mathml is not installed.

    Examples
    --------
    >>> mathml("x^2").startswith("<math")
    True
    """
    try:
        from latex2mathml.converter import convert
    except ImportError:
        raise MissingExtra("latex2mathml", "lab", "--html") from None
    try:
        converted = convert(tex.strip(), display="block" if display else "inline")
    except Exception:
        converted = _UNREAD
    unread = _UNREAD in converted or "<mi>&</mi>" in converted
    return f'<code class="tex">{escape(tex.strip())}</code>' if unread else converted
