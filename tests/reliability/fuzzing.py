"""Changed files for every reader: a case is a folder of the corpus and a number, which says what is changed.

What is read must be whole (:func:`check_network`), or refused by an ``InputError``; anything else is a find.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from forging import array_places, damaged, forged_checkpoint, forged_model

from coembed.errors import InputError
from coembed.network import Network, read

CORPUS = Path(__file__).resolve().parent / "corpus"
SCRATCH = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else Path(tempfile.gettempdir())
GRAPHS = (".graphml", ".gexf", ".gml")
READERS = [*sorted(each.name for each in CORPUS.iterdir()), "streaming", "npz-arrays", "mapped-arrays"]
_WORDS = [
    *(
        "0",
        "-1",
        "1e19",
        "-1e400",
        "nan",
        "inf",
        "9007199254740993",
        "1e-46",
        "5e-324",
        "1" * 400,
        "0x10",
        "1_0",
    ),
    *('"', '""', "'", "\n", "\r", "\r\n", "\t", ",", ";", "|", " ", "\0", "\ufeff", "\x1a", "#", "# ", "%"),
    *(
        "é",
        "\u202e",
        "\U0001f600",
        "a" * 3000,
        "node",
        "id",
        "source",
        "label",
        "true",
        "null",
        "unknown",
        "N/A",
    ),
    *(
        "2021-02-30",
        "31.12.99",
        "=cmd()",
        "../../etc/passwd",
        "{",
        "}",
        "[",
        "]",
        "\\",
        "=",
        "key",
        "skip",
        "number",
    ),
]
_NUMBERS = [
    0,
    1,
    127,
    128,
    255,
    256,
    2**15,
    2**16 - 1,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**62,
    2**63 - 1,
    2**64 - 1,
]
_JSON: list[Any] = [
    None,
    True,
    -1,
    0,
    3,
    2**70,
    1.5,
    float("nan"),
    "",
    "x" * 2000,
    [],
    [[]],
    {},
    {"~": "Relation"},
]


def try_case(case: str) -> str:
    """Change a copy of a corpus folder as the case says, and read it."""
    reader, _, number = case.rpartition("#")
    if number == "as it is":
        return _as_it_is(reader)
    rng = np.random.default_rng([int(number), sum(map(ord, reader))])
    place = Path(tempfile.mkdtemp(prefix="fuzz-", dir=SCRATCH))
    try:
        copy = changed_copy(reader, rng, place)
        return READ.get(reader, read_network)(copy)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _as_it_is(reader: str) -> str:
    """The corpus itself must be read, or every change of it would be refused for another reason."""
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=SCRATCH) as place:
        shutil.copytree(_source(reader), Path(place) / "copy")
        return READ.get(reader, read_network)(Path(place) / "copy")


def try_strange(case: str) -> str:
    """A pipe that nobody writes to, or a device that never ends, in the place of one of the files."""
    reader, name, strange = case.split("#")
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=SCRATCH) as place:
        copy = Path(place) / "copy"
        shutil.copytree(CORPUS / reader, copy)
        (copy / name).unlink()
        if strange == "pipe":
            os.mkfifo(copy / name)
        else:
            (copy / name).symlink_to("/dev/zero")
        return READ.get(reader, read_network)(copy)


def _source(reader: str) -> Path:
    shared = {"streaming": "links", "npz-arrays": "npz", "mapped-arrays": "mapped"}
    return CORPUS / shared.get(reader, reader)


# What is changed


def changed_copy(reader: str, rng: np.random.Generator, place: Path) -> Path:
    if reader in FORGED and rng.random() < 0.7:
        return FORGED[reader](rng, place / "forged")
    copy = place / "copy"
    shutil.copytree(_source(reader), copy)
    for _ in range(int(rng.integers(1, 3))):
        files = sorted(each for each in copy.rglob("*") if each.is_file())
        path = files[rng.integers(len(files))]
        path.write_bytes(_changed(path, path.read_bytes(), rng))
    return copy


def _changed(path: Path, octets: bytes, rng: np.random.Generator) -> bytes:
    if path.suffix == ".json" and rng.random() < 0.8:
        return _changed_json(octets, rng)
    texts = path.suffix in (".csv", ".tsv", ".toml", ".edge", ".node", ".label", ".index", *GRAPHS)
    for _ in range(int(rng.choice([1, 1, 1, 2, 4]))):
        octets = (_changed_text if texts and rng.random() < 0.7 else _changed_bytes)(octets, rng)
    return octets


def _changed_bytes(octets: bytes, rng: np.random.Generator) -> bytes:
    data, size = bytearray(octets), len(octets)
    at = int(rng.integers(size + 1))
    kind = rng.integers(8)
    if kind == 0 and size:
        data[min(at, size - 1)] ^= 1 << int(rng.integers(8))
    elif kind == 1 and size:
        data[min(at, size - 1)] = int(rng.integers(256))
    elif kind == 2:
        del data[at : at + int(rng.integers(1, 40))]
    elif kind == 3:
        data[at:at] = rng.bytes(int(rng.integers(1, 20)))
    elif kind == 4:
        del data[at:]
    elif kind == 5:
        number = _NUMBERS[rng.integers(len(_NUMBERS))]
        width = int(rng.choice([1, 2, 4, 8]))
        data[at : at + width] = (number % 256**width).to_bytes(width, rng.choice(["little", "big"]))
    elif kind == 6:
        other = int(rng.integers(size + 1))
        data[at:at] = data[other : other + int(rng.integers(1, 200))]
    else:
        data[at : at + 4] = bytes(4)
    return bytes(data)


def _changed_text(octets: bytes, rng: np.random.Generator) -> bytes:
    word = _WORDS[rng.integers(len(_WORDS))].encode()
    lines = octets.split(b"\n")
    row = int(rng.integers(len(lines)))
    kind = rng.integers(6)
    if kind == 0:
        cells = lines[row].split(b",")
        cells[rng.integers(len(cells))] = word
        lines[row] = b",".join(cells)
    elif kind == 1:
        at = int(rng.integers(len(octets) + 1))
        return octets[:at] + word + octets[at:]
    elif kind == 2:
        lines[row:row] = [lines[rng.integers(len(lines))]] * int(rng.integers(1, 4))
    elif kind == 3:
        del lines[row]
    elif kind == 4:
        return octets.replace(b",", [b";", b"\t", b"|", b", "][rng.integers(4)])
    else:
        lines[row] = word
    return b"\n".join(lines)


def _changed_json(octets: bytes, rng: np.random.Generator) -> bytes:
    try:
        record = json.loads(octets)
    except ValueError:  # changed before
        return octets
    if not isinstance(record, dict):
        return octets
    record.pop("checksum", None)
    places: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        for key in value if isinstance(value, dict) else range(len(value)):
            places.append((value, key))
            if isinstance(value[key], (dict, list)):
                walk(value[key])

    walk(record)
    if not places:
        return octets
    holder, key = places[rng.integers(len(places))]
    if rng.random() < 0.3 and isinstance(holder, dict):
        del holder[key]
    elif rng.random() < 0.3 and isinstance(holder[key], int):
        holder[key] += int(rng.choice([-1, 1, 10**6]))
    else:
        holder[key] = _JSON[rng.integers(len(_JSON))]
    return json.dumps(record).encode()


def _forged_model(name: str) -> Callable[[np.random.Generator, Path], Path]:
    def forge(rng: np.random.Generator, to: Path) -> Path:
        def change(record: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
            names = sorted(arrays)
            for _ in range(int(rng.integers(1, 3))):
                name = names[rng.integers(len(names))]
                arrays[name] = damaged(arrays[name], rng)
            if rng.random() < 0.3:
                held = [name for _, name in array_places(record["rest"])]
                text = json.dumps(record["rest"])
                swapped = text.replace(
                    f'"{held[rng.integers(len(held))]}"', f'"{held[rng.integers(len(held))]}"'
                )
                record["rest"] = json.loads(swapped)

        return forged_model(CORPUS / name, to, change)

    return forge


def _forged_checkpoint(rng: np.random.Generator, to: Path) -> Path:
    def change(record: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        names = sorted(arrays)
        for _ in range(int(rng.integers(1, 3))):
            name = names[rng.integers(len(names))]
            arrays[name] = damaged(arrays[name], rng)
        if rng.random() < 0.3:
            record["run"] = json.loads(_changed_json(json.dumps(record["run"]).encode(), rng))

    return forged_checkpoint(CORPUS / "checkpoint", to, change)


def _forged_npz(rng: np.random.Generator, to: Path) -> Path:
    to.mkdir()
    with np.load(CORPUS / "npz" / "net.npz") as file:
        arrays = {name: file[name] for name in file.files}
    for _ in range(int(rng.integers(1, 3))):
        name = sorted(arrays)[rng.integers(len(arrays))]
        arrays[name] = damaged(arrays[name], rng)
    np.savez(to / "net.npz", **arrays)
    return to


def _forged_mapped(rng: np.random.Generator, to: Path) -> Path:
    from coembed.network.readers.mapped_arrays import checksum

    shutil.copytree(CORPUS / ("mapped" if rng.random() < 0.5 else "mapped-types"), to)
    record = json.loads((to / "network.json").read_text())
    name = sorted(record["arrays"])[rng.integers(len(record["arrays"]))]
    array = np.ascontiguousarray(damaged(np.load(to / f"{name}.npy"), rng))
    np.save(to / f"{name}.npy", array)
    flat = array.reshape(-1)
    record["arrays"][name] = {
        "dtype": array.dtype.str,
        "shape": list(array.shape),
        "crc32": checksum(flat) if flat.size else "00000000",
    }
    (to / "network.json").write_text(json.dumps(record))
    return to


FORGED: dict[str, Callable[[np.random.Generator, Path], Path]] = {
    "model": _forged_model("model"),
    "model-paper": _forged_model("model-paper"),
    "checkpoint": _forged_checkpoint,
    "npz-arrays": _forged_npz,
    "mapped-arrays": _forged_mapped,
}


# How it is read


def read_network(folder: Path) -> str:
    graphs = [each for each in folder.iterdir() if each.suffix in GRAPHS]
    network = read(graphs[0] if graphs else folder)
    check_network(network)
    return repr(network)


def check_network(network: Network) -> None:
    """What every network is, whatever it was read from."""
    for items in network.types.values():
        ids = list(items.ids)
        assert len(set(ids)) == len(ids)
        assert all(type(each) is str for each in ids)
        assert items.titles is None or len(items.titles) == len(ids)
        if items.labels is not None:
            assert items.labels.values.dtype == np.int64
            assert len(items.labels.values) == len(ids)
            assert items.labels.values.min(initial=-1) >= -1
            assert items.labels.values.max(initial=-1) < items.n_classes
            assert len(set(items.labels.classes)) == items.n_classes
    for relation in network.relations.values():
        values = relation.values
        assert values.dtype == np.float32
        assert np.isfinite(values.data).all()
        assert values.shape == (len(network.types[relation.source]), len(network.types[relation.target]))
        copy = values.copy()
        copy.check_format(full_check=True)
        copy.has_canonical_format = False
        copy.sum_duplicates()
        assert copy.nnz == values.nnz
        assert relation.absent == "unknown" or values.data.all()
        if relation.pairing.undirected:
            assert (values != values.T.tocsr()).nnz == 0
            assert not values.diagonal().any()


def _stream(folder: Path) -> str:
    from coembed.network.readers.read import find_tables
    from coembed.network.readers.streaming import stream_tables

    tables = find_tables(folder)
    if tables is None:
        raise InputError("no tables")
    try:
        network = stream_tables(*tables, folder / "out", memory="100MB")
    except InputError:
        assert not (folder / "out").exists()
        raise
    check_network(network)
    return repr(network)


def _model(folder: Path) -> str:
    """Load, and ask everything."""
    from coembed.fitted import load

    fitted = load(folder)
    check_network(fitted.network)
    for type, items in fitted.network.types.items():
        if not len(items):
            continue
        item = items.ids[0]
        for other in fitted.network.types:
            fitted.nearest(item, other, type=type, k=3)
        if items.n_classes:
            assert np.isfinite(fitted.predict_proba(type)).all()
        for relation in fitted.network.relations.values():
            if relation.source == type:
                fitted.complete(item, relation.name, type=type, k=3)
    fitted.embed(fitted.network)
    return repr(fitted)


def _checkpoint(folder: Path) -> str:
    from coembed.network import open_mapped
    from coembed.settings import preset_settings
    from coembed.training import Checkpoints, fit

    settings = preset_settings("paper", epochs=2, dim=3, hidden=4, block=1024)  # as the corpus was made
    fitted = fit(
        open_mapped(CORPUS / "mapped"), settings, checkpoints=Checkpoints(folder, minutes=100, resume=True)
    )
    return repr(fitted)


def _split(folder: Path) -> str:
    from coembed.network.split_files import load_split

    return str(load_split(folder / "split.npz").test[:3])


READ: dict[str, Callable[[Path], str]] = {
    "streaming": _stream,
    "model": _model,
    "model-paper": _model,
    "checkpoint": _checkpoint,
    "split": _split,
}


def hunt(reader: str, first: int, last: int) -> None:
    """Print all finds, with the numbers to try them again: ``python fuzzing.py npz 0 20000``."""
    from guarded import Guarded

    counts: dict[str, int] = {}
    with Guarded("fuzzing.try_case") as guarded:
        for number in range(first, last):
            said = guarded(f"{reader}#{number}")
            kind = said.split(":")[0]
            counts[kind] = counts.get(kind, 0) + 1
            if kind not in ("read", "refused") and counts[kind] <= 3:
                print(f"{reader}#{number} {said[:400]}", flush=True)
    print(reader, counts)


if __name__ == "__main__":
    hunt(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
