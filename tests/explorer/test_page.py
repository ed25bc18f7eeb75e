"""The page in a real browser: opened, searched, clicked through, filtered, selected from, added to."""

from __future__ import annotations

import csv
import json
import re
from urllib.parse import quote

from .browser import PHONE, near

BLUE, PINK = "#0072B2", "#CC79A7"  # animal, location


def card(page, kind: str, name: str):
    page.wait_for_selector(f'article.card[data-kind="{kind}"][data-id="{name}"]')


def test_the_map_is_really_painted(visit):
    visitor = visit()
    visitor.go()
    pixels = visitor.pixels()
    assert near(pixels, BLUE) > 50
    assert near(pixels, PINK) > 50
    assert near(pixels, "#FFFFFF", 3) > pixels.shape[0] * pixels.shape[1] / 3


def test_from_the_search_to_a_node_to_an_attribute_to_a_node_and_back(visit):
    page = visit().go()
    page.keyboard.press("/")
    page.keyboard.type("denmrak")
    page.wait_for_selector(".found li[aria-selected=true]")
    page.keyboard.press("Enter")
    card(page, "node", "Denmark.n.01")
    assert "node=Denmark.n.01" in page.url
    page.wait_for_selector("article .match .why:not([hidden])")  # the reasons arrive a little later
    page.locator('section:has(h3:has-text("Its attributes")) a[data-id="sea"]').click()
    card(page, "attribute", "sea")
    first = page.locator('section:has(h3:has-text("Nodes it stands for")) a').first
    name = first.get_attribute("data-id")
    first.click()
    card(page, "node", name)
    page.go_back()
    card(page, "attribute", "sea")
    page.keyboard.press("Escape")
    page.wait_for_selector("article.start")


def test_a_click_on_the_map_opens_what_lies_there(visit):
    page = visit().go()
    x, y = page.evaluate(
        "() => { const i = coembed.items.find('node', 'salmon.n.01'); const m = coembed.map;"
        " m.look({x: coembed.items.x[i], y: coembed.items.y[i], scale: m.fitted().scale * 40});"
        " return m.toScreen(coembed.items.x[i], coembed.items.y[i]); }"
    )
    page.locator("#overlay").click(position={"x": x, "y": y})
    card(page, "node", "salmon.n.01")
    assert page.wait_for_function("() => coembed.map.spreads.size > 1")  # ellipses at close range


def test_the_legend_filters_and_the_address_keeps_it(visit):
    visitor = visit()
    page = visitor.go()
    before = near(visitor.pixels(), PINK)
    page.locator('.key:has-text("location")').click()
    page.wait_for_function("() => location.hash.includes('hide=3')")
    assert near(visitor.pixels(), PINK) < before / 4
    page.locator('.switch:has-text("attributes") input').uncheck()
    page.wait_for_function("() => location.hash.includes('off=attributes')")
    assert page.evaluate("() => coembed.items.shown.slice(coembed.items.nodes).every((s) => s === 0)")


def test_a_shared_address_shows_the_same(visit):
    page = visit().go("#attribute=fish&hide=0,3&off=names&view=1.00,2.00,300")
    card(page, "attribute", "fish")
    assert page.locator('.key[aria-pressed="false"]').count() == 2
    assert not page.evaluate("() => coembed.map.layers.names")


