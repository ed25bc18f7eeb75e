"""The layers hold: every import is one that the table in docs/development.md allows."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "coembed"
FILES = sorted(SOURCE.rglob("*.py"))

# to be emptied: module and what it imports though its layer may not
EXCEPTIONS = {
    # Fitted.map2d and Fitted.plot lay out and draw the model themselves, inside of the functions
    ("fitted.fitted", "maps.layout"),
    ("fitted.fitted", "maps.picture"),
    ("fitted.fitted", "maps.map_widget"),
    ("fitted.fitted", "maps.model_figures"),
}
TWICE: set[str] = set()


class Import(NamedTuple):
    """Both modules without the name of the package, and where it is written."""

    module: str
    imported: str
    line: int


class Layers(NamedTuple):
    """For every folder or file of the table: its row, and what it may import."""

    row: dict[str, int]
    allowed: dict[str, set[str]]
    to_come: set[str]


def read_table(text: str) -> Layers:
    section = text.split("## Layers\n")[1].split("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| `")]
    row: dict[str, int] = {}
    allowed: dict[str, set[str]] = {}
    to_come = set(re.findall(r"`([\w/.]+)` \(to come\)", section))
    for number, (names, *_, may_import) in enumerate(lines):
        for name in _names(names):
            assert name not in row, f"the table of layers has {name} twice"
            row[name] = number
            allowed[name] = set(_names(may_import))
            if "leaves" in may_import:
                allowed[name] |= {other for other, place in row.items() if place < 2}
    return Layers(row, allowed, to_come)


def _names(cell: str) -> list[str]:
    return re.findall(r"`([\w/.]+)`", cell)


def module_of(path: Path) -> str:
    """``training/loop.py`` is `training.loop`, ``training/__init__.py`` is `training`."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


MODULES = {module_of(path) for path in FILES}


def layer_of(module: str) -> str:
    """The folder, or the file below no folder, as the table writes it."""
    first = module.partition(".")[0]
    return f"{first}/" if (SOURCE / first).is_dir() else f"{first}.py"


def imports_of(source: str, module: str) -> Iterator[Import]:
    """All imports of the package's own modules, also inside of functions; not those for type checkers."""
    for node in _for_running(ast.parse(source)):
        if isinstance(node, ast.Import):
            for each in node.names:
                if each.name.partition(".")[0] == "coembed":
                    yield Import(module, each.name.partition(".")[2] or "__init__", node.lineno)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module}, line {node.lineno}: imports say where from, without dots"
            package, _, place = (node.module or "").partition(".")
            if package == "coembed":
                for each in node.names:
                    below = f"{place}.{each.name}".lstrip(".")
                    yield Import(module, below if below in MODULES else place or "__init__", node.lineno)


def _for_running(node: ast.AST) -> Iterator[ast.AST]:
    for_types = isinstance(node, ast.If) and ast.unparse(node.test) in (
        "TYPE_CHECKING",
        "typing.TYPE_CHECKING",
    )
    yield node
    for child in node.orelse if for_types else ast.iter_child_nodes(node):
        yield from _for_running(child)


def forbidden(imports: Iterator[Import] | list[Import], layers: Layers) -> list[Import]:
    """The imports that the table does not allow."""
    found = []
    for each in imports:
        here, there = layer_of(each.module), layer_of(each.imported)
        if here != there and there not in layers.allowed[here]:
            found.append(each)
    return found


@pytest.fixture(scope="module")
def layers() -> Layers:
    return read_table((ROOT / "docs" / "development.md").read_text(encoding="utf-8"))


def test_the_table_has_every_folder_and_file(layers: Layers) -> None:
    there = {layer_of(module) for module in MODULES}
    assert there <= set(layers.row), "the table of layers in docs/development.md lacks a folder or file"
    # of folders inside of others the table tells, too, but they have no row
    assert set(layers.row) - there == set(layers.row) & layers.to_come, (
        "the table of layers names what is not there, or what has come as to come"
    )


def test_the_table_points_upwards_only(layers: Layers) -> None:
    for name, others in layers.allowed.items():
        for other in others:
            assert layers.row[other] <= layers.row[name], f"{name} may not import {other}, which is below it"


def test_every_import_is_allowed(layers: Layers) -> None:
    found = [
        each
        for path in FILES
        for each in forbidden(imports_of(path.read_text(encoding="utf-8"), module_of(path)), layers)
    ]
    told = [
        f"src/coembed: {each.module}, line {each.line} imports {each.imported}"
        for each in found
        if each[:2] not in EXCEPTIONS
    ]
    assert not told, "against the table of layers in docs/development.md:\n" + "\n".join(told)
    assert {each[:2] for each in found} == EXCEPTIONS, "an exception is not needed any more: delete it"


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("views.basis", "from coembed.model.scan import Seen"),
        ("views.basis", "def f():\n    if True:\n        import coembed.training.loop"),
        ("explorer.overview", "from coembed.cli import console"),
        ("metrics", "from coembed.network.pairs import entries"),
        ("network.readers.read", "from coembed import fit"),
        ("views.basis", "if TYPE_CHECKING:\n    pass\nelse:\n    from coembed.model import SVAE"),
        ("training.loop", "try:\n    from coembed.estimator import SCAN\nexcept ImportError:\n    pass"),
    ],
)
def test_an_import_that_reaches_back_is_found(layers: Layers, module: str, source: str) -> None:
    assert len(forbidden(imports_of(source, module), layers)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("distributed.view_shares", "if TYPE_CHECKING:\n    from coembed.model.scan import Seen"),
        ("distributed.view_shares", "if typing.TYPE_CHECKING:\n    from coembed.model.scan import Seen"),
        ("views.basis", "from coembed.views.decomposition import anything\nimport numpy"),
        ("training.loop", "from coembed.errors import InputError\nfrom coembed.model import SVAE"),
        ("views.basis", "from coembedded import model"),
    ],
)
def test_an_import_that_points_upwards_is_not(layers: Layers, module: str, source: str) -> None:
    assert not forbidden(imports_of(source, module), layers)


def test_a_file_name_occurs_in_one_folder() -> None:
    counts = Counter(path.name for path in FILES if path.name != "__init__.py")
    assert {name for name, count in counts.items() if count > 1} == TWICE
