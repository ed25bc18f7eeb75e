"""Do the tests notice? Small changes to the code, one at a time, and the tests that run the changed line.

    python benchmarks/mutation.py learn --map map tests src     # which test runs which line, in how long
    python benchmarks/mutation.py try --map map --sample 600 --seed 0 --out changes.jsonl
    python benchmarks/mutation.py named                          # those of named_changes.toml, by hand

The sample is stratified: as many changes of every folder, and within a folder of every kind, as can be; what
is in the file already is not tried again. Tests that run the line, or that use a fixture that does, are
asked, the quickest first, for some seconds. A change survives if they all pass. What no test runs is told
apart. Numbers with names of their own, such as ``ROUNDS = 20``, are choices, and left alone.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import itertools
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path[:] = [each for each in sys.path if Path(each) != ROOT / "benchmarks"]  # where a coverage.py is
SOURCE = ROOT / "src" / "coembed"
FOLDERS = ("kernels", "model", "training", "fitted", "evaluation", "network")
MOST_TESTS = 60
SECONDS = 12.0
"""Of tests that are asked about a change, by what they took before."""
PATIENCE, LONGEST = 4.0, 600.0
"""How many times as long they may take, and how many seconds, before it is noticed that they do not end."""
AFTER_ALL = ("numpy", "scipy.sparse", "scipy.optimize", "sklearn.linear_model", "sklearn.neural_network")
AFTER_ALL += (
    "sklearn.ensemble",
    "torch",
    "pyarrow",
    "pyarrow.csv",
    "pyarrow.parquet",
    "hypothesis",
    "pytest",
)
"""Imported once, not for every change."""

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


class Learnt:
    """A plugin of pytest: which test runs which line, and what it takes; fixtures are told apart."""

    def __init__(self, folder: Path) -> None:
        from coverage import Coverage

        folder.mkdir(parents=True, exist_ok=True)
        self.tests = (folder / "tests.jsonl").open("a", encoding="utf-8")
        self.coverage = Coverage(
            data_file=str(folder / "lines"), include=[f"{SOURCE}/*"], config_file=False, messages=False
        )
        self.coverage.start()
        self.failed = False

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.coverage.switch_context(item.nodeid)
        self.failed, start = False, time.process_time()
        yield
        self.coverage.switch_context("")
        infos = getattr(item, "_fixtureinfo", None)
        fixtures = [] if infos is None else [_name_of(each[-1]) for each in infos.name2fixturedefs.values()]
        if not self.failed:
            record = {"test": item.nodeid, "seconds": time.process_time() - start, "fixtures": fixtures}
            self.tests.write(json.dumps(record) + "\n")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: object, request: pytest.FixtureRequest) -> Iterator[None]:
        if request.scope == "function":
            yield
            return
        self.coverage.switch_context(_name_of(fixturedef))
        yield
        self.coverage.switch_context(os.environ["PYTEST_CURRENT_TEST"].rsplit(" ", 1)[0])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.outcome != "passed"

    def pytest_sessionfinish(self) -> None:
        self.coverage.stop()
        self.coverage.save()
        self.tests.close()


def _name_of(fixture: object) -> str:
    return f"fixture {fixture.baseid} {fixture.argname}"  # type: ignore[attr-defined]


class Asked:
    """Which tests to ask about a line."""

    def __init__(self, folder: Path) -> None:
        from coverage import CoverageData

        self.lines = CoverageData(basename=str(folder / "lines"))
        self.lines.read()
        records = [json.loads(line) for line in (folder / "tests.jsonl").open(encoding="utf-8")]
        self.seconds = {each["test"]: each["seconds"] for each in records}
        self.users: dict[str, set[str]] = defaultdict(set)
        for each in records:
            for fixture in each["fixtures"]:
                self.users[fixture].add(each["test"])

    def of(self, path: Path, line: int) -> list[str]:
        """The quickest tests that run a line; one that is run while it is imported: that run the file."""
        contexts = self.lines.contexts_by_lineno(str(path))
        told = set(contexts.get(line, []))
        if told == {""}:
            told = {each for some in contexts.values() for each in some}
        found = {user for each in told for user in self.users.get(each, {each})} & self.seconds.keys()
        chosen, left = [], SECONDS
        for test in sorted(found, key=self.seconds.__getitem__)[:MOST_TESTS]:
            left -= self.seconds[test]
            if left < 0 and chosen:
                break
            chosen.append(test)
        return chosen


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


class Trial(NamedTuple):
    """What tests said: the first that failed; nothing, if all passed."""

    failed: str

    @classmethod
    def of(cls, tests: list[str], seconds: float, overlay: Path) -> Trial:
        """In a process of its own, with the code of the overlay in the place of the code."""
        told = overlay / "failed"
        told.unlink(missing_ok=True)
        child = os.fork()
        if not child:
            _ask(tests, int(60 + PATIENCE * seconds), overlay, told)
        end = time.monotonic() + LONGEST
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                said = told.read_text(encoding="utf-8") if told.exists() else ""
                return cls(said or ("" if status == 0 else "no end"))
            time.sleep(0.05)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return cls("no end")


class Judge:
    """Whether tests notice a change; one that fails without it, too, is not asked again."""

    def __init__(self, asked: Asked, overlay: Path) -> None:
        self.asked, self.overlay = asked, overlay
        self.sound: dict[str, bool] = {}

    def verdict(self, change: Change) -> tuple[str, str, int]:
        """What is said, the test that noticed, and how many were asked."""
        place = self.overlay / "coembed" / change.path.relative_to(SOURCE)
        whole = place.read_text(encoding="utf-8")
        while tests := [t for t in self.asked.of(change.path, change.line) if self.sound.get(t, True)]:
            place.write_text(changed_source(change), encoding="utf-8")
            try:
                found = self._of(tests)
            finally:
                place.write_text(whole, encoding="utf-8")
            if not found.failed:
                return "survived", "", len(tests)
            if found.failed == "no end":  # which counts if they end without the change
                return "not run" if self._of(tests).failed else "noticed", found.failed, len(tests)
            if found.failed not in self.sound:
                self.sound[found.failed] = not self._of([found.failed]).failed
            if self.sound[found.failed]:
                return "noticed", found.failed, len(tests)
        return "not run", "", 0

    def _of(self, tests: list[str]) -> Trial:
        return Trial.of(tests, sum(map(self.asked.seconds.__getitem__, tests)), self.overlay)


class First:
    """A plugin of pytest that writes down which test failed."""

    def __init__(self, told: Path, named: dict[str, str]) -> None:
        self.told, self.named = told, named

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.told.write_text(self.named.get(report.nodeid.rsplit("::", 1)[-1], report.nodeid))


def _ask(tests: list[str], seconds: int, overlay: Path, told: Path) -> None:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    os.environ["PYTHONPATH"] = str(overlay)
    sys.path[:] = [str(overlay), *(each for each in sys.path if each != str(SOURCE.parent))]
    os.chdir(ROOT)
    named = [str(overlay / each[4:]) if each.startswith("src/") else each for each in tests]
    code = 1
    try:
        plugin = First(told, {each.rsplit("::", 1)[-1]: each for each in tests if each.startswith("src/")})
        # the overlay lies elsewhere: without its settings pytest would run no doctest of it
        settings = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]
        code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *settings, *named], plugins=[plugin]))
    finally:
        os._exit(code)


def learn(folder: Path, asked: list[str]) -> None:
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *asked], plugins=[Learnt(folder)]))


def try_named(overlay: Path, words: list[str]) -> None:
    """Changes by hand, each with the file of tests that should notice; `words` choose among them."""
    changes = tomllib.loads((ROOT / "benchmarks" / "named_changes.toml").read_text(encoding="utf-8"))
    sound: dict[str, bool] = {}
    for each in changes["change"]:
        if words and not any(word in each["what"] for word in words):
            continue
        place, by = overlay / "coembed" / each["path"], each["by"]
        if by not in sound:
            sound[by] = not Trial.of([by], LONGEST, overlay).failed
        whole = place.read_text(encoding="utf-8")
        assert whole.count(each["before"]) == 1, each["what"]
        place.write_text(whole.replace(each["before"], each["after"]), encoding="utf-8")
        failed = Trial.of([by], LONGEST, overlay).failed
        place.write_text(whole, encoding="utf-8")
        said = "not sound" if not sound[by] else "noticed" if failed else "survived"
        print(f"{said:9} {each['what']}: {failed or by}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("learn", "try", "named"))
    parser.add_argument("--map", type=Path, help="a folder: which test runs which line")
    parser.add_argument("--sample", type=int, default=120)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folders", default=",".join(FOLDERS))
    parser.add_argument("--out", type=Path, help="a line of JSON for every change")
    given, rest = parser.parse_known_args()
    if given.what != "named" and given.map is None:
        parser.error("--map is needed")
    if given.what == "learn":
        learn(given.map.resolve(), rest)
    for name in AFTER_ALL:
        importlib.import_module(name)
    if given.what == "named":
        with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
            shutil.copytree(SOURCE, Path(folder) / "coembed")
            return try_named(Path(folder), rest)
    paths = [path for folder in given.folders.split(",") for path in sorted((SOURCE / folder).rglob("*.py"))]
    tried = _tried(given.out)
    overlay = Path(tempfile.mkdtemp(prefix="mutation-"))
    shutil.copytree(SOURCE, overlay / "coembed")
    judge = Judge(Asked(given.map), overlay)
    try:
        for change in sampled(paths, given.sample, given.seed):
            record = change._asdict() | {"path": str(change.path.relative_to(ROOT))}
            if _key(record) in tried:
                continue
            said, by, count = judge.verdict(change)
            tried[_key(record)] = said
            print(f"{said:9} {record['path']}:{change.line} {change.kind}: {change.after}", flush=True)
            with given.out.open("a", encoding="utf-8") as out:
                out.write(json.dumps(record | {"verdict": said, "by": by, "tests": count}) + "\n")
    finally:
        shutil.rmtree(overlay)
    counts = Counter(tried.values())
    print(
        dict(counts),
        f"noticed {counts['noticed'] / max(len(tried) - counts['not run'], 1):.1%} of what tests run",
    )


def _key(record: dict[str, object]) -> tuple[object, ...]:
    return tuple(record[name] for name in ("path", "kind", "before", "after", "line"))


def _tried(out: Path) -> dict[tuple[object, ...], str]:
    if not out.exists():
        return {}
    records = [json.loads(line) for line in out.open(encoding="utf-8")]
    return {_key(each): each["verdict"] for each in records}


if __name__ == "__main__":
    main()
