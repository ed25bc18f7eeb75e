"""The addresses of version 0.1, which lead to where their answers are now."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from coembed.explorer.asking import Explorer
from coembed.explorer.routes import Asked

SAME = (
    *("health", "model", "training", "quality", "data", "map", "search", "items"),
    *("similar", "neighbours", "why", "spread", "score", "embed"),
)
"""Addresses that only got a version."""


def make_old_router() -> APIRouter:
    """Redirects that keep the method, the body and the query."""
    router = APIRouter(prefix="/api", include_in_schema=False)
    for name in SAME:
        router.add_api_route(f"/{name}", _redirect(name), methods=["GET", "POST"])
    for name in ("node", "attribute"):
        router.add_api_route(f"/{name}", _redirect("item", name), methods=["GET", "POST"])
    return router


def _redirect(to: str, kind: str | None = None) -> Callable[[Request, Asked], Response]:
    def follow(request: Request, asked: Asked) -> Response:
        explorer, query = asked.explorer, [*request.query_params.multi_items()]
        if kind is not None and request.method == "GET":
            main = explorer.main.name
            query.append(("type", main if kind == "node" else explorer.network.attribute_type(main) or kind))
        renamed = _renamed(explorer, query)
        address = f"/api/v1/{to}" + (f"?{urlencode(renamed, errors='surrogatepass')}" if renamed else "")
        return Response(status_code=308, headers={"Location": address})

    return follow


def _renamed(explorer: Explorer, query: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """A kind is a type now, and what an item is joined to is named by the relation."""
    found = [("type" if key == "kind" else key, value) for key, value in query if key != "to"]
    if ("to", "attribute") in query and explorer.network.is_plain and ("kind", "attribute") not in query:
        found.append(("relation", "attributes"))
    return found
