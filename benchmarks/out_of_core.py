"""Tables larger than memory: seconds and peak memory of converting them to a mapped network.

    python benchmarks/out_of_core.py [--links N] [--nodes N] [--memory 3GB] [--format csv] [--json]

Makes up a table of links with string names, power-law degrees and both directions of some pairs, converts it
with `coembed convert` in a process of its own, and measures that process. With --compare the in-memory reader
converts it too, and the two networks must be equal.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

ROWS = 1 << 21

COMMAND = "from coembed.cli import main; main()"
IN_MEMORY = (
    "import sys; from coembed.network import read, write; write(read(sys.argv[1]), sys.argv[2], 'mapped')"
)
"""What the streamed conversion is compared with."""


def main() -> None:
    arguments = parse()
    with tempfile.TemporaryDirectory(dir=arguments.place, prefix="out-of-core-") as named:
        place = Path(named)
        table = place / f"edges.{arguments.format}"
        make_links(table, arguments.links, arguments.nodes, arguments.seed)
        report: dict[str, Any] = {
            "rows": arguments.links,
            "file_mb": table.stat().st_size >> 20,
            "format": arguments.format,
            "memory": arguments.memory,
        }
        convert = [sys.executable, "-c", COMMAND, "convert", table, place / "mapped", "--to", "mapped"]
        report["streamed"] = measured([*convert, "--memory", arguments.memory])
        report |= sizes(place / "mapped")
        if arguments.compare:
            report["in_memory"] = measured([sys.executable, "-c", IN_MEMORY, table, place / "read"])
            report["equal"] = equal(place / "mapped", place / "read")
    print(json.dumps(report, indent=2) if arguments.json else as_text(report))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--links", type=int, default=5_000_000, help="rows of the table (default 5,000,000)")
    parser.add_argument("--nodes", type=int, help="nodes, at most (default: a fifth of the rows)")
    parser.add_argument("--memory", default="3GB", help="what duckdb may use (default 3GB)")
    parser.add_argument("--format", choices=("csv", "parquet"), default="csv")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--place", help="folder for the files (default: the system's for temporary ones)")
    parser.add_argument("--compare", action="store_true", help="convert in memory too, and compare")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    arguments.nodes = arguments.nodes or max(arguments.links // 5, 10)
    return arguments


def make_links(path: Path, rows: int, nodes: int, seed: int) -> None:
    """Links between names like ``person-0731520946318``: of one length, in no order."""
    rng = np.random.default_rng(seed)
    columns = pa.schema([("source", pa.string()), ("target", pa.string())])
    make = pa_csv.CSVWriter if path.suffix == ".csv" else pq.ParquetWriter
    with make(path, columns) as file:
        for start in range(0, rows, ROWS):
            size = min(ROWS, rows - start)
            # density falling as x^-1/2: few nodes have many links
            ends = (rng.random((size, 2)) ** 2 * nodes).astype(np.uint64)
            back = rng.random(size) < 0.2
            ends[back] = ends[back][:, ::-1]
            file.write_table(pa.table([names(ends[:, 0]), names(ends[:, 1])], schema=columns))


def names(numbers: np.ndarray) -> pa.Array:
    mixed = numbers * np.uint64(0x9E3779B97F4A7C15) & np.uint64(2**40 - 1)  # an odd factor: no two alike
    digits = pc.utf8_lpad(pa.array(mixed).cast(pa.string()), 13, "0")
    return pc.binary_join_element_wise("person", digits, "-")


def measured(command: list[Any]) -> dict[str, Any]:
    """Run a command; its seconds and its peak of resident memory, as the system counts it."""
    start = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command], stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command[1:4]} failed with status {status}")
    return {
        "seconds": round(time.perf_counter() - start, 1),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "peak_rss_mb": usage.ru_maxrss // 1024,
    }


def sizes(folder: Path) -> dict[str, Any]:
    from coembed.network import open_mapped

    start = time.perf_counter()
    network = open_mapped(folder)
    seconds = time.perf_counter() - start
    return {"nodes": network.n_nodes, "links": network.n_links, "seconds_to_open": round(seconds, 3)}


def equal(left: Path, right: Path) -> bool:
    """Whether two mapped networks have the same arrays."""
    arrays = [json.loads((folder / "network.json").read_text())["arrays"] for folder in (left, right)]
    return arrays[0] == arrays[1]


def as_text(report: dict[str, Any]) -> str:
    lines = [
        f"{report['rows']:,} rows, {report['file_mb']:,} MB of {report['format']}: "
        f"{report['nodes']:,} nodes, {report['links']:,} links; opens in {report['seconds_to_open']} s"
    ]
    for way in ("streamed", "in_memory"):
        if way in report:
            found = report[way]
            lines.append(f"{way:10} {found['seconds']:8.1f} s {found['peak_rss_mb']:8,} MB at most")
    if "equal" in report:
        lines.append("the two networks are equal" if report["equal"] else "THE TWO NETWORKS DIFFER")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
