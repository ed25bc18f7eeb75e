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
from coembed.explorer.new_nodes import Newcomer, welcome
from coembed.fitted.matches import ItemKind

ARROW = "application/vnd.apache.arrow.stream"
KEPT_CARDS = 1024

IdParameter = Annotated[
    str,
    Query(max_length=schemas.LONGEST_ID, description="Name of the item, any characters.", examples=["fish"]),
]
NodeParameter = Annotated[
    str,
    Query(max_length=schemas.LONGEST_ID, description="Name of a node.", examples=["Denmark.n.01"]),
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
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


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
            "training": overview.training,
            "quality": overview.quality,
            "data": overview.data,
        }
        return {name: bytes(Json(make(self.explorer)).body) for name, make in makers.items()}


def make_router(explorer: Explorer) -> APIRouter:
    """All addresses under ``/api``."""
    router = APIRouter(prefix="/api", responses=FAILURES, default_response_class=Json)
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
    node_card = lru_cache(KEPT_CARDS)(lambda id, k: Json(cards.node_card(explorer, id, k)).body)
    attribute_card = lru_cache(KEPT_CARDS)(lambda id, k: Json(cards.attribute_card(explorer, id, k)).body)

    def similar_to(id: str, kind: ItemKind | None, k: int) -> Response:
        found = explorer.kind(id, kind)
        matches = explorer.fitted.similar(explorer.at(id, found), k, found)
        return Json({"id": id, "kind": found, "items": [cards.match_dict(match) for match in matches]})

    @router.get("/search", response_model=schemas.SearchAnswer, summary="Find names, typing errors included")
    def search(
        q: Annotated[str, Query(max_length=schemas.LONGEST_ID, examples=["denmrak"])],
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> Response:
        return Json(overview.search(explorer, q, limit, offset))

    @router.get("/items", response_model=schemas.ItemsAnswer, summary="All items of a kind, page by page")
    def items(
        kind: schemas.Kind = "node",
        label: Annotated[
            str | None, Query(max_length=schemas.LONGEST_ID, description="Only of a class.")
        ] = None,
        offset: Offset = 0,
        limit: Limit = 50,
    ) -> Response:
        return Json(overview.items(explorer, kind, label, offset, limit))

    @router.get("/node", response_model=schemas.NodeCard, summary="All about a node")
    def node(id: NodeParameter, k: K = 10) -> Response:
        return Response(node_card(id, k), media_type="application/json")

    @router.post("/node", response_model=schemas.NodeCard, summary="All about a node, however long its id")
    def node_by_body(question: schemas.ItemQuestion) -> Response:
        return Response(node_card(question.id, question.k), media_type="application/json")

    @router.get("/attribute", response_model=schemas.AttributeCard, summary="All about an attribute")
    def attribute(id: IdParameter, k: K = 10) -> Response:
        return Response(attribute_card(id, k), media_type="application/json")

    @router.post(
        "/attribute", response_model=schemas.AttributeCard, summary="All about an attribute of any length"
    )
    def attribute_by_body(question: schemas.ItemQuestion) -> Response:
        return Response(attribute_card(question.id, question.k), media_type="application/json")

    @router.get("/similar", response_model=schemas.Matches, summary="The items of its kind most like it")
    def similar(id: IdParameter, kind: schemas.Kind | None = None, k: K = 10) -> Response:
        return similar_to(id, kind, k)

    @router.post("/similar", response_model=schemas.Matches, summary="The same, for ids of any length")
    def similar_by_body(question: schemas.SimilarQuestion) -> Response:
        return similar_to(question.id, question.kind, question.k)

    @router.get("/neighbours", response_model=schemas.Neighbours, summary="What the network joins to an item")
    def neighbours(
        id: NodeParameter,
        kind: schemas.Kind = "node",
        to: schemas.Kind = "node",
        offset: Offset = 0,
        limit: Limit = 50,
    ) -> Response:
        return Json(cards.neighbours(explorer, id, kind, to, offset, limit))

    @router.post("/neighbours", response_model=schemas.Neighbours, summary="The same, for ids of any length")
    def neighbours_by_body(question: schemas.NeighbourQuestion) -> Response:
        return Json(
            cards.neighbours(
                explorer, question.id, question.kind, question.to, question.offset, question.limit
            )
        )


def _work(router: APIRouter, explorer: Explorer) -> None:
    # these copy or multiply whole matrices: one at a time keeps the memory of a large model in bounds
    turn = BoundedSemaphore(1)

    def needs_networks() -> None:
        if not explorer.can_embed:
            raise InputError(
                "this model cannot place new nodes: it was itself made by placing some; "
                "serve the model that was trained"
            )

    @router.post("/why", response_model=schemas.WhyAnswer, summary="What speaks for a class and attributes")
    def why(question: schemas.WhyQuestion) -> Response:
        needs_networks()
        with turn:
            return Json(cards.why(explorer, question.id, question.attributes, question.k))

    @router.post("/spread", response_model=schemas.SpreadAnswer, summary="Uncertainty on the map")
    def spread(question: schemas.SpreadQuestion) -> Response:
        return Json(cards.spread(explorer, question.nodes, question.attributes))

    @router.post("/embed", response_model=schemas.EmbedAnswer, summary="Place new nodes, without training")
    def embed(question: schemas.EmbedQuestion) -> Response:
        needs_networks()
        newcomers = [
            Newcomer(node.id, _valued(node.attributes), _valued(node.links)) for node in question.nodes
        ]
        with turn:
            return Json({"nodes": welcome(explorer, newcomers, question.k)})

    @router.post("/score", response_model=schemas.ScoreAnswer, summary="Scores of pairs")
    def score(question: schemas.ScoreQuestion) -> Response:
        fitted = explorer.fitted
        links = [(explorer.at(a, "node"), explorer.at(b, "node")) for a, b in question.links]
        owned = [(explorer.at(a, "node"), explorer.at(b, "attribute")) for a, b in question.attributes]
        return Json(
            {
                "links": fitted.score_links(np.array(links)).tolist() if links else [],
                "attributes": fitted.score_attributes(np.array(owned)).tolist() if owned else [],
            }
        )


def _valued(joined: list[str] | dict[str, float]) -> dict[str, float]:
    return joined if isinstance(joined, dict) else dict.fromkeys(joined, 1.0)
