"""Classes of the items of a type, known ones or rows of a new table, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.fitted.drift import Drift, drifts
from coembed.fitted.matches import position
from coembed.fitted.newcomers import place_newcomers
from coembed.network.items import UNKNOWN
from coembed.network.readers.named_table import NamedTable, named_table, read_named_table
from coembed.network.readers.new_rows import NewRows, read_new_rows

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted

AT_ONCE = 10_000
"""New rows that are placed at a time."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """Class probabilities, a row an item.

    Attributes
    ----------
    observed
        The class that is known, by the network or by the new table, or ``UNKNOWN``.
    new
        Which of the items the model has not learnt from.
    notices
        What was done with a new table.
    drifts
        Its columns that differ much from those of training.
    """

    type: str
    ids: list[str]
    titles: list[str]
    classes: np.ndarray
    probabilities: np.ndarray
    observed: np.ndarray
    new: np.ndarray
    notices: tuple[str, ...] = ()
    drifts: tuple[Drift, ...] = ()

    @property
    def predicted(self) -> np.ndarray:
        """The likeliest class of every row, by name."""
        return self.classes[self.probabilities.argmax(axis=1)]

    @property
    def agreement(self) -> tuple[int, float] | None:
        """Of the new rows that came with a class, how many there are, and the share told rightly."""
        given = np.flatnonzero(self.new & (self.observed != UNKNOWN))
        if not len(given):
            return None
        told = self.probabilities[given].argmax(axis=1)
        return len(given), float(np.mean(told == self.observed[given]))

    def as_columns(self, id: str = "id") -> dict[str, list[Any]]:
        """Id, predicted class, its probability, the known class, whether it is new, that of every class."""
        best = self.probabilities.max(axis=1)
        table: dict[str, list[Any]] = {
            id: self.ids,
            "predicted": [str(name) for name in self.predicted],
            "probability": [float(p) for p in best],
            "known": [str(self.classes[k]) if k != UNKNOWN else None for k in self.observed],
            "type": [self.type] * len(self.ids),
            "title": self.titles,
        }
        if self.new.any():
            table["new"] = [bool(each) for each in self.new]
        return table | {
            f"p({name})": [float(p) for p in self.probabilities[:, k]] for k, name in enumerate(self.classes)
        }


def predict_known(
    fitted: Fitted, type: str, ids: Sequence[str] | None = None, unlabelled: bool = False
) -> Predictions:
    """Of all items of a type, or of those named; and of these only the unlabelled ones, if asked."""
    items, observed = fitted.network.items(type), fitted.labels_of(type)
    probabilities = fitted.predict_proba(type)
    assert items.labels is not None
    rows = np.arange(len(items))
    if ids:
        rows = np.array([position(fitted.network, each, type) for each in ids])
    if unlabelled:
        rows = rows[observed[rows] == UNKNOWN]
    return Predictions(
        type,
        [str(name) for name in items.ids[rows]],
        [items.title(int(row)) for row in rows],
        items.labels.classes,
        probabilities[rows],
        observed[rows],
        np.zeros(len(rows), dtype=bool),
    )


def predict_rows(
    fitted: Fitted,
    table: Any,
    type: str | None = None,
    *,
    id: str | None = None,
    as_new: bool = False,
    beside: Mapping[str, Any] | Sequence[str | PathLike[str]] = (),
) -> Predictions:
    """See :meth:`coembed.fitted.Fitted.predict_rows`."""
    given, said = _tables(table, beside)
    rows = read_new_rows(fitted.network, given, type, id)
    labels = fitted.network.items(rows.type).labels
    if labels is None or not labels.n_classes:
        raise InputError(
            f"the model knows no classes of {rows.type}; train with some labels, or fill cells with impute"
        )
    said += rows.notices
    new = np.ones(len(rows.items), dtype=bool) if as_new else rows.known < 0
    if not new.all():
        said.append(
            f"{int((~new).sum()):,} of {len(new):,} row(s) have ids that the model knows: answered as learnt "
            "then, whatever they hold now (--as-new: as new rows)"
        )
    nothing = new & (rows.touched == 0)
    if nothing.any():
        said.append(
            f"{int(nothing.sum()):,} new row(s) hold nothing that the model knows, such as "
            f"{str(rows.items.ids[int(np.argmax(nothing))])[:40]!r}: their answers say nothing of them"
        )
    probabilities = np.empty((len(new), labels.n_classes), dtype=np.float32)
    probabilities[~new] = fitted.predict_proba(rows.type)[rows.known[~new]]
    _place(fitted, rows, np.flatnonzero(new), probabilities)
    observed = rows.labels.copy()
    observed[~new] = labels.values[rows.known[~new]]
    return Predictions(
        rows.type,
        [str(each) for each in rows.items.ids],
        [rows.items.title(i) for i in range(len(new))],
        labels.classes,
        probabilities,
        observed,
        new,
        tuple(said),
        tuple(drifts(fitted.network, rows)),
    )


def _place(fitted: Fitted, rows: NewRows, new: np.ndarray, into: np.ndarray) -> None:
    """The class probabilities of new rows; such as are linked to one another all at once."""
    step = AT_ONCE if not rows.among else max(len(new), 1)
    for start in range(0, len(new), step):
        part = new[start : start + step]
        own = {way: matrix[part] for way, matrix in (rows.rows or _nothing(fitted, rows)).items()}
        among = {way: matrix[part][:, part] for way, matrix in rows.among.items()}
        placed = place_newcomers(fitted, rows.type, own, among=among)
        assert placed.probabilities is not None
        into[part] = placed.probabilities


def _nothing(fitted: Fitted, rows: NewRows) -> dict[str, sp.csr_array]:
    """Rows of which only the ids were given."""
    joined = [*fitted.network.columns(rows.type), *fitted.network.joining(rows.type)]
    way = f"{joined[0].name}{'>' if joined[0].source == rows.type else '<'}"
    width = joined[0].values.shape[int(way.endswith(">"))]
    return {way: sp.csr_array((len(rows.items), width), dtype=np.float32)}


def _tables(
    table: Any, beside: Mapping[str, Any] | Sequence[str | PathLike[str]]
) -> tuple[list[NamedTable], list[str]]:
    """Tables by their paths, or in memory."""
    said: list[str] = []
    named = beside if isinstance(beside, Mapping) else {Path(each).name: each for each in beside}
    found = []
    for name, each in {"rows": table, **named}.items():
        if isinstance(each, (str, PathLike)):
            path = Path(each)
            if not path.is_file():
                raise InputError(f"{path} is no file; give a table of new rows")
            found.append(read_named_table(path, said))
        else:
            found.append(each if isinstance(each, NamedTable) else named_table(name, each))
    return found, said
