"""The page with very much on its map: time to the first picture, memory, and how smoothly it pans.

    python benchmarks/page.py --nodes 100000 --attributes 10000

Makes up a model of that size (places and codes in groups, a network of `coembed synthesize`), serves it as
`coembed serve` does, and opens it in Chromium, which draws in software where there is no graphics card. Needs
the extra `explore`, playwright and Chromium (COEMBED_CHROMIUM names it, if it is not in the path).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from coembed.client import Client
from coembed.fitted import save
from coembed.fitted.format1 import plain_fitted
from coembed.maps.layout import _fingerprint
from coembed.network import Network
from coembed.network.readers.npz import save_arrays
from coembed.network.synthetic import synthesize, true_classes

CLASSES, DIM = 12, 64

# the map moves a little every frame; 60 frames of what the browser really shows
PAN = """async () => {
  const map = coembed.map, frames = [];
  const step = map.width / map.view.scale / 200;
  let last = performance.now();
  for (let i = 0; i < 60; i++) {
    map.look({ ...map.view, x: map.view.x + (i < 30 ? step : -step) });
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    frames.push(now - last);
    last = now;
  }
  frames.sort((a, b) => a - b);
  return { median: frames[30], slowest: frames[59] };
}"""
# what the page's own script takes of a frame; the points are then the graphics card's work
SCRIPT = """async () => {
  const { drawOverlay } = await import("coembed/overlay.js");
  const { css } = await import("coembed/colours.js");
  const map = coembed.map, took = [];
  for (let i = 0; i < 30; i++) {
    const start = performance.now();
    map.points.draw(map.view, map.width, map.height, map.ratio, map.pointSize, 1, map.page.ink);
    drawOverlay(map, css);
    took.push(performance.now() - start);
    await new Promise(requestAnimationFrame);
  }
  return took.sort((a, b) => a - b)[15];
}"""
OVERLAY = """async () => {
  const { drawOverlay } = await import("coembed/overlay.js");
  const { css } = await import("coembed/colours.js");
  const start = performance.now();
  for (let i = 0; i < 20; i++) drawOverlay(coembed.map, css);
  return (performance.now() - start) / 20;
}"""
NEARER = """() => coembed.map.look({
  x: coembed.items.x[5], y: coembed.items.y[5], scale: 25 * coembed.map.view.scale
})"""
DRAWN_BY = """() => {
  const gl = coembed.map.points.gl;
  const told = gl?.getExtension("WEBGL_debug_renderer_info");
  return told ? gl.getParameter(told.UNMASKED_RENDERER_WEBGL) : "unknown";
}"""
PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
HEAP = "() => performance.memory.usedJSHeapSize"


def made_up(nodes: int, attributes: int, folder: Path) -> None:
    """A model whose codes and places lie in groups."""
    network = synthesize(nodes, 4 * nodes, attributes, 10 * nodes, CLASSES)
    rng = np.random.default_rng(0)
    group = true_classes(nodes, CLASSES)
    owned = rng.integers(0, CLASSES, attributes)
    centres = rng.standard_normal((CLASSES, DIM + CLASSES)).astype(np.float32)
    about = centres[owned] + rng.standard_normal((attributes, DIM + CLASSES)).astype(np.float32)
    fitted = plain_fitted(
        network=_named(network, rng),
        settings={},
        history={},
        preset="paper",
        node_mean=centres[group, :DIM] + rng.standard_normal((nodes, DIM)).astype(np.float32),
        node_std=np.full((nodes, DIM), 0.3, np.float32),
        probabilities=np.eye(CLASSES, dtype=np.float32)[group] * 0.8 + np.float32(0.2 / CLASSES),
        label_shift=np.zeros((CLASSES, 2 * DIM), np.float32),
        attribute_mean=about,
        attribute_std=np.full(about.shape, 0.3, np.float32),
    )
    save(fitted, folder)
    islands = rng.uniform(-100, 100, (8 * CLASSES, 2))
    places = [
        (islands[each + CLASSES * rng.integers(0, 8, len(each))] + 4 * rng.standard_normal((len(each), 2)))
        for each in (group, owned)
    ]
    arrays = dict(zip(("t0", "t1"), (each.astype(np.float32) for each in places), strict=True))
    save_arrays(folder / "map-pca.npz", {"key": np.array([f"pca 0 {_fingerprint(fitted):08x}"]), **arrays})


def _named(network: Network, rng: np.random.Generator) -> Network:
    """Names that read like words: the search and the names on the map have something to do."""
    from dataclasses import replace

    parts = np.array(["ka", "lo", "mi", "ren", "sta", "tor", "un", "vel", "zan", "dri", "phi", "qua", "be"])

    def names(count: int) -> np.ndarray:
        joined = ["".join(each) for each in parts[rng.integers(0, len(parts), (count, 3))]]
        return np.array([f"{word} {i}" for i, word in enumerate(joined)], dtype=object)

    types = {name: replace(items, ids=names(len(items))) for name, items in network.types.items()}
    return replace(network, types=types)


def measure(address: str, folder: Path) -> dict[str, Any]:
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("COEMBED_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    arguments = ["--no-sandbox", "--enable-unsafe-swiftshader", "--enable-precise-memory-info"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        page = browser.new_page(viewport={"width": 1360, "height": 820})
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        start = time.perf_counter()
        page.goto(address)
        page.wait_for_selector("body[data-ready]", timeout=120_000)
        ready = time.perf_counter() - start
        page.wait_for_timeout(1500)
        page.screenshot(path=folder / "page-far.png")
        found = {
            "drawn_by": page.evaluate(DRAWN_BY),
            "first_paint_ms": page.evaluate(PAINTED),
            "map_ready_s": round(ready, 2),
            "pan_far_ms": page.evaluate(PAN),
            "names_ms": page.evaluate(OVERLAY),
            "script_ms_a_frame": page.evaluate(SCRIPT),
        }
        page.evaluate(NEARER)
        page.wait_for_timeout(1500)
        page.screenshot(path=folder / "page-near.png")
        found["pan_near_ms"] = page.evaluate(PAN)
        found["script_memory_mb"] = round(page.evaluate(HEAP) / 2**20, 1)
        found["browser_memory_mb"] = round(_memory_of_descendants(os.getpid(), "chrom"), 1)
        found["problems"] = problems
        browser.close()
    return found


def _memory_of_descendants(pid: int, name: str) -> float:
    """Megabytes of all processes below one whose name holds `name`; shared pages count once."""
    total, asked = 0.0, [pid]
    while asked:
        here = asked.pop()
        try:
            for task in Path(f"/proc/{here}/task").iterdir():
                asked += [int(child) for child in (task / "children").read_text().split()]
            if name in Path(f"/proc/{here}/comm").read_text():
                rollup = Path(f"/proc/{here}/smaps_rollup").read_text()
                total += int(re.search(r"^Pss:\s+(\d+)", rollup, re.M)[1]) / 1024
        except OSError:
            continue  # it has ended meanwhile
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--attributes", type=int, default=10_000)
    parser.add_argument("-o", "--output", type=Path, default=Path("."), help="For two screenshots.")
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        model = Path(place) / "model"
        made_up(given.nodes, given.attributes, model)
        start = time.perf_counter()
        command = [sys.executable, "-m", "coembed", "serve", str(model), "--port", "0", "--method", "pca"]
        server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            told = (re.search(r"http://\S+/", line) for line in server.stderr)
            address = next(found[0] for found in told if found)
            served = round(time.perf_counter() - start, 2)
            Client(address).wait()
            ready = round(time.perf_counter() - start, 2)
            figures = measure(address, given.output)
            status = Path(f"/proc/{server.pid}/status").read_text()
            memory = int(re.search(r"VmRSS:\s+(\d+)", status)[1]) // 1024
        finally:
            server.terminate()
            server.wait(10)
    print(
        json.dumps(
            {"server_listens_s": served, "model_ready_s": ready, "server_memory_mb": memory, **figures},
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
