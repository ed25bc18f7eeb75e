"""A fitted model as a local web page and an HTTP API. Knows nothing of torch."""

from coembed.serve.app import make_app
from coembed.serve.explorer import Explorer
from coembed.serve.server import serve

__all__ = ["Explorer", "make_app", "serve"]
