"""Changed files of every reader, as many as there is time for: goes on where it stopped.

``python fuzz_at_length.py RECORD.jsonl --until 20000 --minutes 60``: readers in the order of how quick they
are, some thousand cases at a time, a line of JSON for each. The cases are those of ``test_fuzzing.py``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from pathlib import Path

from fuzzing import READERS
from guarded import Guarded
from test_fuzzing import finds

STEP, TRIED_FIRST = 500, 20


def seconds_a_case(reader: str) -> float:
    with Guarded("fuzzing.try_case") as guarded:
        finds(guarded, reader, 0, 2)  # what is imported once
        start = time.monotonic()
        finds(guarded, reader, 2, TRIED_FIRST)
        return (time.monotonic() - start) / (TRIED_FIRST - 2)


def done(record: Path) -> Counter[str]:
    """How many cases of each reader were gone through, from the first on."""
    cases: Counter[str] = Counter()
    if record.exists():
        for line in record.read_text(encoding="utf-8").splitlines():
            told = json.loads(line)
            cases[told["reader"]] = max(cases[told["reader"]], told["last"])
    return cases


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("record", type=Path)
    parser.add_argument("--until", type=int, default=20_000)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--readers", default=",".join(READERS))
    given = parser.parse_args()
    end = time.monotonic() + 60 * given.minutes
    for reader in sorted(given.readers.split(","), key=seconds_a_case):
        for first in range(done(given.record)[reader], given.until, STEP):
            if time.monotonic() > end:
                return
            last = min(first + STEP, given.until)
            with Guarded("fuzzing.try_case") as guarded:
                found = finds(guarded, reader, first, last)
            told = {"reader": reader, "first": first, "last": last, "finds": found}
            with given.record.open("a", encoding="utf-8") as out:
                out.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
