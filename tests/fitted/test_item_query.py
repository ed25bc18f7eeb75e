"""Queries find what a reader would pick by hand, and say where they cannot be understood."""

from __future__ import annotations

import numpy as np
import pytest

from coembed.errors import InputError, NoSuch
from coembed.fitted.item_fields import field_names, field_of
from coembed.fitted.item_table import item_table


def rows(fitted, query: str, type: str = "person") -> set[int]:
    return set(fitted.find(query).rows[type].tolist())


@pytest.fixture(scope="module")
def told(general) -> dict[str, list]:
    """All columns of people, row by row, as the network has them."""
    people = general.network.items("person")
    return item_table(general, "person", np.arange(len(people))).to_pydict()


def picked(told, fits) -> set[int]:
    listed = [dict(zip(told, row, strict=True)) for row in zip(*told.values(), strict=True)]
    return {i for i, row in enumerate(listed) if fits(row)}


def test_columns_are_compared_and_unknown_cells_fit_neither_way(general, told):
    middle = 20_000
    rich = picked(told, lambda row: row["income"] is not None and row["income"] > middle)
    poor = picked(told, lambda row: row["income"] is not None and row["income"] <= middle)
    unknown = picked(told, lambda row: row["income"] is None)
    assert all((rich, poor, unknown))
    assert rows(general, "income>20k") == rich
    assert rows(general, "-income>20000") == rows(general, "income<=20000") == poor
    assert rows(general, "missing:income") == unknown
    assert not general.find("income>0").rows["film"].size


def test_names_alternatives_and_either(general, told):
    assert rows(general, "city:Lille,rome") == picked(told, lambda row: row["city"] in ("Lille", "Rome"))
    assert rows(general, "city!=Oslo") == picked(told, lambda row: row["city"] not in ("Oslo", None))
    word = picked(told, lambda row: "word03" in row["likes"].split(";"))
    assert rows(general, "likes:word03") == rows(general, "has:likes=word03") == word
    assert rows(general, "-likes:word03") == set(range(60)) - word
    either = picked(told, lambda row: row["member"] == "yes" or (row["city"] == "Oslo" and row["degree"] > 8))
    assert rows(general, "member:yes or (city:Oslo degree>8)") == either
    assert rows(general, "-(member:yes or city:Oslo)") == picked(
        told,
        lambda row: not (row["member"] == "yes" or row["city"] == "Oslo") and (row["member"] or row["city"]),
    )


def test_classes_probabilities_and_links(general, told):
    labels = general.network.items("person").labels
    assert rows(general, "is:labelled") == set(labels.known.tolist())
    assert rows(general, "class:left p<0.9") == picked(
        told, lambda row: row["class"] == "left" and row["p"] < 0.9
    )
    strong = set(np.flatnonzero(general.predict_proba("person")[:, 1] > 0.4).tolist())
    assert rows(general, "p.middle>0.4") == strong
    follows = general.network.relation("follows").values.toarray()
    assert rows(general, "follows:p003") == set(np.flatnonzero(follows[:, 3]).tolist())
    assert rows(general, "linked:p003") == set(np.flatnonzero(follows[:, 3] + follows[3]).tolist())
    saw = general.network.relation("saw").values.toarray()
    assert rows(general, "linked:p003", "film") == set(np.flatnonzero(saw[3]).tolist())
    assert len(general.find("type:film")) == 40
    assert rows(general, '"person 4"') == {8, 9} | {
        2 * i + j for i in range(30) for j in (0, 1) if i // 10 == 4
    }


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", "empty"),
        ("class:left (p<0.5", "character 12: this bracket is not closed"),
        ("class:left)", "character 11: this bracket was never opened"),
        ("or p<1", "nothing before this or"),
        ("p<1 or ", "nothing after this or"),
        ("()", "nothing in the brackets"),
        ('has:"riv', "has: needs a value"),
        ("incme>5", "there is no field 'incme'; did you mean 'income'?"),
        ("class:lft", "there is no class 'lft'; did you mean 'left'?"),
        ("city:Lile", "character 1: there is no value of city 'Lile'; did you mean 'Lille'"),
        ("has:word99", "there is no attribute 'word99'"),
        ("linked:p0003", "there is no item 'p0003'; did you mean 'p003'"),
        ("income>much", "'much' is no number"),
        ("income>inf", "'inf' is no number"),
        ("city>5", "city is no number; write city:5"),
        ("has>5", "has cannot be compared"),
        ("missing:incme", "there is no field 'incme'"),
        ("(" * 60, "brackets within brackets"),
        ("a" * 5000, "at most 4,000"),
    ],
)
def test_what_cannot_be_understood_is_told_with_its_place(general, query, said):
    with pytest.raises(InputError) as refused:
        general.find(query)
    assert said in str(refused.value)


def test_an_unknown_name_is_one_of_no_such(general):
    with pytest.raises(NoSuch):
        general.find("class:nobody")


def test_fields_are_what_they_say(general):
    assert ("income", "number") in field_names(general, "person")
    assert field_of(general, "film", "income") is None
    assert field_of(general, "person", "person.income") is not None
    degree = field_of(general, "film", "degree").values
    assert degree.sum() == general.network.relation("saw").values.nnz


def test_dates_stand_for_their_whole_span():
    from coembed.fitted.item_fields import Field
    from coembed.fitted.item_query import _number_fits
    from coembed.fitted.query_syntax import Term

    days = np.array(["2023-12-31", "2024-01-01", "2024-05-31", "2025-01-01"], "datetime64[D]").astype(float)
    born = Field("born", "date", days)

    def fits(operator: str, value: str) -> list[bool]:
        return _number_fits(born, Term("born", operator, (value,), 0), value).tolist()

    assert fits(":", "2024") == [False, True, True, False]
    assert fits(">", "2024") == [False, False, False, True]
    assert fits("<=", "2024-05") == [True, True, True, False]
    assert fits("<", "2024-05-31") == [True, True, False, False]
