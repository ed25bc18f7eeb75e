"""The questions: rank all items of a type for one item, and say how sure each line of the answer is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coembed.errors import InputError, no_such
from coembed.fitted import nearest_index
from coembed.fitted.class_answers import class_texts
from coembed.fitted.conformal import widening
from coembed.fitted.gaussians import Gaussians
from coembed.fitted.matches import Item, Match, position, type_of
from coembed.fitted.moments import cosine_std, cosines, unit_length
from coembed.fitted.nearest_index import shortlist
from coembed.fitted.poles import Pole, find_pole, nearer_poles, numbers_of, pole_name
from coembed.network.relations import Column, Relation

if TYPE_CHECKING:
    from coembed.fitted.fitted import Fitted
    from coembed.fitted.learnt import Learnt

_NOTHING = np.empty(0, dtype=np.int64)
COVERAGE = 0.9
"""Of the intervals of numbers, if nothing else is said."""


def complete(
    fitted: Fitted,
    item: Item,
    relation: str | None,
    k: int,
    type: str | None,
    known: bool,
    positions: bool,
    backwards: bool = False,
    coverage: float = COVERAGE,
    fdr: float | None = None,
) -> list[Match]:
    """See :meth:`Fitted.complete`."""
    network = fitted.network
    if relation is not None and relation in network.relations and type is None:
        joined = network.relation(relation)
        ends = dict.fromkeys((joined.source, joined.target))
        holding = [end for end in ends if positions or network.items(end).find(item) is not None]
        type = holding[0] if holding else joined.source
    type = type_of(network, item, type, positions)
    joined = network.relation(named_relation(fitted, relation, type))
    if type not in (joined.source, joined.target):
        raise InputError(f"{joined.name} joins {joined.source} to {joined.target}, not {type}")
    row = position(network, item, type, positions)
    least = -np.inf if fdr is None else sure_from(fitted, joined, fdr)
    if type != joined.source or (backwards and not joined.pairing.undirected):
        return _backwards(fitted, joined, row, k, known, least)
    if joined.column is not None and joined.column.has_cells:
        held, at = known_cell(joined, row), np.array([row])
        features = fitted.cell_features(type, at)
        found = cell_matches(fitted, joined, fitted.latents_at(type, at), k, held, features, coverage)
        if not len(held) or joined.column.kind == "category":
            return found
        value = joined.values.data[joined.values.indptr[row]]
        return [replace(found[0], cell=float(joined.column.held(value)))]
    scores, shown = fitted.ranking(row, joined.name)
    held = joined.values.indices[joined.values.indptr[row] : joined.values.indptr[row + 1]]
    without = _NOTHING if known else held
    if joined.pairing.same:
        without = np.append(without, row)
    span = fitted.span(joined)
    places = top(scores, k, without - (span[0] if len(span) else 0))
    places = places[scores[places] >= least]
    return matches(fitted, joined.target, span[places], *shown(places), held)


def sure_from(fitted: Fitted, relation: Relation, fdr: float) -> float:
    """The score from which on at most a share `fdr` of what is listed is wrong."""
    doubt = fitted.relations[relation.name].doubt
    if doubt is None:
        raise InputError(
            f"the model keeps nothing to judge lists of {relation.name} by; it needs links or tags of which "
            "some were kept aside: train with validation_pairs and pair_scores"
        )
    return doubt.least_score(fdr)


def check_no_classes(fitted: Fitted, name: str, type: str | None) -> None:
    """Say where to ask for the column of labels, which is answered as classes."""
    types = fitted.network.types if type is None or type not in fitted.network.types else (type,)
    for each in types:
        labels = fitted.network.items(each).labels
        if labels is not None and labels.n_classes and labels.column == name:
            raise InputError(f"{name!r} holds the classes of {each}: ask predict for them, or why of one")


def named_relation(fitted: Fitted, name: str | None, type: str | None) -> str:
    """A relation by its name, or by that of a column; without a name the words of a type, or what it has."""
    network = fitted.network
    if name is not None:
        if name in network.relations:
            return name
        columns = [
            each.name for each in network.columns(type or "") if each.column and each.column.name == name
        ]
        if columns:
            return columns[0]
        check_no_classes(fitted, name, type)
        raise no_such("relation or column", name, network.relations)
    columns = [each.name for each in network.columns(type or "") if each.column and not each.column.has_cells]
    joining = [each.name for each in network.joining(type or "")]
    cells = [each.name for each in network.columns(type or "")]
    found = [*columns, *joining, *cells]
    if not found:
        raise InputError(f"items of type {type} have neither columns nor relations to be completed")
    return found[0]


def cell_matches(
    fitted: Fitted,
    relation: Relation,
    here: Gaussians,
    k: int,
    known: np.ndarray,
    features: np.ndarray | None,
    coverage: float = COVERAGE,
) -> list[Match]:
    """What a cell is expected to hold: a number in its unit, or the values of a category by probability."""
    column, span = relation.column, fitted.span(relation)
    assert column is not None
    expected, spread = (rows[0] for rows in cell_answers(fitted, relation, here, features))
    ends: tuple[float | None, float | None] = None, None
    if column.numeric:
        ends = interval(fitted, relation, expected[0], spread[0], coverage)
        expected, spread = in_unit(column, expected, spread)
    best = top(expected, k, _NOTHING)
    held = np.setdiff1d(known - span[0], best)  # what is known is said, however unlikely
    best = np.append(best, held)
    found = matches(fitted, relation.target, span[best], expected[best], spread[best], known)
    return [replace(each, low=ends[0], high=ends[1]) for each in found] if column.numeric else found


def cell_answers(
    fitted: Learnt, relation: Relation, here: Gaussians, features: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """What the cells of items with these codes are expected to hold, in the model's unit, and the spread.

    A row an item, a column an attribute: the number, the probability of yes, or that of each category.
    `features` are what other models of cells read, if there are any (see :meth:`Learnt.cell_features`).
    """
    fit, column = fitted.relations[relation.name], relation.column
    assert column is not None
    moments = fit.crossed(here, fitted.others(relation.name)).moved(fitted.bias(relation.name)[1])
    scale = -np.inf if fit.log_scale is None else fit.log_scale
    expected = fit.kind.expected(moments.mean, moments.variance)
    if fit.cells is not None and features is not None:
        expected = fit.cells.blended(expected, features, column)
    return expected, fit.kind.spread(moments.mean, fit.variance_gain * moments.variance, scale)


def interval(
    fitted: Fitted, relation: Relation, value: float, spread: float, coverage: float
) -> tuple[float, float] | tuple[None, None]:
    """Between what a number is, in its unit, as often as `coverage`; None where too few errors are known."""
    found = intervals(fitted, relation, np.array([value]), np.array([spread]), coverage)
    return (None, None) if found is None else (float(found[0][0]), float(found[1][0]))


def intervals(
    fitted: Fitted, relation: Relation, values: np.ndarray, spreads: np.ndarray, coverage: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """The same of many: lower and upper ends."""
    column, errors = relation.column, fitted.relations[relation.name].errors
    wide = widening(np.empty(0) if errors is None else errors, coverage)
    if column is None or not np.isfinite(wide):
        return None
    ends = column.cell(values - wide * spreads), column.cell(values + wide * spreads)
    return np.minimum(*ends), np.maximum(*ends)


def in_unit(column: Column, value: np.ndarray, spread: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A number and its spread in the unit of its column.

    Examples
    --------
    >>> in_unit(Column("age", "number", center=40.0, scale=10.0), np.array([0.5]), np.array([0.2]))
    (array([45.]), array([2.]))
    """
    return column.cell(value), (column.cell(value + spread) - column.cell(value - spread)) / 2


