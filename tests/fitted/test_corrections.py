"""Corrections are a table that is read back; they become labels; two models are compared fairly."""

from __future__ import annotations

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.fitted.corrections import (
    FILE,
    Correction,
    check_correction,
    corrected,
    pending,
    read_corrections,
    write_corrections,
)
from coembed.fitted.model_changes import compare_models
from coembed.network import demo_network, split_labels
from coembed.settings import preset_settings

GIVEN = [
    Correction("person", "p003", "left", "right", "2026-01-01T00:00:00"),
    Correction("person", "p004", "middle"),
    Correction("person", "p003", "right"),
]


def test_written_is_read_and_the_last_word_counts(general, tmp_path):
    assert read_corrections(tmp_path) == []
    strange = [*GIVEN, Correction("person", 'a"b,c\nd', "left")]
    write_corrections(tmp_path, strange)
    assert read_corrections(tmp_path) == strange
    network = corrected(general.network, strange)
    labels = network.items("person").labels
    assert [str(labels.classes[labels.values[row]]) for row in (3, 4)] == ["right", "middle"]
    old = general.network.items("person").labels.values
    assert (np.delete(labels.values, [3, 4]) == np.delete(old, [3, 4])).all()
    assert {each.id for each in pending(general.network, strange)} <= {"p003", "p004"}
    assert pending(network, strange) == []


def test_what_the_model_does_not_know_is_refused(general, tmp_path):
    for wrong, said in (
        (Correction("person", "zoe", "left"), "there is no person 'zoe'"),
        (Correction("person", "p003", "lft"), "did you mean 'left'"),
        (Correction("persn", "p003", "left"), "there is no type 'persn'"),
        (Correction("person.columns", "income", "left"), "cannot be corrected"),
    ):
        with pytest.raises(InputError, match=said):
            check_correction(general.network, wrong)
    (tmp_path / FILE).write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="cannot be read as corrections"):
        read_corrections(tmp_path)


def test_retraining_learns_what_was_said_and_both_are_judged_on_what_neither_was_told():
    from coembed.training import fit
    from coembed.training.retraining import retrain

    truth = demo_network()
    fitted = fit(split_labels(truth, labels=0.05).visible(truth), preset_settings("paper", epochs=3, dim=4))
    rows = np.flatnonzero(fitted.network.labels < 0)[:30]
    names = fitted.network.node_names
    said = [Correction("node", str(names[row]), str(truth.class_names[truth.labels[row]])) for row in rows]
    after = retrain(fitted, said)
    assert (after.network.labels[rows] == truth.labels[rows]).all()
    [told] = compare_models(fitted, after, truth)
    assert told.labelled_after == told.labelled_before + 30
    assert told.judged == (fitted.network.labels < 0).sum() - 30
    hidden = np.flatnonzero(after.network.labels < 0)
    assert told.right_after == (after.probabilities.argmax(1)[hidden] == truth.labels[hidden]).sum()
    assert told.right_before == (fitted.probabilities.argmax(1)[hidden] == truth.labels[hidden]).sum()
    assert (told.before[told.changed] != told.after[told.changed]).all()
    assert (np.diff(told.p_after[told.changed]) <= 0).all()
    with pytest.raises(InputError, match="no new label"):
        retrain(after, said)
