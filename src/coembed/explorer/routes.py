"""What all addresses of the API share: parameters, refusals, the model that is asked."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from coembed.explorer import model_schemas
from coembed.explorer.kept_answers import Answers
from coembed.explorer.request_schemas import LONGEST_ID, LONGEST_NAME, MOST_ANSWERS

ARROW = "application/vnd.apache.arrow.stream"
JSON = "application/json"

IdParameter = Annotated[
    str, Query(max_length=LONGEST_ID, description="Id of the item, any characters.", examples=["fish"])
]
TypeParameter = Annotated[
    str | None, Query(max_length=LONGEST_NAME, description="Name of a type of items, see `types`.")
]
RelationParameter = Annotated[
    str | None, Query(max_length=LONGEST_NAME, description="Name of a relation or column.")
]
K = Annotated[int, Query(ge=1, le=MOST_ANSWERS, description="How many answers of each sort.")]
Limit = Annotated[int, Query(ge=1, le=MOST_ANSWERS, description="Items of a page.")]
Offset = Annotated[int, Query(ge=0, le=10_000_000, description="Items before the page.")]
Share = Annotated[float | None, Query(gt=0, lt=1)]
IntervalCoverage = Annotated[
    float, Query(gt=0, lt=1, description="Of a number: how often its interval holds it.")
]

FAILURES: dict[int | str, dict[str, Any]] = {
    code: {"model": model_schemas.Error, "description": text}
    for code, text in {
        400: "Asked for what this model cannot do.",
        401: "The token is missing or wrong.",
        403: "Asked under a name that is not this server's.",
        404: "There is no such item, type, relation, column or class.",
        413: "The body is too large.",
        422: "A parameter is missing, unknown or out of bounds.",
        503: "The model is still being made ready, or too many ask.",
    }.items()
}


async def current(request: Request) -> Answers:
    """The model that answers now."""
    return request.app.state.loaded.answers


Asked = Annotated[Answers, Depends(current)]


async def known_parameters(request: Request) -> None:
    """Refuse a parameter that nobody would look at: its misspelt filter would filter nothing."""
    route = request.scope.get("route")
    if not isinstance(route, APIRoute):
        return
    known = _parameters(route.dependant)
    for name in request.query_params:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known) or 'none'}"
            raise HTTPException(422, f"there is no parameter {name[:80]!r}; {hint}")


def _parameters(dependant: Dependant) -> list[str]:
    own = [each.alias for each in dependant.query_params]
    return own + [name for each in dependant.dependencies for name in _parameters(each)]


def operation_id(route: APIRoute) -> str:
    """The function's name: what a generated client calls the question."""
    return route.name
