"""A real browser and a real server, shared by the tests of the page."""

from __future__ import annotations

import io
import os
import shutil
import socket
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from coembed.explorer import Explorer, make_app
from coembed.explorer.model_loading import Loaded
from coembed.explorer.server import make_server

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str | None:
    named = os.environ.get("COEMBED_CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


def need_browser() -> str:
    """The browser's path; without one the tests of the page are skipped, loudly."""
    path = find_chromium()
    try:
        import playwright  # noqa: F401
    except ModuleNotFoundError:
        path = None
    if path is None:
        message = (
            "there is no Chromium, or no playwright: the tests of the page are SKIPPED; "
            "install Debian's chromium, or let COEMBED_CHROMIUM name one"
        )
        warnings.warn(message, stacklevel=1)
        pytest.skip(message)
    return path


@contextmanager
def running(model: Explorer | Loaded, **options) -> Iterator[str]:
    """The page of a model, served on a free port for a while."""
    bound = socket.socket(proto=socket.IPPROTO_TCP)
    bound.bind(("127.0.0.1", 0))
    server = make_server(make_app(model, **options))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join(10)
        bound.close()


class Visitor:
    """A window that remembers what went wrong in it, and where it asked for something."""

    def __init__(self, browser, home: str, **options) -> None:
        self.home = home
        self.context = browser.new_context(accept_downloads=True, **{"viewport": WIDE, **options})
        self.page = self.context.new_page()
        self.problems: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda said: said.type == "error" and self.problems.append(said.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def go(self, address: str = "", wait: bool = True):
        self.page.goto(self.home + address)
        if wait:
            self.page.wait_for_selector("body[data-ready]")
        return self.page

    def pixels(self, selector: str = "#stage") -> np.ndarray:
        from PIL import Image

        self.page.wait_for_timeout(150)
        shot = self.page.locator(selector).screenshot()
        return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(int)

    def close(self) -> None:
        """Close the window; where somebody wants to look later, keep a picture of it."""
        folder = os.environ.get("COEMBED_SCREENSHOTS")
        if folder:
            test = os.environ.get("PYTEST_CURRENT_TEST", "page").split("::")[-1].split(" ")[0]
            self.page.screenshot(path=Path(folder) / f"{test}.png")
        self.context.close()


WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}


def near(pixels: np.ndarray, colour: str, within: int = 40) -> int:
    """How many pixels have about this colour."""
    wanted = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return int((np.abs(pixels - wanted).max(axis=2) < within).sum())
