"""The label ensemble without the model: what the studies of doubt ask, hundreds of times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from coembed.model.scan import look_at
from coembed.network import Network, read
from coembed.settings import Settings, preset_settings
from coembed.training import label_ensemble
from coembed.training.label_ensemble import Ensemble, call_ensemble
from coembed.training.label_members import MOST_EPOCHS
from coembed.training.label_views import label_views
from coembed.views import Seen

NETWORKS = ("wordnet-demo", "cora", "citeseer", "blogcatalog", "flickr", "pubmed")


@dataclass
class EnsembleAlone:
    """A network whose views are made once, and asked with any labels.

    With a folder `kept` what members say is kept there, by labels and seed: how it is combined can be
    changed and asked again in a moment. What members are must not change meanwhile.
    """

    network: Network
    settings: Settings
    seen: Seen
    kept: Path | None = None
    by_fold: Sequence[np.ndarray] = ()
    folds: np.ndarray | None = None

    @classmethod
    def of(cls, network: Network, kept: Path | None = None) -> EnsembleAlone:
        settings = preset_settings("best", epochs=MOST_EPOCHS)
        return cls(network, settings, look_at(network, settings, lambda step: None), kept)

    @classmethod
    def read(cls, data: Path, name: str, kept: Path | None = None) -> EnsembleAlone:
        return cls.of(read(data / f"{name}.npz"), kept and kept / name)

    def asked(self, labels: np.ndarray, seed: int) -> Ensemble:
        """What it thinks if these labels are known (-1: unknown); `by_fold` keeps what its folds say."""
        visible = self.network.with_labels(labels, self.network.main.name)
        conformal, gather = label_ensemble.cross_conformal, label_ensemble.gather_members

        def listening(by_fold: Sequence[np.ndarray], labels: np.ndarray, folds: np.ndarray) -> object:
            self.by_fold, self.folds = by_fold, folds
            return conformal(by_fold, labels, folds)

        def remembering(*what: Any) -> dict[str, list[np.ndarray]]:
            if self.kept is None:
                return gather(*what)
            file = self.kept / f"{seed}-{blake2b(labels.tobytes(), digest_size=8).hexdigest()}.npz"
            if not file.exists():
                file.parent.mkdir(parents=True, exist_ok=True)
                said = {name: np.stack(told).astype(np.float32) for name, told in gather(*what).items()}
                np.savez(file, **said)  # type: ignore[arg-type]
            with np.load(file) as said:
                return {name: list(said[name]) for name in said.files}

        with (
            patch.object(label_ensemble, "cross_conformal", listening),
            patch.object(label_ensemble, "gather_members", remembering),
        ):
            type, settings = visible.main.name, self.settings.change(seed=seed)
            found = call_ensemble(visible, self.seen.types[type], label_views(visible, seed), type, settings)
        assert found is not None, "too few labels"
        return found
