"""Small changes of code: a sign, a bound, a branch, an argument; what mutation.py lets the tests look at.

Numbers with names of their own, such as ``ROUNDS = 20``, are choices, and left alone; so are types,
docstrings and messages.
"""

from __future__ import annotations

import ast
import copy
import itertools
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "coembed"

COMPARED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
COMPUTED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult}
SWAPPED = {
    name: other
    for pair in (
        ("maximum", "minimum"),
        ("max", "min"),
        ("argmax", "argmin"),
        ("any", "all"),
        ("zeros", "ones"),
    )
    for name, other in (pair, pair[::-1])
}
DROPPED = {"detach", "copy", "exp", "log", "abs", "square", "sqrt", "tanh", "clone"}


class Change(NamedTuple):
    """Where, what kind, and what it makes of the line."""

    path: Path
    line: int
    kind: str
    number: int
    before: str
    after: str


def changes_of(path: Path) -> Iterator[Change]:
    """All changes of a module."""
    number = 0
    for node in _run(ast.parse(path.read_text(encoding="utf-8"))):
        for kind in _kinds(node):
            after = ast.unparse(_changed(copy.deepcopy(node), kind))
            line = node.lineno  # type: ignore[attr-defined]
            yield Change(path, line, kind, number, ast.unparse(node)[:120], after[:120])
            number += 1


def changed_module(change: Change) -> ast.Module:
    """The whole module with one change; all lines keep their numbers."""
    tree = ast.parse(change.path.read_text(encoding="utf-8"))
    places = ((node, kind) for node in _run(tree) for kind in _kinds(node))
    target, kind = next(itertools.islice(places, change.number, None))
    new = _changed(target, kind)
    if new is not target:
        _put(tree, target, new)
    return ast.fix_missing_locations(tree)


def lines_of_statement(path: Path, line: int) -> range:
    """The lines of the innermost statement around a line, as far as they belong to it alone."""
    found = range(line, line + 1)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):  # from outside inwards
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or line):
            inside = getattr(node, "body", None)
            last = inside[0].lineno - 1 if inside else node.end_lineno or line
            found = range(node.lineno, max(last, line) + 1)
    return found


def _run(tree: ast.AST) -> list[ast.AST]:
    """The nodes that a test should notice."""
    hidden = {id(each) for node in ast.walk(tree) for each in _not_run(node)}
    return [node for node in ast.walk(tree) if id(node) not in hidden]


def _not_run(node: ast.AST) -> Iterator[ast.AST]:
    """Types, docstrings, messages of errors: nothing that a test should notice."""
    parts: list[ast.AST | None] = []
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        parts += [node.returns, *node.decorator_list]
        if node.name in ("__repr__", "_told"):
            parts.append(node)
    if isinstance(node, ast.arg):
        parts.append(node.annotation)
    if isinstance(node, ast.AnnAssign):
        parts.append(node.annotation)
    if isinstance(node, (ast.Raise, ast.Import, ast.ImportFrom, ast.Assert)):
        parts.append(node)
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        parts.append(node)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        parts.append(node)
    if isinstance(node, ast.Module):  # named numbers
        parts += [each for each in node.body if isinstance(each, (ast.Assign, ast.AnnAssign))]
    if isinstance(node, ast.JoinedStr):
        parts.append(node)
    for part in parts:
        if part is not None:
            yield from ast.walk(part)


def _kinds(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARED:
        return ["comparison"]
    if isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
        return ["arithmetic"]
    if isinstance(node, ast.BoolOp):
        return ["and/or"]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub, ast.Invert)):
        return ["sign"]
    if isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
        return ["constant"]
    if isinstance(node, ast.IfExp):
        return ["branch"]
    if isinstance(node, ast.If):
        return ["branch"]
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in SWAPPED:
            return ["function"]
        if name in DROPPED and isinstance(node.func, ast.Attribute):
            return ["function"]
        return ["argument"] if node.keywords and node.keywords[-1].arg else []
    if isinstance(node, ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        return ["statement"]
    return []


def _changed(node: ast.AST, kind: str) -> ast.AST:
    if isinstance(node, ast.Compare):
        node.ops[0] = COMPARED[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp):
        node.op = COMPUTED[type(node.op)]()
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.UnaryOp):
        return node.operand
    elif isinstance(node, ast.Constant):
        value = node.value
        node.value = (
            not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else 2 * value + 0.1
        )  # type: ignore[operator]
    elif isinstance(node, ast.IfExp):
        node.body, node.orelse = node.orelse, node.body
    elif isinstance(node, ast.If):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, (ast.AugAssign, ast.Expr)):
        return ast.Pass()
    elif isinstance(node, ast.Call):
        return _changed_call(node, kind)
    return node


def _changed_call(node: ast.Call, kind: str) -> ast.AST:
    if kind == "argument":
        node.keywords.pop()
    elif isinstance(node.func, ast.Name):
        node.func.id = SWAPPED[node.func.id]
    elif isinstance(node.func, ast.Attribute) and node.func.attr in SWAPPED:
        node.func.attr = SWAPPED[node.func.attr]
    elif isinstance(node.func, ast.Attribute):
        return node.args[0] if node.args else node.func.value
    return node


def _put(tree: ast.AST, old: ast.AST, new: ast.AST) -> None:
    """Set a node in place of another."""
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
            elif isinstance(value, list):
                for place, each in enumerate(value):
                    if each is old:
                        value[place] = new


def sampled(paths: list[Path], size: int, seed: int) -> list[Change]:
    """As many of every folder as can be, and within a folder of every kind."""
    rng = random.Random(seed)
    strata: dict[tuple[str, str], list[Change]] = defaultdict(list)
    for path in paths:
        for change in changes_of(path):
            strata[path.relative_to(SOURCE).parts[0], change.kind].append(change)
    for each in strata.values():
        rng.shuffle(each)
    chosen: list[Change] = []
    folders = sorted({folder for folder, _ in strata})
    turn = 0
    while len(chosen) < size and any(strata.values()):
        folder = folders[turn % len(folders)]
        kinds = [kind for name, kind in strata if name == folder and strata[name, kind]]
        if kinds:
            chosen.append(strata[folder, rng.choice(sorted(kinds))].pop())
        turn += 1
    return chosen
