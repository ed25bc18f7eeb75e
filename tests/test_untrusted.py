"""What strangers' files claim is checked against what they hold, and troubles are told in a sentence."""

from __future__ import annotations

import errno
import os

import numpy as np
import pytest

from coembed import untrusted
from coembed.errors import InputError
from coembed.untrusted import check_place, check_unpacked, checked_csr, reading, told

PIECES = {"data": np.ones(2), "indices": np.array([0, 1]), "indptr": np.array([0, 1, 2])}


def test_a_matrix_of_sound_pieces_is_that_matrix() -> None:
    np.testing.assert_array_equal(checked_csr(*PIECES.values(), (2, 2)).toarray(), np.eye(2))


@pytest.mark.parametrize(
    ("changes", "shape", "said"),
    [
        ({"data": np.array(["a", "b"])}, (2, 2), "not numbers"),
        ({"indices": np.array([0.0, 1.0])}, (2, 2), "positions are not whole numbers"),
        ({"indptr": np.array([0.0, 1.0, 2.0])}, (2, 2), "positions are not whole numbers"),
        ({"data": np.ones(3)}, (2, 2), "two lists of the same length"),
        ({"indices": np.zeros((2, 1), int)}, (2, 2), "two lists of the same length"),
        ({}, (3, 2), "do not make 3 rows"),
        ({}, (2, 2**62), "do not make 2 rows"),
        ({"indptr": np.array([1, 1, 2])}, (2, 2), "do not go from 0 up"),
        ({"indptr": np.array([0, 2, 1])}, (2, 2), "do not go from 0 up"),
        ({"indptr": np.array([0, 3, 2])}, (2, 2), "do not go from 0 up"),
        ({"indices": np.array([0, -1])}, (2, 2), "leave the 2 columns"),
        ({"indices": np.array([0, 2])}, (2, 2), "leave the 2 columns"),
    ],
)
def test_pieces_that_point_beside_themselves_are_refused(changes, shape, said) -> None:
    with pytest.raises(ValueError, match=said):
        checked_csr(*{**PIECES, **changes}.values(), shape)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (InputError("as it is"), "^as it is$"),
        (FileNotFoundError(errno.ENOENT, "no"), "does not exist"),
        (OSError(errno.EIO, os.strerror(errno.EIO)), r"cannot be read \(Input/output error\)"),
        (OSError(), r"cannot be read \(OSError\)"),
        (KeyError("x"), "is not a thing .*; put it right"),
    ],
)
def test_whatever_goes_wrong_while_reading_is_told(tmp_path, error, said) -> None:
    (tmp_path / "x").write_text("x")
    with pytest.raises(InputError, match=said), reading(tmp_path / "x", "a thing", "put it right"):
        raise error


def test_troubles_of_the_machine_are_told() -> None:
    with (
        pytest.raises(InputError, match=r"there: No space left on device; choose another place"),
        told("here"),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "there")
    with pytest.raises(InputError, match=r"^here: odd; choose another place"), told("here"):
        raise OSError("odd")
    with pytest.raises(InputError, match="here needs more memory than there is"), told("here"):
        raise MemoryError


def test_a_place_is_a_file_or_a_folder(tmp_path) -> None:
    check_place(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name, said in (
        ("pipe", "neither a file nor a folder"),
        ("nothing", "does not exist"),
        ("loop", "cannot be read"),
        ("x" * 300, "cannot be read"),
    ):
        with pytest.raises(InputError, match=said):
            check_place(tmp_path / name)


def test_a_file_that_unpacks_to_far_more_than_it_has_is_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(untrusted, "ROOM", 100)
    place = tmp_path / "x"
    place.write_bytes(bytes(10))
    check_unpacked(place, 100 + untrusted.TIMES * 10)
    with pytest.raises(InputError, match="has 10 bytes and unpacks to"):
        check_unpacked(place, 101 + untrusted.TIMES * 10)


def test_a_pipe_may_be_read_where_that_is_said(tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with (
        pytest.raises(InputError, match="neither a file nor a folder"),
        reading(tmp_path / "pipe", "a thing"),
    ):
        pass
    with reading(tmp_path / "pipe", "a thing", pipes=True):
        pass
