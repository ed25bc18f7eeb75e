"""A model of a few epochs with its layout, seen through the page and the API."""

from __future__ import annotations

import warnings

import pytest

pytest.importorskip("fastapi")

from coembed.explorer import Explorer, make_app
from coembed.fitted import Fitted
from coembed.maps.layout import make_layout
from coembed.network import Network, demo_network, split_labels
from coembed.settings import preset_settings

HERE = "http://127.0.0.1"


@pytest.fixture(scope="session")
def trained() -> Fitted:
    """The demo network with a tenth of its labels, fitted for a few epochs."""
    from coembed.training import fit

    network = demo_network()
    seen = split_labels(network, labels=0.1).visible(network)
    return fit(seen, preset_settings("paper", epochs=25, dim=16, validation=0.2))


@pytest.fixture(scope="session")
def explorer(trained) -> Explorer:
    return Explorer(trained, make_layout(trained, "pca"), demo_network())


@pytest.fixture(scope="session")
def people(general) -> Explorer:
    """A model of several types."""
    return Explorer(general, make_layout(general, "pca"))


@pytest.fixture(scope="session")
def client(explorer):
    return client_of(explorer)


def client_of(explorer: Explorer, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from fastapi.testclient import TestClient
    return TestClient(make_app(explorer, **options), base_url=HERE, raise_server_exceptions=False)


STRANGE = (
    "a/b c?d#e&f=g%20",
    "🐟 and 🐠",
    "",
    "x" * 10_000,
    "東京",
    "<script>alert(1)</script>",
    "\udcff",
    "..",
)


@pytest.fixture(scope="session")
def strange() -> Explorer:
    """Nodes and attributes whose names are hard on addresses; no classes."""
    import numpy as np

    from coembed.training import fit

    size = len(STRANGE)
    links = np.ones((size, size)) - np.eye(size)
    network = Network.build(
        links, np.eye(size), node_names=STRANGE, attribute_names=[f"{name}~" for name in STRANGE]
    )
    fitted = fit(network, preset_settings("paper", epochs=2, dim=4))
    return Explorer(fitted, make_layout(fitted, "pca"))
