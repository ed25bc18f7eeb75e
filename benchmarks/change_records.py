"""What was said of changes: records, one a change, as the code is today, and the figures that they make."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from code_changes import SOURCE, Change, changes_of

Record = dict[str, object]
ASKED = ("survived", "not run")


def key_of(record: Record) -> tuple[object, ...]:
    return tuple(record[name] for name in ("seed", "path", "kind", "before", "after", "line", "number"))


def record_of(change: Change) -> Record:
    return change._asdict() | {"path": str(change.path.relative_to(SOURCE))}


def records_in(file: Path) -> dict[tuple[object, ...], Record]:
    """What was said of each change, last, with all that was ever told of it."""
    found: dict[tuple[object, ...], Record] = {}
    if file.exists():
        for line in file.open(encoding="utf-8"):
            record = json.loads(line)
            found[key_of(record)] = found.get(key_of(record), {}) | record
    return found


def of_today(records: Iterable[Record], paths: list[Path], seed: int) -> Iterator[tuple[Change, Record]]:
    """The same sample in today's code, and what is known of each change.

    A change stays in the sample where its code is still there, wherever it has moved to. One whose code is
    gone gives way to another of its folder and kind, of which nothing is known.
    """
    there = {path: list(changes_of(path)) for path in paths}
    used: set[Change] = set()
    gone: list[Record] = []
    for record in records:
        like = [
            each
            for each in there.get(SOURCE / str(record["path"]), ())
            if _text(each) == (record["kind"], record["before"], record["after"]) and each not in used
        ]
        if not like:
            gone.append(record)
            continue
        change = min(like, key=lambda each: abs(each.line - int(str(record["line"]))))
        used.add(change)
        yield change, record | record_of(change)
    others: dict[tuple[str, str], list[Change]] = defaultdict(list)
    for change in (each for some in there.values() for each in some if each not in used):
        others[change.path.relative_to(SOURCE).parts[0], change.kind].append(change)
    rng = random.Random(seed)
    for record in gone:
        pool = others[str(record["path"]).partition("/")[0], str(record["kind"])]
        change = pool.pop(rng.randrange(len(pool)))
        yield change, {"seed": record["seed"]} | record_of(change)


def _text(change: Change) -> tuple[str, str, str]:
    return change.kind, change.before, change.after


def scores(records: Iterable[Record]) -> str:
    """A table: of each folder what was noticed, of all, and of those that make a difference."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for each in records:
        said = "equivalent" if each["verdict"] in ASKED and each.get("why") else str(each["verdict"])
        for name in (str(each["path"]).partition("/")[0], "all"):
            counts[name][said] += 1
    heads = ("folder", "changes", "noticed", "make no difference", "not asked, or run by no asked test")
    heads += ("survived", "noticed of those that make a difference")
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    for name in [*sorted(counts.keys() - {"all"}), "all"]:
        some = counts[name]
        rest = some.total() - some["equivalent"]
        share = f"{some['noticed']} of {rest} ({some['noticed'] / max(rest, 1):.0%})"
        cells = [
            name,
            some.total(),
            some["noticed"],
            some["equivalent"],
            some["not run"],
            some["survived"],
            share,
        ]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def survivors(records: Iterable[Record]) -> str:
    """A table of what no test noticed: `why` it makes no difference, or what is `left` to be tested."""
    lines = ["| where | before | after | what it is |", "| --- | --- | --- | --- |"]
    for each in sorted(records, key=lambda each: (str(each["path"]), int(str(each["line"])))):
        if each["verdict"] in ASKED:
            before, after = (_cell(str(each[name])) for name in ("before", "after"))
            said = each.get("why") or each.get("left") or "not looked at"
            lines.append(f"| {each['path']}:{each['line']} | {before} | {after} | {said} |")
    return "\n".join(lines)


def _cell(code: str) -> str:
    """Code of one line in a cell of a table."""
    first = " ".join(code.split()).replace("|", "\\|")
    return f"`{first[:60]}{'...' if len(first) > 60 else ''}`"
