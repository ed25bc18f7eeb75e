"""The pictures of the documentation, made from a model in a real browser.

    coembed demo
    python benchmarks/screenshots.py demo/model -o docs/images

Needs the extra `explore`, playwright and Chromium (COEMBED_CHROMIUM names it, if it is not in the path).
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

TOKEN = "pictures"
WIDE, PHONE = (1360, 820), (390, 844)
NEW = '{"name":"reef fish","attributes":["fish","coral","sea","tropical"],"links":[]}'
SHOTS = {
    # name: address, width and height, colours, the whole page
    "explorer-map": ("", WIDE, "light", False),
    "explorer-node": ("#node=battery.n.02", WIDE, "light", False),
    "explorer-selection": ("#q=has:river&links=1", WIDE, "light", False),
    "explorer-colours": ("#colour=degree&size=degree&off=attributes", WIDE, "dark", False),
    "explorer-regions": ("#regions=1&off=names,attributes", WIDE, "light", False),
    "explorer-label": ("#label=1", WIDE, "light", False),
    "explorer-table": ("#q=p<0.9&tab=table&sort=p", WIDE, "light", False),
    "explorer-attribute": ("#attribute=fish", WIDE, "light", False),
    "explorer-new": (f"#new={quote(NEW)}", WIDE, "light", False),
    "explorer-quality": ("#tab=quality", (1360, 960), "light", False),
    "explorer-training": ("#tab=training", WIDE, "light", False),
    "explorer-data": ("#tab=data", WIDE, "light", False),
    "explorer-dark": ("#node=Denmark.n.01", WIDE, "dark", False),
    "explorer-phone": ("#node=Denmark.n.01", PHONE, "light", False),
}


def shoot(address: str, folder: Path, names: list[str]) -> None:
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("COEMBED_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--enable-unsafe-swiftshader"]
        )
        for name in names:
            where, (width, height), colours, whole = SHOTS[name]
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme=colours,
                reduced_motion="reduce",
                device_scale_factor=2 if width < 500 else 1,
            )
            page = context.new_page()
            page.goto(f"{address}#token={TOKEN}{where.replace('#', '&')}")
            page.wait_for_selector("body[data-ready]", timeout=300_000)  # the map may have to be laid out
            page.wait_for_load_state("networkidle")
            page.wait_for_timeout(700)
            page.screenshot(path=folder / f"{name}.png", full_page=whole)
            context.close()
            print(folder / f"{name}.png")
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/images"))
    parser.add_argument("--only", nargs="*", default=list(SHOTS), choices=list(SHOTS))
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "coembed", "explore", given.model, "--no-browser", "--port", "0"]
    command += [
        "--allow-changes",
        "--token",
        TOKEN,
    ]  # or there is nothing to label
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        told = (re.search(r"http://\S+/", line) for line in server.stderr)
        shoot(next(found[0] for found in told if found), given.output, given.only)
    finally:
        server.terminate()
        server.wait(10)


if __name__ == "__main__":
    main()
