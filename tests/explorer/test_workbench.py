"""The page as a workbench: queries, colours and sizes, selections told apart, sorted and taken away."""

from __future__ import annotations

import csv
import re

import numpy as np
import pyarrow.parquet as pq

from .browser import PHONE, near

BLUE, PINK = "#0072B2", "#CC79A7"  # animal, location
MIDDLE = "#B5305F"  # of the colours of numbers


def ask(page, query: str) -> None:
    page.keyboard.press("f")
    page.locator("#query-input").fill(query)
    page.keyboard.press("Enter")
    page.wait_for_selector('article[data-kind="selection"]')


def selected(page) -> list[int]:
    told = page.locator("article h2").inner_text()
    return [int(each.replace(",", "")) for each in re.findall(r"\d[\d,]*", told)]


def test_a_query_is_completed_answered_and_kept_in_the_address(visit, trained):
    visitor = visit()
    page = visitor.go()
    before = visitor.pixels()
    page.keyboard.press("f")
    page.keyboard.type("cla")
    page.wait_for_selector("#query-offers li")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.type("anim")
    page.wait_for_function("() => document.querySelector('#query-offers li')?.textContent.includes('animal')")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.type("has:fis")
    page.wait_for_function("() => document.querySelector('#query-offers li')?.textContent.includes('fish')")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.locator("#query-input").input_value() == "class:animal has:fish "
    page.keyboard.press("Enter")
    page.wait_for_selector('article[data-kind="selection"]')
    found = trained.find("class:animal has:fish")
    assert selected(page) == [len(found.rows["node"]), 0]
    assert "q=class%3Aanimal+has%3Afish" in page.url
    assert 0 < near(before, PINK) > near(visitor.pixels(), PINK)  # others are paler
    page.locator("#only-these").check()
    page.wait_for_function("() => location.hash.includes('only=1')")
    assert near(visitor.pixels(), PINK) < near(before, PINK) / 3  # the legend still has it
    assert page.evaluate("() => coembed.items.shown.reduce((a, b) => a + b)") == len(found)
    page.keyboard.press("Escape")
    page.wait_for_selector("article.start")
    assert "q=" not in page.url


def test_a_query_that_cannot_be_understood_says_where(visit):
    visitor = visit()
    page = visitor.go("#q=class:anmal")
    said = page.locator("#query-problem").inner_text()
    assert said == "query, character 1: there is no class 'anmal'; did you mean 'animal'?"
    assert page.locator("#query-input").get_attribute("aria-invalid") == "true"
    page.locator("#query-input").fill("class:animal")
    page.keyboard.press("Enter")
    page.wait_for_selector('article[data-kind="selection"]')
    assert page.locator("#query-problem").inner_text() == ""
    visitor.problems.clear()  # the browser itself reports the refusal


def test_colours_and_sizes_mean_a_field_and_its_legend_filters(visit, trained):
    visitor = visit()
    page = visitor.go()
    before = visitor.pixels()
    page.locator("#colour-select").select_option("degree")
    page.wait_for_function("() => location.hash.includes('colour=degree')")
    page.wait_for_selector('.legend summary:has-text("Degree")')
    coloured = visitor.pixels()
    assert near(coloured, MIDDLE) > 30 > near(before, MIDDLE)
    assert near(coloured, PINK) < near(before, PINK) / 3
    keys = page.locator(".legend .key")
    counts = [int(text.replace(",", "")) for text in keys.locator("small").all_inner_texts()]
    assert sum(counts) == 1476 + 626
    keys.first.dblclick()
    page.wait_for_function("() => location.hash.includes('hide=1')")
    assert page.evaluate("() => coembed.items.shown.reduce((a, b) => a + b)") == counts[0]
    assert near(visitor.pixels(), MIDDLE) < near(coloured, MIDDLE) / 4
    page.locator("#colour-select").select_option("class")
    page.wait_for_function("() => !location.hash.includes('hide=')")
    page.locator("#size-select").select_option("degree")
    page.wait_for_selector(".legend .sizes")
    ink = (np.abs(visitor.pixels() - 255).max(axis=2) > 40).sum()
    assert ink != (np.abs(before - 255).max(axis=2) > 40).sum()
    looks = page.evaluate(
        """() => { const { map, items } = coembed; const of = (id) => map.sizes.times[items.find("node", id)];
        const best = items.ids.slice(0, items.nodes).toSorted((a, b) =>
          items.weight[items.find("node", b)] - items.weight[items.find("node", a)]);
        return [of(best[0]), of(best.at(-1))]; }"""
    )
    assert looks[0] > 2 * looks[1]


def test_a_column_and_an_attribute_colour_the_map(visit, people_home, general):
    page = visit(home=people_home).go("#colour=city")
    keys = page.locator(".legend .key").all_inner_texts()
    towns = {key.split("\n")[0].strip(): int(key.split("\n")[-1]) for key in keys}
    assert towns["Rome"] == len(general.find("city:Rome"))
    assert towns["no value"] > 0
    page.locator("#colour-select").select_option("an attribute…")
    page.locator('input[aria-label^="Colour by whether"]').fill("word03")
    page.wait_for_selector(".pick-attribute .found li[aria-selected=true]")
    page.keyboard.press("Enter")
    page.wait_for_function("() => location.hash.includes('colour=has')")
    page.wait_for_selector('.legend .key:has-text("yes")')
    told = page.locator('.legend .key:has-text("yes") small').inner_text()
    assert int(told) == len(general.find("likes:word03"))


