"""Networks of any types: what is written, as tables or as mapped arrays, is read."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network import Column, Items, Labels, Network, Relation, open_mapped, read, write
from coembed.network.readers.mapped import RECORD

from .test_table_folder import SHOP, put


def assert_equal(one, other):
    assert one.name == other.name
    assert list(one.types) == list(other.types)
    assert list(one.relations) == list(other.relations)
    for name, items in one.types.items():
        again = other.items(name)
        assert list(items.ids) == list(again.ids)
        if items.titles is None:
            assert again.titles is None
        else:
            assert list(items.titles) == list(again.titles)
        if items.labels is None:
            assert again.labels is None
        else:
            assert list(items.labels.classes) == list(again.labels.classes)
            np.testing.assert_array_equal(items.labels.values, again.labels.values)
            assert items.labels.column == again.labels.column
    for name, relation in one.relations.items():
        again = other.relation(name)
        for field in ("source", "target", "likelihood", "absent", "directed", "column"):
            assert getattr(relation, field) == getattr(again, field), (name, field)
        for piece in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(relation.values, piece), getattr(again.values, piece))


@pytest.fixture
def shop(tmp_path):
    """Every kind of column, gaps, a label, keys, lists of keys, weights, a direction, repeated titles."""
    rng = np.random.default_rng(0)
    lines = ["id,name,age,income,city,likes,joined,seen,member,remark,segment"]
    for i in range(60):
        cells = [
            f"c{i}",
            f"Name {i % 7}",
            str(rng.integers(18, 80)),
            f"{rng.lognormal(10, 1):.2f}",
            ["Oslo", "Rome", "São Paulo"][i % 3],
            ";".join(rng.choice(["chess", "go", "red wine"], i % 3, replace=False)),
            str(np.datetime64("2020-01-01") + int(rng.integers(900))),
            f"2024-01-{i % 28 + 1:02d} {i % 24:02d}:30:00",
            ["yes", "no"][i % 2],
            " ".join(rng.choice(["good", "bad", "ugly", "late", "early", "broken", "fast"], 5)),
            ["a", "b", ""][i % 3],
        ]
        lines.append(
            ",".join("" if rng.random() < 0.1 and k not in (0, 1) else c for k, c in enumerate(cells))
        )
    tables = {
        **SHOP,
        "customers": "\n".join(lines) + "\n",
        "likings": "who,whom\nc1,c2\nc2,c1\nc5,c6\nc6,c5\n",
        "colours": "customer,colour,count\nc1,red,2\nc2,red,1\nc3,blue,1\nc4,blue,7\n",
    }
    return read(put(tmp_path / "shop", **tables), labels=["segment"])


@pytest.mark.parametrize("format", ["csv", "parquet", "mapped"])
def test_what_is_written_is_read(shop, tmp_path, format):
    kinds = {relation.column.kind for relation in shop.columns("customers")}
    assert kinds == {"number", "category", "tags", "date", "yes/no", "text", "counts"}
    write(shop, tmp_path / "again", format)
    again = read(tmp_path / "again")
    assert_equal(shop, again)
    write(again, tmp_path / "again", format)  # in its own place
    assert_equal(shop, read(tmp_path / "again"))


def strange():
    """Names that tables and TOML find hard, attributes without owners, stored zeros, odd relations."""
    people = Items.build(
        "kl", ["a,b", 'say "x"', "none"], ["1", "1", "ø;"], Labels.build([1, -1, 0], ["nan", "-1"], "id")
    )
    things = Items.build("a/b.c", ["x", "y"])
    attributes = Items.build(
        "kl.attributes", ["n", "k=NA", "k=b", "unused", "t=a;b"], ["n", "NA", "b", "u", "a;b"]
    )
    one = sp.csr_array((np.float32([0, 1.25]), np.int32([0, 0]), np.int32([0, 1, 1, 2])), shape=(3, 5))
    two = sp.csr_array(np.float32([[0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]))
    three = sp.csr_array(np.float32([[0, 0, 0, 0, 1], [0, 0, 0, 0, 0], [0, 0, 0, 0, 1]]))
    number = Column("n", "number", 0, 1, center=3.0, scale=0.1, log=True)
    category = Column("k", "category", 1, 3)
    joins = sp.csr_array(([0.0, 2.5], ([0, 1], [1, 0])), shape=(3, 2), dtype=np.float32)
    relations = [
        Relation.build("kl", "kl", "kl", [[0, -1, 0], [0, 0, 2], [0, 0, 0]]),
        Relation.build("../x", "kl", "kl", [[0, 1, 0], [0, 0, 1], [0, 0, 0]], directed=True),
        Relation.build("rated", "kl", "a/b.c", joins, "gaussian", "unknown"),
        Relation.build("N", "kl", "kl.attributes", one, "gaussian", "unknown", column=number),
        Relation.build("k", "kl", "kl.attributes", two, "categorical", "unknown", column=category),
        Relation.build("t", "kl", "kl.attributes", three, column=Column("t", "tags", 4, 5)),
    ]
    return Network.of([people, things, attributes], relations, "strange")


@pytest.mark.parametrize("format", ["csv", "parquet", "mapped"])
def test_strange_networks_come_back(tmp_path, format):
    network = strange()
    assert network.relation("rated").values.nnz == network.relation("N").values.nnz == 2
    write(network, tmp_path / "net", format)
    assert_equal(network, read(tmp_path / "net"))
    names = {file.name for file in (tmp_path / "net").iterdir()}
    assert not any("kl" in name for name in names if format == "mapped")


def test_an_npz_holds_plain_networks_only(shop, tmp_path):
    with pytest.raises(
        InputError, match=r"has the types customers, .* write a folder of tables, or shop\.mapped"
    ):
        write(shop, tmp_path / "shop.npz")


def test_plain_networks_with_titles_survive(tmp_path):
    network = Network.build([[0, 1], [1, 0]], [[1], [0]], [0, -1], node_names=["Ann", "Ann"])
    for place in ("net.npz", "net.csv", "net.mapped"):
        write(network, tmp_path / place)
        again = read(tmp_path / place)
        assert again.is_plain
        assert list(again.main.titles) == ["Ann", "Ann"]
        assert again.n_links == 1


def test_what_tables_cannot_hold_is_refused(tmp_path):
    blank = Network.of([Items.build("a", [" x", "y"])])
    with pytest.raises(InputError, match=r"a ' x' is empty or has outer blanks .* write it as \.mapped"):
        write(blank, tmp_path / "net")
    write(blank, tmp_path / "net.mapped")
    assert list(read(tmp_path / "net.mapped").main.ids) == [" x", "y"]


def test_a_folder_of_others_is_left_alone(shop, tmp_path):
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "customers.csv").write_text("mine")
    with pytest.raises(InputError, match="holds other files"):
        write(shop, tmp_path / "net")


def test_mapped_arrays_stay_in_their_files(shop, tmp_path):
    write(shop, tmp_path / "net.mapped")
    network = open_mapped(tmp_path / "net.mapped", check="full")
    assert not network.relation("age").values.data.flags.writeable
    assert_equal(shop, open_mapped(tmp_path / "net.mapped", check="sizes"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: r.pop("types"), "does not say 'types'"),
        (lambda r: r.update(types=[]), "but there are 0 types"),
        (lambda r: r.update(types=3), "not a sound mapped network"),
        (lambda r: r["types"][0].update(count=3), "for each of the 3 customers"),
        (lambda r: r["types"][0].update(name=3), "int where a text should be"),
        (lambda r: r["types"][0]["labels"].update(classes=[]), "more than the 0 classes"),
        (lambda r: r["relations"][0].update(source=99), "but there are 4"),
        (lambda r: r["relations"][0].update(source=1), "do not make"),
        (lambda r: r["relations"][0].update(absent="perhaps"), "absent entry"),
        (lambda r: r["relations"][-1]["column"].update(stop=10**6), "leaves the"),
        (lambda r: r["relations"][-1]["column"].update(kind="colour"), "no known kind"),
        (lambda r: r["relations"][-1]["column"].update(scale="wide"), "no float for scale"),
        (lambda r: r.update(arrays=[]), "not a sound mapped network|does not say"),
        (lambda r: r["arrays"].update({"../t0": {}}), "names an array"),
    ],
)
def test_a_strange_record_is_explained(shop, tmp_path, change, said):
    write(shop, tmp_path / "net.mapped")
    record = json.loads((tmp_path / "net.mapped" / RECORD).read_text())
    change(record)
    (tmp_path / "net.mapped" / RECORD).write_text(json.dumps(record))
    with pytest.raises(InputError, match=said) as caught:
        read(tmp_path / "net.mapped")
    assert "net.mapped" in str(caught.value)


def test_the_full_check_finds_every_flipped_byte(shop, tmp_path):
    write(shop, tmp_path / "net.mapped")
    rng = np.random.default_rng(0)
    for file in sorted((tmp_path / "net.mapped").glob("*.npy")):
        whole = bytearray(file.read_bytes())
        if len(whole) <= 128:
            continue
        damaged = whole.copy()
        damaged[rng.integers(128, len(whole))] ^= 0x01
        file.write_bytes(damaged)
        with pytest.raises(InputError, match="not a sound mapped network"):
            open_mapped(tmp_path / "net.mapped", check="full")
        file.write_bytes(whole)
    open_mapped(tmp_path / "net.mapped", check="full")
