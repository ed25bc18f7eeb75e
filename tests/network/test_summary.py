"""Figures of a network, counted by hand."""

import json

import numpy as np
import pytest

from coembed.network import Network, summary


def test_figures_of_a_small_network():
    network = Network.build(
        links=[[0, 2, 0, 0], [2, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]],
        attributes=[[0.5, 0, 0], [0, 3, 0], [1, 0, 0], [0, 0, 0]],
        labels=[0, 0, 1, -1],
    )
    figures = summary(network)
    assert figures["nodes"] == 4
    assert figures["links"] == 2
    assert figures["entries"] == 3
    assert figures["labelled"] == 3
    assert figures["isolated_nodes"] == 1
    assert figures["nodes_without_attributes"] == 1
    assert figures["unused_attributes"] == 1
    assert figures["components"] == 2
    assert figures["links_inside_a_class"] == 0.5
    assert figures["weighted_links"]
    assert figures["real_attributes"]
    assert figures["link_range"] == [1, 2]
    assert figures["attribute_range"] == [0.5, 3]
    assert figures["link_density"] == pytest.approx(2 / 6)
    assert figures["attribute_density"] == pytest.approx(3 / 12)
    assert figures["class_sizes"] == {"class0": 2, "class1": 1}


def test_summary_is_json_even_of_nothing():
    figures = summary(Network.build(np.zeros((1, 1))))
    assert json.loads(json.dumps(figures)) == figures
    assert figures["links_inside_a_class"] is None
    assert figures["link_density"] is None


def test_a_notebook_shows_tables_and_escapes_names():
    network = Network.build(
        [[0, 1], [1, 0]], [[1], [1]], node_names=["a", "b"], attribute_names=["<b>bold</b>"], name="<script>"
    )
    html = network._repr_html_()
    assert "<td>links</td><td>node with node</td><td>1</td>" in html
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
