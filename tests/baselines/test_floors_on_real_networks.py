"""The floors on the benchmark networks, whose figures are known from independent computations."""

from __future__ import annotations

from pathlib import Path

import pytest

from coembed.evaluation import evaluate
from coembed.network import read

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "method", "expected"),
    [
        # a ridge classifier on the same features, mean of ten splits
        ("blogcatalog", "linear-x", 0.876),
        ("blogcatalog", "linear-ax", 0.912),
        ("flickr", "linear-x", 0.776),
        ("flickr", "linear-ax", 0.776),
        ("cora", "linear-x", 0.627),
        ("cora", "linear-ax", 0.680),
        ("cora", "linear-smooth", 0.848),
    ],
)
def test_linear_models_reach_their_known_accuracy(
    real_data: Path, name: str, method: str, expected: float
) -> None:
    figures = evaluate(read(real_data / f"{name}.npz"), "classification", method, seeds=3)["metrics"]
    assert figures["accuracy"]["mean"] == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize(
    ("name", "method", "auc", "ap"),
    [
        ("blogcatalog", "popularity", 0.832, 0.846),
        ("blogcatalog", "degree", 0.866, 0.875),
        ("blogcatalog", "neighbours", 0.883, 0.887),
        ("flickr", "popularity", 0.682, 0.672),
        ("flickr", "degree", 0.772, 0.783),
        ("flickr", "neighbours", 0.823, 0.825),
        ("cora", "popularity", 0.800, 0.803),
        ("cora", "degree", 0.801, 0.807),
        ("cora", "neighbours", 0.751, 0.757),
        ("pubmed", "popularity", 0.722, 0.728),
    ],
)
def test_counting_reaches_its_known_attribute_figures(
    real_data: Path, name: str, method: str, auc: float, ap: float
) -> None:
    figures = evaluate(read(real_data / f"{name}.npz"), "attributes", method, seeds=1)["metrics"]
    assert figures["auc"]["mean"] == pytest.approx(auc, abs=0.01)
    assert figures["ap"]["mean"] == pytest.approx(ap, abs=0.01)
    if method in ("popularity", "degree"):  # matched negatives leave nothing to popularity
        assert figures["auc_matched"]["mean"] == pytest.approx(0.5, abs=0.02)
