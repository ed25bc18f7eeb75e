import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from coembed.errors import InputError
from coembed.files import checksum
from coembed.fitted import load, save, storage
from coembed.fitted.packed_texts import pack_texts, unpack_texts
from coembed.records import pack


def arrays_of(folder):
    return next(folder.glob("arrays-*.safetensors"))


def array_key(folder, name):
    """The key of an array by its place in the record; of packed texts their own."""
    found = json.loads((folder / "model.json").read_text())["rest"]
    if name.partition(".")[0] not in found:
        return name
    for part in name.split("."):
        if isinstance(found, dict) and "~matrix" in found:
            found = found["~matrix"]
        found = found[int(part)] if isinstance(found, list) else found[part]
    return found["~array"]


def rewritten(folder, **changes):
    """The model with other arrays and a right checksum: what a hostile hand would make."""
    path = arrays_of(folder)
    arrays = load_file(path) | {array_key(folder, name): array for name, array in changes.items()}
    save_file({name: array for name, array in arrays.items() if array is not None}, path)
    named = folder / f"arrays-{checksum(path)}.safetensors"
    path.rename(named)
    record = json.loads((folder / "model.json").read_text())
    record.pop("checksum")
    (folder / "model.json").write_text(json.dumps({**record, "arrays": named.name}))


def same_record(left, right):
    (mine, my_arrays), (other, other_arrays) = pack(left), pack(right)
    assert mine == other
    for name, array in my_arrays.items():
        np.testing.assert_array_equal(array, other_arrays[name])


def same(left, right):
    np.testing.assert_array_equal(left.nodes.mean, right.nodes.mean)
    np.testing.assert_array_equal(left.nodes.std, right.nodes.std)
    np.testing.assert_array_equal(left.attribute_mean, right.attribute_mean)
    np.testing.assert_array_equal(left.attribute_std, right.attribute_std)
    same_record(left.placing, right.placing)
    same_record(left.relations, right.relations)
    assert (left.settings, left.history, left.preset) == (right.settings, right.history, right.preset)
    for name in ("node_names", "attribute_names", "class_names", "labels"):
        np.testing.assert_array_equal(getattr(left.network, name), getattr(right.network, name))
    assert (left.network.links != right.network.links).nnz == 0
    assert (left.network.attributes != right.network.attributes).nnz == 0
    assert (left.network.name, left.network.notices) == (right.network.name, right.network.notices)


def test_saved_is_loaded(any_fitted, tmp_path):
    save(any_fitted, tmp_path / "model")
    same(load(tmp_path / "model"), any_fitted)


def test_models_without_classes_or_attributes_survive(unlabelled, bare, tmp_path):
    for fitted in (unlabelled, bare):
        same(load(save(fitted, tmp_path / "model")), fitted)


def test_the_same_model_gives_the_same_bytes(fitted, tmp_path):
    first, second = save(fitted, tmp_path / "a"), save(fitted, tmp_path / "b")
    assert sorted(p.name for p in first.iterdir()) == sorted(p.name for p in second.iterdir())
    for path in first.iterdir():
        assert path.read_bytes() == (second / path.name).read_bytes()


def test_figures_that_are_not_finite_are_null_in_json(fitted, tmp_path):
    from dataclasses import replace

    save(replace(fitted, history={"loss": [np.float32(1.5), float("nan")]}), tmp_path)
    assert json.loads((tmp_path / "model.json").read_text())["history"] == {"loss": [1.5, None]}


def test_a_new_model_replaces_the_old_and_leaves_no_litter(fitted, unlabelled, tmp_path):
    save(unlabelled, tmp_path / "model")
    save(fitted, tmp_path / "model")
    same(load(tmp_path / "model"), fitted)
    assert len(list((tmp_path / "model").iterdir())) == 3
    assert len(list(tmp_path.iterdir())) == 1


STEPS = ["save_file", "checksum", "to_record", "_remove_arrays"]


