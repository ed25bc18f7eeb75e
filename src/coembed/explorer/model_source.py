"""Where a model that is looked at comes from: its folder, what judges it, how its map is laid out."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coembed.explorer.asking import Explorer, Shown
from coembed.fitted.fitted import Fitted
from coembed.fitted.storage import load
from coembed.maps.layout import cached_layout, chosen_method
from coembed.network import demo_network, read
from coembed.network.network import Network
from coembed.progress import CountProgress


@dataclass(frozen=True)
class Source:
    """Where a model is, what judges it, and how its map is laid out.

    Attributes
    ----------
    shown
        What tooltips and cards tell of items beside their names.
    turn
        Held while the map is laid out: of several workers one does it, and the others find what it kept.
    """

    model: Path
    truth: Path | None = None
    method: str = "auto"
    shown: Shown = field(default_factory=Shown)
    turn: AbstractContextManager[Any] = field(default_factory=nullcontext)

    def read(self) -> tuple[Fitted, Network | None]:
        """The model and the truth; what is wrong with either is told here, before anything is served."""
        fitted = load(self.model)
        chosen_method(self.method, fitted)
        self.shown.checked(fitted)
        return fitted, read(self.truth) if self.truth is not None else bundled_truth(fitted)

    def explorer(
        self, fitted: Fitted, truth: Network | None, progress: CountProgress | None = None
    ) -> Explorer:
        """The model with its layout, made now if it was never made."""
        with self.turn:
            layout = cached_layout(fitted, self.model, self.method, progress=progress)
        return Explorer(fitted, layout, truth, self.model, self.shown)


def bundled_truth(fitted: Fitted) -> Network | None:
    """The bundled network, where the model was fitted to it with hidden labels: the demo can be judged."""
    network, bundled = fitted.network, demo_network()
    same = network.name == bundled.name and list(network.node_names) == list(bundled.node_names)
    hidden = same and len(network.labelled) < len(bundled.labelled) and network.n_classes
    return bundled if hidden else None
