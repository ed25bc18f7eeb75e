"""Whatever goes wrong while something is written: what was there before is there, or what is new, whole."""

import errno
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from faults import Disk, Faults, files_of_at_most
from people_network import people_network

from coembed import files
from coembed.errors import InputError
from coembed.fitted import load, save, storage
from coembed.fitted.export import export
from coembed.network import Network, demo_network, read, write

OLD = Network.build(np.ones((3, 3)), np.eye(3), [0, 1, -1], name="old")
NEW = Network.build(np.ones((5, 5)), np.eye(5), [0, 1, -1, 0, 1], name="new")


def network_size(place: Path) -> int:
    return read(place).n_nodes


def writing(ending):
    def make(network, place):
        write(network, place / f"net{ending}")

    def whole(place):
        target = place / f"net{ending}"
        return {3: "old", 5: "new"}[network_size(target)] if target.exists() else "nothing"

    return make, whole


@pytest.fixture(scope="module")
def models(general):
    """Two models that differ in their history alone."""
    return replace(general, history={"which": "old"}), replace(general, history={"which": "new"})


def saving(model, place):
    save(model, place / "model")


def saved(place):
    target = place / "model"
    return load(target).history["which"] if (target / "model.json").exists() else "nothing"


WAYS = {ending or "csv": writing(ending) for ending in (".npz", ".mapped", ".parquet", "")}


@pytest.fixture(params=[*WAYS, "model"])
def way(request, models):
    """How to write something, what of it is there, the old and the new."""
    if request.param == "model":
        return saving, saved, *models
    return *WAYS[request.param], OLD, NEW


def litter(place: Path) -> list[str]:
    return sorted(each.name for each in place.rglob(".*"))


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EINTR])
@pytest.mark.parametrize("before", [True, False])
def test_every_step_fails_in_turn(way, tmp_path, monkeypatch, error, before):
    make, whole, old, new = way
    place = tmp_path / "place"
    place.mkdir()
    if before:
        make(old, place)
    faults = Faults(monkeypatch, error)
    for step in range(1, 200):
        message = ""
        with faults.at(step):
            try:
                make(new, place)
            except InputError as told:
                message = str(told)
        if faults.done < step:
            break
        # a folder that could not be made is no trouble if it is there
        assert os.strerror(error) in message or whole(place) == "new"
        assert "\n" not in message
        assert whole(place) in (("old", "new") if before else ("nothing", "new"))
        assert not litter(place)
        if whole(place) == "new" and before:
            make(old, place)
    assert step > 3, f"{faults.done} steps were counted"
    assert whole(place) == "new"


@pytest.mark.parametrize("size", [0, 20])
def test_no_space_for_the_content(way, tmp_path, size):
    make, whole, old, new = way
    make(old, tmp_path)
    with files_of_at_most(size), pytest.raises(InputError, match="cannot be written"):
        make(new, tmp_path)
    assert whole(tmp_path) == "old"
    assert not litter(tmp_path)


def test_a_power_cut_at_any_time(way, tmp_path, monkeypatch):
    make, whole, old, new = way
    place = tmp_path / "place"
    place.mkdir()
    make(old, place)
    seen = []
    disk = Disk(place, monkeypatch, lambda left: seen.append(whole(left)))
    make(new, place)
    assert disk.cuts >= 3
    assert set(seen) <= {"old", "new"}
    assert seen[0] == "old"
    assert seen[-1] == "new", "what was written is not on the disk when the writing ends"


def test_a_power_cut_while_a_first_model_is_saved(models, tmp_path, monkeypatch):
    place = tmp_path / "place"
    place.mkdir()
    seen = []
    Disk(place, monkeypatch, lambda left: seen.append(saved(left)))
    saving(models[1], place)
    assert set(seen) == {"nothing", "new"}
    assert seen[-1] == "new"


@pytest.mark.parametrize("ending", [".csv", ".npz", ".parquet", ".txt"])
def test_exports_too(general, tmp_path, monkeypatch, ending):
    target = tmp_path / f"codes{ending}"
    target.write_text("mine")
    with files_of_at_most(50), pytest.raises(InputError, match="cannot be written"):
        export(general, target)
    assert target.read_text() == "mine"
    assert not litter(tmp_path)


# Two writers


def test_two_that_save_a_model_leave_a_whole_one(models, tmp_path, monkeypatch):
    """The first waits between its arrays and its record until the second is done or waits for it, too."""
    write_record, second_done = storage._write_record, threading.Event()
    first = threading.current_thread()

    def slow(place, record):
        if threading.current_thread() is first:
            other.start()
            second_done.wait(1)
        write_record(place, record)

    def save_second():
        save(models[1], tmp_path / "model")
        second_done.set()

    other = threading.Thread(target=save_second)
    monkeypatch.setattr(storage, "_write_record", slow)
    save(models[0], tmp_path / "model")
    other.join()
    assert load(tmp_path / "model").history["which"] == "new"


