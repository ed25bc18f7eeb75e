"""Addresses of answers about the model as a whole, and of the service: is it there, ready, busy."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Request, Response

from coembed.explorer import model_schemas as schemas
from coembed.explorer import overview
from coembed.explorer.kept_answers import Json
from coembed.explorer.model_loading import Loaded
from coembed.explorer.routes import ARROW, Asked

router = APIRouter(tags=["model"])
service = APIRouter(tags=["service"])


@router.get("/health", response_model=schemas.Health, summary="Is it there, and which model is it?")
def health(asked: Asked) -> Response:
    return Json(overview.health(asked.explorer))


@router.get("/model", response_model=schemas.Model, summary="The model in short, classes and colours")
def model(request: Request, asked: Asked) -> Response:
    return asked.overviews["model"].answer(request)


@router.get("/types", response_model=schemas.TypesAnswer, summary="Types of items and how they are joined")
def types(request: Request, asked: Asked) -> Response:
    return asked.overviews["types"].answer(request)


@router.get("/training", response_model=schemas.Training, summary="Curves and settings of the fit")
def training(request: Request, asked: Asked) -> Response:
    return asked.overviews["training"].answer(request)


@router.get("/quality", response_model=schemas.QualityAnswer, summary="Judged on hidden labels")
def quality(request: Request, asked: Asked) -> Response:
    return asked.overviews["quality"].answer(request)


@router.get("/data", response_model=schemas.DataAnswer, summary="Statistics of the network")
def data(request: Request, asked: Asked) -> Response:
    return asked.overviews["data"].answer(request)


@router.get("/regions", response_model=schemas.RegionsAnswer, summary="Where items crowd, and about what")
def regions(request: Request, asked: Asked) -> Response:
    return asked.regions.answer(request)


@router.get(
    "/map",
    name="map",
    response_model=schemas.MapAnswer,
    summary="Everything on the plane, column by column",
    responses={200: {"content": {ARROW: {}}}, 304: {"description": "As it was."}},
)
def map_(
    request: Request,
    asked: Asked,
    accept: Annotated[str, Header(description=f"`{ARROW}` for Arrow")] = "*/*",
) -> Response:
    if ARROW in accept:
        return Response(asked.map_arrow, media_type=ARROW, headers={"Vary": "Accept"})
    return asked.map_json.answer(request, vary="Accept, Accept-Encoding")


@service.get("/live", response_model=schemas.Liveness, summary="Does the server run? Asks for no token")
async def live() -> Response:
    return Json({"status": "alive"})


@service.get(
    "/ready",
    response_model=schemas.Readiness,
    summary="Is the model ready to answer? Asks for no token",
    responses={503: {"model": schemas.Readiness, "description": "Not yet; how far it is."}},
)
async def ready(request: Request) -> Response:
    loaded: Loaded = request.app.state.loaded
    told = {
        "status": "ready" if loaded.ready else "starting",
        "doing": loaded.doing,
        "progress": loaded.progress,
        "loads": loaded.loads,
        "since": loaded.since,
        "problem": loaded.problem,
    }
    return Json(told) if loaded.ready else Json(told, 503, headers={"Retry-After": "1"})


@service.get(
    "/metrics",
    summary="Requests and how long they took, for Prometheus",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(request: Request) -> Response:
    text = request.app.state.counts.in_prometheus(request.app.state.loaded)
    return Response(text, media_type="text/plain; version=0.0.4")
