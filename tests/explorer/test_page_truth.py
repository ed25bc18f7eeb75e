"""The page says nothing false, loses nobody's place, and copes with awkward networks."""

from __future__ import annotations

import csv
import re
from itertools import pairwise
from threading import Event

import numpy as np
import pytest

from coembed.explorer import overview
from coembed.explorer.model_loading import Loaded
from coembed.explorer.model_source import Source
from coembed.maps.palette import class_mark

from .browser import PHONE, Visitor, running
from .conftest import ARABIC, LONG

ZOOMED = {"viewport": {"width": 720, "height": 450}, "device_scale_factor": 2}  # 1440 x 900 at 200 %


def opened(page, kind: str, name: str):
    page.wait_for_selector(f'article.card[data-kind="{kind}"][data-id="{name}"]')


def focus(page) -> str:
    return page.evaluate(
        "() => { const at = document.activeElement; return at.id || at.dataset.switch || at.tagName; }"
    )


def test_who_toggles_a_class_stays_at_its_switch(visit):
    page = visit().go()
    page.locator('.key:has-text("plant")').focus()
    before = focus(page)
    page.keyboard.press("Space")
    page.wait_for_selector('.key[aria-pressed="false"]')
    assert focus(page) == before
    page.keyboard.press("Space")
    page.wait_for_function("() => !document.querySelector('.key[aria-pressed=false]')")
    assert focus(page) == before


def test_who_follows_a_link_or_closes_a_card_is_in_the_panel(visit):
    page = visit().go("#node=Denmark.n.01")
    opened(page, "node", "Denmark.n.01")
    page.locator('article a[data-id="sea"]').first.focus()
    page.keyboard.press("Enter")
    opened(page, "attribute", "sea")
    assert focus(page) == "panel"
    page.keyboard.press("Escape")
    page.wait_for_selector("article.start")
    assert focus(page) == "panel"


def test_enter_waits_for_the_answer_to_what_was_typed(visit):
    page = visit().go()
    page.locator("#search-input").fill("fish")
    page.wait_for_selector(".found li[aria-selected=true]")
    page.route("**/api/v1/search?q=Denmark*", lambda route: (page.wait_for_timeout(300), route.continue_()))
    page.locator("#search-input").fill("Denmark.n.01")
    page.keyboard.press("Enter")
    page.wait_for_selector("article.card[data-id]")
    assert page.locator("article.card").get_attribute("data-id") == "Denmark.n.01"


def test_panning_is_in_the_address_and_a_resize_keeps_it(visit):
    page = visit().go()
    page.locator("#overlay").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => location.hash.includes('view=')")
    before = page.evaluate("() => coembed.map.view.x")
    page.set_viewport_size({"width": 1180, "height": 760})
    page.wait_for_function("() => coembed.map.width < 800")
    assert page.evaluate("() => coembed.map.view.x") == pytest.approx(before)
    page.keyboard.press("0")
    page.wait_for_function("() => !location.hash.includes('view=')")


def test_how_many_links_are_drawn_is_said(visit, awkward_home):
    page = visit(home=awkward_home).go("#node=hub")
    opened(page, "node", "hub")
    page.wait_for_function("() => document.querySelector('.drawn')?.textContent")
    told = page.locator(".heading .kind").inner_text()
    total, drawn = (int(n.replace(",", "")) for n in re.findall(r"[\d,]+\d", told))
    assert total >= 1200
    assert drawn == page.evaluate("() => new Set(coembed.map.joined).size") < total


def test_a_node_with_all_its_links_drawn_needs_no_word(visit):
    page = visit().go("#node=Denmark.n.01")
    opened(page, "node", "Denmark.n.01")
    page.wait_for_timeout(200)
    assert "drawn" not in page.locator(".heading .kind").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_least_certain_node_is_seen(visit, scheme):
    visitor = visit(color_scheme=scheme)
    page = visitor.go("#off=names,ellipses,attributes")
    page.evaluate(
        """() => {
        const { items, map } = coembed;
        const alone = [...items.ids.keys()].filter((i) => items.isColoured(i) && !items.observed[i]);
        const i = alone.reduce((a, b) => (items.probability[a] <= items.probability[b] ? a : b));
        map.look({ x: items.x[i], y: items.y[i], scale: map.fitted().scale * 300 });
    }"""
    )
    pixels = visitor.pixels()
    height, width = pixels.shape[0] // 2, pixels.shape[1] // 2
    around = pixels[height - 12 : height + 12, width - 12 : width + 12].reshape(-1, 3)
    paper = pixels[5, width]
    assert max(contrast(pixel, paper) for pixel in around) >= 3


