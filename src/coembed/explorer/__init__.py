"""A fitted model as a local web page and an HTTP API. Knows nothing of torch."""

from coembed.explorer.application import make_app
from coembed.explorer.asking import Explorer
from coembed.explorer.model_loading import Source
from coembed.explorer.server import Serving, serve

__all__ = ["Explorer", "Serving", "Source", "make_app", "serve"]
