"""Answers in bytes: JSON in ASCII; what never changes is packed once, and not sent to who has it."""

from __future__ import annotations

import gzip
import hashlib
import json
from functools import cached_property, lru_cache
from typing import Any

from fastapi import Request, Response
from fastapi.responses import JSONResponse

from coembed.explorer import cards, overview, selections
from coembed.explorer.asking import Explorer
from coembed.records import plain

KEPT_CARDS = 4096
"""Of some ten thousand bytes each."""
KEPT_VALUES = 16
"""Fields that the map was coloured by; of a large model half a megabyte each."""
WORTH_PACKING = 500
"""Bytes from which on an answer is packed."""


class Json(JSONResponse):
    """JSON in ASCII: names that are no valid Unicode still go over the wire."""

    def render(self, content: Any) -> bytes:
        try:
            text = json.dumps(content, allow_nan=False, separators=(",", ":"))
        except ValueError:  # a score beyond all numbers, as a strange model may give: null
            text = json.dumps(plain(content), allow_nan=False, separators=(",", ":"))
        return text.encode()


class Packed:
    """Bytes that are sent again and again: packed once, and not at all to who has them already."""

    def __init__(self, body: bytes, media_type: str) -> None:
        self.body, self.media_type = body, media_type
        self.packed = gzip.compress(body, 6, mtime=0) if len(body) > WORTH_PACKING else None
        self.tag = hashlib.blake2b(body, digest_size=12).hexdigest()

    def answer(self, request: Request, vary: str = "Accept-Encoding") -> Response:
        headers = {"ETag": f'"{self.tag}"', "Vary": vary, "Cache-Control": "no-cache"}
        # a proxy that packs an answer itself calls its name weak
        known = [each.strip().removeprefix("W/").strip('"') for each in _header(request, "if-none-match")]
        if self.tag in known or known == ["*"]:
            return Response(status_code=304, headers=headers)
        if self.packed is not None and any("gzip" in each for each in _header(request, "accept-encoding")):
            headers["Content-Encoding"] = "gzip"
            return Response(self.packed, media_type=self.media_type, headers=headers)
        return Response(self.body, media_type=self.media_type, headers=headers)


def _header(request: Request, name: str) -> list[str]:
    return request.headers.get(name, "").split(",")


class Answers:
    """A model with those of its answers that never change, each made once: the map alone is megabytes."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        self.card = lru_cache(KEPT_CARDS)(self._card)
        self.values = lru_cache(KEPT_VALUES)(self._values)

    def _card(self, id: str, type: str | None, k: int) -> bytes:
        return bytes(Json(cards.item_card(self.explorer, id, type, k)).body)

    def _values(self, field: str) -> Packed:
        return self._packed(selections.values(self.explorer, field))

    @cached_property
    def overviews(self) -> dict[str, Packed]:
        makers = (overview.model, overview.types, overview.training, overview.quality, overview.data)
        return {make.__name__: self._packed(make(self.explorer)) for make in makers}

    @cached_property
    def regions(self) -> Packed:
        return self._packed(overview.regions(self.explorer))

    @cached_property
    def map_json(self) -> Packed:
        return self._packed(overview.map_columns(self.explorer))

    @cached_property
    def map_arrow(self) -> bytes:
        return overview.map_arrow(self.explorer)

    @staticmethod
    def _packed(content: dict[str, Any]) -> Packed:
        return Packed(bytes(Json(content).body), "application/json")
