"""Errors of cells kept aside: intervals of columns with few of them hold what they promise, and are told."""

import numpy as np
import scipy.sparse as sp

from coembed.fitted.conformal import widening
from coembed.network import Column, Items, Network, Relation
from coembed.settings import preset_settings
from coembed.training.cell_errors import ENOUGH, by_the_others, with_borrowed
from coembed.training.holdout import hold_out


def test_columns_lose_cells_of_different_rows():
    """A row that loses all of its cells at once is harder to tell than one that loses a single one."""
    rng = np.random.default_rng(0)
    relations = [
        Relation.build(
            f"c{k}",
            "box",
            "box.attributes",
            sp.csr_array((rng.normal(size=200), (np.arange(200), np.full(200, k))), shape=(200, 2)),
            "gaussian",
            "unknown",
            column=Column(f"c{k}", "number", k, k + 1),
        )
        for k in range(2)
    ]
    network = Network.of([Items.build("box", 200), Items.build("box.attributes", ["c0", "c1"])], relations)
    _, held = hold_out(network, preset_settings("best", validation_pairs=0.25))
    one, other = (set(held.cells[name][0][:, 0].tolist()) for name in ("c0", "c1"))
    assert len(one) == len(other) == 50
    assert len(one & other) < 25


def test_few_errors_with_those_of_other_columns_cover_as_often_as_asked():
    """Sixteen cells by themselves cover nine tenths only by their largest, and more by nothing."""
    rng = np.random.default_rng(0)
    held, told = {0.9: [], 0.95: []}, []
    for _ in range(300):
        columns = {str(k): rng.normal(size=16) for k in range(5)}
        scales = {name: np.sqrt(np.mean(each**2)) for name, each in columns.items()}
        errors = with_borrowed({name: abs(each) / scales[name] for name, each in columns.items()})
        for name, each in errors.items():
            new = abs(rng.normal(size=50)) / scales[name]
            for coverage, found in held.items():
                found.append(np.mean(new <= widening(each, coverage)))
        told.append(widening(abs(columns["0"]), 0.95))
    assert all(-0.005 < np.mean(found) - coverage < 0.02 for coverage, found in held.items())
    assert np.isinf(told).all()


def test_columns_with_enough_keep_to_their_own():
    rng = np.random.default_rng(0)
    own, others = abs(rng.normal(size=ENOUGH)), 100 * abs(rng.normal(size=300))
    found = with_borrowed({"own": own, "others": others})["own"]
    np.testing.assert_allclose(found, np.sort(by_the_others(own)), rtol=1e-6)
    assert len(with_borrowed({"alone": own[:9]})["alone"]) == 9
