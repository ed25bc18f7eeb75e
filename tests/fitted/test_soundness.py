"""What is loaded fits together, or is refused with a word on what does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.fitted import Fitted, load
from coembed.fitted.cell_models import CellModel
from coembed.fitted.score_blend import Blend
from coembed.fitted.soundness import _check_cell_model, _check_column, check_sound
from coembed.fitted.trees import Trees
from coembed.fitted.way_models import WayModel

MODEL = Path(__file__).resolve().parents[1] / "reliability" / "corpus" / "model"


@pytest.fixture(scope="module")
def model() -> Fitted:
    return load(MODEL)


def with_relation(fitted: Fitted, name: str, **changes: object) -> Fitted:
    fits = {**fitted.relations, name: replace(fitted.relations[name], **changes)}  # type: ignore[arg-type]
    return replace(fitted, relations=fits)


def with_type(fitted: Fitted, name: str, **changes: object) -> Fitted:
    types = {**fitted.types, name: replace(fitted.types[name], **changes)}  # type: ignore[arg-type]
    return replace(fitted, types=types)


CHANGES = {
    "learnt nothing of relation": lambda m: replace(m, relations={}),
    "no known likelihood of saw": lambda m: with_relation(m, "saw", likelihood="other"),
    "what a cosine is worth in saw": lambda m: with_relation(m, "saw", by_codes=True, blends={}),
    "shifts of saw are no numbers": lambda m: with_relation(m, "saw", shifts={"likely": np.nan}),
    "biases of saw": lambda m: with_relation(m, "saw", target_bias=np.zeros(3, np.float32)),
    "biases of follows": lambda m: with_relation(m, "follows", source_bias=np.zeros((2, 2), np.float32)),
    "evidence of saw": lambda m: with_relation(m, "saw", source_evidence=np.zeros((2, 2), np.float32)),
    "evidence of follows": lambda m: with_relation(m, "follows", target_evidence=np.zeros((), np.float32)),
    "turn of follows": lambda m: with_relation(m, "follows", turn=np.zeros((2, 3), np.float32)),
    "lean of follows": lambda m: with_relation(m, "follows", lean=np.zeros(99, np.float32)),
    "errors of saw do not fit": lambda m: with_relation(m, "saw", log_scale=np.zeros(99)),
    "prevalence of saw is no share": lambda m: with_relation(
        m, "saw", doubt=replace(m.relations["saw"].doubt, prevalence=2.0)
    ),
    "half of what is known of the classes of person": lambda m: with_type(m, "person", label_shift=None),
    "put outside of the codes": lambda m: with_type(m, "person", block=999),
    "directions of some types, but not of film": lambda m: with_type(m, "film", direction=None),
    "beyond what any fit leaves": lambda m: with_type(m, "film", mean=m.types["film"].mean + 1e10),
    "deviations of film are negative": lambda m: with_type(m, "film", std=-1 - m.types["film"].std),
    "how the values of .* are read": lambda m: replace(m, placing=replace(m.placing, readings={})),
}


def test_a_whole_model_is_sound(model: Fitted) -> None:
    check_sound(model)
    check_sound(model, values=False)


@pytest.mark.parametrize("said", CHANGES)
def test_what_does_not_fit_is_told(model: Fitted, said: str) -> None:
    with pytest.raises(InputError, match=said):
        check_sound(CHANGES[said](model))


def test_a_column_stays_within_the_attributes_and_has_a_unit(model: Fitted) -> None:
    income = model.network.relation("income")
    _check_column(income)
    assert income.column is not None
    for changes, said in (
        ({"start": 10**6, "stop": 10**6 + 1}, "leaves the attributes"),
        ({"center": np.inf}, "no finite unit"),
        ({"scale": 0.0}, "no finite unit"),
    ):
        forged = replace(income, column=replace(income.column, **changes))  # type: ignore[arg-type]
        with pytest.raises(InputError, match=said):
            _check_column(forged)


def cell_model(**changes: object) -> CellModel:
    """Of three features in two views, with one tree of three nodes."""
    tree = {
        "roots": np.array([0]),
        "feature": np.array([2, 0, 0]),
        "threshold": np.zeros(3, np.float32),
        "children": np.array([[1, 2], [1, 1], [2, 2]]),
        "value": np.zeros((3, 1), np.float32),
        "depth": 1,
    }
    own = {name: changes.pop(name) for name in list(changes) if name in tree}
    whole = CellModel(
        ("own", "cells"),
        (2, 1),
        np.zeros((3, 1), np.float32),
        np.zeros(1, np.float32),
        Trees(**{**tree, **own}),  # type: ignore[arg-type]
        np.zeros(3, np.float32),
    )
    return replace(whole, **changes)  # type: ignore[arg-type]


def test_a_model_of_cells_reads_what_there_is() -> None:
    _check_cell_model("income", cell_model(), 1)
    _check_cell_model("income", cell_model(trees=None), 1)
    for changes, said in (
        ({"widths": (2,)}, "views that do not fit"),
        ({"widths": (4, -1)}, "views that do not fit"),
        ({"weight": np.zeros((2, 1), np.float32)}, "linear model of income"),
        ({"bias": np.zeros(2, np.float32)}, "linear model of income"),
        ({"shares": np.zeros(2, np.float32)}, "shares of income"),
        ({"feature": np.array([3, 0, 0])}, "trees of income lead outside"),
        ({"children": np.array([[1, 3], [1, 1], [2, 2]])}, "trees of income lead outside"),
        ({"roots": np.array([-1])}, "trees of income lead outside"),
        ({"depth": 65}, "65 deep"),
    ):
        with pytest.raises(InputError, match=said):
            _check_cell_model("income", cell_model(**changes), 1)


def test_a_model_that_places_nobody_is_sound(model: Fitted) -> None:
    check_sound(replace(model, placing=None))


def test_a_model_of_ways_reads_both_ends_and_the_links_between(model: Fitted) -> None:
    relation = next(each for each in model.network.relations.values() if each.directed)
    trees = cell_model().trees
    for changes, units, said in (
        ({}, [1.0, 2.0], None),
        ({"feature": np.array([9, 0, 0])}, [1.0, 2.0], "trees of .* lead outside"),
        ({}, [1.0, 0.0], "divide by zero"),
        ({}, [1.0], "units of"),
    ):
        # two views of one column: a feature an end and their difference, and three of the links
        ways = WayModel(("own", "cells"), (1, 0), replace(trees, **changes), np.array(units, np.float32))
        forged = with_relation(model, relation.name, ways=ways)
        if said is None:
            check_sound(forged)
            continue
        with pytest.raises(InputError, match=said):
            check_sound(forged)


def test_cell_models_blends_and_items_alike_are_looked_at(model: Fitted) -> None:
    check_sound(with_relation(model, "income", cells=replace(cell_model(), trees=None)))
    short = replace(cell_model(), shares=np.zeros(2, np.float32))
    with pytest.raises(InputError, match="shares of income"):
        check_sound(with_relation(model, "income", cells=short))
    two, three = np.ones(2, np.float32), np.ones(3, np.float32)
    blend = Blend(two, two, np.ones((2, 3), np.float32), three, three, two[:1])
    check_sound(with_relation(model, "saw", blends={"likely": blend}))
    with pytest.raises(InputError, match="blend of saw divides by zero"):
        check_sound(with_relation(model, "saw", blends={"likely": blend._replace(std=0 * blend.std)}))
    alike = model.placing.alike["person"]
    for rows, said in (
        (None, None),
        (alike.rows.astype(np.float32), "are not positions"),
        (alike.rows[:, 0], "are not positions"),
        (alike.rows + 10**6, "are not positions of items"),
    ):
        changed = None if rows is None else alike._replace(rows=rows)
        every = {**model.placing.alike, "person": changed}
        forged = replace(model, placing=replace(model.placing, alike=every))
        if said is None:
            check_sound(forged)
            continue
        with pytest.raises(InputError, match=said):
            check_sound(forged)