def test_a_lasso_selects_lists_and_downloads(visit, tmp_path):
    page = visit().go()
    box = page.locator("#overlay").bounding_box()
    page.keyboard.down("Shift")
    corners = [(0.35, 0.15), (0.9, 0.15), (0.9, 0.85), (0.35, 0.85), (0.35, 0.2)]
    page.mouse.move(box["x"] + corners[0][0] * box["width"], box["y"] + corners[0][1] * box["height"])
    page.mouse.down()
    for across, down in corners[1:]:
        page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"], steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    page.wait_for_selector('article[data-kind="selection"] table')
    told = page.locator("article h2").inner_text()
    nodes, attributes = (int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", told))
    assert nodes > 100
    with page.expect_download() as waiting:
        page.click("#download")
    waiting.value.save_as(tmp_path / "selection.csv")
    rows = list(csv.DictReader((tmp_path / "selection.csv").open(encoding="utf-8", newline="")))
    assert [row["type"] for row in rows].count("node") == nodes
    assert len(rows) == nodes + attributes
    assert page.url.count("lasso=") == 1


def test_what_is_in_view_can_be_selected_by_key(visit):
    page = visit().go()
    page.locator("#overlay").focus()
    page.keyboard.press("v")
    page.wait_for_selector('article[data-kind="selection"]')
    assert page.locator("article h2").inner_text() == "1,476 nodes, 626 attributes"


def test_a_node_is_added_from_a_description(visit):
    page = visit().go()
    page.keyboard.press("n")
    page.locator("textarea").fill("A fish of the sea, blorping in fresh water")
    page.wait_for_selector(".answer .verdict")
    assert page.locator(".answer .verdict b").inner_text() == "animal"
    assert "blorping" in page.locator(".adding .note").first.inner_text()
    place = page.evaluate("() => [coembed.map.newcomer.x, coembed.map.newcomer.y]")
    link = page.locator('.adding input[aria-label="Add a link"]')
    link.fill("salmon.n")
    page.wait_for_selector(".adding .found li[aria-selected=true]")
    link.press("Enter")
    page.wait_for_selector('.adding .chip:has-text("salmon.n.01")')
    page.wait_for_function("(old) => coembed.map.newcomer?.x !== old[0]", arg=place)
    assert "new=" in page.url


def test_tabs_show_training_quality_and_data(visit, trained):
    page = visit().go()
    page.get_by_role("tab", name="Training").click()
    page.wait_for_selector("#training-tab polyline")
    assert (
        f"{len(trained.history['loss'])} epochs with the preset paper"
        in page.locator("#training-tab").inner_text()
    )
    page.get_by_role("tab", name="Data").click()
    page.wait_for_selector("#data-tab .column")
    assert "1,476" in page.locator("#data-tab .tile").first.inner_text()
    assert page.locator("#training-tab").is_hidden()
    page.get_by_role("tab", name="Quality").click()
    page.wait_for_selector("#quality-tab .confusion td.diagonal")
    hidden = 1476 - len(trained.network.labelled)
    counts = page.locator("#quality-tab .confusion td:not(.sum)").all_inner_texts()
    assert sum(int(each) for each in counts if each != "·") == hidden
    mistake = page.locator("#quality-tab table.rows tbody tr").first
    true = mistake.locator("td").nth(2).inner_text()
    mistake.locator("a").click()
    page.wait_for_selector("#map-tab:not([hidden]) article.card .truth")
    assert page.locator("article.card .truth").inner_text() == f"✗ the hidden label is {true}"


def test_dark_is_dark_and_stays_so(visit):
    visitor = visit(color_scheme="dark")
    page = visitor.go()
    assert visitor.pixels().mean() < 60
    page.keyboard.press("d")
    assert visitor.pixels().mean() > 200
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert visitor.pixels().mean() > 200


def test_a_phone_shows_all_of_it_without_sideways_scrolling(visit):
    visitor = visit(viewport=PHONE, has_touch=True, is_mobile=True)
    page = visitor.go()
    for address in ("", "#node=Denmark.n.01", "#tab=quality", "#tab=training", "#new={}"):
        page.evaluate("(hash) => { location.hash = hash; }", address)
        page.wait_for_timeout(250)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"], address
    assert near(visitor.go("") and visitor.pixels(), PINK) > 20


def test_what_is_not_there_is_told_with_help(visit):
    visitor = visit()
    page = visitor.go("#node=Denmrak.n.01")
    page.wait_for_selector(".failure")
    assert "did you mean 'Denmark.n.01'" in page.locator(".failure").inner_text()
    page.locator("text=Back to the map").click()
    page.wait_for_selector("article.start")
    page.locator("#search-input").fill("qqqzzzxxx")
    page.wait_for_selector(".found .none")
    visitor.problems.clear()  # the browser itself reports the 404


def test_a_server_that_is_gone_is_told(visit):
    visitor = visit()
    page = visitor.go()
    page.route("**/api/v1/item*", lambda route: route.abort())
    page.locator("#search-input").fill("Denmark.n.01")
    page.wait_for_selector(".found li[aria-selected=true]")
    page.keyboard.press("Enter")
    page.wait_for_selector(".failure")
    assert "still running" in page.locator(".failure").inner_text()
    visitor.problems.clear()  # the browser itself reports the request that failed


def test_names_are_text_whatever_they_hold(visit, strange_home):
    visitor = visit(home=strange_home)
    page = visitor.go()
    said = []
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    for name in ("<script>alert(1)</script>", "a/b c?d#e&f=g%20", "🐟 and 🐠", "x" * 10_000, ""):
        page.evaluate("(id) => { location.hash = 'node=' + encodeURIComponent(id); }", name)
        page.wait_for_function("(id) => document.querySelector('article.card')?.dataset.id === id", arg=name)
        shown = name if len(name) <= 60 else name[:59] + "…"
        assert page.locator("article.card h2").inner_text() == (shown or "(blank)")
        assert page.locator("article script").count() == 0
    assert said == []
    page.get_by_role("tab", name="Quality").click()
    page.wait_for_selector("#quality-tab .hint-box")
    assert "There are no classes to judge" in page.locator("#quality-tab").inner_text()


def test_everything_can_be_reached_by_keyboard(visit):
    page = visit().go()
    page.locator("#overlay").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector('article.card[data-kind="node"], article.card[data-kind="attribute"]')
    before = page.evaluate("() => coembed.map.view.x")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("+")
    assert page.evaluate("() => coembed.map.view.x") > before
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open]")
    page.keyboard.press("Escape")
    address = page.url
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.id") == "panel"
    assert address.split("&view")[0] in page.url
    page.locator("#home").focus()
    seen = set()
    for _ in range(25):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("() => document.activeElement.id || document.activeElement.className"))
    assert {"search-input", "tab-map", "add-button", "overlay", "key"} <= seen


