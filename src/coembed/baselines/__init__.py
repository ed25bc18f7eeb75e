"""Methods to compare with, all behind one small agreement: a problem in, an answer out."""

from __future__ import annotations

from coembed.baselines import (
    bla,
    can,
    classifiers,
    closed_form,
    directions,
    edgeexp,
    factors,
    gcn,
    graphsgan,
    imputers,
    joined_evidence,
    planetoid,
    recommenders,
    san,
    seano,
    several_classifiers,
    table_classifiers,
)
from coembed.errors import InputError, no_such
from coembed.evaluation import scan_method
from coembed.evaluation.problem import Method, Problem, Scope, guarded
from coembed.settings import Task

__all__ = ["METHODS", "floors", "method"]

_CLASSES: tuple[Task, ...] = ("classification",)
_PAIRS: tuple[Task, ...] = ("attributes", "links")
_ATTRIBUTES: tuple[Task, ...] = ("attributes",)
_LINKS: tuple[Task, ...] = ("links",)
_COLUMNS: tuple[Task, ...] = ("columns",)
_DIRECTION: tuple[Task, ...] = ("direction",)
_SPACES: tuple[Task, ...] = (*_PAIRS, "profiling")
_PLAIN: Scope = "plain networks"
_SAME: Scope = "relations of a type with itself"