def known_cell(relation: Relation, row: int) -> np.ndarray:
    """The attributes that the known cell of an item stands for; none if it is unknown."""
    return relation.values.indices[relation.values.indptr[row] : relation.values.indptr[row + 1]]


def nearest(
    fitted: Fitted, item: Item, to: str | None, k: int, type: str | None, positions: bool
) -> list[Match]:
    """The items of type `to` whose codes point most nearly the same way (cosine)."""
    pole = None if positions else find_pole(fitted.network, str(item), type)
    if pole is None:
        type = type_of(fitted.network, item, type, positions)
        pole = Pole(type, position(fitted.network, item, type, positions), 1)
    type, row, sign = pole
    to = type if to is None else fitted.network.items(to).name
    here = fitted.codes_at(type, np.array([row]))
    here = here if sign > 0 else Gaussians(-here.mean, here.std)
    without = np.array([row]) if type == to else _NOTHING
    return pointing_alike(fitted, here, to, k, without, joined_to(fitted, type, to, row))


def pointing_alike(
    fitted: Fitted, here: Gaussians, type: str, k: int, without: np.ndarray, held: np.ndarray
) -> list[Match]:
    """The items of a type that point as the one code `here`, but for `without`; `held` are known.

    Of a number the nearer of its poles counts, and is what the answer's title says.
    """
    network = fitted.network
    numbers = numbers_of(network, type)
    if len(network.items(type)) > nearest_index.EXACT_ITEMS:
        places = shortlist(fitted, type, unit_length(here.mean)[0], k + 1)
        places = np.setdiff1d(np.union1d(places, list(numbers)).astype(np.int64), without)
        scores, without = np.full(len(network.items(type)), -np.inf), _NOTHING
        scores[places] = cosines(here, fitted.codes_at(type, places))[0]
    else:
        scores = (unit_length(here.mean) @ fitted.codes(type).mean.T)[0] / fitted.lengths(type)
    scores, signs = nearer_poles(network, type, scores)
    best = top(scores, k, without)
    std = cosine_std(_repeated(here, len(best)), fitted.codes_at(type, best))
    found = matches(fitted, type, best, scores[best], std, held)
    return [
        replace(match, title=pole_name(match.title, numbers[row], signs[row])) if row in numbers else match
        for row, match in zip(best.tolist(), found, strict=True)
    ]


