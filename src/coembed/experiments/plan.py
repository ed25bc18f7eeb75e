"""Which cells an experiment consists of, and in which order they are worth having."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from coembed.errors import InputError
from coembed.evaluation.evaluation import Protocol
from coembed.experiments.benchmark_networks import BUNDLED, PAPER, SMALL
from coembed.experiments.cell import Cell
from coembed.experiments.epoch_costs import EPOCHS_ALONE, SYNTHETIC
from coembed.experiments.table_rows import ROWS, WITH_VECTORS, Row, rows_named, tuned
from coembed.settings import Task

TABLES: dict[str, Task] = {
    "table1": "classification",
    "table2": "attributes",
    "links": "links",
}
PROFILED = ("table2", "links")
"""Tables whose records tell what the vectors alone know."""

FIGURE_NETWORK = "blogcatalog"
BETAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
RATIOS = (0.03, 0.05, 0.07, 0.09, 0.1, 0.12, 0.15, 0.18, 0.2)
USUAL_RATIO = 0.1
SIZES = (5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 320_000)
QUICK_EPOCHS = "epochs=30"
QUICK_SIZES = (1_000, 2_000, 4_000, 8_000)

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
    quick
        Fewer points in the figures.
    tuned
        Changes by task, row and network: rows of their own in the tables.
    """

    networks: tuple[str, ...]
    methods: tuple[str, ...] = ()
    seeds: tuple[int, ...] | None = None
    protocol: Protocol = "strict"
    changes: tuple[str, ...] = ()
    quick: bool = False
    tuned: Mapping[tuple[str, str, str], tuple[str, ...]] = field(default_factory=dict)

    def some(self, values: tuple[float, ...]) -> tuple[float, ...]:
        """All values of a figure's axis; of a quick run the ends and the middle."""
        return (values[0], values[len(values) // 2], values[-1]) if self.quick else values

    def rows(self, among: Iterable[Row]) -> list[Row]:
        return [row for row in among if not self.methods or {row.name, row.method} & {*self.methods}]

    def variants(self, row: Row, network: str, task: Task) -> list[Row]:
        """The row as it is, and as it was tuned for the network, if that changed anything."""
        chosen = self.tuned.get((task, row.name, network), ())
        return [row, *([replace(tuned(row), changes=(*row.changes, *chosen))] if chosen else [])]

    def seeds_of(self, network: str) -> Sequence[int]:
        if self.seeds is not None:
            return self.seeds
        return range(MANY_SEEDS if network in PAPER and self.protocol == "strict" else FEW_SEEDS)

    def few_seeds(self) -> Sequence[int]:
        return self.seeds if self.seeds is not None else range(FEW_SEEDS)

    @property
    def figure_networks(self) -> tuple[str, ...]:
        """Where figures are made: on the paper's network, or, without it, on all that are wanted."""
        first = BUNDLED if self.quick else FIGURE_NETWORK
        return (first,) if first in self.networks else self.networks

    def cell(self, experiment: str, row: Row, network: str, seed: int, task: Task) -> Cell:
        return Cell(
            experiment,
            row.name,
            network,
            seed,
            self.protocol,
            task=task,
            method=row.method,
            preset=row.preset,
            labels=row.labels,
            changes=(*row.changes, *self.changes),
        )


def table_cells(experiment: str, choice: Choice) -> list[Cell]:
    """The cells of a table.

    Examples
    --------
    >>> cells = table_cells("table2", Choice(("cora",), methods=("scan",), seeds=(0,)))
    >>> [cell.row for cell in cells]
    ['scan-best', 'scan-paper', 'scan-fast', 'scan-best-nolabels']
    """
    task = TABLES[experiment]
    return [
        choice.cell(experiment, variant, network, seed, task)
        for row in choice.rows(ROWS[task])
        for network in choice.networks
        for variant in choice.variants(row, network, task)
        for seed in choice.seeds_of(network)
    ]


def profiling_cells(experiment: str, choice: Choice) -> list[Cell]:
    """Cells of other tables: those of the rows that have vectors."""
    only = replace(choice, methods=tuple(row.name for row in choice.rows(WITH_VECTORS)))
    return [cell for table in PROFILED for cell in table_cells(table, only)] if only.methods else []


def beta_cells(experiment: str, choice: Choice) -> list[Cell]:
    """Links and attributes under the paper's settings, with another share of the links in the loss."""
    tasks: tuple[Task, ...] = ("links", "attributes")
    return [
        replace(cell, row=f"{cell.row}-{task}", at=beta, changes=(*cell.changes, f"beta={beta}"))
        for beta in choice.some(BETAS)
        for task in tasks
        for row in choice.rows(rows_named(task, "scan-paper"))
        for network in choice.figure_networks
        for seed in choice.few_seeds()
        for cell in [choice.cell(experiment, row, network, seed, task)]
    ]


def label_cells(experiment: str, choice: Choice) -> list[Cell]:
    """Classification with fewer and with more labels; the usual tenth is a cell of the first table."""
    rows = rows_named("classification", "scan-best", "scan-paper", "planetoid", "linear-views")
    cells = [
        choice.cell(experiment, row, network, seed, "classification")
        for row in choice.rows(rows)
        for network in choice.figure_networks
        for seed in choice.few_seeds()
    ]
    usual = [replace(cell, experiment="table1") for cell in cells]
    ratios = [ratio for ratio in choice.some(RATIOS) if ratio != USUAL_RATIO]
    return usual + [replace(cell, at=ratio, labels=ratio) for ratio in ratios for cell in cells]


def map_cells(experiment: str, choice: Choice) -> list[Cell]:
    """One fit of every method that has an embedding, drawn."""
    rows = rows_named("classification", "scan-best", "scan-paper", "gcn", "seano", "planetoid", "graphsgan")
    return [
        choice.cell(experiment, row, network, 0, "classification")
        for row in choice.rows(rows)
        for network in choice.figure_networks
    ]


def scaling_cells(experiment: str, choice: Choice) -> list[Cell]:
    """Made-up networks, doubling, and the real ones; the time of an epoch is not a matter of seeds."""
    cells = []
    for row in choice.rows(rows_named("classification", "scan-paper", "scan-best")):
        for nodes in QUICK_SIZES if choice.quick else SIZES:
            made_up = choice.cell(experiment, row, SYNTHETIC, 0, "classification")
            cells.append(replace(made_up, at=float(nodes)))
        cells += [choice.cell(experiment, row, name, 0, "classification") for name in choice.networks]
    return [replace(cell, changes=(*EPOCHS_ALONE, *cell.changes)) for cell in cells]


def dataset_cells(experiment: str, choice: Choice) -> list[Cell]:
    return [Cell(experiment, "counts", name, 0, method="none") for name in choice.networks]


PLANS: dict[str, Callable[[str, Choice], list[Cell]]] = {
    "datasets": dataset_cells,
    **dict.fromkeys(TABLES, table_cells),
    "profiling": profiling_cells,
    "map": map_cells,
    "beta": beta_cells,
    "labels": label_cells,
    "scaling": scaling_cells,
}


def plan(experiments: Iterable[str], choice: Choice) -> list[Cell]:
    """The cells of several experiments, each once: the first seed of everything, then the second."""
    check_methods(choice.methods)
    cells = {cell.name: cell for name in experiments for cell in PLANS[name](name, choice)}
    # sorting is stable: within a seed the experiments, rows and networks stay in their order
    return sorted(cells.values(), key=lambda cell: cell.seed)


def quickly(choice: Choice) -> Choice:
    """The same in minutes: two seeds, the smallest networks, few epochs; figures on the bundled network."""
    small = tuple(name for name in choice.networks if name in SMALL)
    return replace(
        choice,
        networks=small or choice.networks,
        seeds=choice.seeds or (0, 1),
        changes=(QUICK_EPOCHS, *choice.changes),
        quick=True,
    )


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
