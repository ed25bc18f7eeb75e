"""What the paper prints: tables, curves, and costs, to stand beside what is measured here."""

from __future__ import annotations

from coembed.experiments.table_rows import TUNED

_CLASSES = ("macro_f1", "micro_f1", "accuracy")
_PAIRS = ("auc", "ap")
_NETWORKS = ("pubmed", "flickr", "blogcatalog")

_TABLE_1 = {
    "seano": ".841 .845 .850 .738 .748 .741 .627 .635 .648",
    "planetoid": ".815 .825 .823 .721 .743 .733 .803 .811 .817",
    "gcn": ".838 .847 .850 .286 .291 .309 .509 .527 .538",
    "graphsgan": ".839 .842 .841 .697 .715 .702 .698 .703 .719",
    "scan-svm": ".847 .852 .851 .747 .750 .747 .820 .829 .835",
    "scan": ".850 .858 .862 .749 .753 .750 .829 .832 .839",
}
_TABLE_2 = {
    "edgeexp": ".586 .576 .678 .685 .684 .744",
    "san": ".579 .572 .653 .660 .694 .710",
    "bla": ".622 .602 .730 .769 .787 .792",
    "can": ".670 .652 .867 .868 .867 .865",
    "scan": ".713 .682 .874 .871 .893 .895",
}

Printed = dict[tuple[str, str, str], float]
"""By method, network and metric."""


def _read(table: dict[str, str], metrics: tuple[str, ...]) -> Printed:
    columns = [(network, metric) for network in _NETWORKS for metric in metrics]
    return {
        (method, network, metric): float(value)
        for method, row in table.items()
        for (network, metric), value in zip(columns, row.split(), strict=True)
    }


PRINTED: dict[str, Printed] = {"table1": _read(_TABLE_1, _CLASSES), "table2": _read(_TABLE_2, _PAIRS)}
"""The paper has no table of links."""


def printed(experiment: str, row: str, network: str, metric: str) -> float | None:
    """The printed value for a row of ours, if the paper has one.

    Both presets of SCAN are compared with the paper's SCAN; its two classifiers by the name of the metric.

    Examples
    --------
    >>> [printed("table1", "scan-best", "flickr", metric) for metric in ("accuracy", "svm_accuracy")]
    [0.75, 0.747]
    >>> printed("table1", "gcn-tuned", "flickr", "accuracy"), printed("links", "san", "flickr", "auc")
    (0.309, None)
    """
    row = row.removesuffix(TUNED).removesuffix("-tuned")
    method = "scan" if row in ("scan-best", "scan-paper") else row
    if metric.startswith("svm_"):
        method, metric = ("scan-svm" if method == "scan" else ""), metric.removeprefix("svm_")
    return PRINTED.get(experiment, {}).get((method, network, metric))


# the supplement's figure, from the coordinates of its curves; BlogCatalog
_BETA = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
BETA_CURVES: dict[tuple[str, str], dict[float, float]] = {
    ("links", "auc"): dict(
        zip(_BETA, (0.8402, 0.8474, 0.8519, 0.8533, 0.8551, 0.8578, 0.8586, 0.8578, 0.8582), strict=True)
    ),
    ("links", "ap"): dict(
        zip(_BETA, (0.8438, 0.8523, 0.8573, 0.8594, 0.8615, 0.8650, 0.8656, 0.8646, 0.8651), strict=True)
    ),
    ("attributes", "auc"): dict(
        zip(_BETA, (0.8924, 0.8906, 0.8864, 0.8849, 0.8831, 0.8806, 0.8794, 0.8757, 0.8754), strict=True)
    ),
    ("attributes", "ap"): dict(
        zip(_BETA, (0.8931, 0.8915, 0.8875, 0.8859, 0.8840, 0.8813, 0.8805, 0.8767, 0.8768), strict=True)
    ),
}
_RATIOS = (0.03, 0.05, 0.07, 0.09, 0.1, 0.12, 0.15, 0.18, 0.2)
LABEL_CURVES: dict[str, dict[float, float]] = {
    "SCAN_DIS": dict(
        zip(_RATIOS, (0.6228, 0.7202, 0.800, 0.847, 0.862, 0.876, 0.8922, 0.8945, 0.909), strict=True)
    ),
    "SCAN_SVM": dict(
        zip(_RATIOS, (0.7760, 0.7910, 0.794, 0.835, 0.841, 0.870, 0.887, 0.888, 0.893), strict=True)
    ),
    "Planetoid-T": dict(
        zip(_RATIOS, (0.748, 0.782, 0.789, 0.827, 0.834, 0.861, 0.870, 0.882, 0.881), strict=True)
    ),
}

TEN_EPOCHS = {"flickr": 57.0, "pubmed": 290.0}
"""Seconds, on an i7 at 3.6 GHz."""

DATASETS = {
    "pubmed": {"nodes": 19_717, "links": 44_338, "attributes": 500, "classes": 3},
    "blogcatalog": {"nodes": 5_196, "links": 171_743, "attributes": 8_189, "classes": 6},
    "flickr": {"nodes": 7_575, "links": 239_738, "attributes": 12_047, "classes": 9},
}
