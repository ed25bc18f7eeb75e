"""Checkpoints: all that a fit needs to go on after it was killed, in a folder, never half-written.

``checkpoint.json`` names the one ``state-*.safetensors`` that belongs to it and is put in place in one step,
once that is on the disk. Where a model is dealt out to processes, each writes the rows that it has to a file
of its own, and what all have is in the first; any number of processes can take them up. Random numbers need
not be kept: they are keyed by the step. What network and settings give, such as views, is made again.
"""

from __future__ import annotations

import errno
import json
import os
import re
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from coembed.distributed.exchange import all_true, sum_of_all
from coembed.distributed.partition import Partition
from coembed.errors import InputError, one_line
from coembed.files import checksum, make_folder, put_in_place, written
from coembed.tensor_files import open_file, save_file
from coembed.untrusted import check_kind

RECORD = "checkpoint.json"
FORMAT, VERSION = "coembed checkpoint", 1
MINUTES = 10.0
_STATE = re.compile(r"\.?state-[0-9a-f]{8,}\.(safetensors|tmp)")
_ANEW = "start anew, without --resume"
# where it runs may change
_FREE = ("device",)


@dataclass
class Checkpoints:
    """Where checkpoints of a fit go, how often, and whether to take up the one that is there.

    Attributes
    ----------
    minutes
        Time between two of them, 0 for every epoch.
    resume
        Take up what is there, if anything is; otherwise a folder that holds a checkpoint is refused.
    network, settings
        Of what the checkpoints are: :func:`coembed.network.splits.fingerprint` and all settings. A fit fills
        them in.
    rank, processes
        Which of how many processes this is; all must call :meth:`save` and :meth:`load` together.

    Examples
    --------
    >>> import tempfile
    >>> checkpoints = Checkpoints(Path(tempfile.mkdtemp()) / "run", minutes=0, network="of 3 nodes")
    >>> checkpoints.save({"epoch": 7}, {"weight": torch.ones(2)})
    >>> Checkpoints(checkpoints.folder, resume=True, network="of 3 nodes").load()
    ({'epoch': 7}, {'weight': tensor([1., 1.])})
    >>> Checkpoints(checkpoints.folder, resume=True, network="of 4 nodes").load()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    coembed.errors.InputError: ...run is a checkpoint of another network (of 3 nodes, not of 4 nodes); ...
    """

    folder: Path
    minutes: float = MINUTES
    resume: bool = False
    network: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    rank: int = 0
    processes: int = 1

    def __post_init__(self) -> None:
        self.folder = Path(self.folder)
        self.last = time.monotonic()

    def belong_to(self, network: str, settings: dict[str, Any]) -> None:
        """Say of what the checkpoints are."""
        self.network, self.settings = network, settings

    def check(self) -> None:
        """Refuse at once what could not be written to, or would be written over."""
        with written(self.folder):
            if self.folder.exists() and not self.folder.is_dir():
                raise InputError(f"{self.folder} is a file; give the name of a folder for checkpoints")
            if not os.access(_nearest(self.folder), os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if not self.resume and (self.folder / RECORD).exists():
            raise InputError(
                f"{self.folder} holds a checkpoint already; go on from it with --resume, or give another"
                " folder"
            )

    def due(self) -> bool:
        """Whether it is time, by the clock of the first process."""
        return all_true(self.rank > 0 or time.monotonic() - self.last >= 60 * self.minutes, self.processes)

    def save(
        self, record: dict[str, Any], tensors: dict[str, Tensor], dealt: Mapping[str, Partition] | None = None
    ) -> str | None:
        """Write one in place of the former, which stays whole until then.

        `dealt` says of which tensors this process has its rows only, and which. Returns what to tell if it
        could not be written: a full disk is no reason to end a training that goes well.
        """
        dealt = dealt or {}
        own = {name: tensor for name, tensor in tensors.items() if self.rank == 0 or name in dealt}
        arrays = {name: np.asarray(tensor.cpu().numpy(), order="C") for name, tensor in own.items()}
        self.last = time.monotonic()
        trouble = None
        try:
            number = int(self._write_state(arrays), 16)
        except OSError as error:
            number, trouble = -1, error
        checksums = self._of_all(number)
        if min(checksums) < 0:
            return self._told(trouble)
        names = [_state_name(f"{c:08x}", rank, self.processes) for rank, c in enumerate(checksums)]
        whole = {
            "format": FORMAT,
            "version": VERSION,
            "network": self.network,
            "settings": self.settings,
            "states": names,
            "rows": {name: partition.bounds for name, partition in dealt.items()},
            "run": record,
        }
        if self.rank == 0:
            try:
                self._write_record(whole)
            except OSError as error:
                self._remove(keep=self._named())
                return self._told(error)
            self._remove(keep=names)
        return None

    def _named(self) -> list[str]:
        """The states that belong to the record that is there."""
        path = self.folder / RECORD
        return list(json.loads(path.read_text(encoding="utf-8"))["states"]) if path.is_file() else []

    def _write_state(self, arrays: dict[str, np.ndarray]) -> str:
        """The arrays of this process under the name of their checksum."""
        sibling = self._sibling()
        try:
            make_folder(self.folder)
            save_file(arrays, sibling)
            found = checksum(sibling)
            put_in_place(sibling, self.folder / _state_name(found, self.rank, self.processes))
        finally:
            sibling.unlink(missing_ok=True)
        return found

    def _write_record(self, whole: dict[str, Any]) -> None:
        sibling = self._sibling()
        try:
            sibling.write_text(json.dumps(whole, indent=1), encoding="utf-8")
            put_in_place(sibling, self.folder / RECORD)
        finally:
            sibling.unlink(missing_ok=True)

    def _sibling(self) -> Path:
        return self.folder / f".state-{os.getpid():08x}{self.rank:04x}.tmp"

    def _told(self, error: OSError | None) -> str:
        reason = "of another process" if error is None else error.strerror or one_line(error, 80)
        return f"a checkpoint could not be written to {self.folder} ({reason}); the one before it stays"

    def load(
        self, dealt: Mapping[str, Partition] | None = None
    ) -> tuple[dict[str, Any], dict[str, Tensor]] | None:
        """What :meth:`save` was given last, own rows of what is `dealt` out now; None if there is nothing."""
        path = self.folder / RECORD
        if not path.exists():
            return None
        check_kind(path)
        try:
            whole = json.loads(path.read_text(encoding="utf-8"))
            if whole["format"] != FORMAT or whole["version"] > VERSION:
                raise InputError(f"{path} is not a checkpoint that this version of coembed reads; start anew")
            self._compare(whole["network"], whole["settings"])
            files = [self._open(name, place) for place, name in enumerate(whole["states"])]
            bounds = {name: tuple(int(b) for b in rows) for name, rows in whole["rows"].items()}
            tensors = {}
            for name in files[0]:
                pieces = [file[name] for file in files if name in file]
                tensors[name] = torch.as_tensor(_rows(pieces, bounds.get(name), (dealt or {}).get(name)))
            if not isinstance(whole["run"], dict):
                raise ValueError("its figures are not an object")
            return whole["run"], tensors
        except InputError:
            raise
        except Exception as error:  # whatever a damaged or forged one makes of itself
            raise InputError(f"{path} cannot be read ({one_line(error, 160)}); {_ANEW}") from None

    def clear(self) -> None:
        """Remove the checkpoint, once what it was for is done."""
        (self.folder / RECORD).unlink(missing_ok=True)
        self._remove(keep=())
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _open(self, name: str, place: int) -> dict[str, np.ndarray]:
        if not _STATE.fullmatch(name):
            raise ValueError("it names a strange file")
        # each process reads through its share of the files; of the others it needs some rows
        check_kind(self.folder / name)
        if place % self.processes == self.rank and checksum(self.folder / name) not in name:
            raise ValueError("its state is damaged")
        return open_file(self.folder / name)

    def _of_all(self, number: int) -> list[int]:
        """A number of every process."""
        slots = np.zeros(self.processes)
        slots[self.rank] = number
        everybody = Partition.even(self.processes, self.processes, self.rank)
        return [int(slot) for slot in sum_of_all(slots, everybody)]

    def _compare(self, network: str, settings: dict[str, Any]) -> None:
        if network != self.network:
            raise InputError(
                f"{self.folder} is a checkpoint of another network ({network}, not {self.network}); "
                "give that network, or another folder"
            )
        for name in sorted(settings.keys() | self.settings.keys()):
            then, now = settings.get(name), self.settings.get(name)
            if then != now and name not in _FREE:
                raise InputError(
                    f"{self.folder} is a checkpoint of a fit with {name}={then}, not {now}; "
                    "give the same settings, or another folder"
                )

    def _remove(self, keep: Collection[str]) -> None:
        for path in self.folder.iterdir() if self.folder.is_dir() else ():
            if _STATE.fullmatch(path.name) and path.name not in keep:
                path.unlink(missing_ok=True)


def _state_name(checksum: str, rank: int, processes: int) -> str:
    return f"state-{checksum}{f'{rank:04x}' if processes > 1 else ''}.safetensors"


def _rows(pieces: list[np.ndarray], bounds: tuple[int, ...] | None, wanted: Partition | None) -> np.ndarray:
    """The rows that a process has now, copied from the pieces that others may have had."""
    if wanted is None:
        return np.array(pieces[0]) if len(pieces) == 1 else np.concatenate(pieces)
    own = wanted.own
    starts = (0,) if bounds is None else bounds
    parts = [
        piece[max(own.start - start, 0) : max(own.stop - start, 0)]
        for start, piece in zip(starts, pieces, strict=False)
    ]
    return np.concatenate(parts)


def _nearest(path: Path) -> Path:
    """The folder itself, or the nearest one above it that is there."""
    return next(each for each in (path.absolute(), *path.absolute().parents) if each.exists())
