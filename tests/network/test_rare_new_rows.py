"""New rows of rare tables: keys, tags listed apart, ends the other way round, several classes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from coembed.errors import InputError
from coembed.network import from_tables
from coembed.network.items import UNKNOWN
from coembed.network.readers import new_rows
from coembed.network.readers.named_table import named_table
from coembed.network.readers.new_rows import read_new_rows


@pytest.fixture(scope="module")
def shop():
    """Customers, the products that they make, and who bought what how often."""
    return from_tables(
        {
            "customers": pa.table(
                {
                    "id": ["c1", "c2", "c3", "c4"],
                    "age": [31, 24, 55, 40],
                    "likes": ["tea;milk", "tea", "milk;cake", "cake"],
                }
            ),
            "products": pa.table(
                {"id": ["p1", "p2", "p3"], "price": [2.5, 9.0, 4.0], "makes": ["c1", "c1", "c2"]}
            ),
            "orders": pa.table(
                {"customer": ["c1", "c2", "c3"], "product": ["p1", "p2", "p1"], "count": [1, 2, 5]}
            ),
        }
    )


def rows_of(network, **tables):
    return read_new_rows(network, [named_table(name, pa.table(columns)) for name, columns in tables.items()])


def test_keys_that_are_no_ids_are_told_and_left_out(shop) -> None:
    found = rows_of(shop, products={"id": ["n1", "n2"], "price": [1.0, 2.0], "makes": ["c2", "nobody"]})
    relation = next(each.name for each in shop.relations.values() if each.name.endswith("makes"))
    np.testing.assert_array_equal(found.rows[f"{relation}>"].toarray(), [[0, 1, 0, 0], [0, 0, 0, 0]])
    assert any("1 key(s) in 'makes', such as 'nobody'" in said for said in found.notices)
    found = rows_of(shop, products={"id": ["n1"], "price": [1.0], "makes": ["c4"]})
    assert not any("'makes'" in said for said in found.notices)


def test_tags_may_stand_in_a_table_of_their_own(shop) -> None:
    likes = {"who": ["n1", "n1", "n2", "other"], "what": ["tea", "cake", "unheard of", "tea"]}
    found = rows_of(shop, customers={"id": ["n1", "n2"], "age": [1, 2]}, likes=likes)
    titles = new_rows.attribute_titles(shop, "customers")
    held = (
        found.rows["likes>"].toarray() if "likes>" in found.rows else found.rows["customers.likes>"].toarray()
    )
    assert {titles[i] for i in np.flatnonzero(held[0])} == {"tea", "cake"}
    assert not held[1].any()
    assert any("likes" in said and "left out" in said for said in found.notices)
    with pytest.raises(InputError, match="relation of customers for the table"):
        rows_of(shop, customers={"id": ["n1"], "age": [1]}, age={"who": ["n1"], "what": ["5"]})


def test_links_may_be_given_from_either_end_and_with_a_number(shop) -> None:
    own = {"id": ["n1", "n2"], "age": [1, 2]}
    found = [
        rows_of(shop, customers=own, orders={"a": first, "b": second, "count": [3, 4]})
        .rows["orders>"]
        .toarray()
        for first, second in ((["n1", "n2"], ["p2", "p3"]), (["p2", "p3"], ["n1", "n2"]))
    ]
    np.testing.assert_array_equal(found[0], [[0, 3, 0], [0, 0, 4]])
    np.testing.assert_array_equal(found[1], found[0])
    with pytest.raises(InputError, match="one column found; give the two ends"):
        rows_of(shop, customers=own, orders={"a": ["n1"]})


def test_what_a_column_cannot_be_is_told_with_its_table(shop, monkeypatch) -> None:
    def refused(*_):
        raise InputError("not so")

    monkeypatch.setattr(new_rows, "code_known", refused)
    with pytest.raises(InputError, match="customers: not so"):
        rows_of(shop, customers={"id": ["n1"], "age": [1]})


def test_a_type_without_columns_has_no_attributes() -> None:
    links = pa.table({"a": ["x", "y", "z"], "b": ["y", "z", "x"]})
    network = from_tables({"things": pa.table({"id": ["x", "y", "z"]}), "near": links})
    assert new_rows.attribute_titles(network, "things") == []
    found = rows_of(network, things={"id": ["w"]}, near={"a": ["w"], "b": ["x"]})
    assert found.rows


def test_several_classes_of_new_rows_are_those_that_the_model_knows() -> None:
    people = pa.table(
        {"id": [f"p{i}" for i in range(8)], "age": list(range(8)), "group": ["u;v", "v", "u", "w;u"] * 2}
    )
    network = from_tables({"people": people}, labels="group")
    assert network.items("people").labels.several
    found = rows_of(
        network, people={"id": ["a", "b", "c"], "age": [1, 2, 3], "group": ["v;u", "strange;w", ""]}
    )
    at = {name: k for k, name in enumerate(network.items("people").labels.classes)}
    expected = np.zeros((3, 3), int)
    expected[0, [at["u"], at["v"]]] = 1
    expected[1, at["w"]] = 1
    expected[2] = UNKNOWN
    np.testing.assert_array_equal(found.labels, expected)
    assert any("does not know the class of 1 row(s), such as 'strange'" in said for said in found.notices)