def test_two_that_write_a_network_leave_a_whole_one(tmp_path):
    def again_and_again(network):
        for _ in range(15):
            write(network, tmp_path / "net.mapped")

    threads = [threading.Thread(target=again_and_again, args=[each]) for each in (OLD, NEW)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if (tmp_path / "net.mapped").exists():
            assert (tmp_path / "net.mapped" / "network.json").exists()
    for thread in threads:
        thread.join()
    assert network_size(tmp_path / "net.mapped") in (3, 5)
    assert not litter(tmp_path)


# Killed

KILLED = """
import os, signal, sys
from pathlib import Path
from coembed import files
with files.replacing_folder(Path(sys.argv[1]), frozenset()) as folder:
    (folder / "a").write_text("new")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "net")], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(litter(tmp_path)) == 1
    with files.replacing_folder(tmp_path / "net", frozenset({"a"})) as folder:
        (folder / "a").write_text("next")
    assert (tmp_path / "net" / "a").read_text() == "next"
    assert not litter(tmp_path)


def test_what_another_process_is_writing_is_left_alone(tmp_path):
    mark = f"{files._host()}-{os.getppid()}-00000000.part"
    (tmp_path / f".net.{mark}").mkdir()
    elsewhere = tmp_path / ".net.elsewhere-1-00000000.part"
    elsewhere.mkdir()
    with files.replacing_folder(tmp_path / "net", frozenset()):
        pass
    assert litter(tmp_path) == sorted([f".net.{mark}", elsewhere.name])


def test_killed_between_two_names_nothing_is_lost(tmp_path):
    """Where folders cannot be exchanged: the old one was moved aside, the new one has no name yet."""
    write(OLD, tmp_path / "net.mapped")
    (tmp_path / "net.mapped").rename(tmp_path / "net")
    program = f"""
import os, signal, sys
import numpy as np
from coembed import files
from coembed.network import Network, write
die = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
rename = os.rename
files._swapped = lambda *_: False
os.rename = lambda *names: (rename(*names), die())
write(Network.build(np.ones((5, 5))), {str(tmp_path / "net")!r}, "mapped")
"""
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode == -signal.SIGKILL
    assert not (tmp_path / "net").exists()
    assert network_size(tmp_path / "net") == 3
    write(NEW, tmp_path / "net", "mapped")
    assert network_size(tmp_path / "net") == 5
    assert not litter(tmp_path)


def test_folders_are_exchanged_in_one_step_where_the_system_can(tmp_path, monkeypatch):
    """The name is never without a folder."""
    if not sys.platform.startswith("linux"):
        pytest.skip("only on Linux")
    write(OLD, tmp_path / "net.mapped")
    monkeypatch.setattr(os, "rename", lambda *_: pytest.fail("it was moved aside"))
    write(NEW, tmp_path / "net.mapped")
    assert network_size(tmp_path / "net.mapped") == 5


# What is never replaced


def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    (tmp_path / "real.npz").write_text("old")
    (tmp_path / "link.npz").symlink_to("real.npz")
    write(NEW, tmp_path / "link.npz")
    assert (tmp_path / "link.npz").is_symlink()
    assert network_size(tmp_path / "real.npz") == 5


def test_a_pipe_a_device_and_a_loop_are_left_alone(tmp_path):
    os.mkfifo(tmp_path / "pipe.npz")
    (tmp_path / "null.npz").symlink_to(os.devnull)
    (tmp_path / "loop.npz").symlink_to("loop.npz")
    for name, said in (
        ("pipe", "neither a file"),
        ("null", "neither a file"),
        ("loop", "leads to itself|link"),
    ):
        with pytest.raises(InputError, match=said):
            write(NEW, tmp_path / f"{name}.npz")
    assert (tmp_path / "pipe.npz").is_fifo()
    assert (tmp_path / "null.npz").is_symlink()


@pytest.mark.parametrize(
    "name", ["x" * 250 + ".npz", "x" * 4000 + ".npz", "a\0b.npz", "x" * 100 + "." + "y" * 150]
)
def test_names_of_any_length_are_written_or_refused(tmp_path, name):
    target = tmp_path / name
    try:
        write(NEW, target, "npz")
    except InputError as error:
        told = str(error)
        assert "\n" not in told
    else:
        assert network_size(target) == 5
    assert not litter(tmp_path)


def test_a_forged_model_does_not_lead_elsewhere(models, tmp_path):
    """A link among the files of somebody's model is not written through when its map is kept."""
    from coembed.maps.layout import cached_layout

    folder = save(models[0], tmp_path / "model")
    (tmp_path / "mine.txt").write_text("mine")
    (folder / "map-pca.npz").symlink_to(tmp_path / "mine.txt")
    cached_layout(load(folder), folder, "pca")
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_a_map_is_drawn_though_nothing_can_be_kept(models, tmp_path):
    from coembed.maps.layout import cached_layout

    folder = save(models[0], tmp_path / "model")
    with files_of_at_most(100):
        layout = cached_layout(load(folder), folder, "pca")
    assert set(layout.places) == set(people_network().types)
    assert not litter(folder)


def test_a_checkpoint_that_cannot_be_written_does_not_end_the_training(tmp_path):
    from coembed.settings import preset_settings
    from coembed.training import Checkpoints, fit

    settings = preset_settings("paper", epochs=3, dim=4, hidden=4)
    with files_of_at_most(1000):
        found = fit(demo_network(), settings, checkpoints=Checkpoints(tmp_path / "run", minutes=0))
    assert any("checkpoint could not be written" in notice for notice in found.history["notices"])
    assert len(found.history["loss"]) == 3
    assert list((tmp_path / "run").iterdir()) == []