@pytest.mark.parametrize("step", STEPS)
def test_a_failure_at_any_step_keeps_the_old_model_or_has_the_new_one(
    fitted, unlabelled, tmp_path, monkeypatch, step
):
    save(unlabelled, tmp_path / "model")

    def fail(*args, **kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(storage, step, fail)
        with pytest.raises(KeyboardInterrupt):
            save(fitted, tmp_path / "model")
    same(load(tmp_path / "model"), fitted if step == "_remove_arrays" else unlabelled)
    save(fitted, tmp_path / "model")
    assert len(list((tmp_path / "model").iterdir())) == 3


@pytest.mark.parametrize("step", STEPS[:3])
def test_a_failure_leaves_nothing_where_nothing_was(fitted, tmp_path, monkeypatch, step):
    def fail(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(storage, step, fail)
    with pytest.raises(InputError, match=r"cannot be written \(No space left on device\)"):
        save(fitted, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("replacement", [1, 2])
def test_a_killed_process_keeps_a_whole_model(fitted, tmp_path, replacement):
    """The process dies, without clean-up, just before its first or second renaming."""
    folder = save(fitted, tmp_path / "model")
    program = f"""
import os
from dataclasses import replace
from coembed.fitted import load, save
fitted = load({str(folder)!r})
calls, rename = [], os.replace
def dying(*names):
    calls.append(names)
    os._exit(9) if len(calls) == {replacement} else rename(*names)
os.replace = dying
moved = replace(fitted.types["node"], mean=fitted.node_mean + 1)
save(replace(fitted, types={{**fitted.types, "node": moved}}), {str(folder)!r})
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 9
    same(load(folder), fitted)
    save(fitted, folder)
    assert len(list(folder.iterdir())) == 3  # the next save sweeps up


def test_a_file_in_the_way_is_refused(fitted, tmp_path):
    (tmp_path / "model").write_text("mine")
    with pytest.raises(InputError, match="is a file"):
        save(fitted, tmp_path / "model")
    assert (tmp_path / "model").read_text() == "mine"


def test_other_files_in_the_folder_are_left_alone(fitted, tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    save(fitted, tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "mine"


@pytest.mark.parametrize("share", [0, 0.01, 0.5, 0.99])
def test_truncated_arrays_are_refused(fitted, tmp_path, share):
    save(fitted, tmp_path)
    path = arrays_of(tmp_path)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    with pytest.raises(InputError, match="damaged"):
        load(tmp_path)


def test_a_flipped_bit_is_noticed(fitted, tmp_path):
    save(fitted, tmp_path)
    path = arrays_of(tmp_path)
    octets = bytearray(path.read_bytes())
    octets[-100] ^= 4
    path.write_bytes(octets)
    with pytest.raises(InputError, match="damaged"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"model\.json, line 1: this is not JSON"),
        ("{\n,", r"model\.json, line 2: this is not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not the record of a coembed model"),
        ('{"format": "other"}', "not the record of a coembed model"),
        ('{"format": "coembed model"}', "no format version"),
        ('{"format": "coembed model", "version": 99}', "install a newer coembed"),
        ('{"format": "coembed model", "version": 1}', "names no arrays file"),
        ('{"format": "coembed model", "version": 1, "arrays": "../../etc/passwd"}', "names no arrays file"),
        ('{"format": "coembed model", "version": 1, "arrays": "arrays-00000000.safetensors"}', "is missing"),
    ],
)
def test_broken_records_are_refused(fitted, tmp_path, text, message):
    save(fitted, tmp_path)
    (tmp_path / "model.json").write_text(text)
    with pytest.raises(InputError, match=message):
        load(tmp_path)


@pytest.mark.parametrize(
    "changes",
    [
        {"types.node.mean": None},
        {"types.node.mean": np.zeros((3, 5), np.float32)},
        {"types.node.std": np.zeros((40, 5), np.int64)},
        {"network.0.values.1": None},
        {"labels.node": np.full(40, 7)},
        {"labels.node": np.full(40, -9)},
        {"n0.offsets": np.zeros(41, np.int64)},
        {"n0.bytes": np.full(110, 255, np.uint8)},
    ],
)
def test_arrays_that_do_not_belong_together_are_refused(fitted, tmp_path, changes):
    save(fitted, tmp_path)
    rewritten(tmp_path, **changes)
    with pytest.raises(InputError, match=r"whole model|sound model"):
        load(tmp_path)


def test_indices_outside_the_matrix_are_refused(fitted, tmp_path):
    save(fitted, tmp_path)
    indices = fitted.network.links.indices.copy()
    indices[0] = 10**6
    rewritten(tmp_path, **{"network.0.values.1": indices})
    with pytest.raises(InputError, match="sound model"):
        load(tmp_path)


@pytest.mark.parametrize("entry", ["types", "settings", "rest", "history", "notices"])
def test_records_with_other_types_are_refused(fitted, tmp_path, entry):
    save(fitted, tmp_path)
    record = json.loads((tmp_path / "model.json").read_text())
    record.pop("checksum")
    (tmp_path / "model.json").write_text(json.dumps({**record, entry: 5}))
    with pytest.raises(InputError, match="sound model"):
        load(tmp_path)


def test_what_is_no_model_is_told(tmp_path):
    with pytest.raises(InputError, match=r"is not a model: it has no model\.json"):
        load(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        load(tmp_path / "nowhere")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_place_is_told(fitted, tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="cannot be written"):
        save(fitted, tmp_path / "model")


def test_any_name_survives():
    texts = np.array(["plain", "", "ø 漢字 🙂", "new\nline\0", "\udcff"], dtype=object)
    np.testing.assert_array_equal(unpack_texts(*pack_texts(texts)), texts)


def test_a_million_names_unpack_in_a_second():
    texts = np.empty(1_000_000, dtype=object)
    texts[:] = [f"node number {i}" for i in range(1_000_000)]
    packed = pack_texts(texts)
    start = time.process_time()
    unpacked = unpack_texts(*packed)
    assert time.process_time() - start < 1
    assert unpacked[-1] == "node number 999999"


def test_what_the_machine_says_of_a_model_is_told(fitted, tmp_path, monkeypatch):
    def broken(*_, **__):
        raise OSError(5, "Input/output error")

    place = save(fitted, tmp_path / "model", index=False)
    monkeypatch.setattr(Path, "read_text", broken)
    with pytest.raises(InputError, match=r"model.json cannot be read \(Input/output error\)"):
        load(place)
    monkeypatch.undo()
    monkeypatch.setattr(storage, "load_file", lambda *_: (_ for _ in ()).throw(ValueError("odd")))
    with pytest.raises(InputError, match=r"not a safetensors file \(odd\)"):
        load(place)
    monkeypatch.undo()
    monkeypatch.setattr(storage, "save_file", lambda *_: (_ for _ in ()).throw(SafetensorError("full")))
    with pytest.raises(InputError, match=r"cannot be written \(full\)"):
        save(fitted, tmp_path / "other")
    assert not (tmp_path / "other").exists()
    monkeypatch.undo()
    (tmp_path / "folder").mkdir()
    monkeypatch.setattr(storage, "network_files", broken)
    with pytest.raises(InputError, match="choose another place"):
        storage.check_place(tmp_path / "folder")


def test_half_a_file_of_arrays_does_not_stay_beside_the_old_model(fitted, tmp_path, monkeypatch):
    place = save(fitted, tmp_path / "model", index=False)
    before = sorted(each.name for each in place.iterdir())

    def full(arrays, path):
        Path(path).write_bytes(b"half")
        raise SafetensorError("full")

    monkeypatch.setattr(storage, "save_file", full)
    with pytest.raises(InputError, match="cannot be written"):
        save(fitted, place)
    assert sorted(each.name for each in place.iterdir()) == before
