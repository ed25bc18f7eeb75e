"""Do the tests notice? Small changes to the code, one at a time, and the tests that run the changed line.

    python benchmarks/mutation.py learn --map map tests src     # which test runs which line, in how long
    python benchmarks/mutation.py try --map map --sample 600 --seed 0 --out changes.jsonl
    python benchmarks/mutation.py named                          # those of named_changes.toml, by hand

The sample is stratified: as many changes of every folder, and within a folder of every kind, as can be; what
is in the file already is not tried again. Tests that run the line, or that use a fixture that does, are
asked, those of its own folder first, then the quickest, for some seconds. A change survives if they all pass.
What no test runs is told apart. `--again` asks about survivors again, e.g. with tests that were learnt since.

Tests are collected once. A change is tried in a fork, in which the code of the functions that it is in is
replaced; where it is run while a module is imported, in a fork that has not imported it yet.
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path[:] = [each for each in sys.path if Path(each) != ROOT / "benchmarks"]  # where a coverage.py is
SOURCE = ROOT / "src" / "coembed"
sys.path.append(str(ROOT / "benchmarks"))
from change_records import ASKED, Record, key_of, of_today, record_of, records_in, scores, survivors  # noqa: E402
from code_changes import Change, changed_module, lines_of_statement, sampled  # noqa: E402

FOLDERS = ("kernels", "model", "training", "fitted", "evaluation", "network")
MOST_TESTS, SECONDS = 80, 10.0
"""Of tests that are asked about a change, by what they took before."""
PATIENCE, LONGEST = 4.0, 600.0
"""How many times as long they may take, and how many seconds, before it is noticed that they do not end."""
OF_ALL = "tests/test_records_are_frozen.py"
"""Asked about whatever an import runs: it looks at the records of all modules."""
AFTER_ALL = ("numpy", "scipy.sparse", "scipy.optimize", "sklearn.linear_model", "sklearn.neural_network")
AFTER_ALL += ("sklearn.ensemble", "torch", "pyarrow", "pyarrow.csv", "pyarrow.parquet", "hypothesis")
"""Imported once, not for every change."""


# Which tests run a line


class Learnt:
    """A plugin of pytest: which test runs which line, and what it takes; fixtures are told apart."""

    def __init__(self, folder: Path) -> None:
        from coverage import Coverage

        folder.mkdir(parents=True, exist_ok=True)
        self.tests = (folder / "tests.jsonl").open("a", encoding="utf-8")
        self.coverage = Coverage(
            data_file=str(folder / f"lines-{time.time_ns()}"),
            include=[f"{SOURCE}/*"],
            config_file=False,
            messages=False,
        )
        self.coverage.start()
        self.failed, self.fixture_seconds = False, 0.0

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.coverage.switch_context(item.nodeid)
        self.failed, self.fixture_seconds, start = False, 0.0, time.process_time()
        yield
        self.coverage.switch_context("")
        infos = getattr(item, "_fixtureinfo", None)
        fixtures = [] if infos is None else [_name_of(each[-1]) for each in infos.name2fixturedefs.values()]
        if not self.failed:
            seconds = time.process_time() - start - self.fixture_seconds
            self._write({"test": item.nodeid, "seconds": round(seconds, 4), "fixtures": fixtures})

    def _write(self, record: dict[str, object]) -> None:
        self.tests.write(json.dumps(record) + "\n")
        self.tests.flush()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: object, request: pytest.FixtureRequest) -> Iterator[None]:
        if request.scope == "function":
            yield
            return
        self.coverage.switch_context(_name_of(fixturedef))
        start = time.process_time()
        yield
        seconds = time.process_time() - start
        self.fixture_seconds += seconds
        self._write({"fixture": _name_of(fixturedef), "seconds": round(seconds, 4)})
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

        self.lines = CoverageData(no_disk=True)
        for each in sorted(folder.glob("lines*")):
            some = CoverageData(basename=str(each))
            some.read()
            self.lines.update(some)
        records = [json.loads(line) for line in (folder / "tests.jsonl").open(encoding="utf-8")]
        self.fixture_seconds = {each["fixture"]: each["seconds"] for each in records if "fixture" in each}
        self.tests = {each["test"]: each for each in records if "test" in each}
        self.users: dict[str, set[str]] = defaultdict(set)
        for name, each in self.tests.items():
            for fixture in each["fixtures"]:
                self.users[fixture].add(name)

    def of(self, path: Path, line: int) -> tuple[list[str], bool]:
        """The tests that run a line, the first to ask first; whether nothing but imports runs it."""
        contexts = self.lines.contexts_by_lineno(str(path))
        told = set(contexts.get(line, []))
        if not told:
            told = {each for near in lines_of_statement(path, line) for each in contexts.get(near, [])}
        imported = told == {""}
        if imported:
            told = {each for some in contexts.values() for each in some}
        found = {user for each in told for user in self.users.get(each, {each})} & self.tests.keys()
        of_all = [each for each in sorted(self.tests) if imported and each.startswith(OF_ALL)]
        return [*of_all, *self._in_turn(found - set(of_all), path)], imported

    def _in_turn(self, tests: set[str], path: Path) -> list[str]:
        """Own ones first, then the quickest; of one that is asked with many parameters, one after another."""
        folder = path.relative_to(SOURCE).parts[0]
        times: Counter[str] = Counter()
        order = []
        for test in sorted(tests, key=lambda test: (self.alone(test), test)):
            function = test.partition("[")[0]
            times[function] += 1
            own = test.startswith((f"tests/{folder}/", f"src/coembed/{folder}/"))
            order.append(((times[function] > 2, not own, times[function] > 8, self.alone(test)), test))
        return [test for _, test in sorted(order)]

    def alone(self, test: str) -> float:
        """Seconds of a test with its fixtures."""
        return self.seconds([test])

    def seconds(self, tests: list[str]) -> float:
        fixtures = {fixture for test in tests for fixture in self.tests[test]["fixtures"]}
        own = sum(self.tests[test]["seconds"] for test in tests)
        return own + sum(self.fixture_seconds.get(each, 0.0) for each in fixtures)

    def chosen(self, tests: list[str], most: int, seconds: float) -> list[str]:
        """As many as there is time for, at least one."""
        chosen: list[str] = []
        for test in tests:
            if len(chosen) < most and (not chosen or self.seconds([*chosen, test]) <= seconds):
                chosen.append(test)
        return chosen


# What they say


class Outcome(NamedTuple):
    """The first test that failed, or why there is none; nothing, if all passed."""

    failed: str

    @classmethod
    def of(cls, run: Callable[[Path], None], seconds: float) -> Outcome:
        """Of a function that writes down what failed, called in a fork."""
        with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
            told = Path(folder) / "failed"
            child = os.fork()
            if not child:
                try:
                    _set_apart(int(10 + PATIENCE * seconds))
                    run(told)
                    os._exit(0)
                finally:
                    os._exit(1)
            end = time.monotonic() + LONGEST
            while time.monotonic() < end:
                done, status = os.waitpid(child, os.WNOHANG)
                if done:
                    said = told.read_text(encoding="utf-8") if told.exists() else ""
                    return cls(said or ("" if status == 0 else "no end"))
                time.sleep(0.01)
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return cls("no end")


def _set_apart(seconds: int) -> None:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)


class First:
    """A plugin of pytest that writes down which test failed."""

    def __init__(self, told: Path) -> None:
        self.told = told

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.told.exists():
            self.told.write_text(report.nodeid, encoding="utf-8")


class Changed(NamedTuple):
    """The source in another place, with a change; it must not have been imported yet."""

    overlay: Path

    def ask(self, tests: list[str], seconds: float) -> Outcome:
        return Outcome.of(lambda told: self._ask(tests, told), seconds)

    def _ask(self, tests: list[str], told: Path) -> None:
        os.environ["PYTHONPATH"] = str(self.overlay)
        sys.path[:] = [str(self.overlay), *(each for each in sys.path if each != str(SOURCE.parent))]
        os.chdir(ROOT)
        named = [str(self.overlay / each[4:]) if each.startswith("src/") else each for each in tests]
        # the overlay lies elsewhere: without its settings pytest would run no doctest of it
        settings = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]
        first = First(told)
        code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", *settings, *named], plugins=[first])
        if code and not told.exists():
            told.write_text("import", encoding="utf-8")


class Patched:
    """The tests of a session, asked with the code of some functions replaced."""

    def __init__(self, session: pytest.Session) -> None:
        self.session = session
        self.items = {each.nodeid: each for each in session.items}
        for path in (path for folder in FOLDERS for path in (SOURCE / folder).rglob("*.py")):
            parts = path.relative_to(SOURCE.parent).with_suffix("").parts
            importlib.import_module(".".join(parts).removesuffix(".__init__"))
        self.functions: dict[str, list[FunctionType]] = defaultdict(list)
        for each in gc.get_objects():
            if isinstance(each, FunctionType):
                self.functions[each.__code__.co_filename].append(each)
        gc.freeze()

    def ask(self, tests: list[str], codes: dict[FunctionType, CodeType], seconds: float) -> Outcome:
        return Outcome.of(lambda told: self._ask(tests, codes, told), seconds)

    def _ask(self, tests: list[str], codes: dict[FunctionType, CodeType], told: Path) -> None:
        for function, code in codes.items():
            function.__code__ = code
        plugins = self.session.config.pluginmanager
        plugins.unregister(name="terminalreporter")
        plugins.register(First(told))
        items = [self.items[test] for test in tests if test in self.items]
        for item, after in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if told.exists():
                break

    def replaced(self, change: Change) -> dict[FunctionType, CodeType] | None:
        """New code of all functions that a change is in; none, if it is run by the import."""
        name = str(change.path)
        old = compile(change.path.read_text(encoding="utf-8"), name, "exec", dont_inherit=True)
        new = compile(changed_module(change), name, "exec", dont_inherit=True)
        before, after = _functions(old), _functions(new)
        if before.pop("imported") != after.pop("imported"):
            return None
        codes = {}
        for function in self.functions[name]:
            code = after.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
            if code is not None and code != function.__code__:
                if len(code.co_freevars) != len(function.__code__.co_freevars):
                    return None
                codes[function] = code
        return codes


def _functions(module: CodeType) -> dict[object, object]:
    """Code by the name and line of its function, and all that is run while the module is imported."""
    found: dict[object, object] = {}
    imported = []
    open = [module]
    while open:
        code = open.pop()
        inside = [each for each in code.co_consts if isinstance(each, CodeType)]
        open += inside
        if code.co_flags & 1:  # CO_OPTIMIZED: a function, not a module or the body of a class
            found[code.co_qualname, code.co_firstlineno] = code
        else:
            plain = tuple(repr(each) for each in code.co_consts if not isinstance(each, CodeType))
            imported.append((code.co_code, plain, code.co_names))
    return found | {"imported": imported}


class Apart:
    """Changes that imports run, tried by a process that was forked before anything was imported."""

    def __init__(self) -> None:
        self.asking, self.asked = os.pipe(), os.pipe()
        self.child = os.fork()
        if not self.child:
            os.close(self.asking[1])
            try:
                self._serve()
            finally:
                os._exit(0)
        os.close(self.asking[0])
        self.questions, self.answers = os.fdopen(self.asking[1], "w"), os.fdopen(self.asked[0])

    def __call__(self, request: dict[str, object]) -> str:
        self.questions.write(json.dumps(request) + "\n")
        self.questions.flush()
        return str(json.loads(self.answers.readline()))

    def _serve(self) -> None:
        with (
            tempfile.TemporaryDirectory(prefix="mutation-") as folder,
            os.fdopen(self.asking[0]) as questions,
        ):
            shutil.copytree(SOURCE, Path(folder) / "coembed")
            for line in questions:
                request = json.loads(line)
                place = Path(folder) / "coembed" / request["path"]
                whole = place.read_text(encoding="utf-8")
                place.write_text(request["source"], encoding="utf-8")
                said = Changed(Path(folder)).ask(request["tests"], request["seconds"]).failed
                place.write_text(whole, encoding="utf-8")
                if "coembed/" in said and not said.startswith("tests/"):  # a doctest of the overlay
                    said = "src/coembed/" + said.partition("coembed/")[2]
                os.write(self.asked[1], (json.dumps(said) + "\n").encode())


class Judge:
    """Whether tests notice a change; one that fails without it, too, is not asked again."""

    def __init__(self, asked: Asked, patched: Patched, apart: Apart, much: float, beyond: float) -> None:
        self.asked, self.patched, self.apart, self.much, self.beyond = asked, patched, apart, much, beyond
        self.sound: dict[str, bool] = {}

    def verdict(self, change: Change, by: str = "") -> tuple[str, str, int]:
        """What is said, the test that noticed, and how many were asked; first the one that noticed before."""
        found, imported = self.asked.of(change.path, change.line)
        if by in self.patched.items and by in self.asked.tests:
            found = [by, *(test for test in found if test != by)]
        codes = None if imported else self.patched.replaced(change)
        if codes == {}:
            codes = None  # a function that nobody holds any more, or that nobody has made yet
        while True:
            sound = [test for test in found if test in self.patched.items and self.sound.get(test, True)]
            before = self._chosen(sound, self.beyond) if self.beyond else []
            tests = self._chosen([test for test in sound if test not in before], self.much)
            if not tests:
                return "not run", "", 0
            said = self._changed(change, tests) if codes is None else self._patched(tests, codes)
            if not said:
                return "survived", "", len(tests)
            if said not in found:  # no end, or no begin, which counts if they end without the change
                return ("not run" if self._patched(tests, {}) else "noticed"), said, len(tests)
            if said not in self.sound:
                self.sound[said] = said in self.patched.items and not self._patched([said], {})
            if self.sound[said]:
                return "noticed", said, len(tests)

    def _chosen(self, tests: list[str], much: float) -> list[str]:
        return self.asked.chosen(tests, int(MOST_TESTS * much), SECONDS * much)

    def _patched(self, tests: list[str], codes: dict[FunctionType, CodeType]) -> str:
        return self.patched.ask(tests, codes, self.asked.seconds(tests)).failed

    def _changed(self, change: Change, tests: list[str]) -> str:
        """In a process that has imported nothing of it."""
        source = ast.unparse(changed_module(change))
        request = {"path": str(change.path.relative_to(SOURCE)), "source": source, "tests": tests}
        request["seconds"] = self.asked.seconds(tests)
        return self.apart(request)


# Going through a sample


class Trying:
    """A plugin of pytest that goes through changes instead of running the tests."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given, self.apart = given, Apart()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        given = self.given
        paths = [
            path for folder in given.folders.split(",") for path in sorted((SOURCE / folder).rglob("*.py"))
        ]
        tried = records_in(given.out)
        judge = Judge(Asked(given.map), Patched(session), self.apart, given.much, given.beyond)
        # what was noticed before comes last: it most likely is again
        for change, before in sorted(
            self._sample(paths), key=lambda each: each[1].get("verdict") == "noticed"
        ):
            record = before | record_of(change)
            key = key_of(record)
            told = tried.get(key, before)
            unnoticed = told.get("verdict") in (None, *ASKED)
            if (key in tried and not (given.again and unnoticed)) or given.only not in str(record["path"]):
                continue
            # what was looked at and makes no difference is not asked about, nor, again, what was noticed
            if (told.get("why") and unnoticed) or (given.again and not unnoticed):
                found = {"verdict": told["verdict"], "by": told.get("by", "")}
            else:
                said, by, count = judge.verdict(change, str(told.get("by", "")))
                found = {"verdict": said, "by": by, "tests": count}
            with given.out.open("a", encoding="utf-8") as out:
                out.write(json.dumps(record | found) + "\n")
        return True

    def _sample(self, paths: list[Path]) -> Iterator[tuple[Change, Record]]:
        given = self.given
        if given.of is None:
            return ((change, {"seed": given.seed}) for change in sampled(paths, given.sample, given.seed))
        kept = (each for each in records_in(given.of).values() if each["seed"] == given.seed)
        return of_today(kept, paths, given.seed)


