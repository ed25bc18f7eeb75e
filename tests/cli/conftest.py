"""Commands run in this process, on a model of a few epochs that all the tests share."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from coembed.cli import main
from coembed.network import demo_network, split_labels, write
from coembed.settings import PRESETS


@dataclass
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture(scope="package", autouse=True)
def small_models():
    """What commands train by default is small in this folder: they, not the models, are looked at."""
    with pytest.MonkeyPatch.context() as patch:
        for changes in PRESETS["best"].values():
            for name, value in {"hidden": 16, "rank": 16, "space_dim": 16}.items():
                patch.setitem(changes, name, value)
        yield


@pytest.fixture
def run(capfd):
    """Run a command; give its exit code and what it printed."""

    def run_command(*arguments: object) -> Ran:
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
        printed = capfd.readouterr()
        return Ran(int(end.value.code or 0), printed.out, printed.err)

    return run_command


@pytest.fixture(scope="session")
def network_file(tmp_path_factory) -> Path:
    """The demo network with a tenth of its labels, as a file."""
    network = demo_network()
    path = tmp_path_factory.mktemp("network") / "wordnet.npz"
    write(split_labels(network, labels=0.1).visible(network), path)
    return path


@pytest.fixture(scope="package")
def model(network_file, tmp_path_factory, small_models) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "model"
    with pytest.raises(SystemExit) as end:
        main(["train", str(network_file), "-o", str(folder), "--epochs", "4", "--dim", "8", "-q"])
    assert not end.value.code
    return folder
