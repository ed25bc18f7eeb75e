"""The classifier on embeddings: who it learns from, and what the published way reports."""

from __future__ import annotations

import numpy as np
import pytest

from coembed.evaluation import Answer, draw_splits, strict_trial
from coembed.evaluation.scoring import score_strict
from coembed.evaluation.svm import published_svm_metrics, svm_metrics
from coembed.network import Network


@pytest.fixture(scope="module")
def clouds() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 60)
    return rng.normal(size=(180, 6)) + 2.5 * np.eye(6)[labels], labels


def test_it_learns_from_the_labelled_nodes_only(clouds: tuple[np.ndarray, np.ndarray]) -> None:
    embedding, labels = clouds
    labelled, asked = np.arange(0, 180, 5), np.setdiff1d(np.arange(180), np.arange(0, 180, 5))
    figures = svm_metrics(embedding, labels, labelled, asked)
    assert figures["svm_accuracy"] > 0.8
    assert figures["svm_micro_f1"] == pytest.approx(figures["svm_accuracy"])
    turned = labels.copy()
    turned[asked] = (labels[asked] + 1) % 3
    # had it seen the other labels, it would follow them
    assert svm_metrics(embedding, turned, labelled, asked)["svm_accuracy"] < 0.2


def test_scale_of_the_embedding_does_not_matter(clouds: tuple[np.ndarray, np.ndarray]) -> None:
    embedding, labels = clouds
    labelled, asked = np.arange(0, 180, 5), np.arange(1, 180, 5)
    assert svm_metrics(embedding * 1000 + 7, labels, labelled, asked) == svm_metrics(
        embedding, labels, labelled, asked
    )


@pytest.mark.parametrize("given", [[0, 1], [0, 60], [0, 1, 60]])
def test_a_handful_of_labels_is_enough_to_answer(
    clouds: tuple[np.ndarray, np.ndarray], given: list[int]
) -> None:
    embedding, labels = clouds
    figures = svm_metrics(embedding, labels, np.array(given), np.arange(100))
    assert 0 <= figures["svm_accuracy"] <= 1


def test_the_published_accuracy_is_that_of_one_split(clouds: tuple[np.ndarray, np.ndarray]) -> None:
    figures = published_svm_metrics(*clouds)
    # of one split of 36 nodes, unlike the mean of ten that micro F1 is
    assert (figures["svm_accuracy"] * 36) == pytest.approx(round(figures["svm_accuracy"] * 36))
    assert figures["svm_micro_f1"] != figures["svm_accuracy"]


class OwnClasses(Answer):
    """Vectors that are the classes themselves."""

    def __init__(self, network: Network) -> None:
        self.vectors = np.eye(network.n_classes)[network.labels]

    def probabilities(self) -> np.ndarray:
        return self.vectors

    def embedding(self) -> np.ndarray:
        return self.vectors


def test_in_a_strict_trial_the_labels_that_are_asked_are_not_learnt_from(demo: Network) -> None:
    trial = strict_trial(demo, draw_splits(demo, "classification", 0.1, seed=0))
    turned = demo.labels.copy()
    turned[trial.nodes] = (turned[trial.nodes] + 1) % demo.n_classes
    assert score_strict(demo, trial, OwnClasses(demo))["svm_accuracy"] > 0.99
    # had it seen the labels that are asked, most of them turned over, it would follow them
    assert score_strict(demo.with_labels(turned), trial, OwnClasses(demo))["svm_accuracy"] < 0.01
