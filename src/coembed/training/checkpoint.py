"""Checkpoints: all that a fit needs to go on after it was killed, in a folder, never half-written.

``checkpoint.json`` names the one ``state-*.safetensors`` that belongs to it and is put in place in one step,
once that is on the disk. Random numbers need not be kept: they are keyed by the step. What network and
settings give, such as views, is made again.
"""

from __future__ import annotations

import json
import os
import re
import time
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from coembed.errors import InputError
from coembed.result.tensors import open_file, save_file

RECORD = "checkpoint.json"
FORMAT, VERSION = "coembed checkpoint", 1
MINUTES = 10.0
_STATE = re.compile(r"\.?state-[0-9a-f]{8,}\.(safetensors|tmp)")
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

    def __post_init__(self) -> None:
        self.folder = Path(self.folder)
        self.last = time.monotonic()

    def belong_to(self, network: str, settings: dict[str, Any]) -> None:
        """Say of what the checkpoints are."""
        self.network, self.settings = network, settings

    def check(self) -> None:
        """Refuse at once what could not be written to, or would be written over."""
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"{self.folder} is a file; give the name of a folder for checkpoints")
        if not self.resume and (self.folder / RECORD).exists():
            raise InputError(
                f"{self.folder} holds a checkpoint already; go on from it with --resume, or give another"
                " folder"
            )

    def due(self) -> bool:
        return time.monotonic() - self.last >= 60 * self.minutes

    def save(self, record: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        """Write one in place of the former, which stays whole until then."""
        arrays = {name: np.asarray(tensor.cpu().numpy(), order="C") for name, tensor in tensors.items()}
        sibling = self.folder / f".state-{os.getpid():08x}.tmp"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            save_file(arrays, sibling)
            checksum = _checksum(sibling)
            name = f"state-{checksum}.safetensors"
            os.replace(sibling, self.folder / name)
            whole = {
                "format": FORMAT,
                "version": VERSION,
                "network": self.network,
                "settings": self.settings,
                "state": name,
                "run": record,
            }
            sibling.write_text(json.dumps(whole, indent=1), encoding="utf-8")
            _flush(sibling)
            os.replace(sibling, self.folder / RECORD)
        except OSError as error:
            raise InputError(
                f"{self.folder} cannot be written ({error.strerror}); give another folder"
            ) from None
        finally:
            sibling.unlink(missing_ok=True)
        self._remove(keep=name)
        self.last = time.monotonic()

    def load(self) -> tuple[dict[str, Any], dict[str, Tensor]] | None:
        """What :meth:`save` was given last; None if there is nothing."""
        path = self.folder / RECORD
        if not path.exists():
            return None
        try:
            whole = json.loads(path.read_text(encoding="utf-8"))
            if whole["format"] != FORMAT or whole["version"] > VERSION:
                raise InputError(f"{path} is not a checkpoint that this version of coembed reads; start anew")
            self._compare(whole["network"], whole["settings"])
            name = whole["state"]
            if not _STATE.fullmatch(name) or _checksum(self.folder / name) not in name:
                raise ValueError("its state is damaged")
            arrays = open_file(self.folder / name)
            return whole["run"], {name: torch.tensor(array) for name, array in arrays.items()}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path} cannot be read ({error}); start anew, without --resume") from None

    def clear(self) -> None:
        """Remove the checkpoint, once what it was for is done."""
        (self.folder / RECORD).unlink(missing_ok=True)
        self._remove(keep=None)
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()

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

    def _remove(self, keep: str | None) -> None:
        for path in self.folder.iterdir() if self.folder.is_dir() else ():
            if _STATE.fullmatch(path.name) and path.name != keep:
                path.unlink(missing_ok=True)


def _checksum(path: Path) -> str:
    total = 0
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 22):
            total = zlib.crc32(chunk, total)
        os.fsync(stream.fileno())
    return f"{total:08x}"


def _flush(path: Path) -> None:
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
