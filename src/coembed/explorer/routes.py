"""The addresses of the API: each checks what it was asked, asks the explorer, and answers in JSON."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from functools import cached_property, lru_cache
from threading import BoundedSemaphore
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import JSONResponse

from coembed.errors import InputError
from coembed.explorer import cards, overview, schemas
from coembed.explorer.asking import Explorer
from coembed.explorer.new_items import Newcomer, welcome
from coembed.explorer.new_rows_answer import predict_rows
from coembed.fitted.cell_texts import cell_texts
from coembed.fitted.chances import score_name
from coembed.fitted.questions import named_relation
from coembed.records import plain

ARROW = "application/vnd.apache.arrow.stream"
KEPT_CARDS = 1024

IdParameter = Annotated[
    str,
    Query(max_length=schemas.LONGEST_ID, description="Id of the item, any characters.", examples=["fish"]),
]
TypeParameter = Annotated[
    str | None,
    Query(max_length=schemas.LONGEST_NAME, description="Name of a type of items, see `types`."),
]
RelationParameter = Annotated[
    str | None, Query(max_length=schemas.LONGEST_NAME, description="Name of a relation or column.")
]
K = Annotated[int, Query(ge=1, le=schemas.MOST_ANSWERS, description="How many answers of each sort.")]
Limit = Annotated[int, Query(ge=1, le=schemas.MOST_ANSWERS, description="Items of a page.")]
Offset = Annotated[int, Query(ge=0, le=10_000_000, description="Items before the page.")]

FAILURES: dict[int | str, dict[str, Any]] = {
    code: {"model": schemas.Error, "description": text}
    for code, text in {
        400: "Asked for what this model cannot do.",
        401: "The token is missing or wrong.",
        403: "Asked under a name that is not this server's.",
        404: "There is no such item.",
        413: "The body is too large.",
        422: "A parameter is missing or out of bounds.",
    }.items()
}


class Json(JSONResponse):
    """JSON in ASCII: names that are no valid Unicode still go over the wire."""

    def render(self, content: Any) -> bytes:
        try:
            text = json.dumps(content, allow_nan=False, separators=(",", ":"))
        except ValueError:  # a score beyond all numbers, as a strange model may give: null
            text = json.dumps(plain(content), allow_nan=False, separators=(",", ":"))
        return text.encode()


class Kept:
    """Answers that never change, made once: the map alone is megabytes."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer

    @cached_property
    def map_json(self) -> tuple[bytes, bytes, str]:
        body = Json(overview.map_columns(self.explorer)).body
        plain = bytes(body)
        return plain, gzip.compress(plain, 5), f'"{hashlib.blake2b(plain, digest_size=12).hexdigest()}"'

    @cached_property
    def map_arrow(self) -> bytes:
        return overview.map_arrow(self.explorer)

    @cached_property
    def overviews(self) -> dict[str, bytes]:
        makers: dict[str, Callable[[Explorer], dict[str, Any]]] = {
            "model": overview.model,
            "types": overview.types,
            "training": overview.training,
            "quality": overview.quality,
            "data": overview.data,
        }
        return {name: bytes(Json(make(self.explorer)).body) for name, make in makers.items()}


def make_router(explorer: Explorer) -> APIRouter:
    """All addresses under ``/api/v1``."""
    router = APIRouter(prefix="/api/v1", responses=FAILURES, default_response_class=Json)
    _overviews(router, explorer)
    _items(router, explorer)
    _work(router, explorer)
    return router


