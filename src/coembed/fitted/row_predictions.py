"""Classes of the items of a type, known ones or rows of a new table, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coembed.errors import InputError
from coembed.fitted.class_answers import named_sets, said_classes, sets_of, texts_of, thresholds_of
from coembed.fitted.drift import Drift, drifts
from coembed.fitted.matches import position
from coembed.fitted.placed_rows import Beside, placed_parts, read_rows
from coembed.network.items import UNKNOWN, Labels

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted
    from coembed.network.readers.new_rows import NewRows


@dataclass(frozen=True, eq=False)
class Predictions:
    """Class probabilities, a row an item.

    Attributes
    ----------
    labels
        The classes that are known, by the network or by the new table.
    said
        Of several classes an item, which it is said to have.
    new
        Which of the items the model has not learnt from.
    notices
        What was done with a new table.
    drifts
        Its columns that differ much from those of training.
    sets
        Where a coverage was asked for, which classes each item may have.
    """

    type: str
    ids: list[str]
    titles: list[str]
    labels: Labels
    probabilities: np.ndarray
    said: np.ndarray | None
    new: np.ndarray
    notices: tuple[str, ...] = ()
    drifts: tuple[Drift, ...] = ()
    sets: np.ndarray | None = None

    @property
    def classes(self) -> np.ndarray:
        return self.labels.classes

    @property
    def predicted(self) -> np.ndarray:
        """The likeliest class of every row, by name; of several all that it is said to have, parted by ;"""
        if self.said is not None:
            return np.array(texts_of(self.labels, self.said), dtype=object)
        return self.classes[self.probabilities.argmax(axis=1)]

    @property
    def set_texts(self) -> list[str]:
        """The classes of each set, likeliest first, parted by ;"""
        assert self.sets is not None
        return [";".join(each) for each in named_sets(self.classes, self.probabilities, self.sets)]

    @property
    def agreement(self) -> tuple[int, float] | None:
        """Of the new rows that came with a class, how many there are, and the share told rightly.

        Of several classes, the share of known cells.
        """
        given = np.flatnonzero(self.new & self.labels.is_known)
        if not len(given):
            return None
        truth = self.labels.values[given]
        told = self.probabilities[given].argmax(axis=1) if self.said is None else self.said[given]
        return len(given), float(np.mean((told == truth)[truth != UNKNOWN]))

    def as_columns(self, id: str = "id") -> dict[str, list[Any]]:
        """Id, predicted class, its probability, the known class, whether it is new, that of every class."""
        best = self.probabilities.max(axis=1)
        table: dict[str, list[Any]] = {
            id: self.ids,
            "predicted": [str(name) for name in self.predicted],
            "probability": [float(p) for p in best],
            "known": [text or None for text in self.labels.texts(np.arange(len(self.ids))).to_pylist()],
            "type": [self.type] * len(self.ids),
            "title": self.titles,
        }
        if self.sets is not None:
            table["set"] = self.set_texts
            table["size"] = [int(size) for size in self.sets.sum(axis=1)]
        if self.new.any():
            table["new"] = [bool(each) for each in self.new]
        return table | {
            f"p({name})": [float(p) for p in self.probabilities[:, k]] for k, name in enumerate(self.classes)
        }


def predict_known(
    fitted: Fitted,
    type: str,
    ids: Sequence[str] | None = None,
    unlabelled: bool = False,
    coverage: float | None = None,
) -> Predictions:
    """Of all items of a type, or of those named; and of these only the unlabelled ones, if asked."""
    items, probabilities = fitted.network.items(type), fitted.predict_proba(type)
    assert items.labels is not None
    rows = np.arange(len(items))
    if ids:
        rows = np.array([position(fitted.network, each, type) for each in ids])
    if unlabelled:
        rows = rows[~items.labels.is_known[rows]]
    return Predictions(
        type,
        [str(name) for name in items.ids[rows]],
        [items.title(int(row)) for row in rows],
        replace(items.labels, values=items.labels.values[rows]),
        probabilities[rows],
        said_classes(fitted, type)[rows] if items.labels.several else None,
        np.zeros(len(rows), dtype=bool),
        sets=None if coverage is None else sets_of(fitted, type, coverage, rows),
    )


def _title(fitted: Fitted, rows: NewRows, row: int, new: bool) -> str:
    """What people call a row; of a known item whose title the table leaves out, what the model calls it."""
    if new or rows.items.titles is not None:
        return rows.items.title(row)
    return fitted.network.items(rows.type).title(int(rows.known[row]))


def predict_rows(
    fitted: Fitted,
    table: Any,
    type: str | None = None,
    *,
    id: str | None = None,
    as_new: bool = False,
    beside: Beside = (),
    coverage: float | None = None,
) -> Predictions:
    """See :meth:`coembed.fitted.Fitted.predict_rows`."""
    rows, said = read_rows(fitted, table, type, id, beside)
    labels = fitted.network.items(rows.type).labels
    if labels is None or not labels.n_classes:
        raise InputError(
            f"the model knows no classes of {rows.type}; train with some labels, or fill cells with impute"
        )
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
    for part, placed in placed_parts(fitted, rows, np.flatnonzero(new)):
        assert placed.probabilities is not None
        probabilities[part] = placed.probabilities
    observed = rows.labels.copy()
    observed[~new] = labels.values[rows.known[~new]]
    sets = None
    if coverage is not None:
        sets = sets_of(fitted, rows.type, coverage, rows.known, new=probabilities)
        sets[~new] = sets_of(fitted, rows.type, coverage, rows.known[~new])
    return Predictions(
        rows.type,
        [str(each) for each in rows.items.ids],
        [_title(fitted, rows, i, bool(new[i])) for i in range(len(new))],
        replace(labels, values=observed),
        probabilities,
        probabilities >= thresholds_of(fitted, rows.type) if labels.several else None,
        new,
        tuple(said),
        tuple(drifts(fitted.network, rows)),
        sets,
    )
