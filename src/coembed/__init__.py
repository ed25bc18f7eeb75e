"""coembed: nodes and attributes of a network as Gaussians in one space, and the missing labels.

>>> import coembed
>>> network = coembed.demo_network()
>>> network.n_nodes
1476
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from coembed.version import __version__

if TYPE_CHECKING:
    from coembed.errors import InputError
    from coembed.estimator import SCAN
    from coembed.evaluation import evaluate
    from coembed.fitted import Fitted, load, save
    from coembed.network import Network, demo_network, read, write
    from coembed.settings import Settings, preset_settings
    from coembed.training import fit

# Each name is fetched when it is first asked for: reading a network or asking a saved model never waits
# for torch.
_HOMES = {
    "InputError": "coembed.errors",
    "SCAN": "coembed.estimator",
    "Network": "coembed.network",
    "demo_network": "coembed.network",
    "read": "coembed.network",
    "write": "coembed.network",
    "Fitted": "coembed.fitted",
    "load": "coembed.fitted",
    "save": "coembed.fitted",
    "Settings": "coembed.settings",
    "preset_settings": "coembed.settings",
    "evaluate": "coembed.evaluation",
    "fit": "coembed.training",
}

__all__ = [
    "SCAN",
    "Fitted",
    "InputError",
    "Network",
    "Settings",
    "__version__",
    "demo_network",
    "evaluate",
    "fit",
    "load",
    "preset_settings",
    "read",
    "save",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'coembed' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