_SCAN = Method(
    "scan",
    (*_CLASSES, *_SPACES, *_COLUMNS, *_DIRECTION),
    scan_method.fit,
    "items and attributes as Gaussians in one space",
    classes="any",
)
_FLOORS = (
    Method("majority", _CLASSES, classifiers.majority, "the commonest class"),
    Method("linear-x", _CLASSES, classifiers.linear_x, "logistic regression on attributes", scope=_PLAIN),
    Method(
        "linear-ax",
        _CLASSES,
        classifiers.linear_ax,
        "logistic regression on links and attributes",
        scope=_PLAIN,
    ),
    Method(
        "linear-smooth",
        _CLASSES,
        classifiers.linear_smooth,
        "logistic regression on attributes up to 2 hops",
        scope=_PLAIN,
    ),
    Method("propagation", _CLASSES, classifiers.propagation, "labels spread along links"),
    Method("popularity", _PAIRS, recommenders.popularity, "frequency of the attribute, sum of degrees"),
    Method("degree", _PAIRS, recommenders.degree, "product of the counts at both ends"),
    Method("neighbours", _PAIRS, recommenders.neighbours, "20 nearest nodes vote, or Adamic-Adar"),
    Method(
        "linear-views",
        _CLASSES,
        classifiers.linear_views,
        "logistic regression on all views",
        scope=_PLAIN,
    ),
    Method("knn", _CLASSES, classifiers.nearest_vote, "20 nearest labelled nodes vote", scope=_PLAIN),
    Method(
        "adamic-adar", _LINKS, recommenders.adamic_adar, "common neighbours by 1 / log degree", scope=_SAME
    ),
    Method(
        "resource-allocation",
        _LINKS,
        recommenders.resource_allocation,
        "common neighbours by 1 / degree",
        scope=_SAME,
    ),
    Method(
        "linear-links",
        _LINKS,
        joined_evidence.linear_links,
        "logistic regression on common neighbours, attributes alike and degrees",
        scope=_SAME,
    ),
    Method(
        "feature-propagation",
        _ATTRIBUTES,
        joined_evidence.feature_propagation,
        "attributes carried along one to four links",
    ),
    Method("svd", _SPACES, factors.svd, "truncated singular value decomposition", factors.SVDOptions),
    Method(
        "ridge", _PAIRS, factors.ridge, "items from other items, closed form (EASE)", factors.RidgeOptions
    ),
    Method("linear-own", _CLASSES, table_classifiers.linear_own, "logistic regression on own columns"),
    Method(
        "linear-neighbours",
        _CLASSES,
        table_classifiers.linear_neighbours,
        "logistic regression on own columns and neighbours' means",
    ),
    Method(
        "linear-steps",
        _CLASSES,
        table_classifiers.linear_steps,
        "logistic regression on columns averaged over 1 to 4 links",
    ),
    Method("trees-own", _CLASSES, table_classifiers.trees_own, "boosted trees on own columns"),
    Method(
        "trees-neighbours",
        _CLASSES,
        table_classifiers.trees_neighbours,
        "boosted trees on own columns and neighbours' means",
    ),
    Method(
        "correct-and-smooth",
        _CLASSES,
        table_classifiers.correct_and_smooth,
        "linear-steps, its errors and answers carried along links",
    ),
    Method(
        "linear-and-propagation",
        _CLASSES,
        table_classifiers.linear_and_propagation,
        "linear-steps times propagation",
    ),
    Method("sgc", _CLASSES, closed_form.sgc, "ridge regression on smoothed columns, leave-one-out"),
    Method("ogc", _CLASSES, closed_form.ogc, "smoothing and fitting in turns (OGC)"),
    Method(
        "class-frequencies",
        _CLASSES,
        several_classifiers.class_frequencies,
        "each class as often as it is",
        classes="several",
    ),
    Method(
        "one-vs-rest",
        _CLASSES,
        several_classifiers.one_vs_rest,
        "logistic regression for each class, on columns and neighbours' means",
        classes="several",
    ),
    Method(
        "classifier-chains",
        _CLASSES,
        several_classifiers.chains,
        "the same, each class knowing those before it",
        classes="several",
    ),
    Method("mean-or-mode", _COLUMNS, imputers.mean_or_mode, "the mean, or the commonest value"),
    Method("knn-cells", _COLUMNS, imputers.nearest_cells, "20 nearest items by their other columns"),
    Method("ridge-cells", _COLUMNS, imputers.ridge_cells, "linear models of columns and neighbours' means"),
    Method("tree-cells", _COLUMNS, imputers.tree_cells, "boosted trees on columns and neighbours' means"),
    Method("in-degree", _DIRECTION, directions.in_degree, "to the end that more links go to"),
    Method("out-degree", _DIRECTION, directions.out_degree, "from the end that more links leave"),
    Method(
        "linear-direction",
        _DIRECTION,
        directions.linear_direction,
        "logistic regression on how the two ends differ",
    ),
)
_RIVALS = (
    Method("gcn", _CLASSES, gcn.fit, "graph convolutional network", gcn.GCNOptions, _PLAIN),
    Method(
        "planetoid",
        _CLASSES,
        planetoid.fit,
        "Planetoid-T: free vectors that predict contexts",
        planetoid.PlanetoidOptions,
        _PLAIN,
    ),
    Method(
        "seano",
        _CLASSES,
        seano.fit,
        "SEANO: own attributes and the neighbours', weighed",
        seano.SeanoOptions,
        _PLAIN,
    ),
    Method(
        "graphsgan",
        _CLASSES,
        graphsgan.fit,
        "GraphSGAN: made-up nodes between the classes",
        graphsgan.GraphSGANOptions,
        _PLAIN,
    ),
    Method("san", _PAIRS, san.fit, "SAN: random walks over nodes and attributes", san.SANOptions, _PLAIN),
    Method(
        "edgeexp",
        _ATTRIBUTES,
        edgeexp.fit,
        "EdgeExplain: every link wants a reason",
        edgeexp.EdgeExplainOptions,
        _PLAIN,
    ),
    Method(
        "bla",
        _PAIRS,
        bla.fit,
        "BLA, reconstructed: attributes tell links tell attributes",
        bla.BLAOptions,
        _PLAIN,
    ),
    Method("can", _SPACES, can.fit, "this package's model without labels", scope=_PLAIN),
)

METHODS: dict[str, Method] = {each.name: guarded(each) for each in (_SCAN, *_FLOORS, *_RIVALS)}


def floors(problem: Problem) -> list[str]:
    """The simple methods that can solve a problem: what any other has to be better than.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> floors(Problem("links", demo_network()))
    ['popularity', 'degree', 'neighbours', 'adamic-adar', 'resource-allocation', 'linear-links', ...]
    """
    able = (each for each in _FLOORS if problem.task in each.tasks)
    return [each.name for each in able if each.refusal(problem) is None]


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
