"""What to label next: the doubt that a label would settle, without saying the same twice."""

import numpy as np
import pytest
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.fitted.label_advice import looks_at, most_settling


def two_stars(n=4):
    """Two centres, 0 and 1, each looked at by n leaves."""
    rows = np.arange(2, 2 + 2 * n)
    columns = np.repeat([0, 1], n)
    count = 2 + 2 * n
    return sp.csr_array((np.ones(2 * n), (rows, columns)), shape=(count, count))


def test_each_centre_is_asked_before_any_leaf():
    looks = two_stars()
    probabilities = np.full((10, 2), 0.5)
    rows, settled = most_settling(probabilities, np.ones(10, bool), looks, 3)
    assert set(rows[:2].tolist()) == {0, 1}
    assert settled.tolist() == [2.5, 2.5, 0.0]


def test_what_is_sure_or_known_is_not_asked_for():
    looks = two_stars()
    probabilities = np.full((10, 2), 0.5)
    probabilities[2:6] = [1.0, 0.0]  # the leaves of the first star need no help
    unlabelled = np.ones(10, bool)
    unlabelled[1] = False  # the second centre is labelled
    rows, settled = most_settling(probabilities, unlabelled, looks, 10)
    assert 1 not in rows
    assert len(rows) == 9
    assert settled[:5].tolist() == [0.5] * 5
    assert set(rows[:5].tolist()) == {0, 6, 7, 8, 9}


def test_a_label_settles_those_that_look_at_it_only_in_part():
    looks = sp.csr_array(np.array([[0, 0.25], [0, 0]]))
    rows, settled = most_settling(np.full((2, 2), 0.5), np.ones(2, bool), looks, 2)
    assert rows.tolist() == [1, 0]
    np.testing.assert_allclose(settled, [0.5 + 0.25 * 0.5, 0.75 * 0.5])


def test_one_looks_at_links_and_items_alike_by_halves():
    from coembed.views import Neighbours

    links = sp.csr_array(np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]], dtype=np.float32))
    alike = Neighbours(np.array([[1], [2], [1]]), np.array([[0.9], [0.4], [0.4]], dtype=np.float32))
    looks = looks_at(links, alike, 3).toarray()
    np.testing.assert_allclose(looks, [[0, 0.75, 0.25], [0.5, 0, 0.5], [0.5, 0.5, 0]])
    assert looks_at(None, None, 3).nnz == 0


def test_a_model_advises(general):
    advice = general.ask_next(5, "person")
    known = general.network.items("person").labels.is_known
    ids = list(general.network.items("person").ids)
    assert len(advice) == 5
    assert not any(known[ids.index(each.name)] for each in advice)
    assert len({each.name for each in advice}) == 5
    gains = [each.settles for each in advice]
    assert gains == sorted(gains, reverse=True)
    with pytest.raises(InputError, match="k must be at least 1"):
        general.ask_next(0, "person")
