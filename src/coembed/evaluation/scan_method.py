"""Our model behind the agreement that all methods keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from coembed.evaluation.problem import Answer, Problem
from coembed.fitted import Fitted
from coembed.fitted.class_answers import said_classes
from coembed.network.cell_values import attribute_range
from coembed.network.network import ATTRIBUTES
from coembed.settings import Settings, preset_settings
from coembed.training import Holdout
from coembed.training import fit as train


@dataclass(frozen=True, eq=False)
class ScanAnswer(Answer):
    """A fitted model, asked about one type and one relation."""

    fitted: Fitted
    type: str
    relation: str

    def probabilities(self) -> np.ndarray | None:
        found = self.fitted.probabilities_of(self.type)
        return None if found is None or not found.shape[1] else found

    def said(self) -> np.ndarray | None:
        return said_classes(self.fitted, self.type) if self.fitted.has_several(self.type) else None

    def embedding(self) -> np.ndarray:
        return self.fitted.mean_of(self.type)

    def cells(self, relation: str, rows: np.ndarray) -> np.ndarray:
        return self.fitted.cells(relation, rows)

    def row_scores(self, nodes: np.ndarray) -> np.ndarray:
        relation = self.fitted.network.relation(self.relation)
        own, width = attribute_range(relation), relation.values.shape[1]
        found = self.fitted.score_rows(nodes, self.relation)
        if found.shape[1] == width:
            return found
        # of a column the model tells its own attributes only
        scores = np.zeros((len(nodes), width), dtype=found.dtype)
        scores[:, own] = found
        return scores

    def pair_scores(self, pairs: np.ndarray) -> np.ndarray:
        return self.fitted.score(self.relation, pairs)

    def directions(self) -> tuple[np.ndarray, np.ndarray]:
        ends = self.fitted.network.relation(self.relation)
        return self.fitted.codes(ends.source).mean, self.fitted.codes(ends.target).mean

    def lift_scores(self, pairs: np.ndarray) -> np.ndarray:
        return self.fitted.score(self.relation, pairs, lift=True)

    def about(self, type: str) -> ScanAnswer:
        return replace(self, type=type)

    def as_published(self, seed: int) -> Answer:
        drawn = self.fitted.draw(np.random.default_rng(seed))
        ends = self.fitted.network.relation(self.relation)
        return DrawnAnswer(self.fitted, self.type, self.relation, drawn[ends.source], drawn[ends.target])

    def arrays(self) -> Mapping[str, np.ndarray]:
        learnt: dict[str, np.ndarray] = {}
        # names of users are nobody's keys
        parts: list[Any] = [*self.fitted.types.values(), *self.fitted.relations.values()]
        for place, each in enumerate(parts):
            for field in fields(each):
                value = getattr(each, field.name)
                if isinstance(value, np.ndarray):
                    learnt[f"{place} {field.name}"] = value
                elif field.name == "blends":
                    for name, blend in value.items():
                        learnt |= blend.as_arrays(f"{place} {name}")
        return learnt


@dataclass(frozen=True, eq=False)
class DirectionAnswer(ScanAnswer):
    """A fitted model, asked which way pairs go that are there."""

    def pair_scores(self, pairs: np.ndarray) -> np.ndarray:
        return self.fitted.direction(self.relation, pairs)


@dataclass(frozen=True, eq=False)
class DrawnAnswer(ScanAnswer):
    """The fitted model as the public code of SCAN reads its own.

    Pairs are scored on one random draw of all codes, and the embedding of a labelled node knows its label.
    """

    source: np.ndarray
    target: np.ndarray

    def embedding(self) -> np.ndarray:
        return self.fitted.latents(self.type).mean[:, : self.fitted.dim]

    def row_scores(self, nodes: np.ndarray) -> np.ndarray:
        return self.source[nodes] @ self.target.T

    def pair_scores(self, pairs: np.ndarray) -> np.ndarray:
        return np.einsum("nc,nc->n", self.source[pairs[:, 0]], self.target[pairs[:, 1]])


def fit(problem: Problem) -> ScanAnswer:
    """Train on what may be seen; what is kept for validation chooses the epoch if the settings say so."""
    settings = settings_of(problem)
    fitted = train(
        problem.network,
        settings,
        preset=problem.preset,
        holdout=holdout_of(problem, settings),
        progress=problem.progress,
    )
    if problem.task == "direction":
        return DirectionAnswer(fitted, problem.type, problem.relation)
    # an answer about classes is asked about no relation; what a published one would be, does not matter
    relation = problem.relation or (ATTRIBUTES if problem.network.is_plain else "")
    return ScanAnswer(fitted, problem.type, relation)


def holdout_of(problem: Problem, settings: Settings) -> Holdout | None:
    """What the task itself keeps for validation, in place of the shares that the settings name."""
    if problem.task == "classification":
        kept = {problem.type: problem.validation, **problem.other_validation}
        chosen_by = {name: rows for name, rows in kept.items() if settings.validation and len(rows)}
        return Holdout(labels=chosen_by)
    if settings.validation_pairs == 0:
        return Holdout()
    return None if problem.pairs is None else Holdout(pairs={problem.relation: problem.pairs})


def settings_of(problem: Problem) -> Settings:
    """The settings that a problem asks for: its preset for its task, changes on top, its seed."""
    settings = preset_settings(problem.preset, problem.task, seed=problem.seed)
    return settings.parse(list(problem.changes))
