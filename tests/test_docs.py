"""The documentation is true: its Python and commands run, its links lead somewhere, its tables agree."""

from __future__ import annotations

import doctest
import re
import shlex
from dataclasses import fields
from pathlib import Path

import pytest
import typer

from coembed.baselines import METHODS
from coembed.cli import main
from coembed.cli.app import app
from coembed.experiments.benchmark_networks import TITLES
from coembed.experiments.record_store import Store
from coembed.experiments.results import Results
from coembed.report.render import number
from coembed.report.statistics import mean_of
from coembed.settings import PRESETS, Settings

ROOT = Path(__file__).resolve().parents[1]
BESIDE = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md"]
FOLDERS = ["", "extending", "reference", "tutorials"]
PAGES = sorted(
    [*map(ROOT.joinpath, BESIDE), *(each for f in FOLDERS for each in (ROOT / "docs" / f).glob("*.md"))]
)
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
IN_LINE = re.compile(r"(?<!`)`(coembed [^`]+)`")
OPTION = re.compile(r"^--?[a-zA-Z][a-z-]*$")
BY_NAME = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def measured(network: str) -> list[str]:
    """Accuracy, attribute AUC and AP, link AUC and AP of the default model, as the records have them."""
    results = Results.read(Store(ROOT / "docs" / "results"))
    wanted = [
        ("table1", "accuracy"),
        *((table, name) for table in ("table2", "links") for name in ("auc", "ap")),
    ]
    means = [mean_of(results.values(table, "scan-best", network, name)) for table, name in wanted]
    return [number(mean.mean) for mean in means if mean]


def test_the_figures_of_the_readme_are_those_of_the_records() -> None:
    lines = {
        line.split("|")[1].split()[0]: line
        for line in text_of(ROOT / "README.md").splitlines()
        if " / ." in line
    }
    for name, title in TITLES.items():
        shown = re.sub(r"\([^)]*\)", "", lines[title])  # in brackets what the paper prints
        assert re.findall(r"\.\d{3}", shown) == measured(name), title


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(page: Path, language: str) -> list[str]:
    return [body for found, body in FENCE.findall(text_of(page)) if found == language]


def code_only(text: str) -> str:
    """The page with every line outside its Python blank, so that line numbers stay those of the page."""
    lines, inside = [], False
    for line in text.splitlines():
        fence = line.startswith("```")
        lines.append("" if fence or not inside else line)
        inside = line == "```python" if fence else inside
    return "\n".join(lines) + "\n"


def console_commands(page: Path) -> list[list[str]]:
    """The lines after a ``$`` in the page's console blocks, as words."""
    lines = [line for block in blocks(page, "console") for line in block.splitlines()]
    return [shlex.split(line[2:], comments=True) for line in lines if line.startswith("$ ")]


def write_files(page: Path, folder: Path) -> None:
    """The files that a page shows: a text block after a line that is a name and a colon."""
    for name, body in re.findall(r"^`([\w/.-]+)`:\n\n```text\n(.*?)^```$", text_of(page), re.M | re.S):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(body, encoding="utf-8")


def run(words: list[str]) -> int:
    with pytest.raises(SystemExit) as end:
        main(words)
    return int(end.value.code or 0)


def short(words: list[str]) -> list[str]:
    return [*words, "--epochs", "2"] if words[0] == "demo" else words


@pytest.fixture
def few_epochs(monkeypatch):
    """What the documentation trains and lays out for a while takes a moment here."""
    for tasks in PRESETS.values():
        for changes in tasks.values():
            for name, value in {"epochs": 2, "hidden": 16, "rank": 16, "space_dim": 16}.items():
                monkeypatch.setitem(changes, name, value)
    monkeypatch.setattr("coembed.evaluation.evaluation.PUBLISHED_CHANGES", ("epochs=2",))
    monkeypatch.setattr("coembed.maps.layout.MOST_FOR_TSNE", 0)


