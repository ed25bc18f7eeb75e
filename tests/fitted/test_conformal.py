"""P-values, class scales and sets: what is promised holds where cases are exchangeable."""

from dataclasses import replace

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.fitted import load, save
from coembed.fitted.class_answers import sets_of
from coembed.fitted.conformal import ClassScale, class_sets, kept, p_values
from coembed.training.class_doubt import cross_conformal, split_conformal


def made_up(rng, count, n_classes=4, sharpness=2.0):
    """Classes, and calibrated probabilities of them."""
    probabilities = rng.dirichlet(np.full(n_classes, 1 / sharpness), size=count)
    truth = (rng.random((count, 1)) > probabilities.cumsum(axis=1)).sum(axis=1).clip(max=n_classes - 1)
    return truth, probabilities


def test_p_values_of_true_cases_are_rarely_small(rng):
    """P(p <= a) <= a, and hardly less: over many draws of known cases and of a new one."""
    p = np.array([p_values(rng.normal(size=1), np.sort(rng.normal(size=49)))[0] for _ in range(4000)])
    for share in (0.02, 0.1, 0.5):
        assert share - 0.03 < np.mean(p <= share + 1e-9) < share + 0.02


@pytest.mark.parametrize("coverage", [0.8, 0.95])
def test_sets_hold_the_true_class_as_often_as_promised(rng, coverage):
    hits, sizes = [], []
    for _ in range(30):
        truth, probabilities = made_up(rng, 700)
        doubt = split_conformal(probabilities, truth, np.arange(200))
        inside = class_sets(doubt.p_values, probabilities, coverage)[200:]
        hits.append(inside[np.arange(500), truth[200:]].mean())
        sizes.append(inside.sum(axis=1).mean())
    assert abs(np.mean(hits) - coverage) < 0.015
    assert 1 < np.mean(sizes) < 3.5


def test_few_labels_of_each_class_are_hardly_compared_with_themselves(rng):
    """A label that makes up what is usual of its class looks less strange than new items do."""
    hits = []
    for _ in range(150):
        truth, probabilities = made_up(rng, 540, sharpness=4.0)
        told = probabilities ** rng.uniform(0.5, 2.0, size=4)  # each class is told more or less boldly
        told /= told.sum(axis=1, keepdims=True)
        doubt = split_conformal(told, truth, np.arange(40))
        inside = class_sets(doubt.p_values, told, 0.97)[40:]
        hits.append(inside[np.arange(500), truth[40:]].mean())
    assert np.mean(hits) > 0.967


def test_the_folds_together_keep_the_promise(rng):
    """Models of the folds that differ by noise: their median covers what one alone would."""
    hits = []
    for _ in range(20):
        truth, probabilities = made_up(rng, 900)
        folds = np.full(900, -1)
        folds[:300] = np.arange(300) % 5
        by_fold = []
        for _ in range(5):
            noisy = probabilities * rng.lognormal(0, 0.3, size=probabilities.shape)
            by_fold.append(noisy / noisy.sum(axis=1, keepdims=True))
        inside = class_sets(cross_conformal(by_fold, truth, folds).p_values, probabilities, 0.9)[300:]
        hits.append(inside[np.arange(600), truth[300:]].mean())
    assert 0.885 < np.mean(hits) < 0.925


def test_a_labelled_item_is_judged_by_who_has_not_seen_it(rng):
    truth, probabilities = made_up(rng, 60)
    folds = np.arange(60) % 5
    doubt = cross_conformal([probabilities] * 5, truth, folds)
    seen = [probabilities.copy() for _ in range(5)]
    for fold in range(5):  # whoever has seen a label is sure of it
        rows = np.flatnonzero(folds != fold)
        seen[fold][rows] = np.eye(4)[truth[rows]]
    np.testing.assert_array_equal(cross_conformal(seen, truth, folds).p_values, doubt.p_values)


def test_a_class_that_is_hard_to_tell_is_left_out_no_oftener(rng):
    """One class is always given a fifth of what it deserves: without a scale of its own it is rare."""
    found, plain = [], []
    for _ in range(20):
        truth, probabilities = made_up(rng, 1200)
        told = probabilities * np.where(np.arange(4) == 3, 0.2, 1.0)
        told /= told.sum(axis=1, keepdims=True)
        doubt = split_conformal(told, truth, np.arange(400))
        hard = np.flatnonzero(truth == 3)
        hard = hard[hard >= 400]
        found.append(class_sets(doubt.p_values, told, 0.9)[hard, 3].mean())
        flat = replace(doubt, scale=ClassScale(np.zeros(4), np.ones(4)))
        surprises = -np.log(np.maximum(told[np.arange(400), truth[:400]], 1e-4))
        values = replace(flat, known=np.sort(surprises)).of_new(told)
        plain.append(class_sets(values, told, 0.9)[hard, 3].mean())
    assert np.mean(found) > 0.85
    assert np.mean(plain) < np.mean(found) - 0.02


