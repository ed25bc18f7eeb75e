"""Checkpoints: a fit that was killed and taken up again ends as one that was not."""

import json
import signal
import subprocess
import sys

import numpy as np
import pytest
import torch

from coembed.errors import InputError
from coembed.model import scan
from coembed.network import demo_network, hide
from coembed.settings import preset_settings
from coembed.training import Checkpoints, fit, train

SMALL = {"epochs": 8, "dim": 8, "hidden": 8, "rank": 16, "space_dim": 0}
KILLED = """
import os, signal, sys
from coembed.network import demo_network
from coembed.settings import preset_settings
from coembed.training import Checkpoints, fit

def killed(epoch, epochs, figures):
    if epoch == 6:
        os.kill(os.getpid(), signal.SIGKILL)

settings = preset_settings(epochs=8, dim=8, hidden=8, rank=16, space_dim=0)
fit(demo_network(), settings, progress=killed, checkpoints=Checkpoints(sys.argv[1], minutes=0))
"""


class Fall(Exception):
    pass


def falling(after):
    def progress(epoch, epochs, figures):
        if epoch == after:
            raise Fall

    return progress


def model():
    torch.manual_seed(0)
    return scan(demo_network(), preset_settings("paper", dim=4, hidden=4))


@pytest.mark.parametrize("after", [7, 23])
def test_losses_and_weights_are_those_of_an_uninterrupted_run(after, tmp_path):
    def validate():
        return {"made up": -abs(next(figures))}  # best in the middle

    def options(**more):
        return {"epochs": 24, "schedule": "cosine", "label_decay": 0.3, "validate": validate, **more}

    figures = iter([5, 3, 4, 6, 7])
    whole = model()
    expected = train(whole, **options())
    figures = iter([5, 3, 4, 6, 7])
    with pytest.raises(Fall):
        train(model(), **options(progress=falling(after), checkpoints=Checkpoints(tmp_path, minutes=0)))
    again = model()
    found = train(again, **options(checkpoints=Checkpoints(tmp_path, minutes=0, resume=True)))
    assert found == expected
    assert found.best_epoch == 10
    for name, weight in whole.state_dict().items():
        assert torch.equal(again.state_dict()[name], weight), name


def test_a_process_killed_outright_is_taken_up_by_another(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "run")], check=False)
    assert done.returncode == -signal.SIGKILL
    settings = preset_settings(**SMALL)
    found = fit(demo_network(), settings, checkpoints=Checkpoints(tmp_path / "run", resume=True))
    expected = fit(demo_network(), settings)
    assert found.history == expected.history
    for name in ("node_mean", "node_std", "probabilities", "attribute_mean"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)


def test_a_checkpoint_is_taken_up_only_where_it_belongs(tmp_path):
    network, settings = demo_network(), preset_settings("paper", epochs=2, dim=4, hidden=4)
    fit(network, settings, checkpoints=Checkpoints(tmp_path, minutes=0))

    def resumed(network, settings):
        return fit(network, settings, checkpoints=Checkpoints(tmp_path, resume=True))

    assert len(resumed(network, settings).history["loss"]) == 2
    with pytest.raises(InputError, match="another network"):
        resumed(hide(network, 0.1), settings)
    with pytest.raises(InputError, match="a fit with dim=4, not 5"):
        resumed(network, settings.change(dim=5))
    with pytest.raises(InputError, match="holds a checkpoint already"):
        fit(network, settings, checkpoints=Checkpoints(tmp_path))


def test_damage_is_told_and_the_former_checkpoint_outlives_a_fall_while_writing(tmp_path, monkeypatch):
    checkpoints = Checkpoints(tmp_path, resume=True)
    assert checkpoints.load() is None
    checkpoints.save({"epoch": 1}, {"weight": torch.ones(3)})
    monkeypatch.setattr("os.fsync", lambda *_: (_ for _ in ()).throw(Fall))
    with pytest.raises(Fall):
        checkpoints.save({"epoch": 2}, {"weight": torch.zeros(3)})
    monkeypatch.undo()
    assert checkpoints.load()[0] == {"epoch": 1}
    state = tmp_path / json.loads((tmp_path / "checkpoint.json").read_text())["states"][0]
    state.write_bytes(state.read_bytes()[:-1] + b"x")
    with pytest.raises(InputError, match="damaged"):
        checkpoints.load()
    checkpoints.clear()
    assert not tmp_path.exists()
