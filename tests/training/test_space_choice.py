"""What the common space is trusted with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from coembed.fitted import load, save
from coembed.fitted.common_placing import steering_of
from coembed.fitted.moments import unit_length
from coembed.fitted.score_blend import weigh
from coembed.network import Items, Network, Relation
from coembed.settings import preset_settings
from coembed.training import fit, space_choice
from coembed.training.holdout import Holdout
from coembed.training.space_choice import KeptAside, kept_aside, leaning, with_code_questions


def groups(count=60, seed=0):
    """Three groups of nodes, each with words of its own."""
    rng = np.random.default_rng(seed)
    group = np.arange(count) % 3
    words = rng.random((count, 30)) < np.where(group[:, None] == np.arange(30) % 3, 0.5, 0.02)
    links = np.triu(rng.random((count, count)) < np.where(group[:, None] == group, 0.3, 0.01), 1)
    return Network.build((links + links.T) * 1.0, attributes=words * 1.0)


@pytest.fixture(scope="module")
def fitted():
    return fit(groups(), preset_settings("best", epochs=10, dim=8, validation_pairs=0.2, label_ensemble=0.0))


def held_of(fitted, seed=1):
    """Pairs of the network taken as if they had been kept aside, and absent ones."""
    rng, found = np.random.default_rng(seed), {}
    for name, relation in fitted.network.relations.items():
        dense = relation.values.toarray() > 0
        if relation.pairing.same:
            dense = np.triu(dense) | np.tril(np.ones_like(dense))
        present = np.argwhere(np.triu(dense, 1) if relation.pairing.same else dense)
        found[name] = tuple(rng.permutation(each)[:40] for each in (present, np.argwhere(~dense)))
    return Holdout(pairs=found)


def without_held(fitted, held):
    """The fitted result as if it had not known them."""
    relations = []
    for name, relation in fitted.network.relations.items():
        values = relation.values.toarray()
        at = held.pairs[name][0]
        values[at[:, 0], at[:, 1]] = 0
        if relation.pairing.same:
            values[at[:, 1], at[:, 0]] = 0
        relations.append(replace(relation, values=sp.csr_array(values)))
    network = Network.of(list(fitted.network.types.values()), relations, "without")
    return replace(fitted, network=network)


def test_recall_by_hand(monkeypatch):
    known = sp.csr_array(np.array([[1.0] + [0.0] * 11, [0.0] * 12]))
    hidden = np.zeros((2, 12))
    hidden[0, [1, 11]] = hidden[1, 5] = 1
    asked = KeptAside("node", "attribute", np.array([4, 7]), known, sp.csr_array(hidden))

    def recall(scores):
        at = {4: 0, 7: 1}
        return asked.recall(lambda rows: scores[[at[row] for row in rows.tolist()]])

    falling = np.tile(-np.arange(12.0), (2, 1))
    for at_once in (space_choice.AT_ONCE, 12):  # all items together, and each by itself
        monkeypatch.setattr(space_choice, "AT_ONCE", at_once)
        # the known one makes room: of the first row 1 is among the first ten, 11 is the eleventh
        assert recall(falling) == pytest.approx((1 / 2 + 1) / 2)
        rising = -falling
        assert recall(rising) == pytest.approx((1 / 2 + 1) / 2)
        rising[1, 5] = -1
        assert recall(rising) == pytest.approx((1 / 2 + 0) / 2)


def test_items_lean_only_where_more_is_found_again(fitted):
    held = held_of(fitted)
    seen = without_held(fitted, held)
    asked = kept_aside(seen, held)
    assert set(asked) == {"links", "attributes"}
    good = {name: fitted.codes(name).mean for name in fitted.network.types}
    everybody = {name: np.arange(len(rows)) for name, rows in good.items()}
    steering = steering_of(seen.network, everybody, good)

    def found(directions):
        return sum(
            each.recall(
                lambda rows, each=each: (
                    unit_length(directions[each.source][rows]) @ unit_length(directions[each.target]).T
                )
            )
            for each in asked.values()
        )

    gains = []
    for seed in range(4):  # so few are asked about that one blur says little
        rng = np.random.default_rng(seed)
        blurred = {
            name: unit_length(unit_length(rows) + 0.25 * rng.normal(size=rows.shape))
            for name, rows in good.items()
        }
        gains.append(found(leaning(seen, asked, blurred, steering)) - found(blurred))
    assert np.mean(gains) > 0.1
    # led astray, nobody leans
    rng = np.random.default_rng(2)
    astray = {
        type: {way: rng.normal(size=turn.shape).astype(np.float32) for way, turn in turns.items()}
        for type, turns in steering.items()
    }
    kept = leaning(seen, asked, good, astray)
    assert found(kept) >= found(good)


def test_the_space_answers_where_it_finds_as_much(fitted):
    held = held_of(fitted)
    seen = without_held(fitted, held)
    found = with_code_questions(seen, kept_aside(seen, held), held)
    assert set(found.history["space_recall"]) == {"links", "attributes"}
    for name, told in found.history["space_recall"].items():
        assert set(told) == {"cosine", "combination", "model"}
        said = next(line for line in found.history["notices"] if line.startswith(f"{name}: of what"))
        by_itself = found.relations[name].by_codes
        assert ("answers by itself" in said) == by_itself
        if by_itself:
            assert told["cosine"] >= told["combination"] - 0.005
        assert ("codes" in found.relations[name].blends) == (told["cosine"] >= told["model"])


@pytest.fixture(scope="module")
def by_itself(fitted):
    """The same where the space answers."""
    rng = np.random.default_rng(0)
    blend = weigh(rng.normal(0.6, 0.2, (200, 1)), rng.normal(0, 0.2, (200, 1)), hidden=1)
    fits = {
        name: replace(each, blends={**each.blends, "codes": blend}, by_codes=True)
        for name, each in fitted.relations.items()
    }
    return replace(fitted, relations=fits)


@pytest.mark.parametrize("relation", ["links", "attributes"])
def test_it_answers_by_cosine_in_every_way_of_asking(by_itself, relation, tmp_path):
    joined = by_itself.network.relation(relation)
    here, there = (unit_length(by_itself.codes(end).mean) for end in (joined.source, joined.target))
    cosines = here @ there.T
    rows = np.arange(5)
    scores = by_itself.score_rows(rows, relation)
    np.testing.assert_array_equal(np.argsort(scores, axis=1), np.argsort(cosines[rows], axis=1))
    pairs = np.column_stack([np.zeros(8, dtype=int), np.arange(1, 9)])
    np.testing.assert_allclose(by_itself.score(relation, pairs), scores[0, 1:9], rtol=1e-4)
    nobody = cosines[0].copy()
    nobody[joined.values[[0]].indices] = -2
    if joined.pairing.same:
        nobody[0] = -2
    first = str(by_itself.network.main.ids[0])
    best = by_itself.complete(first, relation, 3, type="node")
    names = by_itself.network.items(joined.target).ids
    assert [match.name for match in best] == [names[i] for i in np.argsort(-nobody)[:3]]
    batch = next(iter(by_itself.complete_all(relation, 3, items=[first])))
    np.testing.assert_allclose(batch.score, [match.score for match in best], rtol=1e-5)
    np.testing.assert_allclose(batch.std, [match.std for match in best], rtol=1e-4)
    again = load(save(by_itself, tmp_path / "model"))
    assert again.relations[relation].by_codes
    assert again.complete(first, relation, 3, type="node") == best


def test_newcomers_are_answered_by_the_space(by_itself):
    network = by_itself.network
    rows = {name: network.relation(name).values[[3]] for name in ("links", "attributes")}
    placed = by_itself.place("node", rows)
    best = placed.complete(0, "attributes", 4)
    cosines = (unit_length(placed.codes.mean) @ unit_length(by_itself.codes("attribute").mean).T)[0]
    cosines[rows["attributes"].indices] = -2
    names = network.items("attribute").ids
    assert [match.name for match in best] == [names[i] for i in np.argsort(-cosines)[:4]]
    alone = replace(
        by_itself,
        relations={
            name: replace(each, blends={k: v for k, v in each.blends.items() if k != "codes"}, by_codes=False)
            for name, each in by_itself.relations.items()
        },
    )
    other = alone.place("node", rows).complete(0, "attributes", 4)
    assert [match.score for match in other] != [match.score for match in best]


def test_the_space_is_not_asked_where_nothing_tells_what_a_cosine_is_worth(fitted, monkeypatch):
    held = held_of(fitted)
    seen = without_held(fitted, held)
    monkeypatch.setattr(space_choice, "weigh", lambda *_, **__: None)
    found = with_code_questions(seen, kept_aside(seen, held), held)
    for name, fit_of in found.relations.items():
        assert fit_of.blends == seen.relations[name].blends
        assert fit_of.by_codes == seen.relations[name].by_codes


def test_which_way_a_link_goes_is_not_asked_of_a_cosine():
    """It is the same both ways, however much it finds."""
    network = groups()
    links = np.triu(network.links.toarray(), 1)
    people = [Items.build("person", len(links))]
    directed = Network.of(people, [Relation.build("follows", "person", "person", links, directed=True)])
    fitted = fit(directed, preset_settings("best", epochs=2, dim=4, validation_pairs=0.2))
    held = held_of(fitted)
    seen = without_held(fitted, held)
    found = with_code_questions(seen, kept_aside(seen, held), held)
    assert "follows" in found.history["space_recall"]
    assert "codes" not in found.relations["follows"].blends
