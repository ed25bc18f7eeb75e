"""Methods to compare with, all behind one small agreement: a problem in, an answer out."""

from __future__ import annotations

from coembed.baselines import (
    bla,
    can,
    classifiers,
    edgeexp,
    factors,
    gcn,
    graphsgan,
    planetoid,
    recommenders,
    san,
    seano,
)
from coembed.errors import InputError, no_such
from coembed.evaluation import scan_method
from coembed.evaluation.problem import Method
from coembed.settings import Task

__all__ = ["METHODS", "method"]

_CLASSES: tuple[Task, ...] = ("classification",)
_PAIRS: tuple[Task, ...] = ("attributes", "links")
_ATTRIBUTES: tuple[Task, ...] = ("attributes",)
_LINKS: tuple[Task, ...] = ("links",)

METHODS: dict[str, Method] = {
    each.name: each
    for each in (
        Method(
            "scan", (*_CLASSES, *_PAIRS), scan_method.fit, "nodes and attributes as Gaussians in one space"
        ),
        Method("majority", _CLASSES, classifiers.majority, "the commonest class"),
        Method("linear-x", _CLASSES, classifiers.linear_x, "logistic regression on attributes"),
        Method("linear-ax", _CLASSES, classifiers.linear_ax, "logistic regression on links and attributes"),
        Method(
            "linear-smooth",
            _CLASSES,
            classifiers.linear_smooth,
            "logistic regression on attributes up to 2 hops",
        ),
        Method("propagation", _CLASSES, classifiers.propagation, "labels spread along links"),
        Method("popularity", _PAIRS, recommenders.popularity, "frequency of the attribute, sum of degrees"),
        Method("degree", _PAIRS, recommenders.degree, "product of the counts at both ends"),
        Method("neighbours", _PAIRS, recommenders.neighbours, "20 nearest nodes vote, or Adamic-Adar"),
        Method("linear-views", _CLASSES, classifiers.linear_views, "logistic regression on all views"),
        Method("knn", _CLASSES, classifiers.nearest_vote, "20 nearest labelled nodes vote"),
        Method("adamic-adar", _LINKS, recommenders.adamic_adar, "common neighbours by 1 / log degree"),
        Method(
            "resource-allocation", _LINKS, recommenders.resource_allocation, "common neighbours by 1 / degree"
        ),
        Method("svd", _PAIRS, factors.svd, "truncated singular value decomposition", factors.SVDOptions),
        Method(
            "ridge", _PAIRS, factors.ridge, "items from other items, closed form (EASE)", factors.RidgeOptions
        ),
        Method("gcn", _CLASSES, gcn.fit, "graph convolutional network", gcn.GCNOptions),
        Method(
            "planetoid",
            _CLASSES,
            planetoid.fit,
            "Planetoid-T: free vectors that predict contexts",
            planetoid.PlanetoidOptions,
        ),
        Method(
            "seano",
            _CLASSES,
            seano.fit,
            "SEANO: own attributes and the neighbours', weighed",
            seano.SeanoOptions,
        ),
        Method(
            "graphsgan",
            _CLASSES,
            graphsgan.fit,
            "GraphSGAN: made-up nodes between the classes",
            graphsgan.GraphSGANOptions,
        ),
        Method("san", _PAIRS, san.fit, "SAN: random walks over nodes and attributes", san.SANOptions),
        Method(
            "edgeexp",
            _ATTRIBUTES,
            edgeexp.fit,
            "EdgeExplain: every link wants a reason",
            edgeexp.EdgeExplainOptions,
        ),
        Method(
            "bla",
            _PAIRS,
            bla.fit,
            "BLA, reconstructed: attributes tell links tell attributes",
            bla.BLAOptions,
        ),
        Method("can", _PAIRS, can.fit, "this package's model without labels"),
    )
}


def method(name: str, task: Task | None = None) -> Method:
    """The method of that name, which must be able to do the task.

    Examples
    --------
    >>> method("degree").about
    'product of the counts at both ends'
    >>> method("degree", "classification")
    Traceback (most recent call last):
    coembed.errors.InputError: method degree does not do classification; these do: scan, majority, ...
    """
    if name not in METHODS:
        raise no_such("method", name, METHODS)
    found = METHODS[name]
    if task is not None and task not in found.tasks:
        able = [each.name for each in METHODS.values() if task in each.tasks]
        raise InputError(f"method {name} does not do {task}; these do: {', '.join(able)}")
    return found
