"""Made-up customers: the same for the same seed, every kind of column, gaps, friends mostly of one's own."""

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.network import make_customers, read, write_customers
from coembed.network.synthetic_customers import CITIES, SEGMENTS, TAGS, customer_tables


def test_every_kind_of_column_is_found():
    network = make_customers(400)
    kinds = {relation.name: relation.column.kind for relation in network.columns("customers")}
    assert kinds == {
        "age": "number",
        "income": "number",
        "city": "category",
        "tags": "tags",
        "joined": "date",
        "joined.month": "category",
        "joined.weekday": "category",
        "newsletter": "yes/no",
        "remarks": "text",
    }
    assert sorted(network.class_names) == sorted(SEGMENTS)
    assert network.relation("friends").source == network.relation("friends").target == "customers"
    names = set(network.items("customers.attributes").ids)
    assert {f"city={city}" for city in CITIES} | {f"tags={tag}" for tag in TAGS} <= names


def test_the_same_seed_makes_the_same_customers(tmp_path):
    assert customer_tables(50, 1)[0].equals(customer_tables(50, 1)[0])
    assert not customer_tables(50, 1)[0].equals(customer_tables(50, 2)[0])
    write_customers(tmp_path / "made", 50, 1)
    again = read(tmp_path / "made", labels=["segment"])
    np.testing.assert_array_equal(again.labels, make_customers(50, 1).labels)


def test_cells_are_missing_and_friends_are_alike():
    network = make_customers(1000)
    for name in ("age", "income", "city", "newsletter"):
        missing = 1 - network.relation(name).values.nnz / 1000
        assert 0.05 < missing < 0.12
    friends = network.relation("friends").values.tocoo()
    alike = network.labels[friends.row] == network.labels[friends.col]
    assert 0.7 < alike.mean() < 0.85


def test_age_and_income_say_nothing_alone():
    network = make_customers(2000)
    half = np.isin(network.labels, [list(network.class_names).index(SEGMENTS[i]) for i in (1, 3)])
    age, income = (network.relation(name).values.toarray()[:, network.relation(name).column.start]
                   for name in ("age", "income"))  # fmt: skip
    for values in (age, income):
        assert abs(np.corrcoef(values, half)[0, 1]) < 0.1
    assert np.corrcoef(age * income, half)[0, 1] > 0.5


def test_too_few_are_refused():
    with pytest.raises(InputError, match="at least 8"):
        make_customers(3)
