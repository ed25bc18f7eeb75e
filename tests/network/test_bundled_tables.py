"""The tables that come with the package: read as anybody's would be, and their licence is there."""

from importlib.resources import files

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from coembed.network import demo_tables


def test_types_relations_and_columns():
    demo = demo_tables()
    assert demo.entity_types == ["nouns", "verbs", "words"]
    directed = {relation.name for relation in demo.entity_relations if relation.directed}
    assert directed == {"kinds", "parts", "ways"}
    kinds = {relation.name: relation.column.kind for relation in demo.relations.values() if relation.column}
    assert kinds == {
        "nouns.definition": "text",
        "nouns.uses": "number",
        "verbs.definition": "text",
        "frames": "tags",
        "verbs.uses": "number",
        "letters": "number",
        "form": "category",
    }
    assert [demo.items(name).n_classes for name in ("nouns", "verbs", "words")] == [4, 4, 0]
    assert demo.items("nouns").titles is not None


def test_all_of_it_hangs_together():
    demo = demo_tables()
    sizes = [len(demo.types[name]) for name in demo.entity_types]
    starts = dict(zip(demo.entity_types, np.cumsum([0, *sizes]), strict=False))
    ends = []
    for relation in demo.entity_relations:
        rows, columns = relation.values.nonzero()
        ends.append(np.stack([rows + starts[relation.source], columns + starts[relation.target]]))
    rows, columns = np.concatenate(ends, axis=1)
    graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(sum(sizes), sum(sizes)))
    assert connected_components(graph, directed=False, return_labels=False) == 1


def test_the_licence_lies_beside_them():
    place = files("coembed.network") / "bundled" / "wordnet-tables" / "WORDNET-LICENSE.txt"
    assert "Princeton University" in place.read_text()