def test_a_state_in_the_address_that_makes_no_sense_does_no_harm(visit):
    broken = json.dumps({"name": 3, "attributes": "fish", "links": [1, None]})
    for address in (
        "#view=a,b,c&hide=x,99&lasso=1,2",
        f"#new={quote(broken)}",
        "#tab=nowhere",
        "#view=1,2,-5",
    ):
        visitor = visit()
        visitor.go(address)
        assert near(visitor.pixels(), PINK) > 20


def test_a_network_of_several_types_has_cards_for_all(visit, people_home):
    page = visit(home=people_home).go()
    assert "60 person, 40 film" in page.locator(".lead").inner_text()
    page.locator("#search-input").fill("Person 3")
    page.wait_for_selector(".found li[aria-selected=true]")
    assert "person" in page.locator(".found .hint").first.inner_text()
    page.keyboard.press("Enter")
    page.wait_for_selector('article.card[data-kind="person"] table.cells')
    told = page.locator("table.cells").inner_text()
    assert re.search(r"income\s+[\d,]+|income\s+unknown", told)
    assert "±" in told
    page.wait_for_selector(".why:not([hidden])")
    page.locator('article section:has(h3:has-text("Its saw")) .chip').first.click()
    page.wait_for_selector('article.card[data-kind="film"] .verdict')
    assert "type=film" in page.url
    page.go_back()
    page.wait_for_selector('article.card[data-kind="person"]')


def test_types_can_be_switched_off_and_shared(visit, people_home):
    page = visit(home=people_home).go("#type=film&item=f001&off=t2")
    page.wait_for_selector('article.card[data-kind="film"][data-id="f001"]')
    shown = """(type) => [...coembed.items.ids.keys()].some(
        (i) => coembed.items.type(i) === type && coembed.items.shown[i])"""
    assert page.evaluate(shown, "film")
    assert not page.evaluate(shown, "person.columns")
    page.locator('.switch:has-text("film") input').first.uncheck()
    page.wait_for_function("() => location.hash.includes('t1')")
    assert not page.evaluate(shown, "film")


def test_an_item_of_any_type_is_added(visit, people_home):
    page = visit(home=people_home).go()
    page.keyboard.press("n")
    page.locator('.adding input[aria-label="income"]').fill("30000")
    page.wait_for_selector(".answer .verdict")
    page.locator('.adding input[aria-label="Add to likes"]').fill("word0")
    page.wait_for_selector(".adding .found li[aria-selected=true]")
    page.keyboard.press("Enter")
    page.wait_for_selector(".adding .chip")
    page.locator(".adding select").select_option("film")
    page.locator('.adding input[aria-label="Add to saw"]').fill("Person 1")
    page.wait_for_selector(".adding .found li[aria-selected=true]")
    page.keyboard.press("Enter")
    page.wait_for_selector(".answer .verdict")
    assert page.evaluate("() => coembed.map.newcomer !== null")


def test_other_views_and_attributes_of_several_types(visit, people_home):
    page = visit(home=people_home).go("#type=person.columns&item=city%3DOslo")
    page.wait_for_selector('article.card[data-kind="person.columns"] .bars')
    for name in ("Training", "Quality", "Data"):
        page.get_by_role("tab", name=name).click()
        page.wait_for_selector(f"#{name.lower()}-tab h2")
    assert "plot" in page.locator("#data-tab").inner_text()
    page.get_by_role("tab", name="Map").click()
    page.locator("#overlay").focus()
    page.keyboard.press("v")
    page.wait_for_selector('article[data-kind="selection"]')
    assert page.locator("article h2").inner_text().startswith("60 person, 40 film")
