"""Kingma's semi-supervised model M2: one type with labels and a decoder of its own features, no relation.

On the digits of scikit-learn with ten labels a class it must beat the same discriminator trained on those
labels alone. The settings were chosen by the accuracy on validation digits in draws of their own (seeds 100
to 102); what is asserted is the accuracy on the test digits in other draws (seeds 0 to 4).
"""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from coembed.kernels import Noise
from coembed.model import SVAE, DenseInference, EntityType, Features, Objective
from coembed.training import train

LABELS_A_CLASS, VALIDATION = 10, 500
OBJECTIVES = {"gumbel": Objective(alpha=50.0), "exact": Objective(alpha=10.0, labels="exact")}


@pytest.fixture(scope="module")
def digits():
    images, classes = load_digits(return_X_y=True)
    return (images / 16).astype(np.float32), classes


def split(classes, seed):
    """Items with a given label (ten a class), validation items, test items."""
    order = np.random.default_rng(seed).permutation(len(classes))
    labelled = np.concatenate([order[classes[order] == k][:LABELS_A_CLASS] for k in range(10)])
    rest = order[~np.isin(order, labelled)]
    return labelled, rest[:VALIDATION], rest[VALIDATION:]


def accuracy(digits, seed, goal, epochs, weight):
    """Test accuracy of q(y | x); with the weight zero nothing but the classification loss is left."""
    images, classes = digits
    labelled, _, test = split(classes, seed)
    labels = np.full(len(classes), -1)
    labels[labelled] = classes[labelled]
    torch.manual_seed(seed)
    inputs = torch.as_tensor(images)
    digit = EntityType(
        "digit",
        len(images),
        lambda latent, n_classes: DenseInference([inputs], 64, latent, n_classes),
        n_classes=10,
        labels=labels,
        features=Features(images, hidden=64, weight=weight),
    )
    model = SVAE([digit], [], dim=16, objective=goal)
    train(model, epochs=epochs, seed=seed)
    with torch.no_grad():
        predicted = model.mean_codes("digit")[1].argmax(dim=1).numpy()
    return np.mean(predicted[test] == classes[test])


def compare(digits, method, seeds, record_property, epochs=200):
    """Accuracies, a draw each, of the whole model and of the labels alone."""
    semi, alone = (
        np.array([accuracy(digits, seed, OBJECTIVES[method], epochs, weight) for seed in seeds])
        for weight in (1.0, 0.0)
    )
    record_property("accuracy of M2", semi.tolist())
    record_property("accuracy of the labels alone", alone.tolist())
    print(f"digits, {method}, {len(seeds)} draws: M2 {semi.mean():.4f}, labels alone {alone.mean():.4f}")
    return semi, alone


def test_unlabelled_digits_help(digits, record_property):
    """In short: two draws, half the epochs."""
    semi, alone = compare(digits, "gumbel", range(2), record_property, epochs=100)
    assert semi.mean() > alone.mean()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["gumbel", "exact"])
def test_unlabelled_digits_help_in_five_draws(digits, method, record_property):
    semi, alone = compare(digits, method, range(5), record_property)
    assert semi.mean() > alone.mean() + 0.005


def test_weight_zero_leaves_the_discriminator_alone():
    images = np.random.default_rng(0).random((6, 4)).astype(np.float32)
    digit = EntityType(
        "digit",
        6,
        lambda latent, n_classes: DenseInference([torch.as_tensor(images)], 5, latent, n_classes),
        n_classes=2,
        labels=np.array([0, 1, -1, -1, -1, -1]),
        features=Features(images, weight=0.0),
    )
    model = SVAE([digit], [], dim=2)
    loss = model(Noise(0))
    assert float(loss.total.detach()) == pytest.approx(float(loss.parts["classification"]))
    loss.total.backward()
    assert model.inference["digit"].second.weight.grad.abs().sum() == 0
    assert model.inference["digit"].label.second.weight.grad.abs().sum() > 0
