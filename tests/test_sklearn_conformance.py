"""SCAN among scikit-learn's own: its checks, pipelines, searches, frames."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from coembed import SCAN, InputError, read

SMALL = {"dim": 4, "hidden": 16, "settings": {"space_dim": 0, "pair_scores": False}, "random_state": 0}
EXCEPTIONS = {
    "check_classifiers_classes": "it has a class -1, which here, as in sklearn.semi_supervised, is unknown",
}


@pytest.mark.slow
@parametrize_with_checks([SCAN(epochs=60, **SMALL)], expected_failed_checks=lambda estimator: EXCEPTIONS)
def test_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(n_samples=90, centers=3, cluster_std=0.6, random_state=0)
    return StandardScaler().fit_transform(X), y


def test_none_nan_and_minus_one_are_unknown(blobs):
    X, y = blobs
    for unknown, kind in ((-1, int), (np.nan, float), (None, object)):
        partly = y.astype(kind)
        partly[30:] = unknown
        scan = SCAN(epochs=2, **SMALL).fit(X, partly)
        assert len(scan.result_.network.labelled) == 30
        assert len(scan.classes_) == 3
        assert 0 <= scan.score(X, partly) <= 1
    names = np.array(["red", "green", "blue"], dtype=object)[y]
    names[50:] = None
    scan = SCAN(epochs=2, **SMALL).fit(X, names)
    assert list(scan.classes_) == ["blue", "green", "red"]
    assert set(scan.predict(X)) <= set(scan.classes_)
    with pytest.raises(InputError, match="tells no class"):
        SCAN(epochs=1, **SMALL).fit(X, np.full(90, -1))
    with pytest.raises(InputError, match="not whole"):
        SCAN(epochs=1, **SMALL).fit(X, np.linspace(0, 1, 90))


def test_only_known_labels_count_in_a_score(blobs):
    X, y = blobs
    scan = SCAN(epochs=20, **SMALL).fit(X, y)
    right = scan.predict(X) == y
    partly = np.where(right, y, -1)
    assert scan.score(X, partly) == 1.0
    assert scan.score(X, y) == pytest.approx(right.mean())


def test_rows_are_placed_one_by_one_and_close_to_where_they_were(blobs):
    X, y = blobs
    scan = SCAN(epochs=40, **SMALL).fit(X, y)
    assert scan.score(X, y) > 0.85
    np.testing.assert_allclose(scan.predict_proba(X[3:4]), scan.predict_proba(X)[3:4], atol=1e-6)
    np.testing.assert_allclose(scan.predict_proba(X).sum(axis=1), 1)
    with pytest.raises(ValueError, match="features"):
        scan.predict(X[:, :1])


def test_pipelines_and_searches(blobs):
    X, y = blobs
    partly = np.where(np.arange(90) % 3, y, -1)
    pipeline = make_pipeline(StandardScaler(), SCAN(epochs=5, **SMALL))
    pipeline.fit(X, partly)
    assert list(pipeline.classes_) == [0, 1, 2]  # -1 is none of them
    assert pipeline.transform(X).shape == (90, 4)
    search = GridSearchCV(SCAN(epochs=3, **SMALL), {"dim": [2, 3]}, cv=2).fit(X, partly)
    assert search.best_params_["dim"] in (2, 3)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert len(cross_val_score(SCAN(epochs=2, **SMALL), X, y, cv=3)) == 3


def test_labels_of_a_network_are_cross_validated_by_hiding_them(demo):
    y = demo.labels
    train, test = next(StratifiedKFold(5).split(y, y))
    scan = SCAN(epochs=3, dim=6, random_state=0).fit(demo, np.where(np.isin(np.arange(len(y)), train), y, -1))
    assert 0 < scan.score(None, np.where(np.isin(np.arange(len(y)), test), demo.class_names[y], None)) <= 1


def test_frames_of_all_kinds_of_columns():
    rng = np.random.default_rng(0)
    count = 60
    columns = {
        "age": rng.normal(40, 10, count),
        "town": rng.choice(["Oslo", "Rome"], count).tolist(),
        "likes": [["chess"], ["golf", "chess"], []] * 20,
    }
    y = np.array(columns["town"])
    scan = SCAN(epochs=20, **SMALL).fit(pa.table(columns), y)
    assert scan.predict(pa.table(columns).slice(5, 3)).shape == (3,)
    assert scan.score(pa.table(columns), y) > 0.6  # the town itself is a column
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(columns)
    assert scan.set_params(epochs=2).fit(frame, y).feature_names_in_.tolist() == list(columns)
    embedded = scan.set_output(transform="pandas").transform(frame)
    assert list(embedded.columns) == ["scan0", "scan1", "scan2", "scan3"]


def test_whatever_can_be_read_can_be_fitted():
    import networkx

    graph = networkx.karate_club_graph()
    scan = SCAN(epochs=2, **SMALL).fit(graph, [graph.nodes[node]["club"] for node in graph])
    assert list(scan.classes_) == ["Mr. Hi", "Officer"]
    assert scan.predict().shape == (34,)
    assert scan.score(None, [graph.nodes[node]["club"] for node in graph]) > 0.5
    assert SCAN(epochs=1, **SMALL).fit(read(graph, labels="club")).predict(read(graph)).shape == (34,)
    with pytest.raises(InputError, match="is no network"):
        SCAN().fit(object())
