"""Our model behind the agreement that all methods keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from coembed.evaluation.problem import Answer, Problem
from coembed.fitted import Fitted
from coembed.fitted.fitted import Kind
from coembed.settings import Settings, preset_settings
from coembed.training import Holdout
from coembed.training import fit as train


@dataclass(frozen=True, eq=False)
class ScanAnswer(Answer):
    """A fitted model, asked about one relation."""

    fitted: Fitted
    kind: Kind

    def probabilities(self) -> np.ndarray | None:
        return self.fitted.probabilities if self.fitted.network.n_classes else None

    def embedding(self) -> np.ndarray:
        return self.fitted.node_mean

    def row_scores(self, nodes: np.ndarray) -> np.ndarray:
        return self.fitted.score_rows(nodes, self.kind)

    def pair_scores(self, pairs: np.ndarray) -> np.ndarray:
        if self.kind == "links":
            return self.fitted.score_links(pairs)
        return self.fitted.score_attributes(pairs)

    def lift_scores(self, pairs: np.ndarray) -> np.ndarray:
        if self.kind == "links":
            return self.fitted.score_links(pairs, lift=True)
        return self.fitted.score_attributes(pairs, lift=True)

    def as_published(self, seed: int) -> Answer:
        node, attribute = self.fitted.draw(np.random.default_rng(seed))
        return DrawnAnswer(self.fitted, self.kind, node, node if self.kind == "links" else attribute)

    def arrays(self) -> Mapping[str, np.ndarray]:
        fitted = self.fitted
        return {
            "node_mean": fitted.node_mean,
            "node_std": fitted.node_std,
            "probabilities": fitted.probabilities,
            "label_shift": fitted.label_shift,
            "attribute_mean": fitted.attribute_mean,
            "attribute_std": fitted.attribute_std,
            **{f"bias {name}": array for name, array in fitted.biases.items()},
            **{f"companion {name}": array for name, array in fitted.companions.items()},
            **fitted.weights,
        }


@dataclass(frozen=True, eq=False)
class DrawnAnswer(ScanAnswer):
    """The fitted model as the public code of SCAN reads its own.

    Pairs are scored on one random draw of all codes, and the embedding of a labelled node knows its label.
    """

    node: np.ndarray
    item: np.ndarray

    def embedding(self) -> np.ndarray:
        return self.fitted.node_code[:, : self.fitted.dim]

    def row_scores(self, nodes: np.ndarray) -> np.ndarray:
        return self.node[nodes] @ self.item.T

    def pair_scores(self, pairs: np.ndarray) -> np.ndarray:
        return np.einsum("nc,nc->n", self.node[pairs[:, 0]], self.item[pairs[:, 1]])


def fit(problem: Problem) -> ScanAnswer:
    """Train on what may be seen; what is kept for validation chooses the epoch if the settings say so."""
    settings = settings_of(problem)
    fitted = train(
        problem.network,
        settings,
        preset=problem.preset,
        holdout=_holdout(problem, settings),
        progress=problem.progress,
    )
    return ScanAnswer(fitted, "links" if problem.task == "links" else "attributes")


def _holdout(problem: Problem, settings: Settings) -> Holdout | None:
    """What the task itself keeps for validation, in place of the shares that the settings name."""
    if problem.task == "classification":
        chosen_by_nodes = settings.validation > 0 and len(problem.validation) > 0
        return Holdout(nodes=problem.validation if chosen_by_nodes else None)
    if settings.validation_pairs == 0:
        return Holdout()
    if problem.pairs is None:
        return None
    if problem.task == "links":
        return Holdout(links=problem.pairs)
    return Holdout(attributes=problem.pairs)


def settings_of(problem: Problem) -> Settings:
    """The settings that a problem asks for: its preset for its task, changes on top, its seed."""
    settings = preset_settings(problem.preset, problem.task, seed=problem.seed)
    return settings.parse(list(problem.changes))
