"""A fitted model as a local web page and an HTTP API. Knows nothing of torch.

The page as one file needs no web framework, so what does is fetched when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from coembed.explorer.asking import Explorer, Shown
from coembed.explorer.model_source import Source

if TYPE_CHECKING:
    from coembed.explorer.application import make_app
    from coembed.explorer.server import Serving, serve

__all__ = ["Explorer", "Serving", "Shown", "Source", "make_app", "serve"]
_HOMES = {
    "make_app": "coembed.explorer.application",
    "serve": "coembed.explorer.server",
    "Serving": "coembed.explorer.server",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
