"""Addresses of questions about many items at once: found, told apart, as tables, with links, as files."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from coembed.explorer import comparing, selection_tables, selections
from coembed.explorer import selection_schemas as schemas
from coembed.explorer.kept_answers import Json
from coembed.explorer.request_schemas import LONGEST_ID
from coembed.explorer.routes import Asked, IdParameter, Limit, Offset, TypeParameter
from coembed.explorer.work_routes import TURN

router = APIRouter(tags=["selections"])
MEDIA = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}


@router.get("/find", response_model=schemas.FindAnswer, summary="Items that fit a query")
def find(
    asked: Asked,
    q: Annotated[str, Query(max_length=schemas.LONGEST_QUERY, examples=["class:animal has:river"])],
    offset: Offset = 0,
    limit: Limit = 50,
    bits: Annotated[bool, Query(description="All of them, too, a bit an item.")] = False,
) -> Response:
    return Json(selections.found(asked.explorer, q, offset, limit, bits))


@router.get("/fields", response_model=schemas.FieldsAnswer, summary="What items can be asked for by")
def fields(asked: Asked) -> Response:
    return Json(selections.fields(asked.explorer))


@router.get("/values", response_model=schemas.ValuesAnswer, summary="One field of all items")
def values(
    request: Request,
    asked: Asked,
    field: Annotated[str, Query(max_length=LONGEST_ID, examples=["degree", "has:river"])],
) -> Response:
    return asked.values(field).answer(request)


@router.get("/compare", response_model=schemas.CompareAnswer, summary="Two items side by side")
def compare(
    asked: Asked,
    id: IdParameter,
    other: IdParameter,
    type: TypeParameter = None,
    other_type: TypeParameter = None,
) -> Response:
    return Json(comparing.compare(asked.explorer, id, type, other, other_type))


@router.post("/selection/apart", response_model=schemas.ApartAnswer, summary="What sets a selection apart")
def selection_apart(asked: Asked, question: schemas.ApartQuestion) -> Response:
    with TURN:
        return Json(selections.apart(asked.explorer, question.selection, question.against, question.k))


@router.post("/selection/table", response_model=schemas.TablePage, summary="A page of its rows, all columns")
def selection_table(asked: Asked, question: schemas.TableQuestion) -> Response:
    rows = selections.chosen_rows(asked.explorer, question.selection)
    how = question.type, question.sort, question.descending, question.offset, question.limit
    return Json(selection_tables.table_page(asked.explorer, rows, *how))


@router.post("/selection/links", response_model=schemas.LinksAnswer, summary="Links within a selection")
def selection_links(asked: Asked, question: schemas.SelectionQuestion) -> Response:
    with TURN:
        rows = selections.chosen_rows(asked.explorer, question.selection)
        return Json(selections.links(asked.explorer, rows))


@router.post(
    "/selection/export",
    summary="All of its rows as csv or Parquet",
    response_class=Response,
    responses={200: {"content": {each: {} for each in MEDIA.values()}}},
)
def selection_export(asked: Asked, question: schemas.ExportQuestion) -> Response:
    rows = selections.chosen_rows(asked.explorer, question.selection)
    with TURN:
        body = selection_tables.export(asked.explorer, rows, question.format)
    headers = {"Content-Disposition": f'attachment; filename="selection.{question.format}"'}
    return Response(body, media_type=MEDIA[question.format], headers=headers)
