"""Empty cells are filled with what the model expects, and nothing else is touched."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import kstest

from coembed.errors import InputError
from coembed.network.columns import Cells
from coembed.network.relations import Column
from coembed.network.written_cells import written

from .test_row_predictions import cells_as_a_table


@pytest.fixture
def people(general) -> dict[str, list]:
    return cells_as_a_table(general.network)


def in_model_unit(column, value, spread) -> float:
    """A spread of a logarithmic column: in its unit it is (1 + value) sinh(spread x scale)."""
    return float(np.arcsinh(spread / (1 + value)) / column.scale)


def empty(people, column) -> list[int]:
    return [row for row, cell in enumerate(people[column]) if not cell]


def test_no_known_cell_is_touched_and_no_empty_one_left(general, people):
    people["note"] = ["" if i % 2 else f"note {i}" for i in range(60)]
    people["income"][4] = "a lot"
    done = general.impute(pa.table(people), "person")
    found = done.table.to_pydict()
    for column, cells in people.items():
        told = column in ("income", "city", "member")
        for row, cell in enumerate(cells):
            if cell or not told:
                assert found[column][row] == cell
            else:
                assert found[column][row]
    assert (
        done.filled == done.empty == {name: len(empty(people, name)) for name in ("income", "city", "member")}
    )
    assert [name for name in found if name not in people] == [
        "income.spread",
        "city.probability",
        "member.probability",
    ]
    assert [row for row, spread in enumerate(found["income.spread"]) if spread is not None] == empty(
        people, "income"
    )


def test_cells_of_known_items_are_those_that_complete_tells(general, people):
    found = general.impute(pa.table(people), "person").table.to_pydict()
    ids = people["id"]
    for row in empty(people, "income"):
        (match,) = general.complete(ids[row], "income")
        # a column of whole numbers
        assert float(found["income"][row]) == pytest.approx(match.score, abs=0.51)
        assert found["income.spread"][row] == pytest.approx(match.std, rel=1e-4)
    for row in empty(people, "city"):
        best = general.complete(ids[row], "city")[0]
        assert found["city"][row] == best.title
        assert found["city.probability"][row] == pytest.approx(best.score, abs=1e-5)
    for row in empty(people, "member"):
        (match,) = general.complete(ids[row], "member")
        assert found["member"][row] == ("yes" if match.score > 0.5 else "no")
        assert found["member.probability"][row] == pytest.approx(max(match.score, 1 - match.score), abs=1e-5)


def test_new_rows_are_told_by_what_they_hold(general, people):
    few = {name: cells[:8] for name, cells in people.items()}
    few["city"] = [""] * 8
    few["id"] = [f"new{i}" for i in range(8)]
    done = general.impute(pa.table(few)).table.to_pydict()
    rows = general.predict_rows(pa.table(few))
    assert rows.new.all()
    from coembed.fitted.placed_rows import placed_parts, read_rows

    read, _ = read_rows(general, pa.table(few), None, None)
    ((_, placed),) = placed_parts(general, read, np.arange(8))
    cities = slice(1, 5)
    titles = general.network.items("person.columns").titles[cities]
    assert set(done["city"]) <= set(titles)
    assert done["city"] == [placed.complete(row, "city", 1)[0].title for row in range(8)]


def test_classes_are_filled_where_the_table_has_them(general, people):
    table = {**people, "group": ["left" if i % 3 else "" for i in range(60)]}
    found = general.impute(pa.table(table), "person").table.to_pydict()
    told = general.predict("person")
    for row in range(60):
        assert found["group"][row] == ("left" if row % 3 else told[row])
    assert found["group.probability"][0] == pytest.approx(general.predict_proba("person")[0].max(), abs=1e-5)


def test_only_what_is_sure_is_filled(general, people):
    every = general.impute(pa.table(people), "person").table.to_pydict()
    limit = 0.55
    done = general.impute(pa.table(people), "person", only_sure=limit)
    found = done.table.to_pydict()
    for row in empty(people, "member"):
        sure = every["member.probability"][row] >= limit
        assert (found["member"][row] != "") == sure
    assert 0 < done.filled["member"] <= done.empty["member"]


def test_a_number_is_sure_if_its_spread_is_small_beside_that_of_its_column(general, people):
    fit = general.relations["income"]
    sure = replace(fit, log_scale=np.log(np.array([0.3], np.float32)), variance_gain=0.02)
    model = replace(general, relations={**general.relations, "income": sure})
    every = model.impute(pa.table(people), "person").table.to_pydict()
    income = general.network.relation("income")
    left_out = {
        row: 1
        - in_model_unit(income.column, float(every["income"][row]), every["income.spread"][row]) ** 2
        / income.values.data.var()
        for row in empty(people, "income")
    }
    limit = float(np.median(list(left_out.values()))) + 1e-6
    found = model.impute(pa.table(people), "person", only_sure=limit).table.to_pydict()
    filled = [row for row in left_out if found["income"][row]]
    assert filled == [row for row, share in left_out.items() if share >= limit]
    assert 0 < len(filled) < len(left_out)


def test_draws_have_the_spread_that_is_claimed(general, people):
    draws = 400
    done = general.impute(pa.table(people), "person", draws=draws, seed=3)
    table = done.table
    assert table.num_rows == 60 * draws
    assert table.column("draw").to_pylist()[::60] == list(range(1, draws + 1))
    drawn = {name: np.array(table.column(name).to_pylist()).reshape(draws, 60) for name in people}
    row = empty(people, "income")[0]
    (match,) = general.complete(people["id"][row], "income")
    column = general.network.relation("income").column
    units = column.value(drawn["income"][:, row].astype(float))
    center = column.value(match.score)
    assert kstest((units - center) / in_model_unit(column, match.score, match.std), "norm").pvalue > 1e-3
    row = empty(people, "city")[0]
    shares = {match.title: match.score for match in general.complete(people["id"][row], "city")}
    for city, share in shares.items():
        error = np.sqrt(share * (1 - share) / draws)
        assert abs(np.mean(drawn["city"][:, row] == city) - share) < 4 * error
    for name, cells in people.items():
        for row, cell in enumerate(cells):
            if cell:
                assert set(drawn[name][:, row]) == {cell}
    again = general.impute(pa.table(people), "person", draws=2, seed=3).table
    assert again.equals(general.impute(pa.table(people), "person", draws=2, seed=3).table)
    assert not again.equals(general.impute(pa.table(people), "person", draws=2, seed=4).table)


def test_rows_that_are_there_twice_stay_and_are_filled_alike(general, people):
    row = empty(people, "city")[0]
    twice = {name: [*cells, cells[row]] for name, cells in people.items()}
    done = general.impute(pa.table(twice), "person")
    assert done.table.num_rows == 61
    assert done.table.column("city")[60] == done.table.column("city")[row]


def test_columns_keep_their_types(general, people):
    table = pa.table(
        {
            "id": people["id"],
            "income": pa.array(
                [round(float(cell)) if cell else None for cell in people["income"]], pa.int32()
            ),
            "member": pa.array([{"yes": True, "no": False, "": None}[cell] for cell in people["member"]]),
            "city": pa.array([cell or None for cell in people["city"]]).dictionary_encode(),
        }
    )
    done = general.impute(table, "person").table
    nothing = general.impute(pa.table({"id": ["p001"], "income": [None]}), "person").table
    assert nothing.column("income")[0].as_py()
    assert done.column("income").type == pa.int32()
    assert done.column("member").type == pa.bool_()
    assert done.column("income").null_count == done.column("member").null_count == 0
    assert None not in done.column("city").to_pylist()


@pytest.mark.parametrize(
    ("cells", "column", "value", "text"),
    [
        (["3/4/2020", "12/31/2020"], Column("d", "date", whole=True), 18265.0, "01/04/2020"),
        (["2020-01-02 10:30", "2020-02-02 11:00"], Column("d", "date"), 18265.5, "2020-01-04 12:00"),
        (["5 Jan 2020", "6 Feb 2020"], Column("d", "date", whole=True), 18265.0, "04 Jan 2020"),
        (["1,500", "2,000"], Column("n", "number", whole=True), 1800.2, "1,800"),
        (["$1,500", "$900"], Column("n", "number", whole=True), -12800.2, "-$12,800"),
        (["1.234,5", "12,25"], Column("n", "number"), 2345.678, "2.345,68"),
        (["75 %", "3 %"], Column("n", "number", whole=True), 61.8, "62 %"),
        (["1.5", "2.25"], Column("n", "number"), 1.2345, "1.23"),
        (["1,5", "2,2"], Column("n", "number"), 1.2345, "1,2"),
        (["1", "0"], Column("y", "yes/no"), 1.0, "1"),
        (["Y", ""], Column("y", "yes/no"), 0.0, "N"),
    ],
)
def test_values_are_written_as_the_column_has_its_own(cells, column, value, text):
    assert written(Cells.of(column.name, cells), column, np.array([value])).to_pylist() == [text]


def test_a_share_that_is_none_is_refused(general, people):
    with pytest.raises(InputError, match="from 0 to 1"):
        general.impute(pa.table(people), "person", only_sure=9)
    with pytest.raises(InputError, match="how many tables to draw, got -1"):
        general.impute(pa.table(people), "person", draws=-1)
