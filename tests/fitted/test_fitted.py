import numpy as np
import pytest

from coembed.errors import InputError

from .conftest import with_space


def test_code_of_an_unlabelled_node_is_its_z_and_its_probabilities(fitted):
    free = np.flatnonzero(fitted.network.labels < 0)
    np.testing.assert_array_equal(fitted.nodes.mean[free, : fitted.dim], fitted.node_mean[free])
    np.testing.assert_array_equal(fitted.nodes.mean[free, fitted.dim :], fitted.probabilities[free])
    p = fitted.probabilities[free]
    np.testing.assert_allclose(fitted.nodes.std[free, fitted.dim :], np.sqrt(p * (1 - p)), rtol=1e-6)


def test_code_of_a_labelled_node_has_its_label_instead_of_the_prediction(fitted):
    known = fitted.network.labelled
    onehot = np.eye(3)[fitted.network.labels[known]]
    base = np.hstack([fitted.node_mean, np.log(fitted.node_std)]) - fitted.probabilities @ fitted.label_shift
    right = base[known] + onehot @ fitted.label_shift
    np.testing.assert_allclose(fitted.nodes.mean[known, : fitted.dim], right[:, : fitted.dim], atol=1e-5)
    np.testing.assert_allclose(
        np.log(fitted.nodes.std[known, : fitted.dim]), right[:, fitted.dim :], atol=1e-5
    )
    np.testing.assert_array_equal(fitted.nodes.mean[known, fitted.dim :], onehot)
    assert not fitted.nodes.std[known, fitted.dim :].any()


def test_mean_of_many_draws_is_the_code(fitted, rng):
    draws = [fitted.draw(rng) for _ in range(2000)]
    for type, codes in (("node", fitted.nodes), ("attribute", fitted.attributes)):
        mean = np.mean([draw[type] for draw in draws], axis=0)
        assert np.all(np.abs(mean - codes.mean) <= 5 * codes.std / np.sqrt(2000) + 1e-6)


def test_same_generator_same_draw(fitted):
    first, second = (fitted.draw(np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(first["node"], second["node"])
    np.testing.assert_array_equal(first["attribute"], second["attribute"])


def test_predictions_are_names_of_the_likeliest_class(fitted):
    assert list(fitted.predict()) == [f"class {k}" for k in fitted.predict_proba().argmax(1)]
    np.testing.assert_allclose(fitted.predict_proba().sum(1), 1, rtol=1e-5)


def test_a_model_without_classes_refuses_to_predict_and_still_scores(unlabelled):
    assert unlabelled.score_links([[0, 1]]).shape == (1,)
    assert unlabelled.nodes.mean.shape == (40, 5)
    with pytest.raises(InputError, match="knows no classes of node; train with some labels"):
        unlabelled.predict()


def test_arrays_that_do_not_fit_the_network_are_refused(fitted):
    with pytest.raises(InputError, match=r"deviations have shape \(39, 5\)"):
        with_space(fitted, "node", std=fitted.node_std[1:])
    space = fitted.types["node"]
    short = {name: getattr(space, name)[1:] for name in ("mean", "std", "probabilities")}
    with pytest.raises(InputError, match="has 39 items and 3 classes of type node, its network 40"):
        with_space(fitted, "node", **short)