@BY_NAME
def test_its_python_gives_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(page, tmp_path)
    examples = doctest.DocTestParser().get_doctest(code_only(text_of(page)), {}, page.name, str(page), 0)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(examples, out=report.append)
    assert not runner.failures, "".join(report)


@BY_NAME
def test_all_its_python_is_run(page):
    for block in blocks(page, "python"):
        assert block.startswith(">>> "), f"{page.name}: this block is not run by the tests:\n{block}"


@pytest.mark.parametrize(
    "name", ["README.md", "docs/quickstart.md", "docs/tables.md", "docs/cli.md", "docs/evaluation.md"]
)
def test_its_commands_work_one_after_the_other(name, tmp_path, monkeypatch, few_epochs):
    monkeypatch.chdir(tmp_path)
    page = ROOT / name
    write_files(page, tmp_path)
    ran = 0
    for words in console_commands(page):
        if words[0] == "coembed":
            assert run(short(words[1:])) == 0, " ".join(words)
        elif words[:2] == ["python", "-c"]:
            exec(words[2], {})
        else:
            assert words[0] in ("make", "pip", "git"), f"{name}: {words[0]} is not run by the tests"
            continue
        ran += 1
    assert ran


@BY_NAME
def test_commands_and_options_exist(page):
    named = [found.split() for found in IN_LINE.findall(text_of(page))]
    for words in [*named, *(words for words in console_commands(page) if words[0] == "coembed")]:
        if words[1].startswith("-") or words[1] == "COMMAND":
            continue
        assert words[1] in COMMANDS, f"{page.name}: there is no command {words[1]!r}"
        known = {option for each in COMMANDS[words[1]].params for option in each.opts}
        for option in filter(OPTION.match, words[2:]):
            assert option in known, f"{page.name}: coembed {words[1]} has no option {option}"


@BY_NAME
def test_links_lead_somewhere(page):
    text = re.sub(FENCE, "", text_of(page))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        place = (page.parent / path).resolve() if path else page
        assert place.exists(), f"{page.name}: {target} does not exist"
        if anchor:
            titles = re.findall(r"^#+ (.+)$", re.sub(FENCE, "", text_of(place)), re.M)
            anchors = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
            assert anchor in anchors, f"{page.name}: {target} names no heading"


def test_every_page_is_in_the_index():
    index = text_of(ROOT / "docs" / "index.md")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.stem == "index" or f"({page.name})" in index


def test_every_command_and_option_is_described():
    page = text_of(ROOT / "docs" / "cli.md")
    sections = dict(re.findall(r"^## `([\w-]+)`$(.*?)(?=^## |\Z)", page, re.M | re.S))
    assert set(sections) == set(COMMANDS)
    for name, command in COMMANDS.items():
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("--") and option != "--help":
                    assert f"`{option}" in sections[name], f"docs/cli.md: {name} lacks {option}"


def test_settings_have_their_defaults():
    rows = dict(re.findall(r"^\| `(\w+)` \| `([^`]*)` \|", text_of(ROOT / "docs" / "settings.md"), re.M))
    expected = {field.name: str(field.default).lower() for field in fields(Settings)}
    assert {name: value.lower() for name, value in rows.items()} == expected


def test_presets_have_their_changes():
    page = text_of(ROOT / "docs" / "settings.md")
    for preset, tasks in PRESETS.items():
        for task, changes in tasks.items():
            row = re.search(rf"^\| `{preset}` \| {task} \| (.*) \|$", page, re.M)
            assert row, f"docs/settings.md: there is no row of preset {preset}, task {task}"
            found = dict(re.findall(r"`(\w+)=([^`]+)`", row[1]))
            assert found == {name: str(value).lower() for name, value in changes.items()}


def test_every_method_is_described():
    page = text_of(ROOT / "docs" / "evaluation.md")
    for name in METHODS:
        assert f"`{name}`" in page
