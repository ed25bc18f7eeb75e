"""The application: the API, the page, and what guards both."""

from __future__ import annotations

import base64
import hashlib
import re

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from coembed.errors import InputError
from coembed.explorer import refusals
from coembed.explorer.asking import Explorer, UnknownItem
from coembed.explorer.guard import LOOPBACK, Guard, error_body
from coembed.explorer.old_addresses import make_old_router
from coembed.explorer.page_files import TYPES, page_files
from coembed.explorer.routes import Json, make_router
from coembed.version import __version__

CODES = {
    401: "unauthorised",
    404: "not_found",
    405: "method_not_allowed",
    408: "too_slow",
    413: "too_large",
}


def make_app(explorer: Explorer, token: str | None = None, any_host: bool = False) -> FastAPI:
    """The page and the API of a model.

    Parameters
    ----------
    token
        What a request to the API must show; None: nothing.
    any_host
        Answer under any name. By default only under those of the loopback interface.
    """
    page = page_files()
    app = FastAPI(
        title="coembed",
        version=__version__,
        summary="Items and attributes of a network as Gaussians in one space: ask the model.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.include_router(make_router(explorer))
    app.include_router(make_old_router(explorer))
    _errors(app)

    @app.get("/", include_in_schema=False)
    def index() -> Response:
        return Response(page["index.html"], media_type=TYPES[".html"], headers={"Cache-Control": "no-cache"})

    @app.get("/page/{name}", include_in_schema=False)
    def page_file(name: str) -> Response:
        # a look into a table made at the start: no path that a client gives is ever opened
        if name not in page:
            raise HTTPException(404, "there is no such file")
        kind = TYPES[name[name.rindex(".") :]]
        return Response(page[name], media_type=kind, headers={"Cache-Control": "no-cache"})

    app.add_middleware(
        Guard,  # type: ignore[arg-type]
        token=token,
        own_hosts=None if any_host else LOOPBACK,
        policy=content_policy(page["index.html"].decode()),
    )
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


def _errors(app: FastAPI) -> None:
    """Every error in one shape."""

    @app.exception_handler(InputError)
    def bad_input(request: Request, error: InputError) -> Response:
        if isinstance(error, UnknownItem):
            return Json(error_body("not_found", str(error)), 404)
        return Json(error_body("bad_request", str(error)), 400)

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> Response:
        return Json(error_body("invalid", refusals.invalid(error.errors())), 422)

    @app.exception_handler(HTTPException)
    def http(request: Request, error: HTTPException) -> Response:
        code, said = CODES.get(error.status_code, "bad_request"), str(error.detail)
        path = request.url.path
        if error.status_code == 404:
            said = refusals.not_found(path, app.openapi()["paths"])
        elif error.status_code == 405:
            methods = " or ".join(each.upper() for each in app.openapi()["paths"].get(path, ["get"]))
            said = f"{path[:80]} takes {methods}, not {request.method[:20]}"
        return Json(error_body(code, said), error.status_code, headers=error.headers)

    @app.exception_handler(Exception)
    def failed(request: Request, error: Exception) -> Response:
        return Json(error_body("failed", "the server failed; its terminal says why"), 500)
