"""The label ensemble without the model: what the studies of doubt ask, hundreds of times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from coembed.model.scan import look_at
from coembed.network import Network, read
from coembed.settings import Settings, preset_settings
from coembed.training import label_ensemble
from coembed.training.label_ensemble import Ensemble, call_ensemble
from coembed.training.label_views import label_views
from coembed.views import Seen

NETWORKS = ("wordnet-demo", "cora", "citeseer", "blogcatalog", "flickr", "pubmed")


@dataclass
class EnsembleAlone:
    """A network whose views are made once, and asked with any labels."""

    network: Network
    settings: Settings
    seen: Seen
    by_fold: Sequence[np.ndarray] = ()
    folds: np.ndarray | None = None

    @classmethod
    def of(cls, network: Network) -> EnsembleAlone:
        settings = preset_settings("best")
        return cls(network, settings, look_at(network, settings, lambda step: None))

    @classmethod
    def read(cls, data: Path, name: str) -> EnsembleAlone:
        return cls.of(read(data / f"{name}.npz"))

    def asked(self, labels: np.ndarray, seed: int) -> Ensemble:
        """What it thinks if these labels are known (-1: unknown); `by_fold` keeps what its folds say."""
        visible = self.network.with_labels(labels, self.network.main.name)
        real = label_ensemble.cross_conformal

        def listening(by_fold: Sequence[np.ndarray], labels: np.ndarray, folds: np.ndarray) -> object:
            self.by_fold, self.folds = by_fold, folds
            return real(by_fold, labels, folds)

        label_ensemble.cross_conformal = listening  # type: ignore[assignment]
        try:
            type, settings = visible.main.name, self.settings.change(seed=seed)
            found = call_ensemble(visible, self.seen.types[type], label_views(visible, seed), type, settings)
        finally:
            label_ensemble.cross_conformal = real
        assert found is not None, "too few labels"
        return found
