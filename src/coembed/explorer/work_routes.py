"""Addresses of questions that take some work: reasons, new items, pairs, uncertainty on the map."""

from __future__ import annotations

from threading import BoundedSemaphore

import numpy as np
from fastapi import APIRouter, Response

from coembed.errors import InputError
from coembed.explorer import cards, item_schemas, request_schemas
from coembed.explorer.asking import Explorer
from coembed.explorer.kept_answers import Json
from coembed.explorer.new_items import Newcomer, welcome
from coembed.explorer.new_rows_answer import predict_rows
from coembed.explorer.routes import Asked

router = APIRouter(tags=["work"])

TURN = BoundedSemaphore(1)
"""Some answers copy or multiply whole matrices: one at a time keeps the memory of a large model in bounds."""


def needs_networks(explorer: Explorer) -> None:
    if not explorer.can_embed:
        raise InputError(
            "this model cannot place new items: it was itself made by placing some; "
            "serve the model that was trained"
        )


@router.post("/why", response_model=item_schemas.WhyAnswer, summary="What speaks for a class and for answers")
def why(asked: Asked, question: request_schemas.WhyQuestion) -> Response:
    needs_networks(asked.explorer)
    if question.relation is not None and question.column is not None:
        raise InputError("give a relation or a column, not both")
    relation = question.relation if question.relation is not None else question.column
    targets = None if relation is not None and not question.targets else question.targets
    with TURN:
        return Json(
            cards.why(
                asked.explorer,
                question.id,
                question.type,
                relation,
                targets,
                question.k,
                label=question.label,
                backwards=question.backwards,
            )
        )


@router.post("/spread", response_model=item_schemas.SpreadAnswer, summary="Uncertainty on the map")
def spread(asked: Asked, question: request_schemas.SpreadQuestion) -> Response:
    return Json(cards.spread(asked.explorer, question.items))


@router.post("/place", response_model=item_schemas.PlaceAnswer, summary="Place new items, without training")
def place(asked: Asked, question: request_schemas.PlaceQuestion) -> Response:
    explorer = asked.explorer
    needs_networks(explorer)
    newcomers = [
        Newcomer(
            item.id,
            explorer.facts(item.type or explorer.main.name).name,
            {name: _valued(joined) for name, joined in item.relations.items()},
            dict(item.columns),
        )
        for item in question.items
    ]
    with TURN:
        return Json({"items": welcome(explorer, newcomers, question.k)})


@router.post("/predict", response_model=item_schemas.PredictAnswer, summary="Classes of rows of a new table")
def predict(asked: Asked, question: request_schemas.PredictQuestion) -> Response:
    needs_networks(asked.explorer)
    rest = question.type, question.id, question.as_new, question.coverage
    with TURN:
        return Json(predict_rows(asked.explorer, question.rows, *rest))


@router.post("/embed", response_model=item_schemas.EmbedAnswer, summary="Place new nodes of a plain network")
def embed(asked: Asked, question: request_schemas.EmbedQuestion) -> Response:
    explorer = asked.explorer
    needs_networks(explorer)
    if not explorer.network.is_plain:
        raise InputError("this model has types of its own; place new items with /api/v1/place")
    newcomers = [
        Newcomer(
            node.id,
            explorer.main.name,
            {"links": _valued(node.links), "attributes": _valued(node.attributes)},
        )
        for node in question.nodes
    ]
    with TURN:
        return Json({"nodes": welcome(explorer, newcomers, question.k)})


@router.post("/score", response_model=item_schemas.ScoreAnswer, summary="Scores of pairs")
def score(asked: Asked, question: request_schemas.ScoreQuestion) -> Response:
    found = {}
    for name, pairs in question.root.items():
        found[name] = score_pairs(asked.explorer, name, pairs)[0].tolist() if pairs else []
    return Json(found)


def score_pairs(explorer: Explorer, name: str, pairs: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
    """The scores of pairs of ids in a relation, and their standard deviations."""
    relation = explorer.network.relation(name)
    ends = [(explorer.at(near, relation.source), explorer.at(far, relation.target)) for near, far in pairs]
    column = relation.column
    if column is not None and not all(column.start <= far < column.stop for _, far in ends):
        raise InputError(f"{name} has values of its own; take ids of the column {column.name}")
    return explorer.fitted.answer(name, np.array(ends))


def _valued(joined: list[str] | dict[str, float]) -> dict[str, float]:
    return joined if isinstance(joined, dict) else dict.fromkeys(joined, 1.0)