def test_what_sets_a_selection_apart_and_narrows_it(visit, trained):
    page = visit().go("#q=has:fish")
    row = page.locator("table.apart tbody tr")
    row.first.wait_for()
    listed = row.locator(".term").all_inner_texts()
    assert "animal" in listed
    assert listed.index("fish") < 2
    animal = row.nth(listed.index("animal"))
    here, rest = (int(text.rstrip("%")) for text in animal.locator("td.number").all_inner_texts()[:2])
    assert here > rest
    page.locator("#against-input").fill("class:animal")
    page.keyboard.press("Enter")
    page.wait_for_function("() => location.hash.includes('against=')")
    page.wait_for_selector('table.apart th:has-text("there")')
    page.locator("table.apart .term").first.click()
    page.wait_for_function("() => location.hash.includes('attributes%3A')")
    page.wait_for_selector('article[data-kind="selection"]')
    assert selected(page)[0] <= len(trained.find("has:fish").rows["node"])


def test_links_within_a_selection_are_drawn_by_relation(visit, people_home, general):
    visitor = visit(home=people_home)
    page = visitor.go("#q=class:left&only=1&off=names")
    before = visitor.pixels("#overlay")
    page.locator("#links-within").check()
    page.wait_for_selector(".counted li")
    assert (np.abs(visitor.pixels("#overlay") - before).max(axis=2) > 30).sum() > 200
    rows = general.find("class:left").rows["person"]
    inside = general.network.relation("follows").values[rows][:, rows].nnz
    assert str(inside) in page.locator('.counted li:has-text("follows")').inner_text()
    drawn = visitor.pixels("#overlay")
    page.locator('.counted li:has-text("follows") input').uncheck()
    assert (np.abs(visitor.pixels("#overlay") - drawn).max(axis=2) > 30).sum() > 100


def test_the_table_has_all_columns_sorted_and_filtered(visit, people_home, general):
    page = visit(home=people_home).go("#q=type:person&tab=table")
    page.wait_for_selector("table.data tbody tr")
    headings = [each.strip() for each in page.locator("table.data th").all_inner_texts()]
    assert {"id", "class", "p", "income", "city", "member", "likes"} <= set(headings)
    page.locator("#sort-income").click()
    page.wait_for_selector('th[aria-sort="ascending"]')
    page.locator("#sort-income").click()
    page.wait_for_selector('th[aria-sort="descending"]')
    assert page.evaluate("() => document.activeElement.id") == "sort-income"
    cells = page.locator(f"table.data td:nth-child({headings.index('income') + 1})").all_inner_texts()
    numbers = [int(text.replace(",", "")) for text in cells if text != "–"]
    assert numbers == sorted(numbers, reverse=True)
    assert cells[-1] == "–"
    page.locator("#table-filter").fill("city:Rome")
    page.keyboard.press("Enter")
    total = len(general.find("city:Rome"))
    page.wait_for_function(f"() => document.querySelectorAll('table.data tbody tr').length === {total}")


def test_a_selection_is_taken_away_as_csv_and_parquet(visit, people_home, tmp_path, general):
    page = visit(home=people_home).go("#q=class:left")
    page.wait_for_selector("#download-parquet")
    for button, name in (("#download", "a.csv"), ("#download-parquet", "a.parquet")):
        with page.expect_download() as waiting:
            page.click(button)
        waiting.value.save_as(tmp_path / name)
    rows = list(csv.DictReader((tmp_path / "a.csv").open(encoding="utf-8", newline="")))
    table = pq.read_table(tmp_path / "a.parquet")
    assert [row["id"] for row in rows] == table["id"].to_pylist()
    assert len(rows) == len(general.find("class:left"))
    assert table["income"].null_count == sum(row["income"] == "" for row in rows)


def test_density_and_what_regions_are_about_are_drawn(visit, home):
    visitor = visit()
    page = visitor.go("#off=names,attributes,nodes")
    before = visitor.pixels("#overlay")
    page.locator('.switch:has-text("density") input').check()
    page.wait_for_function("() => location.hash.includes('regions=1')")
    page.wait_for_function("() => coembed.map.landscape !== null")
    assert (np.abs(visitor.pixels("#overlay") - before).max(axis=2) > 25).sum() > 1500
    told = page.evaluate("() => coembed.map.landscape.regions")
    assert len(told) > 3
    assert all(region["names"] for region in told)
    page.locator('.switch:has-text("density") input').uncheck()
    page.wait_for_function("() => coembed.map.landscape === null")
    assert (np.abs(visitor.pixels("#overlay") - before).max(axis=2) > 25).sum() < 50


def test_the_line_fits_a_phone(visit):
    page = visit(viewport=PHONE, has_touch=True, is_mobile=True).go("#q=has:fish&colour=degree")
    page.wait_for_selector("table.apart tbody tr")
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
