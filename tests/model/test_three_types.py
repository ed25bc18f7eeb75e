"""The general case: three types, two of them with labels, four relations, one of them real-valued.

Authors have one of three fields, papers one of four topics, words have no labels. Every relation says a
little of the hidden classes, and none says enough. The joint model must do better than one without either
label set or without any one of the relations. How strong the relations are and how it is trained was
chosen on worlds of the seeds 0 to 11; what is asserted is the mean over other worlds (seeds 100 to 111).

A label set is removed in two ways: its labels are hidden, or its type has no label variable at all (with as
many more common coordinates, so that codes keep their size). What is compared is the accuracy of the other
label. A removed relation is neither explained nor read by any inference network; there the sum of both
accuracies counts.
"""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import nn

from coembed.kernels import SparseMatrix
from coembed.model import SVAE, DenseInference, EntityType, Evidence, ModelledRelation, Objective
from coembed.training import train

SIZES = {"author": 200, "paper": 200, "word": 40}
CLASSES = {"author": 3, "paper": 4}
RELATIONS = ("collaborates", "writes", "contains", "uses")
LABELS_A_CLASS = 10
EPOCHS = 400
GOAL = Objective(alpha=10.0, kl_weight=0.3, tau=0.5, all_pairs="exact")


@dataclass(frozen=True)
class World:
    """True classes, the few that are given, and the relations."""

    classes: dict[str, np.ndarray]
    given: dict[str, np.ndarray]
    relations: list[ModelledRelation]


def world(seed):
    rng = np.random.default_rng(seed)
    field, topic = (rng.permutation(np.arange(SIZES[t]) % k) for t, k in CLASSES.items())
    # a word is at home in one topic and in one field
    home = rng.permutation(np.arange(SIZES["word"]) % 12)

    def present(likely, high, low):
        return sp.csr_array((rng.random(likely.shape) < np.where(likely, high, low)).astype(np.float32))

    upper = sp.triu(present(field[:, None] == field, 0.06, 0.02), 1)
    # a field is about two neighbouring topics
    writes = present((topic - field[:, None]) % 4 < 2, 0.08, 0.02)
    contains = present(home % 4 == topic[:, None], 0.25, 0.05)
    # a word of one's own field is valued; which words have a value at all says nothing
    value = np.where(home // 4 == field[:, None], 1.0, -0.5) + rng.normal(size=(len(field), len(home)))
    uses = sp.csr_array((value * (rng.random(value.shape) < 0.15)).astype(np.float32))
    return World(
        {"author": field, "paper": topic},
        {"author": few(field, rng), "paper": few(topic, rng)},
        [
            ModelledRelation("collaborates", "author", "author", sp.csr_array(upper + upper.T)),
            ModelledRelation("writes", "author", "paper", writes),
            ModelledRelation("contains", "paper", "word", contains),
            ModelledRelation("uses", "author", "word", uses, "gaussian"),
        ],
    )


def few(classes, rng):
    order = rng.permutation(len(classes))
    known = np.concatenate([order[classes[order] == k][:LABELS_A_CLASS] for k in range(classes.max() + 1)])
    labels = np.full(len(classes), -1)
    labels[known] = classes[known]
    return labels


class ThroughTheLabel(nn.Module):
    """q(z | y), q(y | F): the inputs speak through the label only, so that it has something to say."""

    def __init__(self, matrices, hidden, latent, n_classes):
        super().__init__()
        self.inner = DenseInference(matrices, hidden, latent, n_classes)
        self.common = nn.Parameter(torch.zeros(2 * latent))

    def forward(self, noise=None):
        evidence = self.inner(noise)
        return Evidence(self.common.expand_as(evidence.output), evidence.label_logits)


def build_model(relations, given, unlabelled):
    def rows(name):
        """A type's rows in all of its relations, side by side."""
        for relation in relations:
            if relation.source == name:
                yield SparseMatrix(relation.matrix)
            elif relation.target == name:
                yield SparseMatrix(relation.matrix.T.tocsr())

    def inference(name):
        def build(latent, n_classes):
            kind = ThroughTheLabel if n_classes else DenseInference
            return kind(list(rows(name)), 32, latent, n_classes)

        return build

    types = [
        EntityType(
            name, size, inference(name), 0 if name == unlabelled else CLASSES.get(name, 0), given.get(name)
        )
        for name, size in SIZES.items()
    ]
    return SVAE(types, relations, dim=1 + CLASSES.get(unlabelled, 0), objective=GOAL)


def accuracies(seed, without=None, hidden=None, unlabelled=None, epochs=EPOCHS):
    """Accuracy of each label variable on the items whose class was not given."""
    found = world(seed)
    relations = [relation for relation in found.relations if relation.name != without]
    given = {name: np.full_like(y, -1) if name == hidden else y for name, y in found.given.items()}
    torch.manual_seed(seed)
    model = build_model(relations, given, unlabelled)
    train(model, epochs=epochs, seed=seed)
    right = {}
    for name, truth in found.classes.items():
        if name not in (hidden, unlabelled):
            with torch.no_grad():
                predicted = model.mean_codes(name)[1].argmax(dim=1).numpy()
            asked = found.given[name] < 0
            right[name] = np.mean(predicted[asked] == truth[asked])
    return right


def mean(seeds, **changes):
    found = [accuracies(seed, **changes) for seed in seeds]
    return {name: float(np.mean([one[name] for one in found])) for name in found[0]}


def test_labels_of_one_type_help_the_other():
    """In short: a world, labels hidden."""
    short = {"seeds": (0,), "epochs": EPOCHS // 2}
    joint = mean(**short)
    without = {"author": mean(**short, hidden="paper"), "paper": mean(**short, hidden="author")}
    print("joint", joint, "labels of the other hidden", without)
    assert joint["author"] + joint["paper"] > without["author"]["author"] + without["paper"]["paper"]


@pytest.mark.slow
def test_joint_model_beats_any_part_of_it(record_property):
    seeds = range(100, 112)
    joint = mean(seeds)
    table = {"joint": joint}
    for way in ("hidden", "unlabelled"):
        for removed, other in (("author", "paper"), ("paper", "author")):
            part = table[f"labels of {removed} {way}"] = mean(seeds, **{way: removed})
            assert set(part) == {other}
    for relation in RELATIONS:
        table[f"without {relation}"] = mean(seeds, without=relation)
    record_property("accuracy", table)
    for name, part in table.items():
        print(f"{name:28}", {label: round(accuracy, 3) for label, accuracy in part.items()})
    for name, part in table.items():
        if name != "joint":
            assert sum(joint[label] for label in part) > sum(part.values()), name
