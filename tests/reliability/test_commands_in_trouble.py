"""Commands on a full disk, without memory or permission, or killed: one sentence, nothing half-written."""

import multiprocessing
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest
from faults import files_of_at_most

from coembed.cli import main
from coembed.fitted import load, save
from coembed.network import read, write

COMMANDS = {
    "convert": ["convert", "NETWORK", "OUT/net.parquet"],
    "convert to tables": ["convert", "NETWORK", "OUT/net"],
    "convert to arrays": ["convert", "NETWORK", "OUT/net.mapped"],
    "export": ["export", "MODEL", "-o", "OUT/codes.csv"],
    "predict": ["predict", "MODEL", "--type", "film", "-o", "OUT/classes.csv"],
    "map": ["map", "MODEL", "--method", "pca", "-o", "OUT/map.png"],
    "embed": ["embed", "MODEL", "NETWORK", "-o", "OUT/grown"],
    "report": ["report", "MODEL", "--method", "pca", "-o", "OUT/report.html", "-q"],
    "synthesize": [
        "synthesize",
        "--nodes",
        "50",
        "--links",
        "99",
        "--attributes",
        "20",
        "--entries",
        "99",
        "-q",
        "-o",
        "OUT/made",
    ],
    "train": ["train", "NETWORK", "-o", "OUT/model", "--epochs", "1", "--dim", "2", "-q"],
}


@pytest.fixture(scope="module")
def places(general, tmp_path_factory):
    folder = tmp_path_factory.mktemp("troubled")
    write(general.network, folder / "network.mapped")
    return {"NETWORK": str(folder / "network.mapped"), "MODEL": str(save(general, folder / "model"))}


def words(command, places, out):
    return [places.get(word, word).replace("OUT", str(out)) for word in COMMANDS[command]]


def run(arguments, capsys):
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main(arguments)
    return int(end.value.code or 0), capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_is_told_in_a_sentence(places, tmp_path, capsys, command):
    before = sorted(Path(places["MODEL"]).iterdir())
    with files_of_at_most(64):
        code, said = run(words(command, places, tmp_path), capsys)
    assert code == 2, said
    assert said.count("\n") == 1
    assert "cannot be written" in said
    assert list(tmp_path.rglob("*")) == []
    assert sorted(Path(places["MODEL"]).iterdir()) == before


@pytest.mark.parametrize(
    "error", [MemoryError("Unable to allocate 9 TiB"), RuntimeError("can't allocate memory")]
)
def test_memory_that_is_not_there_is_told_in_a_sentence(places, capsys, monkeypatch, error):
    def exhausted(*_, **__):
        raise error

    monkeypatch.setattr("coembed.fitted.load", exhausted)
    code, said = run(["predict", places["MODEL"]], capsys)
    assert code == 2
    assert "more memory than there is" in said
    assert said.count("\n") == 1


def test_other_errors_are_not_hidden(places, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr("coembed.fitted.load", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        main(["predict", places["MODEL"]])


@pytest.mark.parametrize(
    "arguments", [["info", ""], ["train", "NETWORK", "-o", ""], ["export", "", "-o", "x.csv"]]
)
def test_an_empty_argument_is_not_the_current_folder(places, tmp_path, capsys, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.csv").write_text("a,b\n")
    code, said = run([places.get(word, word) for word in arguments], capsys)
    assert code == 2
    assert "argument is empty" in said
    assert os.listdir(tmp_path) == ["edges.csv"]


def child(arguments, **options):
    command = [sys.executable, "-c", "from coembed.cli import main; main()", *arguments]
    return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options)


def test_who_stops_reading_is_not_told_of_it(places):
    process = child(["predict", places["MODEL"]])
    process.stdout.close()
    assert "Traceback" not in process.communicate()[1]


def test_a_full_standard_output_is_told(places):
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    with open("/dev/full", "w") as full:
        command = [
            sys.executable,
            "-c",
            "from coembed.cli import main; main()",
            "predict",
            places["MODEL"],
            "--json",
        ]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "No space left on device" in done.stderr


@pytest.mark.skipif(os.getuid() != 0, reason="only the superuser can become somebody else")
def test_without_permission_nothing_is_written(places, tmp_path):
    """As somebody who may read and not write."""
    for folder in (tmp_path, *tmp_path.parents[:-1]):
        folder.chmod(0o755)
    program = f"""
import os
from coembed.errors import InputError
from coembed.network import demo_network, write
network = demo_network()
os.setgid(65534); os.setuid(65534)
for name in ("net.npz", "net", "net.mapped"):
    try:
        write(network, {str(tmp_path)!r} + "/" + name)
    except InputError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.count("cannot be written (Permission denied)") == 3, done.stderr
    assert os.listdir(tmp_path) == []


# Killed at any time, and again

KILLS = 50


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", ["convert", "convert to arrays", "export", "embed", "train", "synthesize"]
)
def test_killed_at_any_time(places, tmp_path, command):
    """Half of the kills spread over the whole run, half while it writes: before or whole, and cleaned up."""
    arguments = words(command, places, tmp_path)
    target = Path(arguments[-1] if command.startswith("convert") else arguments[arguments.index("-o") + 1])
    assert ended(arguments) == 0
    began = time.monotonic()
    assert ended(arguments) == 0
    lasts, writing = time.monotonic() - began, 0
    for kill in range(KILLS):
        before = look(tmp_path)
        process = forked(arguments)
        if kill % 2:
            process.join(lasts * 1.1 * kill / KILLS)
        else:  # as soon as anything is another on the disk, and some steps of writing later
            changes = 1 + kill // 2 % 3
            while process.is_alive() and changes:
                if (after := look(tmp_path)) != before:
                    before, changes = after, changes - 1
            writing += process.is_alive()
        process.kill()
        process.join()
        assert whole(command, target), f"kill {kill}"
    assert writing, "none was killed while it wrote"
    assert ended(arguments) == 0
    assert whole(command, target)
    left = [each for each in tmp_path.rglob(".*") if each.name != ".lock"]
    assert not left


def look(place):
    """What is in a folder: names, sizes and times."""
    found = []
    for folder, _, files in os.walk(place):
        for name in (".", *files):
            try:
                told = os.stat(os.path.join(folder, name))
            except FileNotFoundError:
                continue
            found.append((name, told.st_size, told.st_mtime_ns))
    return found


def forked(arguments):
    """A command in a process that has imported all that it needs: it is killed at work, not before."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["coembed.cli", "coembed.training", "coembed.fitted", "pyarrow.parquet"])
    process = context.Process(target=main, args=(arguments,))
    process.start()
    return process


def ended(arguments):
    process = forked(arguments)
    process.join()
    return process.exitcode


def whole(command: str, target: Path) -> bool:
    if command in ("embed", "train"):
        return len(load(target, check=True).network.main) > 0
    if command == "export":
        return target.read_bytes().endswith(b"\n")
    return len(read(target).main) > 0


@pytest.mark.slow
@pytest.mark.parametrize("megabytes", [400, 700, 1000, 1500, 2500])
def test_little_memory_is_told(places, tmp_path, megabytes):
    """Whatever runs out, and whenever: an answer, or one sentence."""
    limit = megabytes << 20
    process = child(
        words("convert", places, tmp_path),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    said = process.communicate()[1]
    assert process.returncode in (0, 1, 2), said
    assert not [each for each in tmp_path.iterdir() if each.name != "net.parquet"]
