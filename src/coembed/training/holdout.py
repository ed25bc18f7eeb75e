"""What is kept aside during a fit to choose the epoch by: hidden labels, hidden pairs, hidden cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from coembed.distributed.exchange import chosen
from coembed.fitted.score_blend import FEWEST
from coembed.metrics import auc, mean_average_precision
from coembed.model import SVAE
from coembed.model.relation_term import RelationTerm
from coembed.model.schema import Keys
from coembed.network import UNKNOWN, Network, split_labels, split_pairs
from coembed.network.network import ATTRIBUTES, LINKS
from coembed.network.pairs import ACROSS, true_pairs, without
from coembed.network.relations import Relation
from coembed.settings import Settings

Pairs = tuple[np.ndarray, np.ndarray]
"""Pairs (n, 2) that are present though hidden, and pairs that are absent."""

MOST_PAIRS = 100_000
"""Stored pairs of a relation of which no more are kept aside: they tell an AUC to three digits."""
FEWEST_CELLS = 20
"""Known cells of a column below which none is kept aside, five times."""


@dataclass(frozen=True, eq=False)
class Holdout:
    """Items whose known labels, pairs whose presence, and cells whose value the fit must not learn from.

    Attributes
    ----------
    labels
        By type, positions of items.
    pairs
        By relation, hidden pairs and absent ones.
    cells
        By column, hidden entries (n, 2) and their values.
    """

    labels: Mapping[str, np.ndarray] = field(default_factory=dict)
    pairs: Mapping[str, Pairs] = field(default_factory=dict)
    cells: Mapping[str, Pairs] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return any(len(items) for items in self.labels.values()) or bool(self.pairs or self.cells)


def hold_out(network: Network, settings: Settings) -> tuple[Network, Holdout]:
    """Take the shares that the settings name out of the network."""
    labels: dict[str, np.ndarray] = {}
    pairs: dict[str, Pairs] = {}
    cells: dict[str, Pairs] = {}
    if settings.validation:
        for name in network.labelled_types:
            known = network.items(name).labels
            if known is not None and len(known.known) > 1:
                share = 1 - settings.validation
                labels[name] = split_labels(network, share, 0.0, settings.seed, name).test
    if settings.validation_pairs:
        for name, relation in network.relations.items():
            if relation.absent == "unknown" and relation.column is None:
                continue  # nothing absent is known to be so
            if relation.absent == "unknown":
                held = _hidden_cells(relation, settings)
                if held is not None:
                    cells[name] = held
                    visible = without(relation.values, held[0], ACROSS)
                    network = network.with_values({name: visible})
            elif (split := _hidden_pairs(network, relation, settings)) is not None:
                pairs[name] = split
                hidden = without(network.relation(name).values, np.concatenate(split), relation.pairing)
                network = network.with_values({name: hidden})
    return network, Holdout(labels, pairs, cells)


def _hidden_pairs(network: Network, relation: Relation, settings: Settings) -> Pairs | None:
    matrix = relation.values
    width = matrix.shape[1]
    if relation.column is not None:
        width = relation.column.stop - relation.column.start
    possible = matrix.shape[0] * (width - 1 if relation.pairing.same else width)
    if 2 * matrix.nnz > possible:
        return None  # there are hardly any absent pairs to tell the present ones from
    share = min(settings.validation_pairs, MOST_PAIRS / max(matrix.nnz, 1))
    split = split_pairs(network, relation.name, validation=share, test=0.0, seed=settings.seed)
    # a handful of pairs cannot weigh other scores, and a small network cannot spare them
    if len(split.validation) < (FEWEST if settings.pair_scores else 1):
        return None
    return split.validation, split.validation_negatives


def _hidden_cells(relation: Relation, settings: Settings) -> Pairs | None:
    """Known cells that tell how far off the model is."""
    pairs = true_pairs(relation.values, ACROSS)
    count = round(settings.validation_pairs * len(pairs))
    if len(pairs) < 5 * FEWEST_CELLS or count < 1:
        return None
    assert relation.column is not None
    # columns draw apart: rows that lose all of their cells would be harder to tell than those that lose one
    rng = np.random.default_rng([settings.seed, relation.values.nnz, relation.column.start])
    rows = np.sort(rng.choice(len(pairs), min(count, MOST_PAIRS), replace=False))
    return pairs[rows], relation.values.data[rows]


def without_labels_of(network: Network, hidden: Mapping[str, np.ndarray]) -> Network:
    """The network with the labels of some items hidden."""
    for name, items in hidden.items():
        known = network.items(name).labels
        if known is not None and len(items):
            values = known.values.copy()
            values[items] = UNKNOWN
            network = network.with_labels(values, name)
    return network


def validation_figures(
    model: SVAE, network: Network, holdout: Holdout, labels: Mapping[str, np.ndarray]
) -> dict[str, float]:
    """Accuracy or mean AP of held-out labels, AUC of pairs, accuracy or R² of hidden cells, at the means."""
    figures: dict[str, float] = {}
    keys = Keys.of(network)
    found: dict[str, tuple[Tensor, Tensor | None]] = {}

    def codes(name: str) -> Tensor:
        if name not in found:
            found[name] = model.mean_codes(keys.types[name])
        return found[name][0]

    for name, items in holdout.labels.items():
        codes(name)
        probabilities = found[name][1]
        if len(items) and probabilities is not None:
            asked = torch.as_tensor(np.array(items), device=probabilities.device)
            told = chosen(probabilities, asked, model.types[keys.types[name]].partition)
            truth, guessed = labels[name][items], told.cpu().numpy()
            right = (
                float(np.mean(guessed.argmax(axis=1) == truth))
                if truth.ndim == 1
                else mean_average_precision(truth, guessed)
            )
            figure = "accuracy" if truth.ndim == 1 else "mean AP"
            figures[figure if network.is_plain else f"{figure} of {name}"] = right
    for name, (present, absent) in holdout.pairs.items():
        relation = network.relation(name)
        term = term_of(model, network, relation)
        if term is not None:
            ends = codes(relation.source), codes(relation.target)
            figures[_title(network, name)] = auc(*(_scores(term, ends, pairs) for pairs in (present, absent)))
    for name, (pairs, values) in holdout.cells.items():
        relation = network.relation(name)
        term = term_of(model, network, relation)
        if term is not None:
            ends = codes(relation.source), codes(relation.target)
            figures[f"cells of {name}"] = _cell_figure(term, relation, ends, pairs, values)
    return figures


def chosen_by(figures: Mapping[str, float]) -> float:
    """One figure to choose the epoch by: the mean of those of labels, plus the mean of those of relations."""
    label_figures = ("accuracy", "mean AP")
    of_labels = [value for name, value in figures.items() if name.startswith(label_figures)]
    others = [value for name, value in figures.items() if not name.startswith(label_figures)]
    if len(of_labels) <= 1 and set(figures) <= {"accuracy", "link AUC", "attribute AUC"}:
        return sum(figures.values())
    return sum(float(np.mean(each)) for each in (of_labels, others) if each)


def _title(network: Network, name: str) -> str:
    if network.is_plain:
        return {LINKS: "link AUC", ATTRIBUTES: "attribute AUC"}[name]
    return f"AUC of {name}"


def term_of(model: SVAE, network: Network, relation: Relation) -> RelationTerm | None:
    """The term that explains a relation; columns share one."""
    keys = Keys.of(network)
    source, target = keys.types[relation.source], keys.types[relation.target]
    for term in model.relations:
        assert isinstance(term, RelationTerm)
        modelled = term.relation
        if (modelled.source, modelled.target) != (source, target):
            continue
        if relation.column is None:
            if modelled.name == keys.relations[relation.name]:
                return term
        elif relation.column.has_cells == (modelled.cells is not None) and (
            modelled.targets is None or relation.column.start in modelled.targets
        ):
            return term
    return None


def _scores(term: RelationTerm, ends: tuple[Tensor, Tensor], pairs: np.ndarray) -> np.ndarray:
    """Scores of pairs, from the means of both ends."""
    rows, columns = (torch.as_tensor(np.array(end), device=ends[0].device) for end in pairs.T)
    left, right = chosen(ends[0], rows, term.source), chosen(ends[1], columns, term.every_target)
    if term.direction is not None:
        scores = ((left @ term.direction.matrix) * right).sum(dim=1)
        if term.direction.lean is not None:
            scores = scores + (left - right) @ term.direction.lean
    else:
        scores = (left * right).sum(dim=1)
    at = columns
    if term.targets is not None:
        at = torch.as_tensor(np.searchsorted(term.targets, pairs[:, 1]), device=ends[0].device)
    if term.cell_bias is not None:
        return (scores + term.cell_bias[at]).cpu().numpy()
    if term.source_bias is not None and term.target_bias is not None:
        scores = scores + chosen(term.source_bias(), rows, term.source)
        scores = scores + chosen(term.target_bias(), at, term.target)
    return scores.cpu().numpy()


def _cell_figure(
    term: RelationTerm,
    relation: Relation,
    ends: tuple[Tensor, Tensor],
    pairs: np.ndarray,
    values: np.ndarray,
) -> float:
    """R² of numbers, accuracy of yes or no and of categories."""
    column = relation.column
    assert column is not None
    if column.kind == "category":
        span = np.arange(column.start, column.stop)
        every = np.column_stack([np.repeat(pairs[:, 0], len(span)), np.tile(span, len(pairs))])
        scores = _scores(term, ends, every).reshape(len(pairs), len(span))
        return float(np.mean(span[scores.argmax(axis=1)] == pairs[:, 1]))
    scores = _scores(term, ends, pairs)
    if column.kind == "yes/no":
        return float(np.mean((scores > 0) == (values > 0.5)))
    spread = float(((values - values.mean()) ** 2).sum()) or 1.0
    return max(1 - float(((values - scores) ** 2).sum()) / spread, -1.0)
