"""The files of the page: those that the server hands out, and that the page as one file is made of."""

from __future__ import annotations

from importlib.resources import files

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css"}
"""By ending, how a browser is told what a file is."""


def page_files() -> dict[str, bytes]:
    """The files of the page by name.

    Examples
    --------
    >>> {"index.html", "main.js", "style.css"} <= page_files().keys()
    True
    """
    folder = files("coembed.explorer") / "page"
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.name.endswith(tuple(TYPES))}
