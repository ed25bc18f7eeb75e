"""Fixtures that all the tests share."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import pytest
from people_network import people_network
from scipy.sparse.csgraph import breadth_first_order

from coembed.fitted import Fitted
from coembed.network import Network, demo_network
from coembed.settings import preset_settings

# Before anything imports torch: small tensors gain nothing from threads, and on a busy machine threads that
# wait for one another cost minutes.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Made now, while no folder of tests has made the presets small: whoever asks first, the model is the same.
GENERAL = preset_settings("best", epochs=3, dim=8, hidden=16)


@pytest.fixture(scope="session")
def demo() -> Network:
    """The bundled WordNet network."""
    return demo_network()


@pytest.fixture(scope="session")
def part_of_demo(demo: Network) -> Network:
    """The 400 nodes nearest to one of the bundled network: for what takes long and needs no more."""
    near = breadth_first_order(demo.links, 0, directed=False, return_predecessors=False)[:400]
    return Network.build(
        demo.links[near][:, near],
        demo.attributes[near],
        demo.labels[near],
        node_names=[demo.node_names[node] for node in near],
        attribute_names=demo.attribute_names,
        class_names=demo.class_names,
        name="part of demo",
    )


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of benchmark networks; without it the test is skipped, and says so loudly."""
    named = os.environ.get("COEMBED_DATA")
    if not named:
        message = "COEMBED_DATA is not set: tests on real networks are SKIPPED; let it name their folder"
        warnings.warn(message, stacklevel=1)
        pytest.skip(message)
    folder = Path(named)
    if not folder.is_dir():
        pytest.fail(f"COEMBED_DATA names {folder}, which is not a folder")
    return folder


@pytest.fixture(scope="session")
def general() -> Fitted:
    """A model of a network of several types, fitted for a few epochs."""
    from coembed.training import fit

    return fit(people_network(), GENERAL)