def _overviews(router: APIRouter, explorer: Explorer) -> None:
    kept = Kept(explorer)

    @router.get("/health", response_model=schemas.Health, summary="Is it there, and which model is it?")
    def health() -> Response:
        return Json(overview.health(explorer))

    @router.get("/model", response_model=schemas.Model, summary="The model in short, classes and colours")
    def model() -> Response:
        return Response(kept.overviews["model"], media_type="application/json")

    @router.get(
        "/types", response_model=schemas.TypesAnswer, summary="Types of items and how they are joined"
    )
    def types() -> Response:
        return Response(kept.overviews["types"], media_type="application/json")

    @router.get("/training", response_model=schemas.Training, summary="Curves and settings of the fit")
    def training() -> Response:
        return Response(kept.overviews["training"], media_type="application/json")

    @router.get("/quality", response_model=schemas.QualityAnswer, summary="Judged on hidden labels")
    def quality() -> Response:
        return Response(kept.overviews["quality"], media_type="application/json")

    @router.get("/data", response_model=schemas.DataAnswer, summary="Statistics of the network")
    def data() -> Response:
        return Response(kept.overviews["data"], media_type="application/json")

    @router.get(
        "/map",
        response_model=schemas.MapAnswer,
        summary="Everything on the plane, column by column",
        responses={200: {"content": {ARROW: {}}}, 304: {"description": "As it was."}},
    )
    def map_(
        request: Request, accept: Annotated[str, Header(description=f"`{ARROW}` for Arrow")] = "*/*"
    ) -> Response:
        if ARROW in accept:
            return Response(kept.map_arrow, media_type=ARROW, headers={"Vary": "Accept"})
        plain, packed, tag = kept.map_json
        headers = {"ETag": tag, "Vary": "Accept, Accept-Encoding", "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["Content-Encoding"] = "gzip"
            return Response(packed, media_type="application/json", headers=headers)
        return Response(plain, media_type="application/json", headers=headers)


def _items(router: APIRouter, explorer: Explorer) -> None:
    card = lru_cache(KEPT_CARDS)(lambda id, type, k: Json(cards.item_card(explorer, id, type, k)).body)

    def nearest_to(question: schemas.NearestQuestion) -> Response:
        type = explorer.type_of(question.id, question.type)
        row = explorer.at(question.id, type)
        found = explorer.fitted.nearest(row, question.to, question.k, type=type, positions=True)
        return Json({**cards.reference(explorer.types[type], row), "items": cards.plain(found)})

    def completed(question: schemas.CompleteQuestion) -> Response:
        return Json(complete_item(explorer, question))

    @router.get("/search", response_model=schemas.SearchAnswer, summary="Find names, typing errors included")
    def search(
        q: Annotated[str, Query(max_length=schemas.LONGEST_ID, examples=["denmrak"])],
        type: TypeParameter = None,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> Response:
        return Json(overview.search(explorer, q, type, limit, offset))

    @router.get("/items", response_model=schemas.ItemsAnswer, summary="All items of a type, page by page")
    def items(
        type: TypeParameter = None,
        label: Annotated[
            str | None, Query(max_length=schemas.LONGEST_ID, description="Only of a class.")
        ] = None,
        offset: Offset = 0,
        limit: Limit = 50,
    ) -> Response:
        return Json(overview.items(explorer, type, label, offset, limit))

    @router.get("/item", response_model=schemas.ItemCard, summary="All about an item of any type")
    def item(id: IdParameter, type: TypeParameter = None, k: K = 10) -> Response:
        return Response(card(id, type, k), media_type="application/json")

    @router.post("/item", response_model=schemas.ItemCard, summary="All about an item, however long its id")
    def item_by_body(question: schemas.ItemQuestion) -> Response:
        return Response(card(question.id, question.type, question.k), media_type="application/json")

    @router.get("/similar", response_model=schemas.Matches, summary="The items of its type most like it")
    def similar(id: IdParameter, type: TypeParameter = None, k: K = 10) -> Response:
        return nearest_to(schemas.NearestQuestion(id=id, type=type, to=None, k=k))

    @router.post("/similar", response_model=schemas.Matches, summary="The same, for ids of any length")
    def similar_by_body(question: schemas.ItemQuestion) -> Response:
        return nearest_to(schemas.NearestQuestion(id=question.id, type=question.type, to=None, k=question.k))

    @router.get("/nearest", response_model=schemas.Matches, summary="The items of a type nearest to an item")
    def nearest(id: IdParameter, type: TypeParameter = None, to: TypeParameter = None, k: K = 10) -> Response:
        return nearest_to(schemas.NearestQuestion(id=id, type=type, to=to, k=k))

    @router.post("/nearest", response_model=schemas.Matches, summary="The same, for ids of any length")
    def nearest_by_body(question: schemas.NearestQuestion) -> Response:
        return nearest_to(question)

    @router.get(
        "/complete", response_model=schemas.Completion, summary="What an item should have, or its cell hold"
    )
    def complete(
        id: IdParameter,
        type: TypeParameter = None,
        relation: RelationParameter = None,
        column: RelationParameter = None,
        known: bool = False,
        backwards: bool = False,
        fdr: Annotated[float | None, Query(gt=0, lt=1, description="At most this share is wrong.")] = None,
        k: K = 10,
    ) -> Response:
        return completed(
            schemas.CompleteQuestion(
                id=id,
                type=type,
                k=k,
                relation=relation,
                column=column,
                known=known,
                backwards=backwards,
                fdr=fdr,
            )
        )

    @router.get("/ask-next", response_model=schemas.AdviceAnswer, summary="Which items to label next")
    def ask_next(type: TypeParameter = None, k: K = 20) -> Response:
        facts = explorer.facts(explorer.fitted.main if type is None else type)
        found = explorer.fitted.ask_next(k, facts.name)
        return Json({"type": facts.name, "items": [cards.advice_dict(facts, each) for each in found]})

    @router.post("/complete", response_model=schemas.Completion, summary="The same, for ids of any length")
    def complete_by_body(question: schemas.CompleteQuestion) -> Response:
        return completed(question)

    @router.get("/neighbours", response_model=schemas.Neighbours, summary="What the network joins to an item")
    def neighbours(
        id: IdParameter,
        type: TypeParameter = None,
        relation: RelationParameter = None,
        backwards: bool = False,
        offset: Offset = 0,
        limit: Limit = 50,
    ) -> Response:
        return Json(cards.neighbours(explorer, id, type, relation, backwards, offset, limit))

    @router.post("/neighbours", response_model=schemas.Neighbours, summary="The same, for ids of any length")
    def neighbours_by_body(question: schemas.NeighbourQuestion) -> Response:
        asked = question.relation, question.backwards, question.offset, question.limit
        return Json(cards.neighbours(explorer, question.id, question.type, *asked))


def complete_item(explorer: Explorer, question: schemas.CompleteQuestion) -> dict[str, Any]:
    """The answer to what an item should have."""
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
    )
    doubt = explorer.fitted.relations[relation.name].doubt
    text = None if question.fdr is None or doubt is None else doubt.in_words(question.fdr)
    if relation.column is not None and relation.column.numeric and type == relation.source:
        text = (
            f"{relation.column.name} {' ± '.join(cell_texts(relation.column, found[0].score, found[0].std))}"
        )
    return {
        **cards.reference(explorer.types[type], row),
        "relation": relation.name,
        "score": score_name(explorer.fitted, relation.name),
        "text": text,
        "items": cards.plain(found),
    }


def _work(router: APIRouter, explorer: Explorer) -> None:
    # these copy or multiply whole matrices: one at a time keeps the memory of a large model in bounds
    turn = BoundedSemaphore(1)

    def needs_networks() -> None:
        if not explorer.can_embed:
            raise InputError(
                "this model cannot place new items: it was itself made by placing some; "
                "serve the model that was trained"
            )

    @router.post("/why", response_model=schemas.WhyAnswer, summary="What speaks for a class and for answers")
    def why(question: schemas.WhyQuestion) -> Response:
        needs_networks()
        if question.relation is not None and question.column is not None:
            raise InputError("give a relation or a column, not both")
        relation = question.relation if question.relation is not None else question.column
        targets = None if relation is not None and not question.targets else question.targets
        with turn:
            return Json(
                cards.why(
                    explorer,
                    question.id,
                    question.type,
                    relation,
                    targets,
                    question.k,
                    label=question.label,
                    backwards=question.backwards,
                )
            )

    @router.post("/spread", response_model=schemas.SpreadAnswer, summary="Uncertainty on the map")
    def spread(question: schemas.SpreadQuestion) -> Response:
        return Json(cards.spread(explorer, question.items))

    @router.post("/place", response_model=schemas.PlaceAnswer, summary="Place new items, without training")
    def place(question: schemas.PlaceQuestion) -> Response:
        needs_networks()
        newcomers = [
            Newcomer(
                item.id,
                explorer.facts(item.type or explorer.main.name).name,
                {name: _valued(joined) for name, joined in item.relations.items()},
                dict(item.columns),
            )
            for item in question.items
        ]
        with turn:
            return Json({"items": welcome(explorer, newcomers, question.k)})

    @router.post("/predict", response_model=schemas.PredictAnswer, summary="Classes of rows of a new table")
    def predict(question: schemas.PredictQuestion) -> Response:
        needs_networks()
        with turn:
            return Json(
                predict_rows(
                    explorer, question.rows, question.type, question.id, question.as_new, question.coverage
                )
            )

    @router.post("/embed", response_model=schemas.EmbedAnswer, summary="Place new nodes of a plain network")
    def embed(question: schemas.EmbedQuestion) -> Response:
        needs_networks()
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
        with turn:
            return Json({"nodes": welcome(explorer, newcomers, question.k)})

    @router.post("/score", response_model=schemas.ScoreAnswer, summary="Scores of pairs")
    def score(question: schemas.ScoreQuestion) -> Response:
        found = {}
        for name, pairs in question.root.items():
            relation = explorer.network.relation(name)
            ends = [
                (explorer.at(near, relation.source), explorer.at(far, relation.target)) for near, far in pairs
            ]
            column = relation.column
            if column is not None and not all(column.start <= far < column.stop for _, far in ends):
                raise InputError(f"{name} has values of its own; take ids of the column {column.name}")
            found[name] = explorer.fitted.answer(name, np.array(ends))[0].tolist() if ends else []
        return Json(found)


def _valued(joined: list[str] | dict[str, float]) -> dict[str, float]:
    return joined if isinstance(joined, dict) else dict.fromkeys(joined, 1.0)
