"""Scores that order what an item might have: of the whole row by a sample, and as sure as they are right."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from coembed.fitted import Fitted
from coembed.fitted.score_blend import weigh
from coembed.metrics import auc
from coembed.network import split_attributes
from coembed.settings import preset_settings
from coembed.training import Holdout, fit, rank_blend
from coembed.training.rank_blend import _as_sure_as_right, _drawn, _fitted_to_rows, ordering


@pytest.fixture(scope="module")
def split(demo):
    return split_attributes(demo, validation=0.1, test=0.0, seed=0)


@pytest.fixture(scope="module")
def fitted(demo, split):
    held = Holdout(pairs={"attributes": (split.validation, split.validation_negatives)})
    settings = preset_settings("best", epochs=8, dim=8, hidden=8, rank=16, space_dim=0)
    return fit(split.visible(demo), settings, holdout=held)


def test_a_sample_of_a_row_stands_for_all_of_it():
    rng = np.random.default_rng(0)
    scores, known = rng.normal(size=(30, 1000)), rng.random((30, 1000)) < 0.1
    columns, weights = _drawn(scores, known, rng)
    assert not weights[
        np.take_along_axis(known, columns, axis=1)
    ].any()  # what is known stands against nothing
    np.testing.assert_allclose(weights.sum(axis=1), (~known).sum(axis=1))
    foremost = np.sort(np.where(known, -np.inf, scores), axis=1)[:, -rank_blend.FOREMOST :]
    first = np.take_along_axis(scores, columns[:, : rank_blend.FOREMOST], axis=1)
    np.testing.assert_array_equal(np.sort(first, axis=1), foremost)
    sums = (weights * np.exp(np.take_along_axis(scores, columns, axis=1))).sum(axis=1)
    whole = np.where(known, 0.0, np.exp(scores)).sum(axis=1)
    assert abs(sums.sum() / whole.sum() - 1) < 0.1


def of_two_features():
    """One says how much an item has, one which of all it has: only the second orders a row."""
    rng = np.random.default_rng(0)
    size = rng.normal(0, 2, 400)
    present = np.column_stack([size + 2, rng.normal(0.7, 1, 400)])
    absent = np.column_stack([rng.normal(-2, 2, 400), rng.normal(-0.7, 1, 400)])
    others = np.stack([np.repeat(size[:, None] + 2, 60, axis=1), rng.normal(-0.7, 1, (400, 60))], axis=-1)
    return weigh(present, absent), present, absent, others


def test_what_tells_rows_apart_but_orders_none_of_them_is_unlearnt(monkeypatch):
    monkeypatch.setattr(rank_blend, "ANYWHERE", 0.0)
    blend, present, absent, others = of_two_features()
    found = _fitted_to_rows(blend, present, others, np.ones((400, 60)), present, absent)

    def mean_rank(of):
        return (of.logits(others) > of.logits(present)[:, None]).sum(axis=1).mean()

    assert mean_rank(found) <= mean_rank(blend)
    step = np.array([[0.0, 0.0], [0.0, 1.0]])
    assert np.diff(found.logits(step))[0] > np.diff(blend.logits(step))[0]


def test_pairs_of_any_rows_are_still_told_apart(monkeypatch):
    blend, present, absent, others = of_two_features()

    def told_apart(weight):
        monkeypatch.setattr(rank_blend, "ANYWHERE", weight)
        found = _fitted_to_rows(blend, present, others, np.ones((400, 60)), present, absent)
        return auc(found.logits(present), found.logits(absent))

    before = auc(blend.logits(present), blend.logits(absent))
    assert told_apart(0.0) < before - 0.02
    assert told_apart(2.0) > before - 0.01


def test_probabilities_are_those_of_present_among_absent_pairs(fitted, split):
    present, absent = (
        fitted.pair_features(p, "attributes") for p in (split.validation, split.validation_negatives)
    )
    blend = weigh(present, absent)._replace(second_bias=np.array([7.0], dtype=np.float32))  # far too sure
    found = _as_sure_as_right(blend, blend.logits(present), blend.logits(absent))
    told = np.concatenate([expit(found.logits(each)) for each in (present, absent)])
    assert abs(told.mean() - 0.5) < 0.02


def test_what_was_kept_aside_comes_further_forward(fitted, split):
    present, absent = split.validation, split.validation_negatives
    blend = weigh(*(fitted.pair_features(each, "attributes") for each in (present, absent)))

    def reciprocal_rank(of):
        fits = replace(fitted.relations["attributes"], blends={"likely": of})
        scores = replace(fitted, relations={**fitted.relations, "attributes": fits}).score_rows(
            present[:, 0], "attributes"
        )
        own = scores[np.arange(len(present)), present[:, 1]]
        free = fitted.network.attributes[present[:, 0]].toarray() == 0
        return (1 / (1 + ((scores > own[:, None]) & free).sum(axis=1))).mean()

    assert reciprocal_rank(ordering(fitted, "attributes", blend, present, absent)) > reciprocal_rank(blend)


def test_few_pairs_leave_the_combination_as_it_is(fitted, split):
    present, absent = split.validation, split.validation_negatives
    blend = weigh(*(fitted.pair_features(each, "attributes") for each in (present, absent)))
    assert ordering(fitted, "attributes", blend, present[:50], absent) is blend


def test_last_digits_are_not_amplified():
    blend, present, absent, others = of_two_features()
    rng = np.random.default_rng(1)

    def logits(noise):
        moved = [each * (1 + noise * rng.normal(size=each.shape)) for each in (present, others, absent)]
        found = _fitted_to_rows(blend, moved[0], moved[1], np.ones((400, 60)), moved[0], moved[2])
        return _as_sure_as_right(found, found.logits(moved[0]), found.logits(moved[2])).logits(others)

    np.testing.assert_allclose(logits(1e-6), logits(0.0), atol=1e-3)


def test_where_all_are_told_apart_nobody_is_sure_without_end():
    rng = np.random.default_rng(0)
    present, absent = rng.normal(9, 1, (120, 2)), rng.normal(-9, 1, (120, 2))
    unordered = rng.normal(-9, 1, (120, 60, 2))
    found = _fitted_to_rows(weigh(present, absent), present, unordered, np.ones((120, 60)), present, absent)
    sure = _as_sure_as_right(found, found.logits(present), found.logits(absent))
    # 120 of 120 say no more than 121 of 122
    assert expit(sure.logits(present)).mean() == pytest.approx(121 / 122, abs=0.004)
    assert np.abs(sure.logits(unordered)).max() < 20


def test_either_end_of_a_link_is_asked_about(part_of_demo, monkeypatch):
    """What is put in order are links that were kept aside, about half of them from their other end."""
    fitted = fit(part_of_demo, preset_settings("best", epochs=1, dim=4, hidden=4, rank=4, space_dim=0))
    links = np.argwhere(np.triu(part_of_demo.links.toarray(), 1))
    present, absent = links[:150], np.random.default_rng(0).integers(0, 400, (150, 2))
    asked, real = [], Fitted.pair_features

    def seen(self, pairs, name):
        asked.append(pairs)
        return real(self, pairs, name)

    blend = weigh(fitted.pair_features(present, "links"), fitted.pair_features(absent, "links"), 0)
    monkeypatch.setattr(Fitted, "pair_features", seen)
    ordering(fitted, "links", blend, present, absent, 0)
    there = {tuple(pair) for pair in present.tolist()}
    own = [pairs for pairs in asked if len(pairs) == len(present)][-1]
    turned = sum(tuple(pair) not in there for pair in own.tolist())
    assert all(tuple(pair) in there or tuple(pair[::-1]) in there for pair in own.tolist())
    assert 40 < turned < 110
