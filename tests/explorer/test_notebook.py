"""The widget and the progress, in Python; and in a real page of JupyterLab."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from types import SimpleNamespace
from urllib.request import urlopen

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.fitted import save

from .browser import find_chromium, need_browser


def test_the_widget_has_every_item_where_the_layout_has_it(general):
    pytest.importorskip("anywidget")
    widget, layout = general.widget("pca"), general.map2d("pca")
    places = np.frombuffer(widget.places, "<f4").reshape(-1, 2)
    np.testing.assert_allclose(places, np.vstack(list(layout.places.values())), rtol=1e-6)
    assert (
        len(widget.names) == len(widget.tones) == len(places) == sum(map(len, general.network.types.values()))
    )
    widget.choose("film", ["f003", "f001"])
    assert widget.chosen == [("film", "f003"), ("film", "f001")]
    widget.selected = [0]
    assert widget.chosen == [("person", "p000")]
    with pytest.raises(InputError, match="no film 'p000'"):
        widget.choose("film", ["p000"])


def test_without_the_extra_the_remedy_is_told(general, monkeypatch):
    from coembed.maps import map_widget

    map_widget._widget_class.cache_clear()
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(InputError, match=r"install coembed\[notebook\]"):
        general.widget("pca")


def test_progress_in_a_notebook_is_one_output_that_changes(monkeypatch):
    from coembed.progress import notebook_progress

    shown: list[str] = []

    class ZMQInteractiveShell:
        pass

    output = SimpleNamespace(update=shown.append)
    display = SimpleNamespace(HTML=str, display=lambda first, display_id: output)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setitem(
        sys.modules, "IPython", SimpleNamespace(get_ipython=ZMQInteractiveShell, display=display)
    )
    watcher = notebook_progress()
    assert watcher is not None
    watcher.step("reading <b>")
    watcher(1, 2, {"loss": 2.0})
    watcher(2, 2, {"loss": 1.5})
    watcher.end()
    assert "reading &lt;b&gt;" in shown[0]
    assert '<progress value="2" max="2">' in shown[-2]
    assert "fitted in" in shown[-1]
    assert "loss 1.500" in shown[-1]


CELLS = (
    """import coembed
network = coembed.Network.build([[0, 1, 0], [1, 0, 1], [0, 1, 0]], name="three")
_ = coembed.fit(network, coembed.preset_settings("paper", epochs=30, dim=2))""",
    """fitted = coembed.load("model")
widget = fitted.widget("pca")
widget""",
    """fitted.plot_training()""",
    """import json, pathlib
def note(change):
    pathlib.Path("chosen.json").write_text(json.dumps(widget.chosen))
widget.observe(note, "selected")
widget.choose("film", ["f001"])""",
)


@pytest.fixture
def lab(general, tmp_path):
    """JupyterLab with a notebook beside a model, on a free port."""
    pytest.importorskip("jupyterlab")
    pytest.importorskip("anywidget")
    import socket

    save(general, tmp_path / "model")
    cells = [
        {
            "cell_type": "code",
            "id": f"c{i}",
            "source": text,
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        for i, text in enumerate(CELLS)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "map.ipynb").write_text(json.dumps(notebook))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    command += ["--IdentityProvider.token=", "--ServerApp.password=", f"--ServerApp.root_dir={tmp_path}"]
    own = {
        name: str(tmp_path / ".jupyter") for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")
    }
    process = subprocess.Popen(
        command, env={**os.environ, **own}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path
    )
    try:
        for _ in range(300):
            try:
                urlopen(f"http://127.0.0.1:{port}/api").read()
                break
            except OSError:
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}", tmp_path
    finally:
        process.terminate()
        process.wait(20)


@pytest.mark.slow
def test_what_is_chosen_in_jupyterlab_is_known_in_python_and_the_other_way_round(lab):
    need_browser()
    from playwright.sync_api import sync_playwright

    address, folder = lab
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 1600})
        page.goto(f"{address}/lab/tree/map.ipynb")
        page.wait_for_selector(".jp-Notebook", timeout=90_000)
        page.wait_for_selector("text=Python 3", timeout=60_000)
        page.locator(".jp-Notebook .jp-Cell").first.click()
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_text("Run All Cells", exact=True).click()
        page.wait_for_selector(".coembed-map canvas", timeout=120_000)
        # from Python to the page
        page.wait_for_selector(".coembed-chosen:has-text('1 chosen: f001')", timeout=60_000)
        page.wait_for_selector("text=fitted in", timeout=60_000)
        page.wait_for_selector(".jp-OutputArea img", timeout=60_000)
        # and from the page to Python: a rectangle over everything, then one item
        canvas = page.locator(".coembed-map canvas")
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        assert box is not None
        page.keyboard.down("Shift")
        page.mouse.move(box["x"] + 3, box["y"] + 3)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] - 3, box["y"] + box["height"] - 3, steps=4)
        page.mouse.up()
        page.keyboard.up("Shift")
        everything = chosen_of(folder, lambda found: len(found) > 1)
        assert ["person", "p000"] in everything
        if os.environ.get("COEMBED_SCREENSHOTS"):
            page.screenshot(path=os.path.join(os.environ["COEMBED_SCREENSHOTS"], "notebook.png"))
        canvas.dblclick(position={"x": 4, "y": 4})  # nothing is there
        assert chosen_of(folder, lambda found: not found) == []
        browser.close()


def chosen_of(folder, is_it, seconds: float = 30) -> list:
    """What Python noted, once it is what is waited for."""
    found = None
    for _ in range(int(seconds * 5)):
        if (folder / "chosen.json").exists():
            text = (folder / "chosen.json").read_text()
            found = json.loads(text) if text else found
            if found is not None and is_it(found):
                return found
        time.sleep(0.2)
    raise AssertionError(f"Python knows of {found}")
