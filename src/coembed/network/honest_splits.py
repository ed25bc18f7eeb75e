"""Splits as life makes them: whole groups on one side; or the past to learn from, the future to ask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from coembed.errors import InputError
from coembed.network.items import Items
from coembed.network.network import Network
from coembed.network.pairs import ACROSS, true_pairs
from coembed.network.splits import CellSplit, LabelSplit, fingerprint


@dataclass(frozen=True, eq=False)
class Sides:
    """What decides on which side of a split an item is.

    Attributes
    ----------
    kind
        ``group``: all items with one value are on one side, those without a value each by itself; ``time``:
        those with the smallest values are learnt from, those without one are neither learnt from nor asked.
    values
        Numbers, one an item; NaN for none.
    column
        What they are called.
    """

    kind: Literal["group", "time"]
    values: np.ndarray
    column: str

    def order(self, rows: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Some items in the order in which they are taken, and which of them must go together: equal numbers.

        Groups come in random order, times from the first on.
        """
        values = self.values[rows]
        if self.kind == "time":
            rows, values = rows[np.isfinite(values)], values[np.isfinite(values)]
            together = np.unique(values, return_inverse=True)[1]
        else:
            alone = np.isnan(values)
            together = np.unique(np.where(alone, 0.0, values), return_inverse=True)[1]
            together[alone] = together.max(initial=-1) + 1 + np.arange(np.count_nonzero(alone))
            count = int(together.max(initial=-1)) + 1
            together = np.random.default_rng([7, seed]).permutation(count)[together]
        order = np.argsort(together, kind="stable")
        return rows[order], together[order]


def sides_of(items: Items, kind: Literal["group", "time"], values: np.ndarray, column: str) -> Sides:
    """Check that there is a value for each item, and more than one."""
    if len(values) != len(items):
        raise InputError(f"{column} has {len(values)} values, but there are {len(items)} {items.name}")
    known = values[np.isfinite(values)]
    if len(np.unique(known)) < 2:
        raise InputError(f"{column} has one value only: nothing to split {items.name} by")
    return Sides(kind, np.asarray(values, dtype=np.float64), column)


def split_labels_by(
    network: Network,
    sides: Sides,
    labels: float = 0.1,
    validation: float = 0.2,
    seed: int = 0,
    type: str | None = None,
) -> LabelSplit:
    """Give about the share `labels` of the known labels, whole groups or all up to a time.

    Of those the last ones, again whole, are kept to choose with.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> demo = demo_network()
    >>> groups = Sides("group", np.arange(1476.0) // 100, "hundred")
    >>> split = split_labels_by(demo, groups, labels=0.5)
    >>> given = np.concatenate([split.train, split.validation])
    >>> len(given), set(given // 100) & set(split.test // 100)
    (700, set())
    """
    items = network.items(type)
    if labels >= 1:
        raise InputError("groups and times go with a share of the labels, not with so many of every class")
    known = np.empty(0, dtype=np.int64) if items.labels is None else items.labels.known
    rows, together = sides.order(known, seed)
    given = _whole(together, labels)
    kept = _whole(together[:given], 1 - validation)
    if not 0 < given < len(rows):
        raise InputError(
            f"{sides.column} leaves nothing to {'ask about' if given else 'learn from'}, as its groups are "
            "large; give another share of labels, or another column"
        )
    return LabelSplit(
        train=np.sort(rows[:kept]),
        validation=np.sort(rows[kept:given]),
        test=np.sort(rows[given:]),
        fingerprint=fingerprint(network),
        type=items.name,
    )


def split_cells_by(
    network: Network, sides: Sides, type: str | None = None, test: float = 0.10, seed: int = 0
) -> CellSplit:
    """Hide all known cells of about the share `test` of the items: whole groups, or the latest.

    The column that decides is not asked for itself.
    """
    items = network.items(type)
    rows, together = sides.order(np.arange(len(items)), seed)
    first = _whole(together, 1 - test)
    if first >= len(rows):
        raise InputError(f"{sides.column} leaves no items whose cells can be hidden; choose another column")
    asked = np.zeros(len(items), dtype=bool)
    asked[rows[first:]] = True
    hidden = {}
    for relation in network.columns(items.name):
        column = relation.column
        if column is None or sides.column in (column.name, column.name.rpartition(".")[0]):
            continue
        if column.has_cells:
            pairs = true_pairs(relation.values, ACROSS)
            hidden[relation.name] = pairs[asked[pairs[:, 0]]]
    if not any(len(pairs) for pairs in hidden.values()):
        raise InputError(f"{network.name}: type {items.name} has no column with cells to hide")
    return CellSplit(items.name, hidden)


def _whole(together: np.ndarray, share: float) -> int:
    """Where to cut what is in order, nearest to a share of it, so that nothing that goes together is parted.

    Examples
    --------
    >>> _whole(np.array([0, 0, 0, 1, 2, 2]), 0.6)
    4
    """
    if not len(together):
        return 0
    ends = np.append(0, np.append(np.flatnonzero(np.diff(together)) + 1, len(together)))
    return int(ends[np.abs(ends - share * len(together)).argmin()])
