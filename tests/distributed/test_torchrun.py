"""The command under torchrun: a model as of one process, and what happens when a process is killed."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from coembed.fitted import load
from coembed.network import write

from .test_fit import assert_same_model
from .test_model import small_network

pytestmark = pytest.mark.slow
SMALL = ["dim=4", "hidden=6", "rank=5", "neighbours=3", "block=16"]


def command(network, output, *more, processes=1, restarts=0):
    settings = [part for setting in SMALL for part in ("--set", setting)]
    fit = ["-m", "coembed", "train", str(network), "-o", str(output), *settings, *more]
    if processes == 1:
        return [sys.executable, *fit]
    launch = ["--nnodes=1", f"--nproc-per-node={processes}", f"--max-restarts={restarts}", "--standalone"]
    return [sys.executable, "-m", "torch.distributed.run", *launch, *fit]


def start(words):
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def run(words, seconds=200):
    process = start(words)
    out, err = process.communicate(timeout=seconds)
    return process.returncode, out, err


def workers(launcher):
    """The processes that torchrun started, in the order of their ranks."""
    found = {}
    for folder in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{folder}/stat") as stat, open(f"/proc/{folder}/environ") as environ:
                parent = int(stat.read().rpartition(")")[2].split()[1])
                variables = dict(pair.partition("=")[::2] for pair in environ.read().split("\0") if pair)
        except OSError:
            continue
        if parent == launcher.pid and "RANK" in variables:
            found[int(variables["RANK"])] = int(folder)
    return [found[rank] for rank in sorted(found)]


def wait_for(condition, process, seconds=300):
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()[1]
        if time.monotonic() > end:
            process.terminate()
            raise AssertionError("nothing came of it")
        time.sleep(0.05)


@pytest.fixture
def network(tmp_path):
    write(small_network(200, 30), tmp_path / "network.npz")
    return tmp_path / "network.npz"


def test_a_job_leaves_the_model_of_one_process_and_talks_once(network, tmp_path):
    code, _, err = run(command(network, tmp_path / "one", "--epochs", "6"))
    assert code == 0, err
    code, out, err = run(command(network, tmp_path / "two", "--epochs", "6", "--json", processes=2))
    assert code == 0, err
    assert json.loads(out)["epochs"] == 6
    assert err.count("6/6") == 1
    assert_same_model(load(tmp_path / "one"), load(tmp_path / "two"))
    assert sorted(os.listdir(tmp_path)) == ["network.npz", "one", "two"]


@pytest.mark.parametrize("victim", [0, 1])
def test_a_killed_process_ends_the_job_and_the_checkpoint_is_whole(network, tmp_path, victim):
    epochs = ["--epochs", "400", "--preset", "paper"]
    kept = tmp_path / "kept"
    job = start(
        command(network, tmp_path / "model", *epochs, "--checkpoint", kept, "--every", "0.02", processes=2)
    )
    wait_for((kept / "checkpoint.json").exists, job)
    time.sleep(1)
    os.kill(workers(job)[victim], signal.SIGKILL)
    killed = time.monotonic()
    out, err = job.communicate(timeout=60)
    assert time.monotonic() - killed < 45
    assert job.returncode != 0
    (line,) = [line for line in err.splitlines() if "another process of the job was lost" in line]
    assert f"the checkpoint {kept} is whole" in line
    assert not (tmp_path / "model").exists()
    done = json.loads((kept / "checkpoint.json").read_text())["run"]["epoch"]
    assert 0 < done < 400

    # one process ends what two began
    words = command(network, tmp_path / "model", *epochs, "--checkpoint", kept, "--resume", "--json")
    code, out, err = run(words)
    assert code == 0, err
    assert json.loads(out)["epochs"] == 400
    assert load(tmp_path / "model").network.n_nodes == 200
    assert not kept.exists()


def test_a_silent_process_is_given_up_after_a_while(network, tmp_path):
    kept = tmp_path / "kept"
    words = [
        "--epochs",
        "100000",
        "--preset",
        "paper",
        "--checkpoint",
        kept,
        "--every",
        "0.02",
        "--wait",
        "0.5",
    ]
    job = start(command(network, tmp_path / "model", *words, processes=2))
    wait_for((kept / "checkpoint.json").exists, job)
    os.kill(workers(job)[1], signal.SIGSTOP)
    # half a minute, and another until torchrun kills what does not end
    _, err = job.communicate(timeout=180)
    assert job.returncode != 0
    assert f"the checkpoint {kept} is whole" in err


def test_torchrun_goes_on_from_the_checkpoint_by_itself(network, tmp_path):
    settings = ["--epochs", "300", "--preset", "paper"]
    words = command(network, tmp_path / "model", *settings, "--every", "0.02", processes=2, restarts=1)
    job = start(words)
    record = tmp_path / ".model.job" / "checkpoint" / "checkpoint.json"
    wait_for(record.exists, job)
    time.sleep(0.5)
    os.kill(workers(job)[1], signal.SIGKILL)
    _, err = job.communicate(timeout=150)
    assert job.returncode == 0, err
    code, _, err = run(command(network, tmp_path / "one", *settings))
    assert code == 0, err
    ended, whole = load(tmp_path / "model"), load(tmp_path / "one")
    assert len(ended.history["loss"]) == 300
    np.testing.assert_allclose(ended.history["loss"][:20], whole.history["loss"][:20], rtol=1e-4)
    assert not record.exists()


def test_a_bad_network_ends_the_job_with_its_own_sentence(tmp_path):
    began = time.monotonic()
    code, _, err = run(command(tmp_path / "nowhere", tmp_path / "model", processes=2))
    assert code != 0
    assert err.count("does not exist") == 1
    assert time.monotonic() - began < 60
