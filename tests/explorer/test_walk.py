"""The page with a model's folder behind it: what is kept, tables, pictures, the walk of the documentation."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.explorer import Explorer, Shown
from coembed.explorer.model_loading import Loaded
from coembed.explorer.model_source import Source
from coembed.explorer.single_page import write_report
from coembed.fitted import Fitted, load, save
from coembed.fitted.corrections import read_corrections
from coembed.fitted.kept_selections import kept_of, write_selections
from coembed.maps.layout import make_layout
from coembed.network import demo_network, split_labels
from coembed.settings import preset_settings

from .browser import Visitor, near, running

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "#token=s3cret"
ORANGE = "#E69F00"


def retrain(fitted, corrections, progress, steps):
    from coembed.training.retraining import retrain

    return retrain(fitted, corrections, progress=progress, steps=steps)


@pytest.fixture(scope="module")
def learner() -> Fitted:
    """The demo with a twentieth of its labels, none of them kept aside: ten more make a difference."""
    from coembed.training import fit

    seen = split_labels(demo_network(), labels=0.05).visible(demo_network())
    return fit(seen, preset_settings("paper", epochs=25, dim=16))


@pytest.fixture(scope="module")
def folder(learner, tmp_path_factory) -> Path:
    return save(learner, tmp_path_factory.mktemp("walk") / "model")


@pytest.fixture(scope="module")
def bench(browser, folder):
    """The page of a folder that may be changed."""
    loaded = Loaded(Source(folder, method="pca"))
    loaded.start().join()
    with running(loaded, token="s3cret", reload=loaded.start, retrain=retrain) as address:
        yield address


def test_a_selection_is_kept_found_again_and_forgotten(visit, bench, folder):
    page = visit(home=bench).go(f"{TOKEN}&q=has:fish")
    page.locator("#keep-name").fill("fish things")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Kept: find it with")
    assert (folder / "selections.json").exists()
    page.keyboard.press("Escape")
    page.locator('.kept button:has-text("fish things")').click()
    page.wait_for_selector('article[data-kind="selection"]')
    assert "in%3A%22fish+things%22" in page.url
    assert page.locator("article h2").inner_text().startswith(f"{len(load(folder).find('has:fish'))} nodes")
    page.locator('article [aria-label="Close"]').click()
    page.locator('[aria-label="Forget the selection fish things"]').click()
    page.wait_for_selector(".kept", state="detached")


def test_two_items_stand_side_by_side(visit, bench, learner):
    page = visit(home=bench).go(f"{TOKEN}&node=Denmark.n.01")
    page.locator('summary:has-text("Compare with")').click()
    page.locator('input[aria-label="Compare with"]').fill("Sweden.n.01")
    page.keyboard.press("Enter")
    page.wait_for_selector('article[data-kind="comparison"]')
    shown = float(page.locator("#compared-cosine").inner_text())
    [alike] = [match for match in learner.similar("Denmark.n.01", 2000) if match.name == "Sweden.n.01"]
    assert shown == pytest.approx(alike.score, abs=0.006)
    assert page.evaluate("() => coembed.map.marked.size") == 2
    assert "with=Sweden.n.01" in page.url


def test_a_table_is_predicted_placed_and_taken_away(visit, bench, tmp_path):
    visitor = visit(home=bench)
    page = visitor.go(TOKEN)
    before = visitor.pixels()
    rows = ["id,attributes", "one,fish;sea;water", "two,electrical;device", "=three,fish;fins"]
    file = tmp_path / "new.csv"
    file.write_text("\n".join(rows))
    page.locator("#table-file").set_input_files(file)
    page.wait_for_selector('article[data-kind="table"] tbody tr')
    cells = page.locator('article[data-kind="table"] tbody tr').all_inner_texts()
    assert len(cells) == 3
    assert "animal" in cells[0]
    assert page.evaluate("() => coembed.map.placed.length") == 3
    assert (np.abs(visitor.pixels() - before).max(axis=2) > 60).sum() > 100
    with page.expect_download() as waiting:
        page.click("#download-rows")
    waiting.value.save_as(tmp_path / "out.csv")
    told = list(csv.DictReader((tmp_path / "out.csv").open(newline="")))
    assert [row["id"] for row in told] == ["one", "two", "'=three"]
    assert told[0]["predicted"] == "animal"
    assert {row["new"] for row in told} == {"true"}
    # dropped, and no table: told, and nothing is placed
    page.evaluate(
        """() => { const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File(["x"], "picture.png"));
        document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true })); }"""
    )
    page.wait_for_selector("article .failure")
    assert "picture.png is no table" in page.locator("article .failure").inner_text()
    assert page.evaluate("() => coembed.map.placed.length") == 0
    visitor.problems.clear()  # the browser itself reports the refusal


def test_the_view_is_saved_as_it_is_drawn(visit, home, tmp_path):
    from PIL import Image

    visitor = visit()
    page = visitor.go("#colour=class&q=has:fish")
    seen = visitor.pixels()
    for kind in ("png", "svg"):
        page.locator(".picture summary").click()
        with page.expect_download() as waiting:
            page.click(f"#save-{kind}")
        waiting.value.save_as(tmp_path / f"view.{kind}")
    saved = np.asarray(Image.open(tmp_path / "view.png").convert("RGB")).astype(int)
    assert saved.shape == seen.shape
    part = (slice(60, -250), slice(260, -60))  # beside legend and tools
    assert (np.abs(saved - seen)[part].max(axis=2) > 12).mean() < 0.001
    drawing = ET.parse(tmp_path / "view.svg").getroot()
    texts = ["".join(each.itertext()) for each in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert "animal" in texts
    other = visitor.context.new_page()
    other.goto((tmp_path / "view.svg").as_uri())
    shot = Image.open(io.BytesIO(other.locator("svg").screenshot())).convert("RGB")
    drawn = np.asarray(shot).astype(int)
    alike = np.corrcoef(ink_of(saved).ravel(), ink_of(drawn).ravel())[0, 1]
    assert alike > 0.95  # the same ink at the same places; edges are drawn by others
    for colour in ("#0072B2", ORANGE):
        assert near(drawn, colour, 60) > 0.5 * near(saved, colour, 60)


def ink_of(pixels: np.ndarray, side: int = 8) -> np.ndarray:
    """How dark a picture is, in squares of some pixels."""
    dark = 255 - pixels.mean(axis=2)
    rows, columns = (size // side for size in dark.shape)
    return dark[: rows * side, : columns * side].reshape(rows, side, columns, side).mean(axis=(1, 3))


def test_chosen_fields_and_the_record_are_on_cards_and_in_reports(visit, browser, general, tmp_path):
    shown = Shown(("income", "city"), "https://crm.example/{type}/{id}")
    explorer = Explorer(general, make_layout(general, "pca"), folder=tmp_path, shown=shown)
    some = kept_of(general.network, "the left", general.find("class:left").rows)
    write_selections(tmp_path, [some])
    row = next(i for i in range(60) if field(general, "income", i) and field(general, "city", i))
    with running(explorer) as address:
        page = visit(home=address).go(f"#type=person&item=p{row:03d}")
        told = page.locator("dl.shown").inner_text()
        assert f"{int(field(general, 'income', row)):,}" in told
        link = page.locator("p.record a")
        assert link.get_attribute("href") == f"https://crm.example/person/p{row:03d}"
    report = write_report(explorer, tmp_path / "report.html", 5)
    visitor = Visitor(browser, report.as_uri())
    page = visitor.go()
    page.locator('.kept button:has-text("the left")').click()
    page.wait_for_selector('article[data-kind="selection"]')
    assert page.locator("article h2").inner_text().startswith(f"{len(general.find('class:left'))} person")
    page.locator("#colour-select").select_option("city")
    page.wait_for_selector('.legend .key:has-text("Rome")')
    assert visitor.problems == []
    visitor.close()


def test_pictures_are_on_cards_and_in_tooltips(visit, general, tmp_path):
    from PIL import Image

    (tmp_path / "person").mkdir()
    Image.new("RGB", (60, 40), "#12B886").save(tmp_path / "person" / "p003.png")
    (tmp_path / "person" / "p004.svg").write_text("<svg/>")
    shown = Shown(images=tmp_path)
    explorer = Explorer(general, make_layout(general, "pca"), shown=shown)
    with running(explorer) as address:
        visitor = visit(home=address)
        page = visitor.go("#type=person&item=p003")
        page.wait_for_function("() => document.querySelector('.card-image')?.naturalWidth === 60")
        assert near(visitor.pixels("#panel"), "#12B886", 10) > 1500
        assert page.evaluate("() => [...coembed.items.pictured].reduce((a, b) => a + b)") == 1
        page.evaluate("() => coembed.map.on.hover(3, 300, 200)")
        page.wait_for_function("() => document.querySelector('.tip-image')?.naturalWidth === 60")
    (tmp_path / "nothing").mkdir()
    with pytest.raises(InputError, match="no picture of any item"):
        Explorer(general, make_layout(general, "pca"), shown=Shown(images=tmp_path / "nothing"))


def field(fitted, name: str, row: int):
    from coembed.fitted.item_table import item_table

    return item_table(fitted, "person", np.array([row]))[name][0].as_py()


def test_the_walk_of_the_documentation(visit, bench, folder):
    """From opening to ten labels and a better model, as docs/explorer.md has it."""
    text = (ROOT / "docs" / "explorer.md").read_text(encoding="utf-8")
    walk = text[text.index("## Three minutes") :].split("\n## ")[0]
    steps = dict(re.findall(r"^(\d)\. (.+?)(?=^\d\. |\Z)", walk, re.M | re.S))
    said = [re.findall(r"`([^`]+)`", steps[number]) for number in sorted(steps)]
    open_query, query = said[0]
    [field_name] = said[1]
    label_key, skip_key, undo_key = said[3][:3]

    before = load(folder)
    truth = demo_network()
    visitor = visit(home=bench)
    page = visitor.go(TOKEN)
    page.keyboard.press(open_query)
    page.keyboard.type(query)
    page.keyboard.press("Enter")
    page.wait_for_selector('article[data-kind="selection"]')
    found = before.find(query)
    assert page.locator("article h2").inner_text().startswith(f"{len(found.rows['node'])} nodes")
    page.locator("#colour-select").select_option(field_name)
    page.wait_for_selector('.legend summary:has-text("Doubt")')
    page.wait_for_selector("table.apart tbody tr")
    page.locator("#open-table").click()
    page.wait_for_selector("table.data tbody tr")
    page.locator("#tab-map").click()
    page.keyboard.press("Escape")
    page.keyboard.press(label_key)
    page.wait_for_selector(".answers")
    names = [str(each) for each in truth.class_names]

    def answer() -> None:
        asked = page.locator(".asked a").get_attribute("data-id")
        right = names[truth.labels[truth.node_index(asked)]]
        page.keyboard.press(str(sorted(names).index(right) + 1))
        page.wait_for_function(f"() => document.querySelector('.asked a')?.dataset.id !== {asked!r}")

    skipped = page.locator(".asked a").get_attribute("data-id")
    page.keyboard.press(skip_key)
    page.wait_for_function(f"() => document.querySelector('.asked a')?.dataset.id !== {skipped!r}")
    answer()
    page.keyboard.press(undo_key)
    page.wait_for_function("() => document.querySelector('#labelled').textContent.startsWith('0 labelled')")
    for _ in range(10):
        answer()
    given = read_corrections(folder)
    assert len(given) == 10
    assert skipped not in {each.id for each in given}
    assert all(each.label == names[truth.labels[truth.node_index(each.id)]] for each in given)
    page.locator("#retrain").click()
    page.wait_for_selector("#side-by-side", timeout=60_000)
    shares = [
        float(page.locator(f'#side-by-side [data-side="{side}"]').inner_text().rstrip(" %"))
        for side in ("before", "after")
    ]
    assert shares[1] > shares[0]  # a better model, on what neither was told
    page.evaluate("() => { window.old = true; }")
    page.locator("#take").click()
    # the page loads itself anew, perhaps before anybody looks: the new one knows nothing of the mark
    page.wait_for_function("() => !window.old && document.body.dataset.ready", timeout=60_000)
    after = load(folder)
    assert len(after.network.labelled) == len(before.network.labelled) + 10
    page.wait_for_selector("#labelled")
    assert "0 not yet learnt" in page.locator("#labelled").inner_text()
