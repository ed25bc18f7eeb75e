"""Fitting a model again, to its own network with labels that people gave since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from coembed.errors import InputError
from coembed.fitted.corrections import Correction, corrected, pending
from coembed.fitted.fitted import Fitted
from coembed.progress import EpochProgress, Tell
from coembed.settings import Settings
from coembed.training.fit import fit


def retrain(
    fitted: Fitted,
    corrections: Sequence[Correction],
    *,
    progress: EpochProgress | None = None,
    steps: Tell | None = None,
) -> Fitted:
    """The same settings, the same network, and the labels that were given.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> from coembed.settings import preset_settings
    >>> fitted = fit(demo_network(), preset_settings("paper", epochs=1, dim=2))
    >>> again = retrain(fitted, [Correction("node", "salmon.n.01", "plant")])
    >>> str(again.network.class_names[again.network.labels[again.network.node_index("salmon.n.01")]])
    'plant'
    """
    if not pending(fitted.network, corrections):
        raise InputError("there is no new label to learn from; correct or label an item first")
    known = {each.name for each in fields(Settings)}
    settings = Settings(**{name: value for name, value in fitted.settings.items() if name in known})
    return fit(
        corrected(fitted.network, corrections), settings, preset=fitted.preset, progress=progress, steps=steps
    )