def top(scores: np.ndarray, k: int, without: np.ndarray) -> np.ndarray:
    """Positions of the k largest scores, best first, ties in order of position.

    Examples
    --------
    >>> top(np.array([0.1, 0.9, 0.5, 0.5]), 2, without=np.array([1]))
    array([2, 3])
    """
    if k < 1:
        raise InputError(f"k must be at least 1, got {k}")
    allowed = np.ones(len(scores), dtype=bool)
    allowed[without] = False
    candidates = np.flatnonzero(allowed)
    if k < len(candidates):
        # everything at least as good as the k-th, so that a tie at the border is settled by position too
        border = np.partition(scores[candidates], len(candidates) - k)[len(candidates) - k]
        candidates = candidates[scores[candidates] >= border]
    return candidates[np.argsort(-scores[candidates], kind="stable")][:k]


def joined_to(fitted: Fitted, type: str, to: str, row: int) -> np.ndarray:
    """The items of type `to` that the network joins to this one, by whatever relation."""
    found = [_NOTHING]
    for relation in fitted.network.relations.values():
        if relation.column is not None and relation.column.numeric:
            continue
        matrix = relation.values
        if (relation.source, relation.target) == (type, to):
            found.append(matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]])
        if (relation.target, relation.source) == (type, to) and not relation.pairing.undirected:
            found.append(
                np.searchsorted(matrix.indptr, np.flatnonzero(matrix.indices == row), side="right") - 1
            )
    return np.unique(np.concatenate(found))


def matches(
    fitted: Fitted, type: str, items: np.ndarray, scores: np.ndarray, std: np.ndarray, held: np.ndarray
) -> list[Match]:
    """Lines of an answer."""
    listed = fitted.network.items(type)
    known = np.isin(items, held)
    labels: Sequence[str | None] = class_texts(fitted, type, items) or [None] * len(items)
    return [
        Match(str(listed.ids[i]), type, float(score), float(spread), bool(was), label, listed.title(i))
        for i, score, spread, was, label in zip(items, scores, std, known, labels, strict=True)
    ]


def _backwards(
    fitted: Fitted, relation: Relation, row: int, k: int, known: bool, least: float
) -> list[Match]:
    """The items of the near end that should be joined to one of the far end."""
    matrix, column = relation.values, relation.column
    held = np.searchsorted(matrix.indptr, np.flatnonzero(matrix.indices == row), side="right") - 1
    if column is not None and not column.start <= row < column.stop:
        at = str(fitted.network.items(relation.target).ids[row])[:80]
        raise InputError(f"{at!r} is no value of the column {column.name}")
    if column is not None and column.has_cells:
        return _cells_backwards(fitted, relation, row - column.start, k, held, known)
    count = matrix.shape[0]
    pairs = np.column_stack([np.arange(count), np.full(count, row)])
    scores = fitted.score(relation.name, pairs)
    without = _NOTHING if known else held
    if relation.pairing.same:
        without = np.append(without, row)
    best = top(scores, k, without)
    best = best[scores[best] >= least]
    return matches(fitted, relation.source, best, *fitted.answer(relation.name, pairs[best]), held)


def _cells_backwards(
    fitted: Fitted, relation: Relation, value: int, k: int, held: np.ndarray, known: bool
) -> list[Match]:
    """The items whose cell, where it is not known, is likeliest to be a value, or is the largest."""
    column, everybody = relation.column, np.arange(relation.values.shape[0])
    assert column is not None
    codes, features = fitted.latents(relation.source), fitted.cell_features(relation.source, everybody)
    expected, spread = (rows[:, value] for rows in cell_answers(fitted, relation, codes, features))
    if column.numeric:
        expected, spread = in_unit(column, expected, spread)
    best = top(expected, k, _NOTHING if known else held)
    return matches(fitted, relation.source, best, expected[best], spread[best], held)


def _repeated(here: Gaussians, count: int) -> Gaussians:
    return here.take(np.zeros(count, dtype=np.int64))
