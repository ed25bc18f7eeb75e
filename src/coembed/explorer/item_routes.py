"""Addresses of questions about items: found, listed, told, compared, completed, joined."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from coembed.errors import InputError, NoSuch
from coembed.explorer import cards, item_schemas, overview, request_schemas
from coembed.explorer.asking import Explorer
from coembed.explorer.item_images import ENDINGS, read_image
from coembed.explorer.kept_answers import Json
from coembed.explorer.routes import (
    JSON,
    Asked,
    IdParameter,
    IntervalCoverage,
    K,
    Limit,
    Offset,
    RelationParameter,
    Share,
    TypeParameter,
)
from coembed.fitted.cell_texts import cell_texts
from coembed.fitted.chances import score_name
from coembed.fitted.questions import COVERAGE, named_relation

router = APIRouter(tags=["items"])


@router.get("/search", response_model=item_schemas.SearchAnswer, summary="Find names, typing errors included")
def search(
    asked: Asked,
    q: Annotated[str, Query(max_length=request_schemas.LONGEST_ID, examples=["denmrak"])],
    type: TypeParameter = None,
    limit: Limit = 10,
    offset: Offset = 0,
) -> Response:
    return Json(overview.search(asked.explorer, q, type, limit, offset))


@router.get("/items", response_model=item_schemas.ItemsAnswer, summary="All items of a type, page by page")
def items(
    asked: Asked,
    type: TypeParameter = None,
    label: Annotated[
        str | None, Query(max_length=request_schemas.LONGEST_ID, description="Only of a class.")
    ] = None,
    offset: Offset = 0,
    limit: Limit = 50,
) -> Response:
    return Json(overview.items(asked.explorer, type, label, offset, limit))


@router.get("/item", response_model=item_schemas.ItemCard, summary="All about an item of any type")
def item(asked: Asked, id: IdParameter, type: TypeParameter = None, k: K = 10) -> Response:
    return Response(asked.card(id, type, k), media_type=JSON)


@router.get(
    "/image",
    summary="The picture of an item",
    response_class=Response,
    responses={200: {"content": {each: {} for each in set(ENDINGS.values())}}},
)
def image(asked: Asked, id: IdParameter, type: TypeParameter = None) -> Response:
    explorer = asked.explorer
    type = explorer.type_of(id, type)
    path = explorer.images.get(type, {}).get(explorer.at(id, type))
    if path is None:
        raise NoSuch(f"there is no picture of {id[:80]!r}; --images names a folder of them")
    body, kind = read_image(path)
    return Response(body, media_type=kind, headers={"Cache-Control": "private, max-age=3600"})


@router.post("/item", response_model=item_schemas.ItemCard, summary="All about an item, however long its id")
def item_by_body(asked: Asked, question: request_schemas.ItemQuestion) -> Response:
    return Response(asked.card(question.id, question.type, question.k), media_type=JSON)


@router.get("/similar", response_model=item_schemas.Matches, summary="The items of its type most like it")
def similar(asked: Asked, id: IdParameter, type: TypeParameter = None, k: K = 10) -> Response:
    return _nearest(asked.explorer, id, type, None, k)


@router.post("/similar", response_model=item_schemas.Matches, summary="The same, for ids of any length")
def similar_by_body(asked: Asked, question: request_schemas.ItemQuestion) -> Response:
    return _nearest(asked.explorer, question.id, question.type, None, question.k)


@router.get("/nearest", response_model=item_schemas.Matches, summary="The items of a type nearest to an item")
def nearest(
    asked: Asked, id: IdParameter, type: TypeParameter = None, to: TypeParameter = None, k: K = 10
) -> Response:
    return _nearest(asked.explorer, id, type, to, k)


@router.post("/nearest", response_model=item_schemas.Matches, summary="The same, for ids of any length")
def nearest_by_body(asked: Asked, question: request_schemas.NearestQuestion) -> Response:
    return _nearest(asked.explorer, question.id, question.type, question.to, question.k)


def _nearest(explorer: Explorer, id: str, type: str | None, to: str | None, k: int) -> Response:
    type = explorer.type_of(id, type)
    row = explorer.at(id, type)
    found = explorer.fitted.nearest(row, to, k, type=type, positions=True)
    return Json({**cards.reference(explorer.types[type], row), "items": cards.plain(found)})


@router.get(
    "/complete", response_model=item_schemas.Completion, summary="What an item should have, or its cell hold"
)
def complete(
    asked: Asked,
    id: IdParameter,
    type: TypeParameter = None,
    relation: RelationParameter = None,
    column: RelationParameter = None,
    known: bool = False,
    backwards: bool = False,
    fdr: Annotated[Share, Query(description="At most this share is wrong.")] = None,
    coverage: IntervalCoverage = COVERAGE,
    k: K = 10,
) -> Response:
    question = request_schemas.CompleteQuestion(
        id=id,
        type=type,
        k=k,
        relation=relation,
        column=column,
        known=known,
        backwards=backwards,
        fdr=fdr,
        coverage=coverage,
    )
    return complete_by_body(asked, question)


@router.post("/complete", response_model=item_schemas.Completion, summary="The same, for ids of any length")
def complete_by_body(asked: Asked, question: request_schemas.CompleteQuestion) -> Response:
    explorer = asked.explorer
    if question.relation is not None and question.column is not None:
        raise InputError("give a relation or a column, not both")
    type = explorer.type_of(question.id, question.type)
    row = explorer.at(question.id, type)
    relation = explorer.network.relation(
        named_relation(explorer.fitted, question.relation or question.column, type)
    )
    found = explorer.fitted.complete(
        row,
        relation.name,
        question.k,
        type=type,
        known=question.known,
        backwards=question.backwards,
        positions=True,
        fdr=question.fdr,
        coverage=question.coverage,
    )
    doubt = explorer.fitted.relations[relation.name].doubt
    text = None if question.fdr is None or doubt is None else doubt.in_words(question.fdr)
    column = relation.column
    if column is not None and column.numeric and type == relation.source:
        text = f"{column.name} {' ± '.join(cell_texts(column, found[0].score, found[0].std))}"
    return Json(
        {
            **cards.reference(explorer.types[type], row),
            "relation": relation.name,
            "score": score_name(explorer.fitted, relation.name),
            "text": text,
            "items": cards.plain(found),
        }
    )


@router.get("/ask-next", response_model=item_schemas.AdviceAnswer, summary="Which items to label next")
def ask_next(asked: Asked, type: TypeParameter = None, k: K = 20) -> Response:
    explorer = asked.explorer
    facts = explorer.facts(explorer.fitted.main if type is None else type)
    found = explorer.fitted.ask_next(k, facts.name)
    return Json({"type": facts.name, "items": [cards.advice_dict(facts, each) for each in found]})


@router.get(
    "/neighbours", response_model=item_schemas.Neighbours, summary="What the network joins to an item"
)
def neighbours(
    asked: Asked,
    id: IdParameter,
    type: TypeParameter = None,
    relation: RelationParameter = None,
    backwards: bool = False,
    offset: Offset = 0,
    limit: Limit = 50,
) -> Response:
    return Json(cards.neighbours(asked.explorer, id, type, relation, backwards, offset, limit))


@router.post("/neighbours", response_model=item_schemas.Neighbours, summary="The same, for ids of any length")
def neighbours_by_body(asked: Asked, question: request_schemas.NeighbourQuestion) -> Response:
    rest = question.relation, question.backwards, question.offset, question.limit
    return Json(cards.neighbours(asked.explorer, question.id, question.type, *rest))
