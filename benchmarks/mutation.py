"""Do the tests notice? Small changes to the code, one at a time, and the tests that run the changed line.

    coverage run --rcfile=benchmarks/mutation.coveragerc -m pytest tests/...
    python benchmarks/mutation.py --coverage .mutation-coverage --sample 120 --seed 0 --out survivors.jsonl

The sample is stratified: as many changes of every folder, and within a folder of every kind, as can be. A
change survives if all tests that run its line pass. What no test runs is told apart. Numbers with names of
their own, such as ``ROUNDS = 20``, are choices, and left alone.
"""

from __future__ import annotations

import argparse
import ast
import copy
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "coembed"
FOLDERS = ("kernels", "model", "training", "fitted", "evaluation", "network")
MOST_TESTS = 25
SECONDS = 240

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


def changed_source(change: Change) -> str:
    """The whole module with one change."""
    tree = ast.parse(change.path.read_text(encoding="utf-8"))
    places = ((node, kind) for node in _run(tree) for kind in _kinds(node))
    target, kind = next(itertools.islice(places, change.number, None))
    new = _changed(target, kind)
    if new is not target:
        _put(tree, target, new)
    return ast.unparse(ast.fix_missing_locations(tree))


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


def covering_tests(data: Path, path: Path, line: int) -> list[str]:
    """Tests that run a line, as pytest is told of them; those of the same folder first."""
    from coverage import CoverageData

    kept = CoverageData(basename=str(data))
    kept.read()
    contexts = kept.contexts_by_lineno(str(path)).get(line, [])
    files = {file.stem: file for file in sorted((ROOT / "tests").rglob("test_*.py"))}
    found = []
    for context in contexts:
        parts = context.split(".")
        for place in range(len(parts) - 1):
            whole = ROOT.joinpath(*parts[: place + 1]).with_suffix(".py")
            file = whole if whole.is_file() else files.get(parts[place])
            if file is not None:
                found.append(f"{file}::{parts[place + 1]}")
                break
    folder = path.parent.name
    return sorted(set(found), key=lambda test: (f"/{folder}/" not in test, test))


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


def verdict(change: Change, tests: list[str], overlay: Path) -> str:
    if not tests:
        return "not run"
    place = overlay / "coembed" / change.path.relative_to(SOURCE)
    whole = place.read_text(encoding="utf-8")
    place.write_text(changed_source(change), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(overlay), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests[:MOST_TESTS]]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, timeout=SECONDS, check=False
        )
        return "survived" if done.returncode == 0 else "noticed"
    except subprocess.TimeoutExpired:
        return "noticed"
    finally:
        place.write_text(whole, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--coverage", type=Path, required=True, help="what coverage kept, with contexts")
    parser.add_argument("--sample", type=int, default=120)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folders", default=",".join(FOLDERS))
    parser.add_argument("--out", type=Path, required=True, help="a line of JSON for every change")
    parser.add_argument("--skip", nargs="*", default=[], help="files of tests that are not asked")
    given = parser.parse_args()
    paths = [path for folder in given.folders.split(",") for path in sorted((SOURCE / folder).rglob("*.py"))]
    overlay = Path(tempfile.mkdtemp(prefix="mutation-"))
    shutil.copytree(SOURCE, overlay / "coembed")
    counts: dict[str, int] = defaultdict(int)
    try:
        with given.out.open("a", encoding="utf-8") as out:
            for change in sampled(paths, given.sample, given.seed):
                tests = covering_tests(given.coverage, change.path, change.line)
                tests = [test for test in tests if not any(name in test for name in given.skip)]
                said = verdict(change, tests, overlay)
                counts[said] += 1
                record = change._asdict() | {"path": str(change.path.relative_to(ROOT)), "verdict": said}
                print(f"{said:9} {record['path']}:{change.line} {change.kind}: {change.after}", flush=True)
                out.write(json.dumps(record | {"tests": len(tests)}) + "\n")
                out.flush()
    finally:
        shutil.rmtree(overlay)
    tried = counts["noticed"] + counts["survived"]
    print(dict(counts), f"noticed {counts['noticed'] / max(tried, 1):.0%} of what tests run")


if __name__ == "__main__":
    main()