def contrast(one, other) -> float:
    def light(colour):
        c = np.asarray(colour) / 255
        return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]

    high, low = sorted((light(one), light(other)), reverse=True)
    return float((high + 0.05) / (low + 0.05))


OVERFLOWING = """() => [...document.querySelectorAll('main *')].filter((each) => {
    const box = each.getBoundingClientRect();
    const inScroll = each.closest('.scroll, .unseen, .legend, pre, code');
    return box.width && box.right > innerWidth + 1 && !inScroll && !each.closest('[hidden]');
}).map((each) => each.className || each.tagName)"""


@pytest.mark.parametrize("options", [{}, {"viewport": PHONE, "has_touch": True, "is_mobile": True}, ZOOMED])
def test_long_names_stay_inside(visit, awkward_home, options):
    page = visit(home=awkward_home, **options).go()
    for address in (
        f"#node={LONG}",
        "#node=node7",
        "#lasso=-99,-99,99,-99,99,99,-99,99",
        "#tab=data",
        "#tab=quality",
    ):
        page.evaluate("(hash) => { location.hash = hash; }", address)
        page.wait_for_timeout(250)
        assert page.evaluate(OVERFLOWING) == [], address
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), address
        panel = page.evaluate(
            "() => { const p = document.getElementById('panel'); return p.scrollWidth - p.clientWidth; }"
        )
        assert panel <= 0, address


def test_at_200_percent_most_of_the_map_is_free(visit, awkward_home):
    page = visit(home=awkward_home, **ZOOMED).go()
    covered = page.evaluate(
        """() => {
        const box = (id) => document.getElementById(id).getBoundingClientRect();
        const area = (id) => box(id).width * box(id).height;
        return (area('legend') + area('tools')) / area('stage');
    }"""
    )
    assert covered < 0.2
    page.locator(".legend summary").click()
    box = page.locator(".legend").bounding_box()
    stage = page.locator("#stage").bounding_box()
    assert box["y"] + box["height"] <= stage["y"] + stage["height"] + 1


def test_a_new_tab_of_a_server_with_a_token_asks_the_old_one(browser, explorer):
    with running(explorer, token="s3cret") as address:
        visitor = Visitor(browser, address)
        page = visitor.go("#token=s3cret")
        assert "s3cret" not in page.url
        other = visitor.context.new_page()
        other.goto(f"{address}#node=Denmark.n.01")
        opened(other, "node", "Denmark.n.01")
        stranger = Visitor(browser, address)
        stranger.go(wait=False)
        stranger.page.wait_for_selector(".failure")
        stranger.page.get_by_label("Token").fill("s3cret")
        stranger.page.keyboard.press("Enter")
        stranger.page.wait_for_selector("body[data-ready]")
        for each in (visitor, stranger):
            each.close()


def test_a_change_of_colours_leaves_what_was_typed(visit):
    page = visit().go("#new={}")
    page.locator("textarea").fill("A fish of the blorping sea")
    page.wait_for_selector(".answer .verdict")
    page.locator("#theme-button").click()
    page.wait_for_timeout(300)
    assert page.locator("textarea").input_value() == "A fish of the blorping sea"
    assert page.locator(".answer .verdict").count() == 1


def test_who_is_lost_on_the_map_finds_the_way_back(visit):
    page = visit().go("#off=names&view=99999,99999,99999999")
    page.wait_for_selector("#notice button")
    page.locator("#notice button").click()
    page.wait_for_function("() => coembed.map.isFitted() && !document.querySelector('#notice button')")


