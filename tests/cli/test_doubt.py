"""Commands that say how sure they are: sets of classes, lists with few errors, intervals, what to label."""

from dataclasses import replace

import numpy as np
import pytest

from coembed.fitted import load, save
from coembed.fitted.pair_doubt import PairDoubt


@pytest.fixture(scope="module")
def doubting(general, tmp_path_factory):
    """A model with made-up errors of an income and of pairs."""
    doubt = PairDoubt.of(np.full(50, 0.5), np.zeros(1000), 0.5)
    errors = np.linspace(0, 2, 99).astype(np.float32)
    fits = {
        "income": replace(general.relations["income"], errors=errors),
        "saw": replace(general.relations["saw"], doubt=doubt),
    }
    fitted = replace(general, relations={**general.relations, **fits})
    return save(fitted, tmp_path_factory.mktemp("doubting") / "model")


def test_sets_hold_the_prediction(run, model, tmp_path):
    ran = run("predict", model, "--unlabelled", "--coverage", "0.9", "--json")
    assert ran.code == 0
    assert all(row["set"].split(";")[0] == row["predicted"] for row in ran.json)
    assert all(row["size"] == row["set"].count(";") + 1 for row in ran.json)
    lines = run("predict", model, "--coverage", "0.9").out.splitlines()
    assert lines[0].split("\t") == ["node", "predicted", "probability", "set", "known"]
    assert run("predict", model, "--coverage", "0.9", "-o", tmp_path / "sets.csv").code == 0
    assert "set" in (tmp_path / "sets.csv").read_text().splitlines()[0]


@pytest.mark.parametrize("coverage", ["90", "0", "-1", "nan"])
def test_a_strange_coverage_is_refused(run, model, tmp_path, coverage):
    ran = run("predict", model, "--coverage", coverage, "-o", tmp_path / "out.csv")
    assert ran.code == 2
    assert "coverage must be a share between 0 and 1" in ran.err
    assert not list(tmp_path.iterdir())


def test_a_number_is_told_with_its_interval(run, doubting):
    lines = run("complete", doubting, "--item", "p001", "--column", "income").out.splitlines()
    assert lines[0].split("\t") == ["name", "income", "±", "90%", "cell"]
    assert " to " in lines[1].split("\t")[3]
    heading = run("complete", doubting, "--item", "p001", "--column", "income", "--coverage", "0.8").out
    assert "80%" in heading.splitlines()[0]


def test_sure_lists_may_be_empty_and_say_of_what_they_are_sure(run, doubting, tmp_path):
    asked = ("complete", doubting, "--item", "p000", "--relation", "saw", "-k", "100")
    every = run(*asked, "--json").json
    sure = run(*asked, "--fdr", "0.1", "--json")
    assert sure.json == [each for each in every if each["score"] >= 0.5]
    assert "one in 2 of the pairs" in sure.err
    surest = run(*asked, "--fdr", "0.0001")
    assert (surest.code, surest.out) == (0, "")
    assert "no list is wrong in at most" in surest.err
    file = tmp_path / "sure.csv"
    assert run("complete", doubting, "--relation", "saw", "--fdr", "0.1", "-o", file).code == 0
    scores = [line.split(",") for line in file.read_text().splitlines()]
    place = scores[0].index('"score"')
    assert all(float(row[place]) >= 0.5 for row in scores[1:])
    refused = run("links", doubting, "--item", "p000", "--fdr", "0.1")
    assert refused.code == 2
    assert "keeps nothing to judge lists of follows" in refused.err


def test_what_to_label_next(run, model):
    found = run("ask-next", model, "-k", "5", "--json").json
    assert [each["name"] for each in found] == [each.name for each in load(model).ask_next(5)]
    heading, first = run("ask-next", model, "-k", "5").out.splitlines()[:2]
    assert heading.split("\t") == ["name", "predicted", "doubt", "settles"]
    assert first.split("\t")[0] == found[0]["name"]
