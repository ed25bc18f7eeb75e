"""What sets items apart: the tests are those of the textbooks, and what was planted is found."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from coembed.errors import InputError
from coembed.fitted.enrichment import false_discoveries, log_fisher, log_mann_whitney, set_apart


def test_the_tail_is_that_of_the_hypergeometric_distribution():
    rng = np.random.default_rng(0)
    for total, drawn in ((20, 7), (500, 120), (3000, 3)):
        good = rng.integers(1, total, 40)
        a = np.array([rng.hypergeometric(g, total - g, drawn) for g in good])
        a[:5] = np.minimum(good, drawn)[:5]  # as far out as can be
        tails = np.minimum(
            stats.hypergeom.sf(a - 1, total, good, drawn), stats.hypergeom.cdf(a, total, good, drawn)
        )
        side = np.where(
            a * total >= drawn * good,
            stats.hypergeom.sf(a - 1, total, good, drawn),
            stats.hypergeom.cdf(a, total, good, drawn),
        )
        assert (side <= tails + 0.5).all()
        np.testing.assert_allclose(
            np.exp(log_fisher(a, drawn, good, total)), np.minimum(2 * side, 1), rtol=1e-8
        )


def test_ranks_are_compared_as_by_scipy():
    rng = np.random.default_rng(1)
    for shift in (0, 0.5, 2):
        own, others = rng.normal(shift, 1, 40).round(1), rng.normal(0, 1, 90).round(1)
        told = stats.mannwhitneyu(own, others, method="asymptotic")
        superiority, log_p = log_mann_whitney(own, others)
        assert superiority == pytest.approx(told.statistic / (40 * 90))
        assert np.exp(log_p) == pytest.approx(told.pvalue, rel=1e-6)
    assert log_mann_whitney(np.ones(3), np.ones(4)) == (0.5, 0.0)


def test_the_correction_is_that_of_benjamini_and_hochberg():
    p = np.random.default_rng(2).random(50) ** 3
    np.testing.assert_allclose(false_discoveries(np.log(p)), stats.false_discovery_control(p))


def test_what_was_planted_is_found_and_chance_is_not(general):
    network = general.network
    groups = network.items("person").labels
    left = {"person": np.flatnonzero(groups.values == 0)}
    found = set_apart(general, left)
    assert (found[0].field, found[0].value) == ("class", "left")
    by = {(each.field, each.value): each for each in found}
    assert by["income", None].effect < -0.4  # the left earn least
    assert all(each.q <= 0.05 for each in found)
    [member] = [each for each in set_apart(general, left, k=999, most_q=1) if each.field == "member"]
    assert member.value == "yes"
    assert member.effect > 1
    assert member.inside > member.outside
    chance = {"person": np.random.default_rng(0).choice(60, 20, replace=False)}
    assert len(set_apart(general, chance)) <= 1
    # against others than all: those of another class only
    right = {"person": np.flatnonzero(groups.values == 2)}
    against = {(each.field, each.value): each for each in set_apart(general, left, right)}
    assert against["income", None].inside < against["income", None].outside
    swapped = {(each.field, each.value): each for each in set_apart(general, right, left)}
    assert swapped["income", None].effect == pytest.approx(-against["income", None].effect)


def test_nothing_selected_is_told_and_all_selected_is_not_apart(general):
    with pytest.raises(InputError, match="no items are selected"):
        set_apart(general, {"person": np.empty(0, int)})
    assert set_apart(general, {"person": np.arange(60)}) == []
