"""Draws the badges of the README, each from what it speaks of.

    python benchmarks/badges.py build/coverage.json

They lie in docs/images, so that nothing is fetched to show them and none says what was not measured here.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
BLUE, GREEN, SAND = "#0a6cc2", "#17733a", "#8f6a1a"
LETTER = 6.6
"""Width of a letter of 11 pixels, about."""


def badge(name: str, value: str, colour: str) -> str:
    left, right = (round(len(text) * LETTER + 12) for text in (name, value))
    box = f'<rect width="{left + right}" height="20" rx="4" fill="#4a5360"/>'
    box += f'<path d="M{left} 0h{right - 4}q4 0 4 4v12q0 4-4 4h-{right - 4}z" fill="{colour}"/>'
    texts = "".join(
        f'<text x="{x}" y="14" text-anchor="middle">{text}</text>'
        for text, x in ((name, left / 2), (value, left + right / 2))
    )
    font = 'font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" fill="#fff"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{name}: {value}">{box}<g {font}>{texts}</g></svg>\n'
    )


def badges() -> dict[str, str]:
    """Those that the project itself tells."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pythons = [line.split(" :: ")[-1] for line in project["classifiers"] if re.search(r":: 3\.\d+$", line)]
    version = re.search(r'"(.+)"', (ROOT / "src/coembed/version.py").read_text(encoding="utf-8"))
    assert version is not None
    return {
        "badge-licence.svg": badge("licence", project["license"], BLUE),
        "badge-python.svg": badge("Python", " | ".join(pythons), BLUE),
        "badge-version.svg": badge("version", version[1], BLUE),
    }


def coverage_badge(measured: Path) -> str:
    """Lines and branches that the fast tests run."""
    share = json.loads(measured.read_text(encoding="utf-8"))["totals"]["percent_covered"]
    return badge("coverage", f"{share:.0f} %", GREEN if share >= 85 else SAND)


if __name__ == "__main__":
    drawn = badges()
    if sys.argv[1:]:
        drawn["badge-coverage.svg"] = coverage_badge(Path(sys.argv[1]))
    for file, text in drawn.items():
        (IMAGES / file).write_text(text, encoding="utf-8")