def test_sixty_classes_have_marks_of_their_own_an_order_and_room(visit, awkward_home):
    assert len({class_mark(k)[0] for k in range(24)}) == 24
    assert len({class_mark(k) for k in range(144)}) == 144
    page = visit(home=awkward_home).go()
    keys = page.locator(".legend .key span").all_inner_texts()
    numbers = [int(name[5:]) for name in keys if name.startswith("class")]
    assert numbers == sorted(numbers)
    assert len(keys) == 60
    bottom = page.evaluate("() => document.getElementById('legend').getBoundingClientRect().bottom")
    assert bottom <= 800
    assert page.locator(".switches").is_visible()


def test_numbers_stay_right_of_names_that_run_to_the_left(visit, awkward_home):
    page = visit(home=awkward_home).go(f"#node={ARABIC}")
    page.wait_for_selector("article.card .verdict")
    name, number = page.evaluate(
        """() => {
        const p = document.createElement('p');
        p.textContent = document.querySelector('article h2').textContent + ' 12 %';
        document.querySelector('article').append(p);
        const left = (from, to) => {
            const range = document.createRange();
            range.setStart(p.firstChild, from);
            range.setEnd(p.firstChild, to);
            return range.getBoundingClientRect().left;
        };
        const length = p.firstChild.data.length;
        return [left(1, 3), left(length - 4, length - 2)];
    }"""
    )
    assert number > name


def test_no_cell_of_the_csv_is_a_formula(visit, awkward_home, tmp_path):
    page = visit(home=awkward_home).go("#lasso=-99,-99,99,-99,99,99,-99,99")
    page.wait_for_selector("#download")
    with page.expect_download() as waiting:
        page.click("#download")
    waiting.value.save_as(tmp_path / "selection.csv")
    rows = list(csv.DictReader((tmp_path / "selection.csv").open(encoding="utf-8", newline="")))
    assert "'=HYPERLINK(0)" in [row["id"] for row in rows]
    assert not any(cell[:1] in "=@+" for row in rows for cell in row.values() if cell)
    assert any(row["x"].startswith("-") for row in rows)  # numbers stay numbers


def test_text_of_charts_can_be_read_on_a_phone(visit):
    page = visit(viewport=PHONE, has_touch=True, is_mobile=True).go("#tab=training")
    page.wait_for_selector("#training-tab .tick")
    for tab in ("training", "quality", "data"):
        page.evaluate("(tab) => { location.hash = `tab=${tab}`; }", tab)
        page.wait_for_selector(f"#{tab}-tab .tick")
        least = page.evaluate(
            """(tab) => Math.min(...[...document.querySelectorAll(`#${tab}-tab svg.chart`)].map(
                (chart) => 12 * chart.getBoundingClientRect().width / chart.viewBox.baseVal.width))""",
            tab,
        )
        assert least >= 10.5, tab


def test_heavy_tails_have_bins_that_grow():
    counts = np.concatenate([np.repeat(np.arange(1, 9), 50), [5000]])
    bins = overview._histogram(counts)
    assert len(bins) < 16
    assert sum(each["count"] for each in bins) == len(counts)
    assert max(each["count"] for each in bins) < len(counts) / 2  # not all in the first bar
    assert all(a["to"] + 1 == b["from"] for a, b in pairwise(bins))
    even = overview._histogram(np.arange(100))
    assert len({each["to"] - each["from"] for each in even}) == 1


def test_what_may_be_meant_can_be_clicked(visit):
    visitor = visit()
    page = visitor.go("#node=Denmrak.n.01")
    page.locator('.failure a[data-id="Denmark.n.01"]').click()
    opened(page, "node", "Denmark.n.01")
    visitor.problems.clear()  # the browser itself reports the 404


def test_every_view_has_one_first_heading(visit):
    page = visit().go()
    assert page.locator("h1").count() == 1
    assert "wordnet-demo" in page.locator("h1").inner_text()


def test_a_model_without_attributes_speaks_of_none(visit, awkward_home):
    page = visit(home=awkward_home).go()
    for address in ("", "#node=node7", "#new={}", "#tab=data", "#lasso=-99,-99,99,-99,99,99,-99,99"):
        page.evaluate("(hash) => { location.hash = hash; }", address)
        page.wait_for_timeout(250)
        said = page.evaluate(
            "() => document.body.innerText + [...document.querySelectorAll('[placeholder], [aria-label]')]"
            ".filter((e) => e.checkVisibility()).map((e) => `${e.placeholder} ${e.ariaLabel}`).join(' ')"
        )
        found = [line for line in said.splitlines() if "attribute" in line.lower()]
        assert [line for line in found if line != "0 attributes" and ", 0 attributes" not in line] == [], (
            address
        )


