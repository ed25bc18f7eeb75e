"""The addresses of version 0.1, which lead to where their answers are now."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from coembed.explorer.asking import Explorer

SAME = (
    *("health", "model", "training", "quality", "data", "map", "search", "items"),
    *("similar", "neighbours", "why", "spread", "score", "embed"),
)
"""Addresses that only got a version."""


def make_old_router(explorer: Explorer) -> APIRouter:
    """Redirects that keep the method, the body and the query."""
    router = APIRouter(prefix="/api", include_in_schema=False)
    attributes = explorer.network.attribute_type(explorer.main.name) or "attribute"
    for name in SAME:
        router.add_api_route(f"/{name}", _redirect(explorer, name, None), methods=["GET", "POST"])
    for name, type in (("node", explorer.main.name), ("attribute", attributes)):
        router.add_api_route(f"/{name}", _redirect(explorer, "item", type), methods=["GET", "POST"])
    return router


def _redirect(explorer: Explorer, to: str, type: str | None) -> Callable[[Request], Response]:
    def follow(request: Request) -> Response:
        query = [*request.query_params.multi_items()]
        if type is not None and request.method == "GET":
            query.append(("type", type))
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
