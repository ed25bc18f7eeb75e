"""What is installed is what was pinned, under licences that allow it, and the wheel says what it asks for."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ALLOWED = re.compile(
    r"MIT|BSD|Apache|ISC|PSF|Python Software Foundation|MPL|Mozilla|Zlib|CC0|HPND|OSI Approved|Unlicense",
    re.I,
)
FORBIDDEN = re.compile(r"\b(A?GPL|GNU (Affero )?General|SSPL|BUSL|Commons Clause|Proprietary)", re.I)
KNOWN = {"atheris": "Apache-2.0", "docutils": "Public domain and BSD"}
"""Packages whose metadata do not say it, while their sources do; docutils also names the GPL, of an Emacs
mode that the wheel does not have."""
NOT_INSTALLED = {"ray", "benchmarks", "anndata", "tensorboard", "mlflow", "notebook", "tutorials"}
"""Extras that `make` does not install."""


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned() -> dict[str, str]:
    """Names, and what is said of each: its version, a marker perhaps, and its hashes."""
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {plain(line.split("==")[0]): line for line in lines}


def test_everything_but_torch_is_pinned_with_hashes():
    lines = pinned()
    assert len(lines) > 80
    assert "torch" not in lines
    for name, line in lines.items():
        assert re.match(r"[\w.-]+==[\w.]+ .*--hash=sha256:[0-9a-f]{64}", line), name
        assert not re.search(r"--hash=(?!sha256:[0-9a-f]{64}( |$))", line), name
    torch = (ROOT / "requirements-torch.txt").read_text(encoding="utf-8").splitlines()
    assert [line.split("==")[0] for line in torch if not line.startswith("#")] == ["torch"]
    make = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "install --require-hashes --no-deps -r requirements.txt" in make


def test_what_the_project_asks_for_is_pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = list(project["dependencies"])
    for extra, lines in project["optional-dependencies"].items():
        asked += [] if extra in NOT_INSTALLED else [line for line in lines if "coembed[" not in line]
    names = {plain(re.split(r"[\[<>=;\s]", line)[0]) for line in asked} - {"torch"}
    assert names <= set(pinned())


def test_licences_allow_it():
    """Of all that is installed of what is pinned."""
    looked_at = 0
    for name in pinned():
        try:
            metadata = importlib.metadata.metadata(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        looked_at += 1
        classifiers = [each for each in metadata.get_all("Classifier", []) if each.startswith("License")]
        said = metadata.get("License-Expression") or "; ".join(classifiers) or metadata.get("License", "")
        said = KNOWN.get(name, said)
        assert not FORBIDDEN.search(said), f"{name}: {said[:80]}"
        assert ALLOWED.search(said), f"{name}: {said[:80]}"
    assert looked_at > 40


def test_the_bill_of_materials_is_that_of_the_project():
    place = ROOT / "benchmarks" / "sbom.py"
    spec = importlib.util.spec_from_file_location("sbom", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kept = json.loads((ROOT / "src" / "coembed" / "sbom.json").read_text(encoding="utf-8"))
    assert kept == module.bill_of_materials(), "run python benchmarks/sbom.py"


@pytest.mark.parametrize("said", ["what is believed", "networks", "models", "report a weakness"])
def test_the_threat_model_is_written_down(said):
    assert said in (ROOT / "SECURITY.md").read_text(encoding="utf-8").lower()
