"""Embeddings on a plane: t-SNE for all methods that have one, and honest ellipses for ours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from coembed.errors import InputError
from coembed.experiments.benchmark_networks import open_network
from coembed.experiments.cell import CellJob
from coembed.experiments.details import rounded
from coembed.experiments.record_file import Record
from coembed.experiments.trial_cells import run_cell
from coembed.fitted import Fitted
from coembed.maps.layout import principal_plane, tsne_plane
from coembed.progress import EpochProgress

VOTERS = 10
DIGITS = 4


def map_work(job: CellJob, progress: EpochProgress | None) -> Record:
    """Places of all nodes on the plane, as the paper's figure has them, and how well the classes part."""
    network = open_network(job.cell.network, job.data)
    outcome = run_cell(job, progress)
    embedding = outcome.answer.embedding()
    if embedding is None:
        raise InputError(f"method {job.cell.method} has no embedding to draw")
    places = tsne_plane(embedding.astype(np.float64), job.cell.seed)
    details: Record = {
        "labels": network.labels.tolist(),
        "classes": [str(name) for name in network.class_names],
        "tsne": {"x": rounded(places[:, 0], DIGITS), "y": rounded(places[:, 1], DIGITS)},
    }
    metrics = {"vote_tsne": round(neighbours_agree(places, network.labels), 4)}
    fitted = getattr(outcome.answer, "fitted", None)
    if isinstance(fitted, Fitted):
        details["tsne"] |= halves_std(fitted.node_std)
        plane = exact_plane(fitted.node_mean, fitted.node_std)
        details["pca"] = {
            "x": rounded(plane.places[:, 0], DIGITS),
            "y": rounded(plane.places[:, 1], DIGITS),
            "xx": rounded(plane.covariances[:, 0, 0], DIGITS),
            "xy": rounded(plane.covariances[:, 0, 1], DIGITS),
            "yy": rounded(plane.covariances[:, 1, 1], DIGITS),
            "explained": round(plane.explained, 4),
        }
        metrics["vote_pca"] = round(neighbours_agree(plane.places, network.labels), 4)
    return {
        "metrics": metrics,
        "seconds": {"fit": round(outcome.seconds, 3), "fit_cpu": round(outcome.cpu_seconds, 3)},
        "details": details,
    }


class Plane(NamedTuple):
    """Where Gaussians fall on a plane: means, covariances, and the share of the means' variance in it."""

    places: np.ndarray
    covariances: np.ndarray
    explained: float


def exact_plane(mean: np.ndarray, std: np.ndarray) -> Plane:
    """The two main axes of the means. A linear map P carries N(m, S) to N(Pm, P S P^T): nothing is guessed.

    Examples
    --------
    >>> mean = np.array([[2.0, 0, 0], [-2, 0, 0], [0, 1, 0], [0, -1, 0]])
    >>> plane = exact_plane(mean, np.tile([0.5, 0.1, 9.0], (4, 1)))
    >>> plane.covariances[0].round(2).tolist(), plane.explained
    ([[0.25, 0.0], [0.0, 0.01]], 1.0)
    """
    centred = mean.astype(np.float64) - mean.mean(axis=0)
    places = principal_plane(mean)
    axes = np.linalg.lstsq(centred, places, rcond=None)[0]
    covariances = np.einsum("dp,nd,dq->npq", axes, std.astype(np.float64) ** 2, axes)
    return Plane(places, covariances, float((places**2).sum() / max((centred**2).sum(), 1e-12)))


def halves_std(std: np.ndarray) -> dict[str, list[float]]:
    """The paper's ellipses: mean variance of the first and of the second half of the dimensions."""
    halves = np.array_split(std.astype(np.float64) ** 2, 2, axis=1)
    return {
        name: rounded(np.sqrt(half.mean(axis=1)), DIGITS)
        for name, half in zip(("x_std", "y_std"), halves, strict=True)
    }


def neighbours_agree(places: np.ndarray, labels: np.ndarray) -> float:
    """Share of the ten nearest nodes on the plane that are of a node's own class, over labelled nodes.

    Examples
    --------
    >>> places = np.repeat([[0.0, 0.0], [9.0, 9.0]], 20, axis=0) + np.arange(40)[:, None] / 100
    >>> neighbours_agree(places, np.repeat([0, 1], 20))
    1.0
    """
    known = labels >= 0
    places, labels = places[known], labels[known]
    near = cKDTree(places).query(places, k=min(VOTERS + 1, len(places)))[1][:, 1:]
    return float((labels[near] == labels[:, None]).mean())
