"""The application: the API, the page, and what guards both."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Sequence
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from coembed.errors import InputError, NoSuch
from coembed.explorer import (
    batch_routes,
    change_routes,
    item_routes,
    overview_routes,
    refusals,
    selection_routes,
    work_routes,
)
from coembed.explorer.asking import Explorer, UnknownItem
from coembed.explorer.cards import reference
from coembed.explorer.guard import LOOPBACK, Guard, error_body
from coembed.explorer.kept_answers import Json, Packed
from coembed.explorer.model_loading import Loaded, NotReady
from coembed.explorer.old_addresses import make_old_router
from coembed.explorer.page_files import TYPES, page_files
from coembed.explorer.request_counts import RequestCounts, SharedCounts
from coembed.explorer.request_log import LogLine, RequestLog
from coembed.explorer.retraining_job import Retrain, RetrainingJob
from coembed.explorer.routes import FAILURES, known_parameters, operation_id
from coembed.version import __version__

CODES = {
    401: "unauthorised",
    403: "forbidden_origin",
    404: "not_found",
    405: "method_not_allowed",
    408: "too_slow",
    413: "too_large",
    422: "invalid",
}
ROUTES = (overview_routes, item_routes, selection_routes, work_routes, batch_routes, change_routes)
CHANGING = ("reload", "selections", "selections/remove", "corrections", "corrections/undo", "retrain")
TAGS = {
    "model": "The model as a whole.",
    "items": "One item: found, told, compared, completed.",
    "selections": "Many items at once: found by a query, set apart, as tables and files.",
    "work": "Reasons, new items, pairs.",
    "batch": "Thousands of items a request: a table in, a table out, as columns in JSON or as Arrow.",
    "service": "For whoever runs the server.",
    "changes": "Only with `--allow-changes`, and never without the token.",
}


def make_app(
    model: Explorer | Loaded,
    token: str | None = None,
    any_host: bool = False,
    *,
    cors: Sequence[str] = (),
    reload: Callable[[], object] | None = None,
    retrain: Retrain | None = None,
    write_log: LogLine | None = None,
    shared: SharedCounts | None = None,
) -> FastAPI:
    """The page and the API of a model.

    Parameters
    ----------
    token
        What a request to the API must show; None: nothing.
    any_host
        Answer under any name. By default only under those of the loopback interface.
    cors
        Other sites whose pages may ask, as ``https://site.example``; none by default.
    reload
        What loads the model again: there are addresses for changes then, which need a token.
    retrain
        What trains again with the corrections, if that may be asked for, too.
    write_log
        Called with a line of JSON for every answer.
    shared
        Where the counts of several workers are kept.
    """
    if reload is not None and token is None:
        raise InputError("what changes the server needs a token; give one")
    app = FastAPI(
        title="coembed",
        version=__version__,
        summary="Items and attributes of a network as Gaussians in one space: ask the model.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        openapi_tags=[{"name": name, "description": text} for name, text in TAGS.items()],
        generate_unique_id_function=operation_id,
    )
    app.state.loaded = model if isinstance(model, Loaded) else Loaded(explorer=model)
    api = APIRouter(
        prefix="/api/v1",
        responses=FAILURES,
        default_response_class=Json,
        dependencies=[Depends(known_parameters)],
    )
    for routes in ROUTES:
        api.include_router(routes.router)
    app.state.may_change, app.state.job = reload is not None, None
    if reload is not None and retrain is not None:
        app.state.job = RetrainingJob(retrain)
        api.include_router(change_routes.make_retraining_router(str(token), reload, app.state.job))
    elif reload is not None:
        api.include_router(change_routes.make_changing_router(str(token), reload))
    app.include_router(api)
    app.include_router(overview_routes.service)
    app.include_router(make_old_router())
    page = page_files()
    _page(app, page)
    _errors(app)
    _describe(app, token is not None)
    app.state.counts = RequestCounts(_paths(), shared)
    policy = content_policy(page["index.html"].decode())
    own_hosts = None if any_host else LOOPBACK
    app.add_middleware(Guard, token=token, own_hosts=own_hosts, policy=policy)  # type: ignore[arg-type]
    if cors:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(cors),
            allow_methods=["GET", "HEAD", "POST"],
            allow_headers=["Authorization", "Content-Type"],
            expose_headers=["X-Request-Id"],
        )
    app.add_middleware(RequestLog, counts=app.state.counts, write=write_log)  # type: ignore[arg-type]
    return app


def content_policy(html: str) -> str:
    """What the page may load: its own files, its own inline scripts by their hash, nothing from elsewhere."""
    inline = re.findall(r"<script(?: type=\"importmap\")?>(.*?)</script>", html, re.S)
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inline]
    scripts = " ".join(["'self'", *(f"'sha256-{each}'" for each in hashes)])
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'self'; img-src 'self' data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _page(app: FastAPI, page: dict[str, bytes]) -> None:
    packed = {name: Packed(body, TYPES[name[name.rindex(".") :]]) for name, body in page.items()}

    @app.get("/", include_in_schema=False)
    async def index(request: Request) -> Response:
        return packed["index.html"].answer(request)

    @app.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> Response:
        return packed["docs.html"].answer(request)

    @app.get("/page/{name}", include_in_schema=False)
    async def page_file(request: Request, name: str) -> Response:
        # a look into a table made at the start: no path that a client gives is ever opened
        if name not in packed:
            raise HTTPException(404, "there is no such file")
        return packed[name].answer(request)


def _paths() -> list[str]:
    """Addresses as they are counted, in the same order in every worker."""
    asked = [f"/api/v1{each.path}" for routes in ROUTES for each in routes.router.routes]  # type: ignore[attr-defined]
    served = [each.path for each in overview_routes.service.routes]  # type: ignore[attr-defined]
    return list(dict.fromkeys([*asked, *served, *(f"/api/v1/{name}" for name in CHANGING), "/", "/docs"]))


def _describe(app: FastAPI, asks_token: bool) -> None:
    """The description tells how to show the token, where one is asked for."""
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            found = describe()
            found["components"]["securitySchemes"] = {
                "token": {"type": "http", "scheme": "bearer", "description": "The token of the server."}
            }
            for path, methods in found["paths"].items():
                for operation in methods.values():
                    asks = asks_token and path not in ("/live", "/ready")
                    operation["security"] = [{"token": []}] if asks else []
        return app.openapi_schema  # type: ignore[return-value]

    app.openapi = openapi  # type: ignore[method-assign]


def _errors(app: FastAPI) -> None:
    """Every error in one shape."""

    @app.exception_handler(InputError)
    async def bad_input(request: Request, error: InputError) -> Response:
        if isinstance(error, NoSuch):
            body = error_body("not_found", str(error))
            near = error.near if isinstance(error, UnknownItem) else []
            if near:
                types = app.state.loaded.answers.explorer.types
                body["error"]["near"] = [reference(types[type], row) for type, row in near]
            return Json(body, 404)
        return Json(error_body("bad_request", str(error)), 400)

    @app.exception_handler(NotReady)
    async def not_ready(request: Request, error: NotReady) -> Response:
        return Json(error_body("starting", str(error)), 503, headers={"Retry-After": "1"})

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return Json(error_body("invalid", refusals.invalid(error.errors())), 422)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        code, said = CODES.get(error.status_code, "bad_request"), str(error.detail)
        path = request.url.path
        if error.status_code == 404:
            said = refusals.not_found(path, app.openapi()["paths"])
        elif error.status_code == 405:
            methods = " or ".join(each.upper() for each in app.openapi()["paths"].get(path, ["get"]))
            said = f"{path[:80]} takes {methods}, not {request.method[:20]}"
        return Json(error_body(code, said), error.status_code, headers=error.headers)

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> Response:
        return Json(error_body("failed", "the server failed; its terminal says why"), 500)
