"""SCAN's text format, as its files come."""

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.network import read


def lines_of(network, both=True, loops=()):
    rows, columns = network.links.nonzero()
    pairs = [(i, j) for i, j in zip(rows, columns, strict=True) if both or i < j]
    return pairs + [(i, i) for i in loops]


def put(
    folder, network, *, both=True, loops=(), end="\n", final=True, third=None, headers=True, name="wordnet"
):
    """Write the three files in one of the manners that occur."""
    pairs = lines_of(network, both, loops)
    owned = list(zip(*network.attributes.nonzero(), strict=True))
    edge = [f"{i}\t{j}" + (f"\t{third}" if third else "") for i, j in pairs]
    node = [f"{i}\t{a}" for i, a in owned]
    if headers:
        edge = [f"#Nodes\t{network.n_nodes}", f"#Edges\t{len(pairs)}", *edge]
        node = [f"#Nodes\t{network.n_nodes}", f"#Attributes\t{network.n_attributes}", *node]
    label = [str(k + 1) for k in network.labels]
    for ending, lines in (("edge", edge), ("node", node), ("label", label)):
        text = end.join(lines) + (end if final else "")
        (folder / f"{name}.{ending}").write_bytes(text.encode())
    return folder


@pytest.mark.parametrize(
    "manner",
    [
        {"end": "\r\n"},
        {"end": "\n"},
        {"final": False},
        {"both": False},
        {"loops": (0, 5)},
        {"third": "1999"},
        {"both": False, "loops": (3,), "end": "\r\n", "final": False},
    ],
)
def test_every_manner_gives_the_same_network(demo, tmp_path, assert_same, manner):
    put(tmp_path, demo, **manner)
    network = read(tmp_path)
    assert_same(network, demo, names=False)
    assert list(network.class_names) == ["1", "2", "3", "4", "5", "6", "7"]
    assert any("self-loop" in notice for notice in network.notices) == ("loops" in manner)
    assert any("not used" in notice for notice in network.notices) == ("third" in manner)


def test_any_file_finds_its_siblings(demo, tmp_path, assert_same):
    put(tmp_path, demo)
    put(tmp_path, demo, name="another")
    for ending in ("edge", "node", "label"):
        network = read(tmp_path / f"wordnet.{ending}")
        assert_same(network, demo, names=False)
        assert network.name == "wordnet"
    with pytest.raises(InputError, match="several networks"):
        read(tmp_path)


def test_three_files_by_content_under_other_names(demo, tmp_path, assert_same):
    put(tmp_path, demo)
    for ending in ("edge", "node", "label"):
        (tmp_path / f"wordnet.{ending}").rename(tmp_path / f"my_{ending}.txt")
    assert_same(read(*sorted(tmp_path.iterdir())), demo, names=False)


def test_without_headers_the_largest_number_counts(tmp_path):
    (tmp_path / "n.edge").write_text("0\t1\n1\t4\n")
    network = read(tmp_path / "n.edge")
    assert (network.n_nodes, network.n_links, network.n_attributes) == (5, 2, 0)


def test_pairs_listed_twice_in_one_direction_count_once(tmp_path):
    (tmp_path / "n.edge").write_text("#Nodes\t3\n#Edges\t3\n0\t1\n0\t1\n1\t0\n")
    np.testing.assert_array_equal(read(tmp_path / "n.edge").links.toarray()[:2, :2], [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("edge", "node", "label", "said"),
    [
        ("#Nodes\t2\n#Edges\t1\n0\t2\n", None, None, r"n\.edge, line 3: node 2 is out of range"),
        ("#Nodes\t2\n#Edges\t1\n0\t-1\n", None, None, r"n\.edge, line 3: node -1 is out of range"),
        ("#Nodes\t2\n#Edges\t1\n0\tx\n", None, None, r"n\.edge, line 3: the number of the node 'x'"),
        ("#Nodes\t2\n#Edges\t1\n0\t0.5\n", None, None, "out of range"),
        ("#Nodes\tmany\n", None, None, r"n\.edge, line 1: expected a count"),
        ("#Nodes\t2\n#Edges\t2\n0\t1\n0\n", None, None, r"n\.edge, line 4: expected 2 columns, found 1"),
        ("#Nodes\t2\n#Edges\t1\n", None, None, r"n\.edge holds no rows"),
        ("#Nodes\t2\n#Edges\t1\n0\n", None, None, r"n\.edge, line 3: expected two numbers"),
        ("0\t99999999999\n", None, None, "number them from 0"),
        ("", None, None, r"n\.edge is empty"),
        (
            "0\t1\n",
            "#Nodes\t2\n#Attributes\t3\n0\t3\n",
            None,
            r"n\.node, line 3: attribute 3 is out of range",
        ),
        ("0\t1\n", None, "1\n", r"n\.label: 1 labels for 2 nodes"),
        ("0\t1\n", None, "1\nx\n", r"n\.label, line 2: the class 'x'"),
        ("0\t1\n", None, "1\n1.5\n", r"n\.label, line 2: class 1\.5"),
        ("0\t1\n", None, "1\t2\n2\t3\n", r"n\.label, line 1: expected one class"),
        (None, None, "1\n", r"no \.edge file"),
    ],
)
def test_broken_files_are_explained(tmp_path, edge, node, label, said):
    for ending, text in (("edge", edge), ("node", node), ("label", label)):
        if text is not None:
            (tmp_path / f"n.{ending}").write_text(text)
    with pytest.raises(InputError, match=said) as caught:
        read(next(iter(sorted(tmp_path.iterdir()))))
    assert "\n" not in str(caught.value)
