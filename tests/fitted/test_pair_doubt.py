"""Lists of which few are wrong, and intervals that hold the truth: made-up scores, and a fitted model."""

from dataclasses import replace

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.fitted.conformal import widening
from coembed.fitted.pair_doubt import MOST_TAIL, PairDoubt
from coembed.network.pairs import true_pairs, without
from coembed.training import pair_errors
from coembed.training.holdout import Holdout


@pytest.mark.parametrize("fdr", [0.1, 0.3])
def test_lists_are_wrong_no_oftener_than_promised(rng, fdr):
    """Half of the truth tells the threshold, the other half is listed by it: on average over many draws."""
    wrong, lengths = [], []
    for _ in range(60):
        hidden = rng.normal(2.8, 1, size=(2, 200))
        absent = rng.normal(0, 1, size=(2, 20_000))
        least = PairDoubt.of(hidden[0], absent[0], 200 / 20_200).least_score(fdr)
        false, true = (absent[1] >= least).sum(), (hidden[1] >= least).sum()
        wrong.append(false / max(false + true, 1))
        lengths.append(false + true)
    assert np.mean(wrong) < fdr + 0.015
    assert np.mean(wrong) > fdr / 3
    assert np.mean(lengths) > 10


def test_rarer_pairs_need_larger_scores(rng):
    hidden, absent = rng.normal(3, 1, size=300), rng.normal(0, 1, size=50_000)
    scores = [PairDoubt.of(hidden, absent, share).least_score(0.1) for share in (0.1, 0.01, 0.001, 1e-9)]
    assert scores == sorted(scores)
    assert scores[-1] == np.inf


def test_the_largest_list_that_is_allowed_is_made():
    """As the rule says: not the first score that fails ends it, but the last that passes."""
    absent = np.concatenate([np.full(2, 8.5), np.zeros(998)])
    present = np.concatenate([[9.0], np.full(99, 8.0)])
    doubt = PairDoubt.of(present, absent, 0.1)
    assert doubt.least_score(0.05) == 8.0


def test_lists_begin_no_lower_than_the_absent_pairs_that_are_kept():
    """Of what lies below them nobody knows how many absent pairs are above."""
    between = PairDoubt.of(np.array([0.5]), np.array([0.4, 0.6]), 0.9)
    assert between.least_score(0.8) == pytest.approx(0.5)
    below = PairDoubt.of(np.array([0.5]), np.ones(2 * MOST_TAIL), 0.9)
    assert below.least_score(0.99) == np.inf
    nobody = PairDoubt.of(np.array([0.5]), np.empty(0), 0.9)
    assert nobody.least_score(0.99) == np.inf


def test_intervals_hold_the_truth_as_often_as_promised(rng):
    held = []
    for _ in range(300):
        errors = abs(rng.standard_t(4, size=(2, 60)))
        held.append(np.mean(errors[1] <= widening(np.sort(errors[0]), 0.9)))
    assert 0.89 < np.mean(held) < 0.93


def test_absent_pairs_are_neither_known_nor_hidden(general):
    """What is looked at: all pairs of a small network but those that are there and an item with itself."""
    for name in ("follows", "saw", "likes"):
        relation = general.network.relation(name)
        pairs = true_pairs(relation.values, relation.pairing)[:7]
        network = general.network
        shown = network.with_values({name: without(relation.values, pairs, relation.pairing)})
        fitted = pair_errors.with_pair_doubt(
            replace(general, network=shown), Holdout(pairs={name: (pairs, pairs)})
        )
        doubt = fitted.relations[name].doubt
        width = len(general.span(relation))
        possible = relation.values.shape[0] * (width - relation.pairing.same)
        assert doubt.n_absent == possible - relation.values.nnz
        twice = 2 if relation.pairing.undirected else 1
        assert doubt.prevalence == pytest.approx(twice * 7 / (doubt.n_absent + twice * 7))
        np.testing.assert_allclose(doubt.present, np.sort(general.score(name, pairs)), rtol=1e-4)


def test_only_sure_pairs_are_listed(general):
    def with_doubt(least):
        present, absent = np.full(50, least), np.full(1000, -1.0)
        doubt = PairDoubt.of(present, absent, 0.5)
        fits = {**general.relations, "saw": replace(general.relations["saw"], doubt=doubt)}
        return replace(general, relations=fits)

    every = general.complete("p000", "saw", 100, type="person")
    middle = every[len(every) // 2].score
    sure = with_doubt(middle).complete("p000", "saw", 100, type="person", fdr=0.1)
    assert [each.name for each in sure] == [each.name for each in every if each.score >= np.float32(middle)]
    assert 0 < len(sure) < len(every)
    assert with_doubt(2.0).complete("p000", "saw", 100, type="person", fdr=0.1) == []
    batch = with_doubt(middle).complete_all("saw", 100, type="person", items=["p000"], fdr=0.1)
    assert sum(len(part.rows) for part in batch) == len(sure)
    backwards = with_doubt(middle).complete(every[0].name, "saw", 100, type="film", fdr=0.1)
    assert all(each.score >= np.float32(middle) for each in backwards)
    with pytest.raises(InputError, match="keeps nothing to judge lists of follows"):
        with_doubt(1.0).complete("p000", "follows", type="person", fdr=0.1)


def test_a_number_has_its_interval(general):
    errors = np.linspace(0, 2, 99).astype(np.float32)
    fits = {**general.relations, "income": replace(general.relations["income"], errors=errors)}
    fitted = replace(general, relations=fits)
    found = fitted.complete("p000", "income", type="person")[0]
    assert found.low < found.score < found.high
    wider = fitted.complete("p000", "income", type="person", coverage=0.95)[0]
    assert wider.low < found.low < found.high < wider.high
    assert found.as_dict()["low"] == found.low
    none = fitted.complete("p000", "income", type="person", coverage=0.999)[0]
    assert none.low is None
    assert "low" not in none.as_dict()
