"""Graphs of NetworkX and igraph: nothing is lost or put in another order."""

import datetime

import networkx
import numpy as np
import pytest

import coembed
from coembed.errors import InputError
from coembed.network.adapters.graph_objects import from_networkx


def people(kind=networkx.Graph):
    graph = kind(name="people")
    for i, name in enumerate(["ann", "bob", "eve", "dan", "gil", "hal", "ida", "jon"]):
        graph.add_node(
            name,
            age=20.5 + i,
            town=("Oslo", "Rome")[i % 2],
            member=i % 3 == 0,
            born=datetime.date(2000, 1, 1 + i),
            likes=["chess", "golf"][: i % 3],
        )
    del graph.nodes["eve"]["age"]
    graph.add_edge("ann", "bob", weight=2.0)
    graph.add_edge("bob", "eve", weight=0.5)
    graph.add_edge("dan", "ann", weight=1.0)
    return graph


def test_attributes_of_nodes_are_columns_of_all_kinds():
    network = coembed.read(people(), labels="town")
    assert list(network.main.ids) == list(people().nodes)
    kinds = {
        each.column.name: each.column.kind
        for each in network.columns("node")
        if each.name == each.column.name
    }
    assert kinds["age"] == "number"
    assert kinds["member"] == "yes/no"
    assert kinds["born"] == "date"
    assert kinds["likes"] == "tags"
    age = network.relation("age")
    assert age.values.nnz == 7  # eve's is not known
    assert network.main.labels.texts(np.arange(2)).to_pylist() == ["Oslo", "Rome"]
    links = network.relation("links").values.toarray()
    np.testing.assert_array_equal(links, networkx.to_numpy_array(people()))


def test_directions_weights_and_parallel_links_are_kept():
    directed = coembed.read(people(networkx.DiGraph))
    assert directed.relation("links").directed
    np.testing.assert_array_equal(
        directed.relation("links").values.toarray(), networkx.to_numpy_array(people(networkx.DiGraph))
    )
    several = people(networkx.MultiGraph)
    several.add_edge("ann", "bob", weight=3.0)
    network = coembed.read(several)
    assert network.relation("links").values[0, 1] == 5
    assert any("1 parallel link(s) were added up" in notice for notice in network.notices)


def test_links_of_several_kinds_are_relations_on_request():
    graph = people()
    for place, (one, other) in enumerate(graph.edges):
        graph.edges[one, other]["kind"] = ("friend", "boss")[place % 2]
    assert any("not used: kind" in notice for notice in coembed.read(graph).notices)
    network = from_networkx(graph, split="kind")
    assert sum(network.relation(f"links.{each}").n_entries for each in ("friend", "boss")) == 3
    with pytest.raises(InputError, match="no attribute 'sort'"):
        from_networkx(graph, split="sort")


def test_a_bare_graph_is_a_plain_network():
    network = coembed.read(networkx.path_graph(4))
    assert network.is_plain
    assert list(network.node_names) == ["0", "1", "2", "3"]
    assert network.n_links == 3
    mixed = networkx.Graph([(1, "1")])
    with pytest.raises(InputError, match="two nodes are called '1'"):
        coembed.read(mixed)


@pytest.mark.parametrize(
    ("ending", "write"), [("graphml", "write_graphml"), ("gexf", "write_gexf"), ("gml", "write_gml")]
)
def test_files_that_networkx_writes(tmp_path, ending, write):
    graph = people()
    for node in graph:
        graph.nodes[node].pop("likes")
        graph.nodes[node]["born"] = str(graph.nodes[node]["born"])
        graph.nodes[node]["member"] = int(graph.nodes[node]["member"])
    graph.nodes["eve"]["age"] = 1.5
    path = tmp_path / f"people.{ending}"
    getattr(networkx, write)(graph, path)
    network = coembed.read(path, labels="town")
    assert (network.name, list(network.main.ids)) == ("people", list(graph))
    np.testing.assert_array_equal(network.relation("links").values.toarray(), networkx.to_numpy_array(graph))
    assert network.relation("age").column.kind == "number"
    path.write_text("<graphml><node")
    with pytest.raises(InputError, match=f"is not a whole {ending} file"):
        coembed.read(path)


def test_igraph_says_the_same():
    igraph = pytest.importorskip("igraph")
    graph = people()
    for node in graph:
        graph.nodes[node]["name"] = node
    turned = igraph.Graph.from_networkx(people())
    turned.vs["name"] = list(people().nodes)
    if "_nx_name" in turned.vs.attributes():
        del turned.vs["_nx_name"]
    one, other = coembed.read(turned, labels="town"), coembed.read(people(), labels="town")
    assert list(one.main.ids) == list(other.main.ids)
    for name, relation in other.relations.items():
        np.testing.assert_array_equal(one.relation(name).values.toarray(), relation.values.toarray())
