"""What is released is what it says: one version everywhere, a plain wheel, always the same bytes."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

from coembed.version import __version__

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHONS = [line.split(" :: ")[-1] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def script(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_one_version_everywhere():
    headings = re.findall(r"^## (\S+)", text_of("CHANGELOG.md"), re.M)
    assert headings[:2] == ["Unreleased", __version__]
    assert yaml.safe_load(text_of("CITATION.cff"))["version"] == __version__


def test_one_address_everywhere():
    """The project is spoken of at the addresses that its metadata name, and at no other."""
    known = {PROJECT["urls"]["Source"], PROJECT["urls"]["Documentation"]}
    pages = [*ROOT.glob("*.md"), ROOT / "CITATION.cff", *ROOT.glob("docs/**/*.md")]
    for page in pages:
        for found in re.findall(
            r"https?://[\w.]*github[\w./-]*coembed[\w./-]*", page.read_text(encoding="utf-8")
        ):
            assert found.startswith(tuple(known)), f"{page.name}: {found}"


def test_badges_are_true():
    drawn = script("badges").badges()
    readme = text_of("README.md")
    for name, badge in drawn.items():
        assert text_of(f"docs/images/{name}") == badge, "run python benchmarks/badges.py"
        assert f"docs/images/{name}" in readme


def test_workflows_cover_what_is_claimed():
    assert [each.stem for each in WORKFLOWS] == ["release", "site", "tests"]
    jobs = {each.stem: yaml.safe_load(each.read_text(encoding="utf-8"))["jobs"] for each in WORKFLOWS}
    matrix = jobs["tests"]["everywhere"]["strategy"]["matrix"]
    assert matrix["python"] == PYTHONS
    assert {each.split("-")[0] for each in matrix["os"]} == {"ubuntu", "macos", "windows"}
    assert f"python{PYTHONS[0]}" in text_of("Makefile")
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    # nothing but a short-lived identity publishes, and only from its own environment
    publish = jobs["release"]["publish"]
    assert publish["environment"] == "release"
    assert publish["permissions"]["id-token"] == "write"
    assert "secrets." not in "".join(each.read_text(encoding="utf-8") for each in WORKFLOWS)
    assert any("attest" in step.get("uses", "") for step in jobs["release"]["build"]["steps"])


def test_the_site_check_finds_what_is_wrong(tmp_path):
    (tmp_path / "index.html").write_text(
        '<a href="other.html#there">1</a><a href="other.html#gone">2</a><a href="none.html">3</a>'
        '<a href="https://example.org">4</a><img src="index.html" alt=" ">'
        '<script src="https://example.org/x.js"></script>',
        encoding="utf-8",
    )
    (tmp_path / "other.html").write_text('<p id="there">', encoding="utf-8")
    (tmp_path / "alone.html").write_text("<p>", encoding="utf-8")
    found, counts = script("check_site").problems(tmp_path)
    told = "\n".join(found)
    for said in (
        "#gone names no place",
        "none.html does not exist",
        "asks another host",
        "no words",
        "alone.html: no page",
    ):
        assert said in told
    assert len(found) == 5
    assert counts["pages"] == 3


def test_hooks_before_commits_are_those_of_the_tests():
    hooks = {each["repo"]: each for each in yaml.safe_load(text_of(".pre-commit-config.yaml"))["repos"]}
    pinned = re.search(r"^ruff==(\S+)", text_of("requirements.txt"), re.M)
    assert pinned is not None
    assert hooks["https://github.com/astral-sh/ruff-pre-commit"]["rev"] == f"v{pinned[1]}"


def checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> list[dict[str, Path]]:
    """Two builds, one after the other, each with its wheel and its sdist."""
    found = []
    for _ in range(2):
        folder = tmp_path_factory.mktemp("dist")
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
        subprocess.run(command, check=True, capture_output=True)
        found.append({path.suffix: path for path in folder.iterdir()})
    return found


@pytest.mark.slow
def test_two_builds_are_the_same_bytes(built):
    first, second = ({suffix: checksum(path) for suffix, path in each.items()} for each in built)
    assert first == second
    assert set(first) == {".whl", ".gz"}


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(built):
    wheel = built[0][".whl"]
    assert wheel.name == f"coembed-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as file:
        names = [name for name in file.namelist() if ".dist-info/" not in name]
        about = [name for name in file.namelist() if ".dist-info/" in name]
        metadata = file.read(f"coembed-{__version__}.dist-info/METADATA").decode()
    tracked = subprocess.run(
        ["git", "ls-files", "src"], cwd=ROOT, check=False, capture_output=True, text=True
    ).stdout.split()
    expected = {name.removeprefix("src/") for name in tracked} or set(names)
    assert set(names) == expected
    endings = {Path(name).suffix for name in names}
    assert endings <= {".py", ".js", ".css", ".html", ".json", ".toml", ".csv", ".npz", ".txt", ".typed"}
    assert {"coembed/py.typed", "coembed/explorer/page/main.js", "coembed/sbom.json"} <= set(names)
    assert sum(name.endswith("WORDNET-LICENSE.txt") for name in about) == 2
    assert "License-Expression: Apache-2.0" in metadata
    assert 500_000 < wheel.stat().st_size < 2_000_000


@pytest.mark.slow
def test_the_sdist_has_tests_and_docs(built):
    with tarfile.open(built[0][".gz"]) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    assert {"tests/test_release.py", "docs/conf.py", "docs/tutorials/five_minutes.ipynb", "Makefile"} <= names
    assert {"requirements.txt", "CHANGELOG.md", "LICENSE", "benchmarks/pin.py", ".ci/run"} <= names
    assert not [name for name in names if name.startswith((".venv", "build/", "dist/", "out/", ".git/"))]
    assert built[0][".gz"].stat().st_size < 20_000_000
