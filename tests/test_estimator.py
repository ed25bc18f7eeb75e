import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import coembed
from coembed import SCAN, InputError
from coembed.fitted import placed_rows, sample_answers
from coembed.network import split_labels

BARE = {"space_dim": 0, "pair_scores": False}
QUICK = {"dim": 6, "hidden": 16, "epochs": 3, "settings": BARE, "random_state": 0}


@pytest.fixture(scope="module")
def partly(demo):
    return split_labels(demo, labels=0.1).visible(demo)


@pytest.fixture(scope="module")
def scan(partly):
    return SCAN(**QUICK).fit(partly)


def test_parameters_are_kept_set_and_cloned():
    scan = SCAN(dim=7, settings={"tau": 0.5}, random_state=3)
    assert clone(scan).get_params() == scan.get_params()
    assert scan.set_params(alpha=2.0).get_params()["alpha"] == 2.0
    with pytest.raises(ValueError, match="Invalid parameter"):
        scan.set_params(dimension=7)


def test_the_result_is_that_of_a_fit(scan, partly):
    settings = coembed.preset_settings("best", dim=6, hidden=16, epochs=3, seed=0, **BARE)
    np.testing.assert_array_equal(coembed.fit(partly, settings).node_mean, scan.node_embedding_)
    assert scan.attribute_embedding_.shape == (626, 13)
    assert list(scan.classes_) == list(partly.class_names)


def test_predictions_and_transform(scan, partly):
    np.testing.assert_array_equal(scan.transform(), scan.node_embedding_)
    np.testing.assert_allclose(scan.transform(partly), scan.node_embedding_, atol=1e-5)
    np.testing.assert_array_equal(scan.classes_[scan.predict_proba().argmax(1)], scan.predict())
    assert SCAN(**QUICK).fit_transform(partly).shape == (1476, 6)


def test_the_same_random_state_gives_the_same_bits_and_another_does_not(scan, partly):
    again = SCAN(**QUICK).fit(partly)
    np.testing.assert_array_equal(again.node_embedding_, scan.node_embedding_)
    other = clone(scan).set_params(random_state=1).fit(partly)
    assert np.abs(other.node_embedding_ - scan.node_embedding_).max() > 1e-3
    state = [SCAN(**{**QUICK, "random_state": np.random.RandomState(5)}).fit(partly) for _ in range(2)]
    np.testing.assert_array_equal(state[0].node_embedding_, state[1].node_embedding_)


def test_y_replaces_the_labels(partly):
    y = np.full(1476, -1)
    y[:50] = 2
    scan = SCAN(**QUICK).fit(partly, y)
    np.testing.assert_array_equal(scan.result_.network.labelled, np.arange(50))


def test_other_settings_go_through_and_unknown_ones_are_refused(partly):
    assert SCAN(**{**QUICK, "settings": {**BARE, "tau": 0.7}}).fit(partly).result_.settings["tau"] == 0.7
    with pytest.raises(InputError, match="no setting 'taus'"):
        SCAN(settings={"taus": 1}).fit(partly)


@pytest.mark.parametrize(
    ("labelled", "made"), [(True, np.asarray), (False, np.asarray), (True, sp.csr_array)]
)
def test_many_rows_are_answered_in_parts(monkeypatch, labelled, made):
    """As all at once: with classes and without, columns of a table or one matrix."""
    rng = np.random.default_rng(0)
    group = np.arange(50) % 2
    rows = made((rng.random((50, 12)) < np.where(group[:, None] == np.arange(12) % 2, 0.5, 0.1)) * 1.0)
    scan = SCAN(**{**QUICK, "dim": 4}).fit(rows, group if labelled else None)
    whole = scan.transform(rows[:23])
    told = scan.predict_proba(rows[:23]) if labelled else None
    for module in (sample_answers, placed_rows):
        monkeypatch.setattr(module, "AT_ONCE", 10)
    np.testing.assert_allclose(scan.transform(rows[:23]), whole, atol=1e-6)
    if labelled:
        np.testing.assert_allclose(scan.predict_proba(rows[:23]), told, atol=1e-6)
        np.testing.assert_allclose(told.sum(axis=1), 1)


def test_an_unfitted_estimator_says_so():
    with pytest.raises(NotFittedError):
        SCAN().predict()


def test_the_package_names_what_it_offers():
    for name in coembed.__all__:
        assert getattr(coembed, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Scan'"):
        _ = coembed.Scan
