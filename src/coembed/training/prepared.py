"""What one process prepares for all: the network as the fit may see it, and its views, in files.

Every process opens them without reading more than its own rows.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.model.scan import Seen
from coembed.network import Network
from coembed.network.readers.mapped import open_mapped, write_mapped
from coembed.settings import Settings
from coembed.training.holdout import Holdout
from coembed.views import AttributeViews, Basis, Neighbours, NodeViews

RECORD = "prepared.json"


@dataclass(frozen=True, eq=False)
class Prepared:
    """All that a fit learns from.

    Attributes
    ----------
    network
        What may be seen: without the pairs and the labels that are kept aside.
    labels
        All that are known, those of the nodes kept aside included.
    held
        What is kept aside to choose the epoch and weigh companions by.
    spared
        Nodes whose labels tell a temperature: known, but not learnt from.
    opinion
        What a jury thinks of all nodes, if there is one, and `temperature` what it made of its logits.
    """

    settings: Settings
    network: Network
    held: Holdout
    labels: np.ndarray
    seen: Seen | None = None
    spared: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    notices: list[str] = field(default_factory=list)
    fingerprint: str = ""
    opinion: np.ndarray | None = None
    temperature: float = 1.0


def write_prepared(prepared: Prepared, folder: Path, source: Path | None = None) -> None:
    """Write it; a network that is as its mapped folder `source` has it is named, not copied."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    place = folder / "network" if source is None else source.absolute()
    if source is None:
        write_mapped(prepared.network, place)
    arrays: dict[str, np.ndarray] = {"spared": prepared.spared, "labels": prepared.labels}
    for name, held in asdict(prepared.held).items():
        if held is not None:
            pieces = held if isinstance(held, tuple) else (held,)
            arrays |= {f"held.{name}.{number}": piece for number, piece in enumerate(pieces)}
    if prepared.opinion is not None:
        arrays["opinion"] = prepared.opinion
    record: dict[str, Any] = {
        "network": str(place),
        "settings": prepared.settings.as_dict(),
        "notices": prepared.notices,
        "fingerprint": prepared.fingerprint,
        "seen": prepared.seen is not None,
        "temperature": prepared.temperature,
    }
    if prepared.seen is not None:
        arrays |= _seen_arrays(prepared.seen)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    # in their order, which is that of the branches of the encoder
    record["arrays"] = list(arrays)
    (folder / RECORD).write_text(json.dumps(record), encoding="utf-8")


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

    def pieces(name: str) -> tuple[np.ndarray, ...]:
        return tuple(arrays[key] for key in arrays if key.startswith(f"held.{name}."))

    nodes, links, attributes = (pieces(name) for name in ("nodes", "links", "attributes"))
    held = Holdout(nodes[0] if nodes else None, links or None, attributes or None)  # type: ignore[arg-type]
    return Prepared(
        Settings(**record["settings"]),
        open_mapped(record["network"], check="sizes"),
        held,
        arrays["labels"],
        _opened_seen(arrays) if record["seen"] else None,
        arrays["spared"],
        list(record["notices"]),
        record["fingerprint"],
        arrays.get("opinion"),
        record["temperature"],
    )


def _seen_arrays(seen: Seen) -> dict[str, np.ndarray]:
    arrays = {f"basis.{name}": array for name, array in seen.basis._asdict().items()}
    arrays |= {f"alike.{name}": array for name, array in seen.nodes.alike._asdict().items()}
    for kind, views in (("node", seen.nodes), ("attribute", seen.attributes)):
        arrays[f"{kind}.evidence"] = views.evidence
        arrays |= {f"{kind}.dense.{name}": view for name, view in views.dense.items()}
        for name, view in views.sparse.items():
            # by nodes in both cases: of the owners of attributes a process reads its own nodes, too
            by_node = view if kind == "node" else view.T.tocsr()
            for piece in ("data", "indices", "indptr"):
                arrays[f"{kind}.sparse.{name}.{piece}"] = getattr(by_node, piece)
    return arrays


def _opened_seen(arrays: dict[str, np.ndarray]) -> Seen:
    def dense(kind: str) -> dict[str, np.ndarray]:
        start = f"{kind}.dense."
        return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}

    def sparse(kind: str, shape: tuple[int, int]) -> dict[str, Any]:
        build = sp.csr_array if kind == "node" else sp.csc_array
        found = {}
        for name in arrays:
            if name.startswith(f"{kind}.sparse.") and name.endswith(".data"):
                stem = name.removesuffix(".data")
                pieces = (arrays[f"{stem}.{piece}"] for piece in ("data", "indices", "indptr"))
                found[stem.removeprefix(f"{kind}.sparse.")] = build(tuple(pieces), shape=shape)
        return found

    n_nodes, n_attributes = (len(arrays[f"{kind}.evidence"]) for kind in ("node", "attribute"))
    return Seen(
        Basis(**{name: arrays[f"basis.{name}"] for name in Basis._fields}),
        NodeViews(
            sparse("node", (n_nodes, n_attributes)),
            dense("node"),
            arrays["node.evidence"],
            Neighbours(arrays["alike.rows"], arrays["alike.cosines"]),
        ),
        AttributeViews(
            sparse("attribute", (n_attributes, n_nodes)), dense("attribute"), arrays["attribute.evidence"]
        ),
    )


def _opened(path: Path) -> np.ndarray:
    empty = path.stat().st_size < 4096 and not np.load(path, allow_pickle=False).size
    return np.load(path, mmap_mode=None if empty else "r", allow_pickle=False)
