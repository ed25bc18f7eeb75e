"""Answers for all items at once are those that each item gets by itself."""

from __future__ import annotations

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.fitted import pair_candidates
from coembed.fitted.batch_answers import top_of_rows
from coembed.fitted.questions import top


def rows_of(batch) -> list[dict]:
    return [row for part in batch for row in batch.table(part).to_pylist()]


@pytest.mark.parametrize("at_once", [40, 1 << 20])
@pytest.mark.parametrize(
    ("relation", "type", "how"),
    [
        ("follows", "person", {}),
        ("follows", "person", {"backwards": True}),
        ("follows", "person", {"known": True}),
        ("saw", "person", {}),
        ("saw", "film", {}),
        ("likes", "person", {}),
        ("likes", "person.columns", {}),
        ("city", "person", {}),
        ("member", "person", {}),
        ("income", "person", {}),
        ("plot", "film", {}),
    ],
)
def test_each_item_is_answered_as_by_itself(general, monkeypatch, relation, type, how, at_once):
    monkeypatch.setattr(pair_candidates, "AT_ONCE", at_once)
    found = rows_of(general.complete_all(relation, 4, type=type, **how))
    joined = general.network.relation(relation)
    asked = range(len(general.network.items(type)))
    if type == joined.target and joined.column is not None:
        asked = range(joined.column.start, joined.column.stop)
    expected = []
    for row in asked:
        item = general.network.items(type).ids[row]
        for rank, match in enumerate(general.complete(item, relation, 4, type=type, **how), 1):
            expected.append((item, rank, match))
    assert len(found) == len(expected)
    numeric = joined.column is not None and joined.column.numeric
    for line, (item, rank, match) in zip(found, expected, strict=True):
        assert line["item"] == item
        if not numeric:
            assert (line["rank"], line["name"]) == (rank, match.name)
        assert line[relation if numeric else "score"] == pytest.approx(match.score, rel=1e-4)
        assert line["std"] == pytest.approx(match.std, rel=1e-3, abs=1e-6)
        assert line["known"] == match.known
        assert line.get("low") == (None if match.low is None else pytest.approx(match.low, rel=1e-4))
        assert line.get("high") == (None if match.high is None else pytest.approx(match.high, rel=1e-4))
        assert line.get("cell") == (None if match.cell is None else pytest.approx(match.cell, rel=1e-4))
        assert line.get("label") == match.label


def test_some_items_by_their_ids(general):
    found = rows_of(general.complete_all("saw", 2, items=["p007", "p001", "p007"]))
    assert [line["item"] for line in found] == ["p007", "p007", "p001", "p001"]
    with pytest.raises(InputError, match="no person 'p999'"):
        general.complete_all("saw", items=["p999"])
    with pytest.raises(InputError, match="no value of the column likes"):
        general.complete_all("likes", type="person.columns", items=["city=Oslo"])
    with pytest.raises(InputError, match="ask for the cells"):
        general.complete_all("city", type="person.columns")
    with pytest.raises(InputError, match="joins person and film"):
        general.complete_all("saw", type="film.columns")


def test_the_best_of_rows_are_those_of_each_row_with_ties():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 5, (200, 30)).astype(np.float32)
    scores[::3] = rng.random((67, 30))
    for k in (1, 7, 30, 40):
        best = top_of_rows(scores, k)
        for row, found in zip(scores, best, strict=True):
            np.testing.assert_array_equal(found, top(row, k, np.empty(0, dtype=np.int64)))


def test_candidates_find_nearly_all_and_say_how_many(demo, monkeypatch):
    pytest.importorskip("faiss")
    from coembed.settings import preset_settings
    from coembed.training import fit

    model = fit(demo, preset_settings("best", epochs=10, dim=16, hidden=32, rank=32, space_dim=32))
    exact = rows_of(model.complete_all("links", 5))
    monkeypatch.setattr(pair_candidates, "MOST_SCORES", 1000)
    batch = model.complete_all("links", 5)
    assert batch.candidates is not None
    near = rows_of(batch)
    both = {(line["item"], line["name"]) for line in exact} & {(line["item"], line["name"]) for line in near}
    recall = len(both) / len(exact)
    assert recall > 0.7
    told = float(batch.note.split("items, ")[1].split("%")[0]) / 100
    assert abs(told - recall) < 0.12
    by_pair = {(line["item"], line["name"]): line for line in exact}
    for line in near:  # scores are exact, whatever is found
        other = by_pair.get((line["item"], line["name"]))
        assert other is None or line["score"] == pytest.approx(other["score"], rel=1e-3)
    held = model.network.links
    for line in near[:200]:
        a, b = (model.network.node_index(line[end]) for end in ("item", "name"))
        assert a != b
        assert not held[a, b]
