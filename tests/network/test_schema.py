"""network.toml: what was found can be written, read back and changed; mistakes in it are named by key."""

import pytest

from coembed.errors import InputError
from coembed.network import read
from coembed.network.readers.read import open_items
from coembed.network.readers.table_schema import read_schema, write_schema

from .test_table_folder import SHOP, pairs_of, put


def schema_of(folder):
    return write_schema(open_items(folder).schema)


def same_networks(one, other):
    assert list(one.types) == list(other.types)
    assert list(one.relations) == list(other.relations)
    for name, relation in one.relations.items():
        again = other.relation(name)
        assert (relation.values != again.values).nnz == 0
        assert relation.values.nnz == again.values.nnz
        assert relation.column == again.column
        assert (relation.likelihood, relation.absent, relation.directed) == (
            again.likelihood,
            again.absent,
            again.directed,
        )
    for name, items in one.types.items():
        assert list(items.ids) == list(other.items(name).ids)


def test_what_was_found_says_the_same_when_it_is_read(tmp_path):
    shop = {**SHOP, "hobbies": "customer,tag\nc1,chess\nc2,chess\nc2,go\nc3,go\n"}
    found = read(put(tmp_path, **shop))
    (tmp_path / "network.toml").write_text(schema_of(tmp_path))
    same_networks(found, read(tmp_path))


def test_a_schema_elsewhere(tmp_path):
    folder = put(tmp_path / "shop", **SHOP)
    file = tmp_path / "my.toml"
    file.write_text('[types.customers]\nfile = "customers.csv"\nlabel = "city"\n')
    network = read(folder, schema=file)
    assert list(network.types) == ["customers", "customers.attributes"]
    assert list(network.class_names) == ["Oslo", "Rome"]
    assert list(network.main.ids) == ["c1", "c2", "c3", "c4"]
    assert any("friends.csv, orders.csv, products.csv not read" in notice for notice in network.notices)


def test_types_relations_and_kinds_as_said(tmp_path):
    put(
        tmp_path,
        people="id,x,y\na,1,2\nb,2,3\nc,3,1\n",
        calls="who,whom,how,minutes\na,b,up,2\nb,c,down,3\nc,a,up,4\n",
    )
    (tmp_path / "network.toml").write_text(
        """
        name = "phones"
        [types."the people"]
        file = "people.csv"
        id = "id"
        [types."the people".columns]
        x = "category"
        y = "skip"
        [relations.calls]
        file = "calls.csv"
        source = "who"
        target = "whom"
        directed = false
        weight = "minutes"
        split = "how"
        """
    )
    network = read(tmp_path)
    assert network.name == "phones"
    assert list(network.relations) == ["calls.up", "calls.down", "x"]
    assert not network.relation("calls.up").directed
    assert pairs_of(network, "calls.down") == {("b", "c"), ("c", "b")}
    assert network.relation("calls.down").values.data.tolist() == [3, 3]
    assert network.relation("x").column.kind == "category"


def test_rows_may_be_numbered_on_purpose(tmp_path):
    put(tmp_path, a="id,x\nu,1\nv,2\n")
    (tmp_path / "network.toml").write_text('[types.a]\nfile = "a.csv"\nnumbered = true\n')
    assert list(read(tmp_path).main.ids) == ["1", "2"]


BASE = '[types.customers]\nfile = "customers.csv"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("types = [", "network.toml is not a whole TOML"),
        ("", r"there is no \[types.NAME\]"),
        ("[types.a]\n", "types.a does not say its file"),
        ('[types.a]\nfile = "a.csv"\n', "no file 'a.csv'"),
        ("[types]\na = 3\n", "types.a must be a table"),
        (BASE + "id = 3\n", "types.customers.id must be a text"),
        (BASE + 'ids = "id"\n', "types.customers: there is no key 'ids'; did you mean 'id'"),
        (BASE + 'id = "idd"\n', "customers.csv: 'idd'; did you mean 'id'"),
        (
            BASE + '[types.customers.columns]\nage = "numbers"\n',
            "columns.age: there is no kind of column 'numbers'",
        ),
        (BASE + '[types.customers.columns]\nage = "key"\n', "columns.age is a key: say of which type"),
        (BASE + '[types.customers.columns]\nages = "number"\n', "'ages'; did you mean 'age'"),
        (BASE + '[relations.f]\nfile = "friends.csv"\nsource = "a"\n', "relations.f does not say its target"),
        (
            BASE + '[relations.f]\nfile = "friends.csv"\nsource = "a"\ntarget = "b"\nsource_type = "x"\n',
            "relations.f.source_type: there is no type 'x'",
        ),
        (
            BASE + '[relations.f]\nfile = "friends.csv"\nsource = "a"\ntarget = "c"\n',
            "friends.csv: 'c'",
        ),
        (
            BASE + '[relations.f]\nfile = "friends.csv"\nsource = "a"\ntarget = "b"\ndirected = "no"\n',
            "relations.f.directed must be true or false",
        ),
    ],
)
def test_mistakes_are_named(tmp_path, text, said):
    put(tmp_path, **SHOP)
    (tmp_path / "network.toml").write_text(text)
    with pytest.raises(InputError, match=said):
        read(tmp_path)


def test_odd_names_survive(tmp_path):
    put(tmp_path, **{"a b": 'id,"größe ""x""",kl=1\nu,1,p\nv,2,p\nw,3,q\nz,4,q\n'})
    (tmp_path / "network.toml").write_text(schema_of(tmp_path))
    schema = read_schema(tmp_path / "network.toml")
    assert list(schema.types["a b"].columns) == ['größe "x"', "kl=1"]
