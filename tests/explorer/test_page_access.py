"""The page for everybody: by the keyboard alone, and what axe finds in every state of it."""

from __future__ import annotations

import csv
import os
import warnings
from pathlib import Path

import pytest

from coembed.explorer.asking import Explorer

from .browser import PHONE, running

ROOT = Path(__file__).resolve().parents[2]
STATES = {
    "start": "",
    "node": "#node=Denmark.n.01",
    "attribute": "#attribute=fish",
    "hidden": "#hide=0,3&off=attributes",
    "selection": "#lasso=-99,-99,99,-99,99,99,-99,99",
    "new": '#new={"attributes":["fish","sea"]}',
    "training": "#tab=training",
    "quality": "#tab=quality",
    "data": "#tab=data",
    "query": "#q=has:fish&links=1",
    "misspelt": "#q=class:anmal",
    "colours": "#colour=degree&size=degree&regions=1",
    "table": "#q=has:fish&tab=table&sort=-degree",
    "compared": "#node=Denmark.n.01&with=Sweden.n.01",
    "label": "#label=1",
    "rows": "#rows=gone.csv",
    "nobody": "#node=nobody",
}


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core; without it these tests are skipped, loudly."""
    path = Path(os.environ.get("COEMBED_AXE", ROOT / "node_modules" / "axe-core" / "axe.min.js"))
    if not path.is_file():
        message = (
            "there is no axe-core: the tests of access are SKIPPED; `npm install --no-save axe-core`, or let "
            "COEMBED_AXE name its axe.min.js"
        )
        warnings.warn(message, stacklevel=1)
        pytest.skip(message)
    return path.read_text(encoding="utf-8")


def violations(page, axe: str) -> list[str]:
    """What is serious or worse, each with the element that it is about."""
    page.evaluate(axe)
    found = page.evaluate("async () => (await axe.run()).violations")
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:120]} {each['nodes'][0]['any'][:1]}"
        for each in found
        if each["impact"] in ("serious", "critical")
    ]


def all_states(visitor, axe: str, states) -> dict[str, list[str]]:
    page, found = visitor.go(), {}
    for name, address in states.items():
        page.evaluate("(hash) => { location.hash = hash || '#'; }", address)
        page.wait_for_timeout(350)
        found[name] = violations(page, axe)
    visitor.problems.clear()  # the browser itself reports who is nobody
    return {name: problems for name, problems in found.items() if problems}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_at_first_sight(visit, axe, scheme):
    few = {name: STATES[name] for name in ("start", "node")}
    assert all_states(visit(color_scheme=scheme), axe, few) == {}


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("options", [{}, {"viewport": PHONE, "has_touch": True, "is_mobile": True}])
def test_axe_finds_nothing_serious_in_any_state(visit, axe, scheme, options):
    visitor = visit(color_scheme=scheme, **options)
    assert all_states(visitor, axe, STATES) == {}
    page = visitor.page
    page.locator("#search-input").fill("fish")
    page.wait_for_selector(".found li[aria-selected=true]")
    assert violations(page, axe) == []
    page.keyboard.press("Escape")
    page.locator("#help-button").click()
    assert violations(page, axe) == []


@pytest.fixture(scope="module")
def changing_home(browser, explorer, tmp_path_factory):
    """The page where labels may be given; what is given stays in a folder of its own."""
    folder = tmp_path_factory.mktemp("labels")
    changing = Explorer(explorer.fitted, explorer.layout, explorer.truth, folder)
    nothing_to_train = lambda fitted, corrections, progress, steps: fitted  # noqa: E731
    with running(changing, token="s3cret", reload=lambda: None, retrain=nothing_to_train) as address:
        yield address


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("options", [{}, {"viewport": PHONE, "has_touch": True, "is_mobile": True}])
def test_axe_finds_nothing_serious_in_any_state_of_labelling(visit, axe, changing_home, scheme, options):
    page = visit(home=changing_home, color_scheme=scheme, **options).go("#token=s3cret&label=1")
    asked = page.locator(".labelling .asked a")
    asked.wait_for()
    assert violations(page, axe) == []
    first = asked.inner_text()
    page.keyboard.press("1")
    page.wait_for_function("(was) => document.querySelector('.asked a').innerText !== was", arg=first)
    page.locator("#undo").wait_for()
    assert violations(page, axe) == []
    for left in range(39, 0, -1):
        page.wait_for_function(f"() => labelled.textContent.includes('; {left} more in the queue')")
        page.keyboard.press("s")
    page.locator(".labelling .empty").wait_for()
    assert violations(page, axe) == []
    page.keyboard.press("u")
    page.wait_for_function("() => labelled.textContent.startsWith('0 labelled')")
    for state in ("#node=Denmark.n.01", "#q=has:fish"):  # what a card and a selection have only here
        page.evaluate("(hash) => { location.hash = hash; }", state)
        page.locator("#correct-class" if "node" in state else "#keep-name").wait_for()
        assert violations(page, axe) == []


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_where_names_are_awkward(visit, axe, scheme, awkward_home, people_home):
    states = {name: STATES[name] for name in ("start", "selection", "data")} | {"hub": "#node=hub"}
    assert all_states(visit(home=awkward_home, color_scheme=scheme), axe, states) == {}
    cards = {
        "person": "#type=person&item=p003",
        "number": "#type=person.columns&item=income",
        "new": "#new={}",
    }
    assert all_states(visit(home=people_home, color_scheme=scheme), axe, {**cards, "new": "#new={}"}) == {}


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_the_description_of_the_api(visit, axe, home, scheme):
    visitor = visit(color_scheme=scheme)
    visitor.page.goto(f"{home}docs")
    visitor.page.wait_for_selector(".operation")
    visitor.page.locator("#batch_predict summary").click()
    assert violations(visitor.page, axe) == []


def test_the_description_of_the_api_asks_and_shows(visit, home):
    visitor = visit()
    page = visitor.page
    page.goto(f"{home}docs")
    page.locator("#similar > summary").click()
    page.locator("#similar").get_by_label("id").fill("Denmark.n.01")
    page.locator("#similar button").click()
    page.wait_for_function("() => document.querySelector('#similar .output').textContent.includes('Sweden')")
    assert "list of Match" in page.locator("#similar").inner_text()


def test_all_of_it_by_the_keyboard_alone(visit, tmp_path):
    """Search, card, a link in it, filter, selection, download: no pointer, and the focus is never lost."""
    page = visit().go()
    page.keyboard.press("/")
    page.keyboard.type("Denmark.n.01")
    page.keyboard.press("Enter")
    page.wait_for_selector('article.card[data-id="Denmark.n.01"]')
    assert at(page) == "panel"
    walk(page, "sea", key="data-id")
    page.keyboard.press("Enter")
    page.wait_for_selector('article.card[data-id="sea"]')
    assert at(page) == "panel"
    page.keyboard.press("Escape")
    page.wait_for_selector("article.start")
    walk(page, "class 3", key="data-switch", back=True)
    page.keyboard.press("Space")
    page.wait_for_function("() => location.hash.includes('hide=3')")
    assert page.evaluate("() => document.activeElement.dataset.switch") == "class 3"
    walk(page, "overlay", key="id", back=True)
    page.keyboard.press("+")
    page.keyboard.press("v")
    page.wait_for_selector('article[data-kind="selection"]')
    walk(page, "download", key="id")
    with page.expect_download() as waiting:
        page.keyboard.press("Enter")
    waiting.value.save_as(tmp_path / "selection.csv")
    rows = list(csv.DictReader((tmp_path / "selection.csv").open(encoding="utf-8", newline="")))
    assert 0 < len(rows) < 2102
    assert "location" not in {row["class"] for row in rows}


def at(page) -> str:
    return page.evaluate("() => document.activeElement.id")


def walk(page, value: str, *, key: str, back: bool = False) -> None:
    """Tab until the focus is where it should be; never is it nowhere."""
    for _ in range(120):
        page.keyboard.press("Shift+Tab" if back else "Tab")
        if page.evaluate("(key) => document.activeElement.getAttribute(key)", key) == value:
            seen = page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
            assert seen != "none", "the focus cannot be seen"
            return
    pytest.fail(f"{value} cannot be reached")
