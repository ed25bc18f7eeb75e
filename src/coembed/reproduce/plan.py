"""Which cells an experiment consists of, and in which order they are worth having."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from coembed.errors import InputError
from coembed.reproduce.cell import Cell
from coembed.reproduce.networks import PAPER
from coembed.reproduce.rows import ROWS, Row
from coembed.settings import Task
from coembed.tasks.evaluation import Protocol

TABLES: dict[str, Task] = {"table1": "classification", "table2": "attributes", "links": "links"}

MANY_SEEDS, FEW_SEEDS = 10, 3
"""Seeds on the paper's networks under the strict protocol; elsewhere."""
SLOW_FIT, SLOW_SEEDS = 180.0, 5
"""A method whose fit takes more seconds than that has only so many seeds."""


@dataclass(frozen=True)
class Choice:
    """What a person asked for; empty means all that there is.

    Attributes
    ----------
    networks
        Those that can be opened and are wanted.
    methods
        Names of rows, or of methods.
    seeds
        None: as many as the report wants.
    changes
        Texts like ``epochs=2``, on top of those of the rows.
    """

    networks: tuple[str, ...]
    methods: tuple[str, ...] = ()
    seeds: tuple[int, ...] | None = None
    protocol: Protocol = "strict"
    changes: tuple[str, ...] = ()

    def rows(self, task: Task) -> list[Row]:
        return [row for row in ROWS[task] if not self.methods or {row.name, row.method} & {*self.methods}]

    def seeds_of(self, network: str) -> Sequence[int]:
        if self.seeds is not None:
            return self.seeds
        return range(MANY_SEEDS if network in PAPER and self.protocol == "strict" else FEW_SEEDS)


def table_cells(experiment: str, choice: Choice) -> list[Cell]:
    """The cells of a table.

    Examples
    --------
    >>> cells = table_cells("table2", Choice(("cora",), methods=("scan",), seeds=(0,)))
    >>> [cell.row for cell in cells]
    ['scan-best', 'scan-paper', 'scan-best-nolabels']
    """
    task = TABLES[experiment]
    return [
        Cell(
            experiment,
            row.name,
            network,
            seed,
            choice.protocol,
            task=task,
            method=row.method,
            preset=row.preset,
            labels=row.labels,
            changes=(*row.changes, *choice.changes),
        )
        for row in choice.rows(task)
        for network in choice.networks
        for seed in choice.seeds_of(network)
    ]


PLANS = dict.fromkeys(TABLES, table_cells)


def plan(experiments: Iterable[str], choice: Choice) -> list[Cell]:
    """The cells of several experiments, each once: the first seed of everything, then the second."""
    check_methods(choice.methods)
    cells = {cell.file: cell for name in experiments for cell in PLANS[name](name, choice)}
    # sorting is stable: within a seed the experiments, rows and networks stay in their order
    return sorted(cells.values(), key=lambda cell: cell.seed)


def check_methods(names: Sequence[str]) -> None:
    known = {name for rows in ROWS.values() for row in rows for name in (row.name, row.method)}
    for name in names:
        if name not in known:
            raise InputError(f"there is no method {name!r} in the tables; known: {', '.join(sorted(known))}")


def parse_seeds(text: str) -> tuple[int, ...]:
    """Seeds from a text like ``0-4`` or ``0,2,5-7``.

    Examples
    --------
    >>> parse_seeds("0,2,5-7")
    (0, 2, 5, 6, 7)
    """
    seeds: list[int] = []
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        if not low.isdigit() or (dash and not high.isdigit()):
            raise InputError(f"seeds must look like 0-4 or 0,2,5, got {text!r}")
        seeds += range(int(low), int(high or low) + 1)
    if not seeds:
        raise InputError(f"there is no seed in {text!r}; write 0-4 or 0,2,5")
    return tuple(dict.fromkeys(seeds))