def test_sets_cover_no_more_for_never_being_empty(rng):
    """A fifth is told in great doubt, but rightly: sets hold it anyway, so less of what is wrong need be."""
    hits = []
    for _ in range(30):
        truth, kind = rng.integers(0, 4, 1400), rng.choice(3, 1400, p=[0.68, 0.12, 0.2])
        first = np.where(kind == 1, (truth + 1) % 4, truth)
        others = rng.uniform(0.05, 0.1, size=(1400, 4)) * np.where(kind == 2, 3, 1)[:, None]
        others[np.arange(1400), truth] += np.where(kind == 1, rng.uniform(0.55, 0.65, 1400), 0)
        others[np.arange(1400), first] = np.select([kind == 0, kind == 1], [5.0, 0.9], 0.35)
        probabilities = others / others.sum(axis=1, keepdims=True)
        doubt = split_conformal(probabilities, truth, np.arange(600))
        inside = class_sets(doubt.p_values, probabilities, 0.9)[600:]
        hits.append(inside[np.arange(800), truth[600:]].mean())
    assert abs(np.mean(hits) - 0.9) < 0.012


def test_the_worst_class_is_not_given_up_where_the_likeliest_class_covers_enough(rng):
    """Nine in ten are told without fail; of the tenth class half are taken for another."""
    found = []
    for _ in range(20):
        truth = (rng.random(2000) < 0.1).astype(int)
        sure = np.where((truth == 1) & (rng.random(2000) < 0.5), 0.2 * rng.random(2000), 0.95 * truth)
        probabilities = np.stack([1 - sure, sure], axis=1)
        doubt = split_conformal(probabilities, truth, np.arange(1000))
        inside = class_sets(doubt.p_values, probabilities, 0.9)[1000:]
        found.append(inside[truth[1000:] == 1, 1].mean())
    assert np.mean(found) > 0.84


def test_what_is_kept_of_very_many_says_the_same(rng):
    many = rng.normal(size=30_000)
    asked = np.linspace(-3, 3, 50)
    assert len(kept(many)) == 2000
    np.testing.assert_allclose(p_values(asked, kept(many)), p_values(asked, np.sort(many)), atol=2e-3)


@pytest.fixture(scope="module")
def doubtful():
    from coembed.network import demo_network, split_labels
    from coembed.settings import preset_settings
    from coembed.training import fit

    network = demo_network()
    split = split_labels(network, labels=0.1, seed=3)
    settings = preset_settings("best", epochs=3, space_dim=0, pair_scores=False)
    return network, split, fit(split.visible(network), settings)


def test_a_fit_promises_saves_and_keeps_it(doubtful, tmp_path):
    network, split, fitted = doubtful
    sets = fitted.predict_set(0.9)
    truth = network.class_names[network.labels]
    held = np.mean([truth[row] in sets[row] for row in split.test])
    assert held > 0.85
    assert all(fitted.predict()[row] == sets[row][0] for row in split.test[:200])
    wider = fitted.predict_set(0.99)
    assert all(set(small) <= set(large) for small, large in zip(sets, wider, strict=True))
    loaded = load(save(fitted, tmp_path / "model"))
    assert list(loaded.predict_set(0.9)) == list(sets)


def test_new_rows_are_compared_with_the_known(doubtful):
    _, _, fitted = doubtful
    doubt = fitted.types["node"].doubt
    even = np.full((1, 7), 1 / 7)
    sure = np.array([[0.997] + [0.0005] * 6])
    assert sets_of(fitted, "node", 0.95, np.arange(1), new=even).all()
    assert sets_of(fitted, "node", 0.9, np.arange(1), new=sure).sum() == 1
    assert doubt.labels == 148


@pytest.mark.parametrize("coverage", [0, 1, 90, -0.1, float("nan")])
def test_a_coverage_is_a_share(doubtful, coverage):
    with pytest.raises(InputError, match="share between 0 and 1"):
        doubtful[2].predict_set(coverage)


def test_without_anything_kept_nothing_is_promised(doubtful):
    fitted = doubtful[2]
    bare = replace(fitted, types={**fitted.types, "node": replace(fitted.types["node"], doubt=None)})
    with pytest.raises(InputError, match="at least 20 labels"):
        bare.predict_set(0.9)
