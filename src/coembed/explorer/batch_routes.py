"""Addresses that take a table and give one: thousands of items a request, as columns in JSON or as Arrow."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pyarrow import parquet
from pydantic import ValidationError

from coembed.errors import InputError, one_line
from coembed.explorer import item_schemas
from coembed.explorer.arrow_bodies import arrow_table, read_arrow, write_arrow
from coembed.explorer.asking import Explorer
from coembed.explorer.kept_answers import Json
from coembed.explorer.new_rows_answer import table_of_columns
from coembed.explorer.request_schemas import LONGEST_NAME, MOST_BATCH, TableQuestion
from coembed.explorer.routes import (
    ARROW,
    JSON,
    Asked,
    IntervalCoverage,
    K,
    RelationParameter,
    Share,
    TypeParameter,
)
from coembed.explorer.work_routes import TURN, needs_networks, score_pairs
from coembed.fitted.class_answers import named_sets
from coembed.fitted.placed_rows import placed_parts, read_rows
from coembed.fitted.questions import COVERAGE
from coembed.fitted.row_predictions import Predictions, predict_known
from coembed.network.readers.named_table import NamedTable, read_named_table

router = APIRouter(prefix="/batch", tags=["batch"])

FILES = (".csv", ".tsv", ".parquet")
MOST_UNPACKED = 512_000_000
"""Bytes of a Parquet file once it is unpacked."""
MOST_LINES = 1_000_000
"""Rows of a table that is answered."""


def _tables(*needed: str) -> dict[str, Any]:
    """How the description tells of the body: a table that has some columns, or any."""
    schema = TableQuestion.model_json_schema()
    if needed:
        texts = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": MOST_BATCH}
        schema["properties"]["columns"] |= {"properties": dict.fromkeys(needed, texts), "required": [*needed]}
        schema["examples"] = [{"columns": {name: ["Denmark.n.01", "Sweden.n.01"] for name in needed}}]
    content = {JSON: {"schema": schema}, ARROW: {"schema": {"type": "string", "format": "binary"}}}
    return {"requestBody": {"required": True, "content": content}}


_SAID: dict[int | str, dict[str, Any]] = {
    200: {"model": item_schemas.TableAnswer, "content": {ARROW: {}}, "description": "A table."}
}


class Sent:
    """The table of a request, read when it is needed; and what its answer must look like."""

    def __init__(self, body: bytes, arrow: bool, wants_arrow: bool) -> None:
        self.body, self.arrow, self.wants_arrow = body, arrow, wants_arrow

    def table(self) -> pa.Table:
        if self.arrow:
            return read_arrow(self.body)
        try:
            return table_of_columns(TableQuestion.model_validate_json(self.body).columns)
        except ValidationError as error:
            problems = [{**each, "loc": ("body", *each["loc"])} for each in error.errors(include_url=False)]
            raise RequestValidationError(problems) from None

    def answer(self, columns: dict[str, Any] | pa.Table, notices: list[str] | None = None) -> Response:
        said = notices or []
        if self.wants_arrow:
            table = columns if isinstance(columns, pa.Table) else arrow_table(columns)
            table = table.replace_schema_metadata({"notices": json.dumps(said)})
            return Response(write_arrow(table), media_type=ARROW)
        found = columns.to_pydict() if isinstance(columns, pa.Table) else columns
        plain = {n: v.tolist() if isinstance(v, np.ndarray) else v for n, v in found.items()}
        return Json({"columns": plain, "notices": said})


async def sent(
    request: Request,
    content_type: Annotated[str, Header(include_in_schema=False)] = JSON,
    accept: Annotated[str, Header(description=f"`{ARROW}` for Arrow")] = "*/*",
) -> Sent:
    return Sent(await request.body(), content_type.startswith(ARROW), ARROW in accept)


Given = Annotated[Sent, Depends(sent)]
IdColumn = Annotated[str | None, Query(max_length=LONGEST_NAME, description="The column of ids.")]
Coverage = Annotated[Share, Query(description="Also a set of classes that holds the true one so often.")]


def _texts(table: pa.Table, *names: str) -> list[list[str]]:
    """Columns of ids."""
    for name in names:
        if name not in table.column_names:
            raise InputError(f"the table has no column {name}; it needs {' and '.join(names)}")
    if not table.num_rows:
        raise InputError("the table has no rows; give at least one")
    return [["" if each is None else str(each) for each in table[name].to_pylist()] for name in names]


def _known(explorer: Explorer, table: pa.Table, type: str | None) -> tuple[list[str], str]:
    """The ids of known items, all of one type, and that type."""
    (ids,) = _texts(table, "id")
    name = explorer.facts(type or explorer.main.name).name
    for each in ids:
        explorer.at(each, name)
    return ids, name


@router.post("/predict", summary="Classes of rows, known or new", responses=_SAID, openapi_extra=_tables())
def batch_predict(
    asked: Asked,
    given: Given,
    type: TypeParameter = None,
    id: IdColumn = None,
    as_new: bool = False,
    coverage: Coverage = None,
) -> Response:
    explorer, table = asked.explorer, given.table()
    if table.column_names == ["id"]:
        ids, type = _known(explorer, table, type)
        found = predict_known(explorer.fitted, type, ids, coverage=coverage)
    else:
        needs_networks(explorer)
        with TURN:
            found = explorer.fitted.predict_rows(table, type, id=id, as_new=as_new, coverage=coverage)
    columns = found.as_columns()
    columns["new"] = found.new.tolist()
    if found.sets is not None:
        columns["set"] = _sets(found)
    drifts = [f"{each.column} differs from training: {each.text}" for each in found.drifts]
    return given.answer(columns, [*found.notices, *drifts])


@router.post(
    "/sets",
    summary="Sets of classes that hold the true one so often",
    responses=_SAID,
    openapi_extra=_tables("id"),
)
def batch_sets(
    asked: Asked,
    given: Given,
    type: TypeParameter = None,
    coverage: Annotated[float, Query(gt=0, lt=1)] = 0.9,
) -> Response:
    ids, type = _known(asked.explorer, given.table(), type)
    found = predict_known(asked.explorer.fitted, type, ids, coverage=coverage)
    sets = _sets(found)
    return given.answer({"id": found.ids, "set": sets, "size": [len(each) for each in sets]})


def _sets(found: Predictions) -> list[list[str]]:
    assert found.sets is not None
    return [list(each) for each in named_sets(found.classes, found.probabilities, found.sets)]


@router.post("/complete", summary="What many items should have", responses=_SAID, openapi_extra=_tables("id"))
def batch_complete(
    asked: Asked,
    given: Given,
    type: TypeParameter = None,
    relation: RelationParameter = None,
    column: RelationParameter = None,
    known: bool = False,
    backwards: bool = False,
    fdr: Annotated[Share, Query(description="At most this share is wrong.")] = None,
    coverage: IntervalCoverage = COVERAGE,
    k: K = 10,
) -> Response:
    explorer = asked.explorer
    if relation is not None and column is not None:
        raise InputError("give a relation or a column, not both")
    ids, type = _known(explorer, given.table(), type)
    if len(ids) * k > MOST_LINES:
        raise InputError(
            f"{len(ids):,} items with {k} answers each are more than {MOST_LINES:,}; ask for fewer"
        )
    with TURN:
        batch = explorer.fitted.complete_all(
            relation or column,
            k,
            type=type,
            items=ids,
            known=known,
            backwards=backwards,
            fdr=fdr,
            coverage=coverage,
        )
        tables = [batch.table(part) for part in batch]
    found = pa.concat_tables(tables) if tables else pa.table({"item": pa.array([], pa.string())})
    return given.answer(found, [batch.note] if batch.note else [])


@router.post(
    "/score", summary="Scores of many pairs", responses=_SAID, openapi_extra=_tables("source", "target")
)
def batch_score(
    asked: Asked,
    given: Given,
    relation: Annotated[str, Query(max_length=LONGEST_NAME, examples=["links"])],
) -> Response:
    sources, targets = _texts(given.table(), "source", "target")
    pairs = [list(pair) for pair in zip(sources, targets, strict=True)]
    scores, std = score_pairs(asked.explorer, relation, pairs)
    return given.answer({"source": sources, "target": targets, "score": scores, "std": std})


@router.post("/embed", summary="Codes and places of rows", responses=_SAID, openapi_extra=_tables())
def batch_embed(
    asked: Asked,
    given: Given,
    type: TypeParameter = None,
    id: IdColumn = None,
    as_new: bool = False,
) -> Response:
    explorer, table = asked.explorer, given.table()
    if table.column_names == ["id"]:
        ids, type = _known(explorer, table, type)
        rows = np.array([explorer.at(each, type) for each in ids])
        codes, places = explorer.fitted.codes_at(type, rows).mean, explorer.layout.places[type][rows]
        columns = _embedding(ids, type, np.zeros(len(ids), dtype=bool), codes, places)
        notices: list[str] = []
    else:
        needs_networks(explorer)
        with TURN:
            columns, notices = _embedded(explorer, table, type, id, as_new)
    if given.wants_arrow:
        codes = columns["code"]
        columns["code"] = pa.FixedSizeListArray.from_arrays(pa.array(codes.ravel()), codes.shape[1])
    return given.answer(columns, notices)


@router.post(
    "/file",
    summary="Classes and places of the rows of a file",
    responses={200: {"model": item_schemas.TableAnswer, "description": "A row a row."}},
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
def batch_file(
    asked: Asked,
    given: Given,
    name: Annotated[str, Query(max_length=LONGEST_NAME, description="Ends in .csv, .tsv or .parquet.")],
    type: TypeParameter = None,
    id: IdColumn = None,
    as_new: bool = False,
) -> Response:
    explorer = asked.explorer
    needs_networks(explorer)
    ending = Path(name).suffix.lower()
    if ending not in FILES:
        raise InputError(f"{name[-80:]} is no table that can be read; give one of {', '.join(FILES)}")
    with TemporaryDirectory() as folder, TURN:
        path = Path(folder) / f"rows{ending}"
        path.write_bytes(given.body)
        try:
            columns, notices = _placed_file(explorer, path, type, id, as_new)
        except InputError as error:  # told by the name that the file has where it came from
            raise InputError(str(error).replace(str(path), name)) from None
    return given.answer(columns, [each.replace(str(path), name) for each in notices])


def _placed_file(
    explorer: Explorer, path: Path, type: str | None, id: str | None, as_new: bool
) -> tuple[dict[str, Any], list[str]]:
    """Where the rows of a file fall, and, where their type has classes, which they likely have."""
    said: list[str] = []
    if path.suffix == ".parquet":
        _refuse_swollen(path)
    table = read_named_table(path, said)
    if table.n_rows > MOST_BATCH:
        raise InputError(f"{path} has {table.n_rows:,} rows; at most {MOST_BATCH:,} are read at once")
    columns, notices = _embedded(explorer, table, type, id, as_new)
    del columns["code"]
    row_type = columns["type"][0] if columns["type"] else explorer.main.name
    if explorer.types[row_type].class_names:
        found = explorer.fitted.predict_rows(table, row_type, id=id, as_new=as_new)
        told = found.as_columns()
        columns |= {each: told[each] for each in ("predicted", "probability", "known")}
        notices += [f"{each.column} differs from training: {each.text}" for each in found.drifts]
    return columns, list(dict.fromkeys([*said, *notices]))


def _refuse_swollen(path: Path) -> None:
    """Some bytes of a Parquet file can unpack to terabytes: its footer says how many, before they do."""
    try:
        told = parquet.read_metadata(path)
        size = sum(told.row_group(i).total_byte_size for i in range(told.num_row_groups))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path} is no Parquet file ({one_line(error, 80)})") from None
    if told.num_rows > MOST_BATCH or size > MOST_UNPACKED:
        raise InputError(
            f"{path} has {told.num_rows:,} rows of {size:,} bytes; at most {MOST_BATCH:,} of "
            f"{MOST_UNPACKED:,} bytes are read at once"
        )


def _embedded(
    explorer: Explorer, table: pa.Table | NamedTable, type: str | None, id: str | None, as_new: bool
) -> tuple[dict[str, Any], list[str]]:
    fitted = explorer.fitted
    rows, said = read_rows(fitted, table, type, id)
    new = np.ones(len(rows.items), dtype=bool) if as_new else rows.known < 0
    codes = np.empty((len(new), fitted.code_dim), np.float32)
    places = np.empty((len(new), 2), np.float32)
    old = rows.known[~new]
    codes[~new] = fitted.codes_at(rows.type, old).mean
    places[~new] = explorer.layout.places[rows.type][old]
    for part, placed in placed_parts(fitted, rows, np.flatnonzero(new)):
        codes[part] = placed.codes.mean
        places[part] = explorer.plane.place(placed.codes, rows.type)
    return _embedding([str(each) for each in rows.items.ids], rows.type, new, codes, places), said


def _embedding(
    ids: list[str], type: str, new: np.ndarray, codes: np.ndarray, places: np.ndarray
) -> dict[str, Any]:
    return {
        "id": ids,
        "type": [type] * len(ids),
        "new": new.tolist(),
        "x": places[:, 0],
        "y": places[:, 1],
        "code": codes,
    }
