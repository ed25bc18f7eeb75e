"""The rows of the tables: every method under the presets and options that it is shown with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from coembed.settings import Task

Group = Literal["ours", "rival", "floor"]


@dataclass(frozen=True)
class Row:
    """A method under some options, by the name that it has in files and the title that it has in tables."""

    name: str
    title: str
    group: Group
    method: str
    preset: str = "best"
    changes: tuple[str, ...] = ()
    labels: float = 0.1


_BEST = Row("scan-best", "SCAN (best)", "ours", "scan")
_PAPER = Row("scan-paper", "SCAN (paper)", "ours", "scan", "paper")
_FAST = Row("scan-fast", "SCAN (fast)", "ours", "scan", "fast")
_NO_LABELS = Row("scan-best-nolabels", "SCAN (best), no labels", "ours", "scan", labels=0)
# the package's own model under preset paper: a row "SCAN (paper), no labels" would be the same fit
_CAN = Row("can", "CAN = SCAN (paper), no labels", "rival", "can")

_POPULARITY = Row("popularity", "popularity", "floor", "popularity")
_DEGREE = Row("degree", "product of counts", "floor", "degree")
_SVD = Row("svd", "SVD", "floor", "svd")
_RIDGE = Row("ridge", "ridge (EASE)", "floor", "ridge")
_SAN = Row("san", "SAN", "rival", "san")
_BLA = Row("bla", "BLA (reconstructed)", "rival", "bla")

ROWS: dict[Task, tuple[Row, ...]] = {
    "classification": (
        _BEST,
        _PAPER,
        _FAST,
        Row("majority", "majority class", "floor", "majority"),
        Row("linear-x", "linear, attributes", "floor", "linear-x"),
        Row("linear-ax", "linear, links and attributes", "floor", "linear-ax"),
        Row("propagation", "label propagation", "floor", "propagation"),
        Row("knn", "nearest labelled nodes", "floor", "knn"),
        Row("linear-views", "linear, all views", "floor", "linear-views"),
        Row("linear-smooth", "linear, smoothed attributes", "floor", "linear-smooth"),
        Row("linear-steps", "linear, means over 1 to 4 links", "floor", "linear-steps"),
        Row("linear-and-propagation", "the same, times propagation", "floor", "linear-and-propagation"),
        Row("correct-and-smooth", "correct and smooth", "floor", "correct-and-smooth"),
        Row("sgc", "SGC, closed form", "floor", "sgc"),
        Row("ogc", "OGC", "floor", "ogc"),
        Row("trees-own", "boosted trees, attributes", "floor", "trees-own"),
        Row("trees-neighbours", "boosted trees, neighbours' means too", "floor", "trees-neighbours"),
        Row("gcn", "GCN", "rival", "gcn"),
        Row("gcn-tuned", "GCN, unit rows", "rival", "gcn", changes=("inputs=unit", "weight_decay=5e-5")),
        Row("planetoid", "Planetoid-T", "rival", "planetoid"),
        Row("seano", "SEANO", "rival", "seano"),
        Row("graphsgan", "GraphSGAN", "rival", "graphsgan"),
    ),
    "attributes": (
        _BEST,
        _PAPER,
        _FAST,
        _NO_LABELS,
        _CAN,
        _POPULARITY,
        _DEGREE,
        Row("neighbours", "20 nearest nodes vote", "floor", "neighbours"),
        Row("feature-propagation", "feature propagation", "floor", "feature-propagation"),
        _SVD,
        _RIDGE,
        _SAN,
        Row("edgeexp", "EdgeExp", "rival", "edgeexp"),
        _BLA,
        Row("bla-links", "BLA, no predicted links", "rival", "bla", changes=("rounds=0",)),
    ),
    "links": (
        _BEST,
        _PAPER,
        _FAST,
        _NO_LABELS,
        _CAN,
        _POPULARITY,
        _DEGREE,
        Row("adamic-adar", "Adamic-Adar", "floor", "adamic-adar"),
        Row("resource-allocation", "resource allocation", "floor", "resource-allocation"),
        Row("linear-links", "linear, neighbours and attributes", "floor", "linear-links"),
        _SVD,
        _RIDGE,
        _SAN,
        _BLA,
    ),
}
"""In the order in which they are run: ours, what takes seconds, what takes minutes."""

WITH_VECTORS = (_BEST, _PAPER, _FAST, _CAN, _SVD)
"""Those that place both ends of a relation in one space: records of pairs tell it by its cosines, too."""


TUNED = "+tuned"


def tuned(row: Row) -> Row:
    """The row under settings that were chosen on validation data, network by network."""
    return replace(row, name=row.name + TUNED, title=f"{row.title}, tuned")


def rows_named(task: Task, *names: str) -> tuple[Row, ...]:
    """Some of the rows of a task, in the order of the names."""
    by_name = {row.name: row for row in ROWS[task]}
    return tuple(by_name[name] for name in names)
