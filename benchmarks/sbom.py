"""Writes what the wheel holds and what it asks for, in CycloneDX: ``python benchmarks/sbom.py``."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "src" / "coembed" / "sbom.json"


def bill_of_materials() -> dict[str, Any]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [("required", line) for line in project["dependencies"]]
    asked += [
        ("optional", line)
        for name in sorted(extras)
        if name not in ("dev", "all", "benchmarks", "docs", "tutorials")
        for line in extras[name]
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": _component("library", project["name"], licence={"id": project["license"]})},
        "components": [
            _component("data", "WordNet 3.0, an excerpt", "required", {"name": "WordNet 3.0 license"}),
            *(_asked(scope, line) for scope, line in asked),
        ],
    }


def _asked(scope: str, line: str) -> dict[str, Any]:
    name = re.split(r"[\[<>=;\s]", line)[0]
    component = _component("library", name, scope)
    component["purl"] = f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}"
    component["properties"] = [{"name": "requirement", "value": line}]
    return component


def _component(
    kind: str, name: str, scope: str | None = None, licence: dict[str, str] | None = None
) -> dict[str, Any]:
    found: dict[str, Any] = {"type": kind, "name": name}
    if scope is not None:
        found["scope"] = scope
    if licence is not None:
        found["licenses"] = [{"license": licence}]
    return found


if __name__ == "__main__":
    TARGET.write_text(json.dumps(bill_of_materials(), indent=1) + "\n", encoding="utf-8")
