"""Figures of a model: they show its own numbers, and a notebook shows them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.fitted.label_quality import judge


def test_the_training_is_drawn_from_its_history(general):
    figure = general.plot_training()
    drawn = {line.get_label(): line.get_ydata() for axes in figure.axes for line in axes.get_lines()}
    assert drawn["loss"] == pytest.approx(general.history["loss"])
    assert any(label.startswith("kept: epoch") for label in drawn)
    watched = [name for name in general.history if name.startswith("validation ")]
    for name in watched[:8]:
        assert drawn[name.removeprefix("validation ")] == pytest.approx(general.history[name])
    with pytest.raises(InputError, match="no history"):
        replace(general, history={}).plot_training()


def test_reliability_is_that_of_labels_the_fit_did_not_see(general):
    seen = general.network
    labels = seen.main.labels.values.copy()
    hidden = np.flatnonzero(labels >= 0)[::2]
    labels[hidden] = -1
    ignorant = replace(general, network=seen.with_labels(labels, seen.main.name))
    quality = judge(ignorant, seen)
    figure = ignorant.plot_reliability(seen)
    [axes] = figure.axes
    points = axes.collections[0].get_offsets()
    np.testing.assert_allclose(points, quality.reliability[:, :2])
    assert f"{len(hidden)} items" in axes.get_title(loc="left")
    with pytest.raises(InputError, match="knows no label"):
        general.plot_reliability(seen)


def test_a_notebook_shows_the_map_by_itself(general):
    figure = general.plot("pca", names=2, words=2, title="here")
    assert figure._repr_png_().startswith(b"\x89PNG")
