"""The figures of the report, each from records alone; nothing is fitted here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coembed.experiments.results import Results
from coembed.report.figures.calibration import error_figure, reliability_figure, variance_figure
from coembed.report.figures.curves import beta_figure, labels_figure, training_figure
from coembed.report.figures.embedding_maps import pca_figure, tsne_figure
from coembed.report.figures.methods_overview import overview_figure
from coembed.report.figures.scaling import scaling_figure

Draw = Callable[[Results], Any]

FIGURES: dict[str, tuple[str, Draw]] = {
    "overview": ("Accuracy and attribute AUC of all methods, strict protocol", overview_figure),
    "beta": ("Links and attributes against beta", beta_figure),
    "labels": ("Accuracy against the share of labels", labels_figure),
    "map-tsne": ("t-SNE of the node embeddings", tsne_figure),
    "map-pca": ("PCA of the node embeddings with exact ellipses", pca_figure),
    "scaling": ("Cost of an epoch against the size of the network", scaling_figure),
    "training": ("Loss over the epochs", training_figure),
    "variance": ("Variance of an embedding against the evidence for it", variance_figure),
    "reliability": ("Reliability of the class probabilities", reliability_figure),
    "errors": ("Detection of errors by entropy", error_figure),
}
"""Name of the file, title, and what draws it: a figure, or None where records are missing."""

__all__ = ["FIGURES"]
