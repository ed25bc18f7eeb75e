"""Linear models and trees beside the expectations of cells: what they read, are worth, and answer."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.tree import DecisionTreeRegressor

from coembed.errors import InputError
from coembed.fitted import load, save
from coembed.fitted.trees import view_features
from coembed.network import Column, Items, Network, Relation
from coembed.network.cell_values import cell_values
from coembed.settings import preset_settings
from coembed.training import cell_ensemble, fit, tree_growing
from coembed.training.cell_ensemble import linear_model
from coembed.training.tree_growing import boosted_trees

N, TYPE = 400, "box"


def boxes(seed=0):
    """Length, width and area, which no inner product tells; a shape that length tells; a lid by width."""
    rng = np.random.default_rng(seed)
    length, width = rng.uniform(-1.5, 1.5, size=(2, N))
    cells = {
        "length": length,
        "width": width,
        "area": length * width * 1.2,
        "shape": np.digitize(length, [-0.5, 0.5]),
        "lid": (width > 0).astype(float),
    }
    kinds = {"shape": ("category", "categorical", 3), "lid": ("yes/no", "bernoulli", 1)}
    relations, start = [], 0
    for name, values in cells.items():
        kind, likelihood, count = kinds.get(name, ("number", "gaussian", 1))
        known = np.flatnonzero(rng.random(N) < 0.9)
        place = start + (values[known].astype(int) if kind == "category" else 0)
        data = np.ones(len(known)) if kind == "category" else values[known]
        places = np.broadcast_to(place, len(known))
        matrix = sp.csr_array((data, (known, places)), shape=(N, 7))
        column = Column(name, kind, start, start + count)
        relations.append(
            Relation.build(name, TYPE, "box.attributes", matrix, likelihood, "unknown", column=column)
        )
        start += count
    ids = ["length", "width", "area", "shape=0", "shape=1", "shape=2", "lid"]
    return Network.of([Items.build(TYPE, N), Items.build("box.attributes", ids)], relations)


@pytest.fixture(scope="module")
def fitted():
    return fit(boxes(), preset_settings("best", epochs=30, space_dim=0))


def features_of(fitted, name, rows):
    model = fitted.relations[name].cells
    return model, view_features(fitted.trained.views[TYPE], model.views, model.widths, rows)


def test_trees_are_those_that_were_grown():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(300, 4)).astype(np.float32)
    wanted = np.stack([np.sign(features[:, 0] * features[:, 1]), features[:, 2] ** 2], axis=1)
    trees = boosted_trees(features, wanted, 30, np.random.default_rng(1))
    again, left, told = np.random.default_rng(1), wanted - wanted.mean(axis=0), wanted.mean(axis=0)
    for _ in range(30):
        rows = again.permutation(300)[:150]
        tree = DecisionTreeRegressor(
            max_depth=tree_growing.DEPTH,
            min_samples_leaf=tree_growing.LEAF,
            max_features=tree_growing.FEATURES,
            random_state=int(again.integers(2**31)),
        ).fit(features[rows], left[rows])
        step = tree_growing.RATE * tree.predict(features)
        left, told = left - step, told + step
    np.testing.assert_allclose(trees(features), told, atol=1e-5)
    assert np.mean((trees(features) - wanted) ** 2) < 0.5 * wanted.var()


def test_the_linear_model_is_ridge_regression():
    rng = np.random.default_rng(0)
    features = rng.normal(3.0, [1.0, 20.0, 0.0], size=(500, 3)).astype(np.float32)  # the last says nothing
    wanted = features[:, :2] @ np.array([[2.0], [-0.1]]) + 7
    weight, bias = linear_model(features, wanted)
    np.testing.assert_allclose(weight[:2, 0], [2.0, -0.1], rtol=0.03)
    assert weight[2] == 0
    np.testing.assert_allclose((features @ weight + bias).mean(), wanted.mean(), rtol=1e-4)


def test_what_no_inner_product_tells_is_told(fitted):
    model = fitted.relations["area"].cells
    assert model.shares.sum() == pytest.approx(1)
    unknown = np.flatnonzero(np.isnan(cell_values(fitted.network.relation("area"))))
    truth = np.random.default_rng(0).uniform(-1.5, 1.5, size=(2, N)).prod(axis=0)[unknown] * 1.2
    alone = replace(fitted, relations={name: replace(f, cells=None) for name, f in fitted.relations.items()})
    errors = [np.mean((each.cells("area", unknown) - truth) ** 2) for each in (fitted, alone)]
    assert errors[0] < 0.75 * errors[1]


def test_models_do_not_read_the_cell_itself(fitted):
    """What they say of a cell is the same whatever is in it."""
    relation = fitted.network.relation("area")
    values = relation.values.copy()
    values.data += 5
    other = replace(fitted, network=fitted.network.with_values({"area": values}))
    rows = np.arange(N)
    for name, same in (("area", True), ("length", False)):
        column = fitted.network.relation(name).column
        said = []
        for each in (fitted, other):
            model, features = features_of(each, name, rows)
            said.append(np.stack(model.members(features, column)))
        assert np.array_equal(*said) == same


def test_answers_are_probabilities_and_agree(fitted):
    rows = np.arange(N)
    shapes = fitted.cells("shape", rows)
    np.testing.assert_allclose(shapes.sum(axis=1), 1, atol=1e-5)
    assert ((fitted.cells("lid", rows) >= 0) & (fitted.cells("lid", rows) <= 1)).all()
    column = fitted.network.relation("area").column
    (area,) = fitted.complete("box3", "area")
    assert area.score == pytest.approx(column.cell(fitted.cells("area", [3])[0]), rel=1e-5)
    largest = fitted.complete("area", "area", 5, known=True)
    order = np.argsort(-fitted.cells("area", rows), kind="stable")[:5]
    assert [match.name for match in largest] == [f"box{i}" for i in order]


def test_spreads_are_those_of_the_blended_answer(fitted):
    """As often as not a cell is within two thirds of its spread: it is about the usual error."""
    relation = fitted.network.relation("area")
    unknown = np.flatnonzero(np.isnan(cell_values(relation)))
    truth = np.random.default_rng(0).uniform(-1.5, 1.5, size=(2, N)).prod(axis=0) * 1.2
    errors = truth[unknown] - fitted.cells("area", unknown)
    told = [fitted.complete(f"box{i}", "area")[0].std for i in unknown]
    assert 0.5 < np.sqrt(np.mean(errors**2)) / np.mean(told) < 2


def test_models_are_kept_and_asked_about_newcomers(fitted, tmp_path):
    loaded = load(save(fitted, tmp_path / "model"))
    rows = np.arange(N)
    for name in ("area", "shape", "lid"):
        np.testing.assert_array_equal(loaded.cells(name, rows), fitted.cells(name, rows))
    row = int(np.flatnonzero(np.isnan(cell_values(fitted.network.relation("area"))))[0])
    own = {name: each.values[[row]] for name, each in fitted.network.relations.items()}
    placed = loaded.place(TYPE, own)
    (told,), (known,) = placed.complete(0, "area"), fitted.complete(f"box{row}", "area")
    assert told.score == pytest.approx(known.score, abs=0.02)


def test_trees_that_lead_outside_are_refused(fitted, tmp_path):
    model = fitted.relations["area"].cells
    children = model.trees.children.copy()
    children[-1] = len(children)
    for trees, said in (
        (replace(model.trees, children=children), "lead outside"),
        (replace(model.trees, depth=10**9), "1000000000 deep"),
    ):
        broken = replace(fitted.relations["area"], cells=replace(model, trees=trees))
        with pytest.raises(InputError, match=f"trees of area .*{said}"):
            save(replace(fitted, relations={**fitted.relations, "area": broken}), tmp_path / "model")


def test_without_cells_kept_aside_there_are_none():
    fitted = fit(boxes(), preset_settings("best", epochs=1, validation_pairs=0.0, space_dim=0))
    assert all(each.cells is None for each in fitted.relations.values())


@pytest.mark.parametrize(("work", "fewer"), [(10**12, False), (1, True)])
def test_trees_read_fewer_rows_where_all_would_take_too_long(fitted, monkeypatch, work, fewer):
    seen = []

    def grown(features, wanted, n_trees, rng):
        seen.append(len(features))

    monkeypatch.setattr(cell_ensemble, "boosted_trees", grown)
    monkeypatch.setattr(cell_ensemble, "WORK", work)
    columns = [fitted.network.relation(name) for name in ("length", "width", "area", "shape", "lid")]
    learner = cell_ensemble._Learner.of(fitted.trained.views[TYPE], columns, 0)
    known = [np.isfinite(cell_values(each)).sum() for each in columns]
    for each in columns:
        learner.model(each)
    assert seen == ([cell_ensemble.FEWEST_ROWS] * 5 if fewer else known)