def test_attributes_are_said_to_be_near_only_where_they_are(visit, explorer, monkeypatch):
    page = visit().go()
    near = "near the nodes it stands for" in page.locator(".how").inner_text()
    assert near == (explorer.mixing >= 0.5)
    page.route(
        "**/api/v1/model",
        lambda route: route.fulfill(json={**route.fetch().json(), "mixing": 0.9 - 0.8 * near}),
    )
    page.reload()
    page.wait_for_selector("body[data-ready]")
    told = page.locator(".how").inner_text()
    assert ("near the nodes it stands for" in told) != near
    assert ("lie apart from nodes" in told) == near


def test_mixing_tells_one_cloud_from_two(explorer):
    from coembed.explorer import Explorer
    from coembed.maps.layout import Layout

    rng = np.random.default_rng(0)
    places = {name: rng.normal(size=(len(facts), 2)) for name, facts in explorer.types.items()}
    together = Explorer(explorer.fitted, Layout("pca", places))
    assert together.mixing == pytest.approx(1, abs=0.1)
    apart = Explorer(explorer.fitted, Layout("pca", {**places, "attribute": places["attribute"] + 50}))
    assert apart.mixing < 0.02


def test_a_score_that_only_ranks_is_not_called_a_probability(visit, explorer):
    page = visit().go("#node=Denmark.n.01")
    opened(page, "node", "Denmark.n.01")
    unit = overview.model(explorer)["scores"]["links"]
    told = page.locator('section:has(a.item) h3:has-text("Links")').first.inner_text()
    assert ("probability" in told and "no probability" not in told) == (unit == "probability")

    def other(route):
        card = route.fetch().json()
        for walked in card["relations"]:
            walked["score"] = "score" if unit == "probability" else "probability"
        route.fulfill(json=card)

    page.route("**/api/v1/item?*", other)
    page.reload()
    opened(page, "node", "Denmark.n.01")
    again = page.locator('section:has(a.item) h3:has-text("Links")').first.inner_text()
    assert ("rank first for it" in again) == (unit == "probability")


def test_while_the_map_is_laid_out_the_page_says_how_far_it_is(browser, explorer):
    goes_on = Event()

    class Slow(Source):
        def read(self):
            return explorer.fitted, None

        def explorer(self, fitted, truth, progress=None):
            progress(37, 100)
            goes_on.wait(30)
            return explorer

    loaded = Loaded(Slow("model"))
    with running(loaded) as address:
        thread = loaded.start()
        visitor = Visitor(browser, address)
        visitor.go(wait=False)
        visitor.page.wait_for_selector("progress[value='0.37']")
        assert "laying out the map: 37 %" in visitor.page.locator("#panel").inner_text()
        goes_on.set()
        visitor.page.wait_for_selector("body[data-ready]")
        assert visitor.page.locator("article.start").count() == 1
        visitor.close()
        thread.join(10)


def test_the_card_of_a_number_tells_how_it_is_spread(visit, people_home, people):
    page = visit(home=people_home).go("#type=person.columns&item=income")
    page.wait_for_selector('article.card[data-kind="person.columns"] svg.chart')
    told = page.locator("article.card").inner_text()
    assert re.search(r"half of them between [\d,]+ and [\d,]+, the middle one [\d,]+", told)
    assert "largest first" in told
    income = next(each for each in people.network.columns("person") if each.column.name == "income")
    assert f"{income.values.nnz} known" in told


def test_a_cell_has_chances_a_spread_and_reasons(visit, people_home):
    page = visit(home=people_home).go("#type=person&item=p003")
    page.wait_for_selector("table.cells .chance")
    assert re.search(r"[\d,]+ ± [\d,]+", page.locator("table.cells").inner_text())
    row = page.locator('table.cells tr:has(th:has-text("income"))')
    row.locator("button").click()
    row.locator(".why:not([hidden])").wait_for()
    assert re.search(r"why: .*[+−]|Nothing that is known", row.locator(".why").inner_text())
