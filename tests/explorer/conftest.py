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

from .browser import Visitor, need_browser, running

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


# A browser and a server for each module of tests of the page


@pytest.fixture(scope="module")
def browser():
    path = need_browser()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--enable-unsafe-swiftshader"]
        )
        yield started
        started.close()


@pytest.fixture(scope="module")
def home(browser, explorer):
    with running(explorer) as address:
        yield address


@pytest.fixture
def visit(browser, home):
    """Open a window; at the end nothing went wrong in it, and nothing was asked of anybody else."""
    opened = []

    def open_window(**options) -> Visitor:
        opened.append(Visitor(browser, options.pop("home", home), **options))
        return opened[-1]

    yield open_window
    for visitor in opened:
        visitor.close()
        assert visitor.problems == []
        strange = [url for url in visitor.asked if not url.startswith((visitor.home, "data:", "blob:"))]
        assert strange == []


@pytest.fixture(scope="module")
def people_home(browser, people):
    with running(people) as address:
        yield address


@pytest.fixture(scope="module")
def strange_home(browser, strange):
    with running(strange) as address:
        yield address


LONG = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverordnungsentwurf" * 2
ARABIC = "مدينة تونس"


@pytest.fixture(scope="session")
def awkward() -> Explorer:
    """No attributes, sixty classes, a node with 1,200 links, and names that are hard on a page."""
    import numpy as np
    import scipy.sparse as sp

    from coembed.training import fit

    count, classes = 1300, 60
    rng = np.random.default_rng(0)
    ends = np.vstack(
        [np.column_stack([np.zeros(1200, int), np.arange(1, 1201)]), rng.integers(1, count, (900, 2))]
    )
    ends = ends[ends[:, 0] != ends[:, 1]]
    links = sp.coo_array((np.ones(len(ends)), ends.T), shape=(count, count)).tocsr()
    links = ((links + links.T) > 0).astype(float)
    names = [f"node{i}" for i in range(count)]
    names[:4] = ["hub", LONG, ARABIC, "=HYPERLINK(0)"]
    labels = np.where(rng.random(count) < 0.3, np.arange(count) % classes, -1)
    labels[:classes] = np.arange(classes)
    class_names = [f"class{k + 1}" for k in range(classes)]
    class_names[1], class_names[2] = LONG, ARABIC
    network = Network.build(links, labels=labels, node_names=names, class_names=class_names)
    fitted = fit(network, preset_settings("paper", epochs=4, dim=8))
    return Explorer(fitted, make_layout(fitted, "pca"))


@pytest.fixture(scope="module")
def awkward_home(browser, awkward):
    with running(awkward) as address:
        yield address
