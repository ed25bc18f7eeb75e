"""What one process prepares for all: the network as the fit may see it, and its views, in files.

Every process opens them without reading more than its own rows.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.fitted.conformal import ClassDoubt, ClassScale
from coembed.network import Column, Network
from coembed.network.readers.mapped import open_mapped, write_mapped
from coembed.records import pack, unpack
from coembed.settings import Settings
from coembed.training.holdout import Holdout
from coembed.views import Lens, Neighbours, Reading, Seen, TypeLens, TypeViews
from coembed.views.basis import PositionBasis, WordBasis
from coembed.views.cells import CellLayout
from coembed.views.lens import Step

RECORD = "prepared.json"


@dataclass(frozen=True, eq=False)
class Whole:
    """What there is to see of a type's items when nothing is kept aside, and a step along their links.

    The model is trained on less, so that pairs kept aside can judge it; classes need not be told from less.
    """

    views: TypeViews
    walk: sp.csr_array | None


CLASSES = (
    Holdout,
    Seen,
    Lens,
    TypeLens,
    TypeViews,
    Step,
    Reading,
    Neighbours,
    WordBasis,
    PositionBasis,
    CellLayout,
    Column,
    ClassDoubt,
    ClassScale,
    Whole,
)


@dataclass(frozen=True, eq=False)
class Prepared:
    """All that a fit learns from.

    Attributes
    ----------
    network
        What may be seen: without the pairs, cells and labels that are kept aside.
    labels
        By type, all that are known, those kept aside included.
    held
        What is kept aside to choose the epoch and weigh scores by.
    readings
        How the values of each relation are read.
    spared
        By type, items whose labels tell a temperature: known, but not learnt from.
    opinions
        By type, what the label ensemble thinks of all items, and `strengths`: how far it leans to links.
    out_of_fold
        By type, how good the members of the ensemble are on labels that they have not seen.
    thresholds
        By type of which an item may have several classes: from which probability on it has each.
    shares
        By type, the share of the opinion in the answer; the model has the rest.
    mass
        By type, what newcomers are shown of the classes of known items.
    doubts
        By type, which classes the ensemble cannot rule out.
    whole
        By type, what its classes are told from in the end, where that is more than what is seen in training.
    """

    settings: Settings
    network: Network
    held: Holdout
    labels: Mapping[str, np.ndarray]
    readings: Mapping[str, Reading]
    seen: Seen | None = None
    spared: Mapping[str, np.ndarray] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    fingerprint: str = ""
    opinions: Mapping[str, np.ndarray] = field(default_factory=dict)
    strengths: Mapping[str, float] = field(default_factory=dict)
    out_of_fold: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    thresholds: Mapping[str, np.ndarray] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)
    mass: Mapping[str, np.ndarray] = field(default_factory=dict)
    doubts: Mapping[str, ClassDoubt] = field(default_factory=dict)
    whole: Mapping[str, Whole] = field(default_factory=dict)


def write_prepared(prepared: Prepared, folder: Path, source: Path | None = None) -> None:
    """Write it; a network that is as its mapped folder `source` has it is named, not copied."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    place = folder / "network" if source is None else source.absolute()
    if source is None:
        write_mapped(prepared.network, place)
    rest = {name: getattr(prepared, name) for name in _OWN}
    tree, arrays = pack(_by_item(rest))
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    record = {
        "network": str(place),
        "settings": prepared.settings.as_dict(),
        "arrays": list(arrays),
        "rest": tree,
    }
    (folder / RECORD).write_text(json.dumps(record), encoding="utf-8")


_OWN = (
    "held",
    "labels",
    "readings",
    "seen",
    "spared",
    "notices",
    "fingerprint",
    "opinions",
    "strengths",
    "out_of_fold",
    "thresholds",
    "shares",
    "mass",
    "doubts",
    "whole",
)


def is_prepared(folder: Path) -> bool:
    """Whether all is there: the record is written last."""
    return (folder / RECORD).exists()


def open_prepared(folder: Path) -> Prepared:
    """Open what :func:`write_prepared` wrote; arrays stay in their files until they are read."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"{folder / RECORD} cannot be read here ({error.strerror}); "
            "all machines of a job must see the folder of the model under the same path"
        ) from None
    arrays = {name: _opened(folder / f"{name}.npy") for name in record["arrays"]}
    rest = _by_owner(unpack(record["rest"], arrays, CLASSES, check=False))
    return Prepared(Settings(**record["settings"]), open_mapped(record["network"], check="sizes"), **rest)


def _by_item(rest: dict) -> dict:
    """Owners of attributes by item: of them a process reads its own items, too."""
    seen = rest["seen"]
    if seen is None:
        return rest
    return rest | {"seen": replace(seen, types={name: _turned(views) for name, views in seen.types.items()})}


def _by_owner(rest: dict) -> dict:
    seen = rest["seen"]
    if seen is None:
        return rest
    # a transpose without a copy: columns are still read one owner at a time
    types = {
        name: replace(views, sparse={n: v.T if n == "owners" else v for n, v in views.sparse.items()})
        for name, views in seen.types.items()
    }
    return rest | {"seen": replace(seen, types=types)}


def _turned(views: TypeViews) -> TypeViews:
    return replace(views, sparse={n: v.T.tocsr() if n == "owners" else v for n, v in views.sparse.items()})


def _opened(path: Path) -> np.ndarray:
    empty = path.stat().st_size < 4096 and not np.load(path, allow_pickle=False).size
    return np.load(path, mmap_mode=None if empty else "r", allow_pickle=False)
