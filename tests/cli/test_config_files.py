"""Training by a file, and what every model's folder holds of its history."""

import json

import pytest

from coembed.cli.config_files import read_config, write_config
from coembed.errors import InputError
from coembed.fitted import load
from coembed.settings import preset_settings


def test_a_file_that_was_written_says_the_same(tmp_path):
    settings = preset_settings("paper", "links", dim=7, beta=0.25, balance=False, schedule="constant")
    write_config(tmp_path / "mine.toml", "paper", "links", settings)
    found = read_config(tmp_path / "mine.toml")
    assert (found.preset, found.task) == ("paper", "links")
    assert "epochs" not in found.settings  # as the preset has it
    assert preset_settings("paper", "links").change(**found.settings) == settings


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("preset = 3", "preset and task are texts"),
        ("presets = 'best'", "did you mean 'preset'"),
        ("settings = 1", "a table"),
        ("preset = ", "TOML"),
    ],
)
def test_what_is_wrong_in_a_file_is_told(tmp_path, text, words):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        read_config(path)


def test_training_by_a_file_and_its_history(run, network_file, tmp_path):
    path = tmp_path / "mine.toml"
    common = ("--no-compare", "-q")
    first = run(
        "train",
        network_file,
        "-o",
        tmp_path / "one",
        "--preset",
        "paper",
        "--epochs",
        3,
        "--set",
        "dim=5",
        "--save-config",
        path,
        *common,
    )
    assert (first.code, first.err) == (0, "")
    assert (
        run("train", network_file, "-o", tmp_path / "two", "--config", path, "--epochs", 2, *common).code == 0
    )
    two = load(tmp_path / "two")
    assert (two.preset, two.settings["dim"], two.settings["epochs"]) == ("paper", 5, 2)
    lines = [json.loads(line) for line in (tmp_path / "one" / "history.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == [1, 2, 3]
    assert [line["loss"] for line in lines] == load(tmp_path / "one").history["loss"]
    path.write_text("[settings]\ndims = 3\n")
    refused = run("train", network_file, "-o", tmp_path / "three", "--config", path)
    assert refused.code == 2
    assert "did you mean 'dim'" in refused.err
    assert not (tmp_path / "three").exists()
