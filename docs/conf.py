"""The site: `make docs` builds it by Sphinx. Nothing is fetched, neither then nor when it is read."""

from __future__ import annotations

import html
import json
import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from myst_parser.parsers.sphinx_ import MystParser

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from coembed.version import __version__  # noqa: E402

project = "coembed"
copyright = "the authors of coembed, Apache License 2.0"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["results/cells", "results/tuning", "results/report.html"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # the report begins its sections where its generator does
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
napoleon_google_docstring = False

html_theme = "furo"
html_title = f"coembed {version}"
html_static_path = ["assets"]
html_css_files = ["site.css"]
html_logo = html_favicon = "assets/icon.svg"
html_copy_source = html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0a4a85", "color-brand-content": "#0a63b0"},
    "dark_css_variables": {"color-brand-primary": "#8cc6f7", "color-brand-content": "#7dbcf5"},
}

NAVIGATION = {
    "Tutorials": """tutorials/index tutorials/five_minutes tutorials/own_tables tutorials/several_types
        tutorials/tags_and_profiles tutorials/single_cells quickstart""",
    "How to": "tables libraries explorer evaluation large distributed reproduce gallery",
    "Reference": """cli queries settings formats api python reference/package reference/network
        reference/fitted reference/model reference/evaluation reference/client migration changes""",
    "Explanation": """model best fast doubt reliability results/best results/paper results/rivals
        results/report results/mutation_survivors rivals/index""",
    "Extending": """extending/index extending/likelihood extending/column_kind extending/reader extending/view
        extending/member extending/rival extending/metric extending/panel development""",
    "Project": "contributing release security conduct",
}
"""Every page, after what a reader wants: to learn, to do, to look up, to understand (Diátaxis)."""

BESIDE = {
    "changes": "CHANGELOG.md",
    "contributing": "CONTRIBUTING.md",
    "conduct": "CODE_OF_CONDUCT.md",
    "security": "SECURITY.md",
    "index": "README.md",
}
"""Pages that are files of the repository; the README's place on the site is that of the index."""
PLACES = {file: f"{page}.md" for page, file in BESIDE.items()}
LINK = re.compile(r"\]\((?!\w+:|#)([^)\s#]+)")


def setup(app: Any) -> None:
    app.add_source_suffix(".ipynb", "ipynb")
    app.add_source_parser(Notebook)
    app.connect("source-read", prepare)


def prepare(app: Any, name: str, source: list[str]) -> None:
    """Pages from beside the docs; links to those; what leads to all pages."""
    folder = posixpath.dirname(name)
    if name != "index" and name in BESIDE:
        text = (ROOT / BESIDE[name]).read_text(encoding="utf-8")
        source[0] = LINK.sub(lambda found: f"]({_from_root(found[1])}", text)
        return
    source[0] = LINK.sub(lambda found: f"]({_from_docs(found[1], folder)}", source[0])
    if name == "index":
        trees = [_tree(title, pages.split()) for title, pages in NAVIGATION.items()]
        source[0] = "\n\n".join([source[0], *trees, _tree("", ["rivals/*"], glob=True)])


def _from_root(target: str) -> str:
    inside = target.startswith("docs/")
    return target.removeprefix("docs/") if inside else PLACES.get(target, f"../{target}")


def _from_docs(target: str, folder: str) -> str:
    whole = posixpath.normpath(posixpath.join(folder, target))
    outside = whole.removeprefix("../")
    return (
        posixpath.relpath(PLACES[outside], folder or ".")
        if outside != whole and outside in PLACES
        else target
    )


def _tree(title: str, pages: list[str], glob: bool = False) -> str:
    options = ":hidden:" + (f"\n:caption: {title}" if title else "") + ("\n:glob:" if glob else "")
    return "\n".join(["```{toctree}", options, "", *pages, "```"])


class Notebook(MystParser):
    """A notebook is JSON: cells of Markdown, of code, and what that gave. No package is needed to show it."""

    supported = ("ipynb",)

    def parse(self, inputstring: str, document: Any) -> None:
        cells = json.loads(inputstring)["cells"]
        name = posixpath.basename(document.settings.env.docname)
        whole = [*map(cell_text, cells), f"{{download}}`This page as a notebook <{name}.ipynb>`"]
        super().parse("\n\n".join(whole), document)


def cell_text(cell: dict[str, Any]) -> str:
    """A cell as Markdown."""
    source = "".join(cell["source"])
    if cell["cell_type"] != "code":
        return source
    shown = [output_html(output) for output in cell["outputs"]]
    return "\n\n".join(
        [f"```python\n{source}\n```", *(f'<div class="output">{each}</div>' for each in shown)]
    )


def output_html(output: dict[str, Any]) -> str:
    """What a cell gave, without an empty line, which would end the HTML."""
    data = output.get("data", {})
    if "image/png" in data:
        picture = "".join(data["image/png"]).strip()
        return f'<img alt="The picture that this cell draws" src="data:image/png;base64,{picture}">'
    if "text/html" in data:
        return re.sub(
            r"\s*\n\s*", " ", re.sub(r"<style.*?</style>", "", "".join(data["text/html"]), flags=re.S)
        )
    text = "".join(output["text"] if output["output_type"] == "stream" else data.get("text/plain", ""))
    return f"<pre>{html.escape(text).strip(chr(10)).replace(chr(10) * 2, chr(10) + ' ' + chr(10))}</pre>"
