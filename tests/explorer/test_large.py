"""A hundred thousand nodes and ten thousand attributes stay quick to look at."""

from __future__ import annotations

import time

import numpy as np
import pytest
import scipy.sparse as sp

from coembed.explorer import Explorer
from coembed.explorer.cards import spread
from coembed.fitted.format1 import plain_fitted
from coembed.maps.layout import Layout
from coembed.network import UNKNOWN, Network

from .browser import Visitor, need_browser, running

NODES, ATTRIBUTES, CLASSES, DIM = 100_000, 10_000, 12, 32


@pytest.fixture(scope="module")
def large() -> Explorer:
    """Made-up codes in groups; a network of random links; no inference networks."""
    rng = np.random.default_rng(0)

    def matrix(shape, entries):
        at = tuple(rng.integers(0, size, entries) for size in shape)
        made = sp.csr_array((np.ones(entries, np.float32), at), shape=shape)
        made.data[:] = 1
        return made

    half = matrix((NODES, NODES), 3 * NODES)
    group = rng.integers(0, CLASSES, NODES)
    network = Network.plain(
        links=(half + half.T).tocsr(),
        attributes=matrix((NODES, ATTRIBUTES), 8 * NODES),
        labels=np.where(rng.random(NODES) < 0.1, group, UNKNOWN),
        node_names=np.array([f"{'abcdefghij'[i % 10] * 3}node {i}" for i in range(NODES)], dtype=object),
        attribute_names=np.array([f"attribute-{i}" for i in range(ATTRIBUTES)], dtype=object),
        class_names=np.array([f"class {k}" for k in range(CLASSES)], dtype=object),
        name="large",
    )
    centres = rng.standard_normal((CLASSES, DIM + CLASSES)).astype(np.float32)
    codes = centres[group] + rng.standard_normal((NODES, DIM + CLASSES)).astype(np.float32)
    owned = centres[rng.integers(0, CLASSES, ATTRIBUTES)]
    fitted = plain_fitted(
        network=network,
        settings={},
        history={},
        preset="paper",
        node_mean=codes[:, :DIM],
        node_std=np.full((NODES, DIM), 0.3, np.float32),
        probabilities=np.eye(CLASSES, dtype=np.float32)[group] * 0.8 + np.float32(0.2 / CLASSES),
        label_shift=np.zeros((CLASSES, 2 * DIM), np.float32),
        attribute_mean=owned + rng.standard_normal(owned.shape).astype(np.float32),
        attribute_std=np.full(owned.shape, 0.3, np.float32),
    )
    islands = rng.uniform(-100, 100, (CLASSES, 2))
    places = [islands[group], islands[rng.integers(0, CLASSES, ATTRIBUTES)]]
    places = [(each + 8 * rng.standard_normal(each.shape)).astype(np.float32) for each in places]
    return Explorer(fitted, Layout("pca", dict(zip(("node", "attribute"), places, strict=True))))


def seconds(action) -> float:
    """The processor's time, whatever else the machine does."""
    start = time.process_time()
    action()
    return time.process_time() - start


@pytest.mark.slow
def test_questions_take_moments(large):
    large.warm()
    assert seconds(lambda: [large.index.find(f"node {i}7") for i in range(50)]) / 50 < 0.03
    assert seconds(lambda: spread(large, {"node": list(range(40)), "attribute": list(range(40))})) < 2


@pytest.mark.slow
def test_what_is_asked_of_selections_takes_less_than_a_second(large):
    from coembed.fitted.enrichment import set_apart
    from coembed.maps.regions import landscape

    assert seconds(lambda: large.fitted.find("class:*3 has:attribute-1* degree>5 node")) < 1
    assert seconds(lambda: landscape(large.fitted, large.layout)) < 1
    assert seconds(lambda: set_apart(large.fitted, {"node": np.arange(20_000)})) < 1


@pytest.mark.slow
def test_the_page_pans_and_zooms_smoothly(large):
    path = need_browser()
    from playwright.sync_api import sync_playwright

    with running(large) as home, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--enable-unsafe-swiftshader"]
        )
        visitor = Visitor(browser, home)
        page = visitor.go(wait=False)
        page.wait_for_selector("body[data-ready]", timeout=60_000)
        milliseconds = page.evaluate(
            """async () => {
              const { drawOverlay } = await import("coembed/overlay.js");
              const { css } = await import("coembed/colours.js");
              const map = coembed.map;
              const start = performance.now();
              for (let i = 0; i < 40; i++) {
                map.view = { ...map.view, x: map.view.x + 0.5, scale: map.view.scale * 1.05 };
                drawOverlay(map, css);
              }
              return (performance.now() - start) / 40;
            }"""
        )
        assert milliseconds < 50  # without a graphics card, on a busy machine
        assert visitor.problems == []
        browser.close()
