"""Every question of the command line and of the HTTP API is a method of a model, by the same name."""

from __future__ import annotations

import pytest
import typer

from coembed.cli.app import ASK, app
from coembed.fitted import Fitted

OTHERWISE = {
    "map": "plot",  # a picture in Python as everything that is drawn
    "items": "network",  # fitted.network.items(type): they are the network's own
    "item": "profile",  # a card of the page: profile, similar, complete, neighbours and why at once
    "spread": "map2d",  # of places in a layout, which has it
    "sets": "predict_set",
    "file": "predict",  # of the rows of a file that was dropped
}
"""What Python calls otherwise, and why."""
NO_QUESTION = {"image"}
"""A file of the person who serves the model: the model knows nothing of it."""


def asked(client) -> set[str]:
    commands = typer.main.get_command(app).commands
    found = {name for name, command in commands.items() if command.rich_help_panel == ASK} | {
        "embed",
        "export",
    }
    for path, ways in client.get("/api/openapi.json").json()["paths"].items():
        if {tag for way in ways.values() for tag in way["tags"]} & {"items", "work", "batch"}:
            found.add(path.rsplit("/", 1)[-1])
    assert found >= NO_QUESTION
    return found - NO_QUESTION


def test_every_question_is_a_method_of_the_same_name(client, trained):
    names = asked(client)
    assert {"predict", "ask-next", "search", "why", "links"} <= names
    for name in names:
        python = OTHERWISE.get(name, name.replace("-", "_"))
        assert hasattr(Fitted, python) or hasattr(trained, python), name
    assert set(OTHERWISE) <= names, "an exception is not needed any more: delete it"
    assert not [name for name in OTHERWISE if callable(getattr(Fitted, name, None))]


def test_names_and_neighbours_are_those_that_the_api_tells(client, trained):
    told = client.get("/api/v1/search", params={"q": "denmrak"}).json()["items"]
    assert trained.search("denmrak", k=1)[0].name == told[0]["id"] == "Denmark.n.01"
    assert {each.kind for each in trained.search("fish", type="attribute")} == {"attribute"}
    for relation, id in (("links", "Denmark.n.01"), ("attributes", "Denmark.n.01"), ("attributes", "fish")):
        asked = {"id": id, "relation": relation, "limit": 100}
        told = client.get("/api/v1/neighbours", params=asked).json()["items"]
        found = trained.neighbours(id, relation)
        assert {each.name for each in found} == {each["id"] for each in told}
        assert all(each.known and each.score == 1 for each in found)


def test_cells_of_numbers_are_in_their_unit(general):
    [income] = general.neighbours("p000", "income")
    cell = general.complete("p000", "income", 1, known=True)[0].cell
    assert cell > 1000
    assert income.score == pytest.approx(cell, rel=1e-6)


def test_links_may_be_of_any_relation(general):
    first, second = general.links("p000", 3), general.links("p000", 3, "saw")
    assert {each.kind for each in second} == {"film"}
    assert [each.name for each in first] == [each.name for each in general.suggest_links("p000", 3)]


def test_an_export_is_that_of_the_command(general, tmp_path):
    [path] = general.export(tmp_path / "codes.csv")
    assert path.read_text().count("\n") == 1 + sum(map(len, general.network.types.values())) + _poles(general)


def _poles(fitted) -> int:
    """A number has two poles in an export."""
    return sum(each.column is not None and each.column.numeric for each in fitted.network.relations.values())
