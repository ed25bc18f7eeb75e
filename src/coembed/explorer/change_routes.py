"""Addresses that change a model or what lies beside it: only where allowed, and never without a token."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from fastapi import APIRouter, Depends, Request, Response
from starlette.exceptions import HTTPException

from coembed.errors import InputError, no_such
from coembed.explorer import change_schemas as schemas
from coembed.explorer import model_schemas, selections
from coembed.explorer.asking import Explorer
from coembed.explorer.guard import same_origin
from coembed.explorer.kept_answers import Json
from coembed.explorer.retraining_job import RetrainingJob
from coembed.explorer.routes import Asked
from coembed.fitted.corrections import (
    Correction,
    check_correction,
    pending,
    read_corrections,
    write_corrections,
)
from coembed.fitted.kept_selections import kept_of, read_selections, write_selections

router = APIRouter(tags=["changes"])
WRITING = Lock()
"""One who writes at a time: what is kept is read, changed and written."""


@router.get("/changes", response_model=schemas.ChangesAnswer, summary="What may be changed, and what was")
def changes(request: Request, asked: Asked) -> Response:
    explorer, job = asked.explorer, request.app.state.job
    given = [] if explorer.folder is None else read_corrections(explorer.folder)
    return Json(
        {
            "allowed": request.app.state.may_change and explorer.folder is not None,
            "can_retrain": job is not None and explorer.folder is not None,
            "corrections": [told(each) for each in given],
            "pending": len(pending(explorer.network, given)),
            "retraining": None if job is None else job.told(),
        }
    )


def told(correction: Correction) -> dict[str, str]:
    return {name: getattr(correction, name) for name in ("type", "id", "label", "was", "when")}


def make_changing_router(token: str, reload: Callable[[], object]) -> APIRouter:
    """Addresses that change what the server does or keeps."""

    async def allowed(request: Request) -> None:
        if not same_origin(request.scope):
            raise HTTPException(403, "another site's page may not change anything here")
        shown = request.headers.get("authorization", "")
        if not hmac.compare_digest(shown.encode(), f"Bearer {token}".encode()):
            raise HTTPException(401, "show the token: Authorization: Bearer TOKEN")

    changing = APIRouter(tags=["changes"], dependencies=[Depends(allowed)])

    @changing.post(
        "/reload",
        status_code=202,
        response_model=model_schemas.Reloading,
        summary="Load the model's folder again",
    )
    async def reload_model(request: Request) -> Response:
        reload()
        return Json({"status": "reloading"}, 202)

    @changing.post("/selections", response_model=schemas.KeptAnswer, summary="Keep a selection by a name")
    def keep_selection(asked: Asked, question: schemas.KeepQuestion) -> Response:
        explorer = asked.explorer
        folder, rows = (
            selections.model_folder(explorer),
            selections.chosen_rows(explorer, question.selection),
        )
        alone = question.selection.query if question.selection.bits is None else None
        made = kept_of(explorer.network, question.name, rows, alone)
        with WRITING:
            kept = {**read_selections(folder), made.name: made}
            write_selections(folder, kept.values())
        return _kept(explorer)

    @changing.post(
        "/selections/remove", response_model=schemas.KeptAnswer, summary="Forget a selection that is kept"
    )
    def remove_selection(asked: Asked, question: schemas.NameQuestion) -> Response:
        folder = selections.model_folder(asked.explorer)
        with WRITING:
            kept = read_selections(folder)
            if question.name not in kept:
                raise no_such("selection", question.name, kept)
            del kept[question.name]
            write_selections(folder, kept.values())
        return _kept(asked.explorer)

    @changing.post(
        "/corrections", response_model=schemas.CorrectionsAnswer, summary="Say the class of an item"
    )
    def correct(asked: Asked, question: schemas.CorrectionQuestion) -> Response:
        explorer = asked.explorer
        folder = selections.model_folder(explorer)
        facts = explorer.facts(question.type or explorer.coloured.name)
        was = facts.label(explorer.at(question.id, facts.name)) or ""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        made = Correction(facts.name, question.id, question.label, was, now)
        check_correction(explorer.network, made)
        with WRITING:
            given = [*read_corrections(folder), made]
            write_corrections(folder, given)
        return _corrections(explorer, given)

    @changing.post(
        "/corrections/undo", response_model=schemas.CorrectionsAnswer, summary="Take the last one back"
    )
    def undo_correction(asked: Asked) -> Response:
        folder = selections.model_folder(asked.explorer)
        with WRITING:
            given = read_corrections(folder)
            if not given:
                raise InputError("there is no correction to take back")
            write_corrections(folder, given[:-1])
        return _corrections(asked.explorer, given[:-1])

    return changing


def make_retraining_router(token: str, reload: Callable[[], object], job: RetrainingJob) -> APIRouter:
    """Addresses by which the model is trained again with the corrections, and taken or dropped."""
    router = make_changing_router(token, reload)

    @router.post(
        "/retrain", status_code=202, response_model=schemas.Retraining, summary="Train with the corrections"
    )
    def retrain(request: Request, asked: Asked) -> Response:
        explorer = asked.explorer
        given = read_corrections(selections.model_folder(explorer))
        if not pending(explorer.network, given):
            raise InputError("there is no new label to learn from; correct or label an item first")
        job.start(explorer, given, explorer.truth)
        return Json(job.told(), 202)

    @router.post("/retrain/take", response_model=schemas.Retraining, summary="Put the new model in place")
    def take_retrained(asked: Asked) -> Response:
        job.take(asked.explorer)
        reload()
        return Json(job.told())

    @router.post("/retrain/drop", response_model=schemas.Retraining, summary="Keep the model as it is")
    def drop_retrained(asked: Asked) -> Response:
        job.drop()
        return Json(job.told())

    return router


def _kept(explorer: Explorer) -> Response:
    kept = selections.kept_selections(explorer).values()
    return Json({"selections": [selections.kept_entry(each) for each in kept]})


def _corrections(explorer: Explorer, given: list[Correction]) -> Response:
    body: dict[str, Any] = {"corrections": [told(each) for each in given]}
    return Json({**body, "pending": len(pending(explorer.network, given))})