def try_sample(given: argparse.Namespace) -> None:
    files = sorted({test.partition("::")[0] for test in Asked(given.map).tests})
    options = ["-q", "-p", "no:cacheprovider", "--basetemp", tempfile.mkdtemp(prefix="mutation-")]
    pytest.main([*options, *files], plugins=[Trying(given)])
    print(scores(records_in(given.out).values()))


def try_named(words: list[str]) -> None:
    """Changes by hand, each with the file of tests that should notice; `words` choose among them."""
    changes = tomllib.loads((ROOT / "benchmarks" / "named_changes.toml").read_text(encoding="utf-8"))
    sound: dict[str, bool] = {}
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        shutil.copytree(SOURCE, Path(folder) / "coembed")
        overlay = Changed(Path(folder))
        for each in changes["change"]:
            if words and not any(word in each["what"] for word in words):
                continue
            place, by = Path(folder) / "coembed" / each["path"], each["by"]
            if by not in sound:
                sound[by] = not overlay.ask([by], LONGEST).failed
            whole = place.read_text(encoding="utf-8")
            assert whole.count(each["before"]) == 1, each["what"]
            place.write_text(whole.replace(each["before"], each["after"]), encoding="utf-8")
            failed = overlay.ask([by], LONGEST).failed
            place.write_text(whole, encoding="utf-8")
            said = "not sound" if not sound[by] else "noticed" if failed else "survived"
            print(f"{said:9} {each['what']}: {failed or by}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("learn", "try", "named", "score", "survivors"))
    parser.add_argument("--map", type=Path, help="a folder: which test runs which line")
    parser.add_argument("--sample", type=int, default=120)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folders", default=",".join(FOLDERS))
    parser.add_argument("--much", type=float, default=1.0, help="how many times the usual time of tests")
    parser.add_argument("--beyond", type=float, default=0.0, help="the same, of tests that were asked before")
    parser.add_argument("--of", type=Path, help="the sample of this file, as far as its code is still there")
    parser.add_argument(
        "--again", action="store_true", help="what survived, or was not run, is asked about again"
    )
    parser.add_argument("--only", default="", help="changes of files whose path has this in it")
    parser.add_argument("--out", type=Path, help="a line of JSON for every change")
    given, rest = parser.parse_known_args()
    if given.what == "score":
        return print(scores(each for each in records_in(given.out).values() if each["seed"] == given.seed))
    if given.what == "survivors":
        return print(survivors(records_in(given.out).values()))
    if given.what != "named" and given.map is None:
        parser.error("--map is needed")
    if given.what == "learn":
        sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *rest], plugins=[Learnt(given.map.resolve())]))
    for name in AFTER_ALL:
        importlib.import_module(name)
    if given.what == "named":
        return try_named(rest)
    given.map, given.out = given.map.resolve(), given.out.resolve()
    return try_sample(given)


if __name__ == "__main__":
    main()
