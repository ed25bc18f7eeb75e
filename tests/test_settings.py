"""Settings: the names of version 0.1 are understood wherever they were written down."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

import coembed
from coembed.errors import InputError
from coembed.experiments.cell import Cell
from coembed.settings import RENAMED, Settings, preset_settings

FORMAT1 = Path(__file__).parent / "fixtures" / "format1"


def test_names_of_today_are_settings_and_old_ones_are_not() -> None:
    known = {field.name for field in fields(Settings)}
    assert set(RENAMED.values()) <= known
    assert not set(RENAMED) & known


def test_a_text_may_use_the_old_name() -> None:
    assert Settings().parse(["jury=0.5", "companions=true"]) == Settings(label_ensemble=0.5, pair_scores=True)
    with pytest.raises(InputError, match="label_ensemble must be at least 0"):
        Settings().change(jury=-1.0)


def test_a_record_of_version_0_1_was_made_the_same_way_or_not() -> None:
    cell = Cell("table1", "scan-best", "cora", 0)
    settings = preset_settings("best", seed=0).as_dict()
    old = {name: settings.pop(new) for name, new in RENAMED.items()}
    made = cell.configuration | {"settings": {**settings, **old}}
    assert cell.same_way({"configuration": made})
    assert not cell.same_way({"configuration": made | {"settings": {**settings, **old, "jury": 0.0}}})


def test_a_saved_model_of_version_0_1_has_the_names_of_today() -> None:
    settings = Settings(**coembed.load(FORMAT1 / "best").settings)
    assert settings.label_ensemble == 1.0
    assert settings.pair_scores
