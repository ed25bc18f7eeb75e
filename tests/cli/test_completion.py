"""What a shell is offered, asked the way that shells ask."""

import os
import subprocess
import sys

import pytest

from coembed.settings import PRESETS, Settings, preset_settings


def offered(*words: str, last: str = "") -> list[str]:
    asked = {
        "_COEMBED_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(["coembed", *words, last]),
        "COMP_CWORD": str(len(words) + 1),
    }
    program = "import sys; sys.argv[0] = 'coembed'; from coembed.cli import main; main()"
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, env={**os.environ, **asked}, capture_output=True, text=True, check=False)
    return ran.stdout.split()


def test_presets_settings_tasks_and_kinds_are_offered():
    assert offered("train", "--preset") == list(PRESETS)
    assert offered("evaluate", "--task", last="li") == ["links"]
    assert offered("train", "--as", last="zip=te") == ["zip=text"]
    settings = offered("train", "--set")
    assert {each.partition("=")[0] for each in settings} == preset_settings().as_dict().keys()
    # each is one that may be given as it is
    assert all(isinstance(Settings().parse([each]), Settings) for each in settings)


@pytest.mark.parametrize(("preset", "said"), [("best", True), ("paper", False)])
def test_a_task_that_changes_nothing_is_said_to(run, network_file, tmp_path, preset, said):
    train = ("train", network_file, "-o", tmp_path / "m", "--epochs", 1, "--dim", 2, "--set", "space_dim=0")
    ran = run(*train, "--preset", preset, "--task", "links", "--no-compare")
    assert ran.code == 0
    assert ("--task links changes nothing" in ran.err) == said
