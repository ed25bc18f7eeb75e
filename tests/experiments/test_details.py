"""What a record says of a fit, beside its metrics."""

import numpy as np

from coembed.evaluation.problem import Pairs
from coembed.experiments.details import expected_and_means, sets_of_classes
from coembed.fitted.format1 import plain_fitted
from coembed.network import Network, demo_network, split_labels
from coembed.settings import preset_settings
from coembed.training import fit


def test_only_the_expected_probability_knows_of_variances():
    """Two nodes with the same mean: one certain, one not. At the means their scores are equal."""
    mean = np.array([[2.0], [2.0], [-2.0]], dtype=np.float32)
    std = np.array([[0.01], [5.0], [0.01]], dtype=np.float32)
    fitted = plain_fitted(
        network=Network.build(np.zeros((3, 3)), np.ones((3, 1))),
        settings={"links": "bernoulli", "attributes": "bernoulli"},
        history={},
        preset="paper",
        node_mean=mean,
        node_std=std,
        probabilities=np.zeros((3, 0), np.float32),
        label_shift=np.zeros((0, 2), np.float32),
        attribute_mean=np.ones((1, 1), np.float32),
        attribute_std=np.full((1, 1), 0.01, np.float32),
        units={"links": 1.0, "attributes": 1.0},
        weights={},
    )
    asked = Pairs(np.array([[0, 0]]), np.array([[1, 0]]))
    found = expected_and_means(fitted, "attributes", asked)
    assert found["means"]["auc"] == 0.5
    assert found["expected"]["auc"] == 1.0


def test_a_record_tells_how_often_sets_hold_the_class_of_who_was_asked():
    network = demo_network()
    split = split_labels(network, labels=0.1, seed=0)
    fitted = fit(split.visible(network), preset_settings("fast"))
    truth, names = network.labels, network.class_names
    found = sets_of_classes(fitted, truth, split.test)
    for promised in (0.9, 0.99):
        sets = fitted.predict_set(promised)[split.test]
        held = np.mean([names[k] in each for k, each in zip(truth[split.test], sets, strict=True)])
        size = np.mean([len(each) for each in sets])
        assert found[str(promised)] == {"coverage": round(float(held), 4), "size": round(float(size), 4)}
