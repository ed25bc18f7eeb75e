"""The network itself: what it refuses, and what it makes canonical."""

import numpy as np
import pytest
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network import UNKNOWN, Network


def test_links_become_symmetric_without_loops_and_say_so():
    network = Network.build([[3, 1, 0], [0, 0, 2], [0, 4, 0]])
    np.testing.assert_array_equal(network.links.toarray(), [[0, 1, 0], [1, 0, 4], [0, 4, 0]])
    assert len(network.notices) == 2
    assert "self-loop" in network.notices[0]


def test_negative_weights_survive_being_made_undirected():
    network = Network.build([[0, -2, 0], [0, 0, 1], [0, 0, 0]])
    np.testing.assert_array_equal(network.links.toarray(), [[0, -2, 0], [-2, 0, 1], [0, 1, 0]])


def test_symmetric_links_raise_no_notice():
    assert Network.build([[0, 1], [1, 0]]).notices == ()


def test_duplicate_and_zero_entries_vanish():
    attributes = sp.coo_array(([1, 2, 0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    network = Network.build(sp.csr_array((2, 2)), attributes)
    assert network.attributes.nnz == 1
    assert network.attributes[0, 1] == 3


def test_no_labels_no_attributes_no_links_is_legal():
    network = Network.build(np.zeros((3, 3)))
    assert (network.n_links, network.n_attributes, network.n_classes) == (0, 0, 0)
    assert (network.labels == UNKNOWN).all()


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ({"links": np.zeros((2, 3))}, "square"),
        ({"links": np.zeros((0, 0))}, "no nodes"),
        ({"links": [[0, np.nan], [0, 0]]}, "NaN"),
        ({"links": np.zeros((2, 2)), "attributes": np.zeros((3, 1))}, "3 rows"),
        ({"links": np.zeros((2, 2)), "labels": [0.5, 1.0]}, "integers"),
        ({"links": np.zeros((2, 2)), "labels": [0]}, "2 integers"),
        ({"links": np.zeros((2, 2)), "labels": [0, 2], "class_names": ["a"]}, "no name"),
        ({"links": np.zeros((2, 2)), "class_names": ["a", "a"]}, "occurs twice"),
        ({"links": np.zeros((2, 2)), "node_names": ["a"]}, "1 node names for 2"),
    ],
)
def test_bad_input_is_explained(arguments, part):
    with pytest.raises(InputError, match=part):
        Network.build(**arguments)


def test_a_misspelt_name_gets_a_hint(demo):
    with pytest.raises(InputError, match="did you mean"):
        demo.node_index("Denmrk.n.01")


def test_the_input_is_never_changed():
    links = sp.csr_array(np.array([[1.0, 1.0], [0.0, 0.0]]))
    before = links.toarray().copy()
    Network.build(links)
    np.testing.assert_array_equal(links.toarray(), before)


def test_names_that_repeat_are_titles():
    network = Network.build(np.zeros((3, 3)), node_names=["Ann", "Ann", "Bob"])
    assert list(network.node_names) == ["node0", "node1", "node2"]
    assert list(network.main.titles) == ["Ann", "Ann", "Bob"]
    assert network.node_index("Bob") == 2
    assert "'Ann' occurs twice" in network.notices[0]
    with pytest.raises(InputError, match="no node 'Ann'"):
        network.node_index("Ann")
