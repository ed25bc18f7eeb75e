"""Several processes are one: the same losses, weights and codes, whatever the partition."""

from contextlib import suppress

import numpy as np
import pytest
import torch
from general_network import general_network

from coembed.distributed.partition import Partition
from coembed.distributed.shares import Share
from coembed.model import row_chunks, scan
from coembed.model.scan import look_at
from coembed.network import Network
from coembed.settings import preset_settings
from coembed.training import Checkpoints, train

from .together import together


def small_network(n_nodes=60, n_attributes=20, seed=0):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n_nodes, n_nodes)) < 0.1, 1) * rng.uniform(0.5, 2, (n_nodes, n_nodes))
    labels = np.full(n_nodes, -1)
    labels[:20] = rng.permutation(np.arange(20) % 3)  # a process with later nodes has no labels
    return Network.build(upper + upper.T, rng.random((n_nodes, n_attributes)) < 0.2, labels)


def settings_of(**changes):
    settings = preset_settings(changes.pop("preset", "paper"), dim=4, hidden=6, rank=5, neighbours=3, block=8)
    return settings.change(dropout=0.5, encoder_dropout=0.3, **changes)


def losses_and_codes(rank, processes, network, settings, bounds=None):
    nodes = None if bounds is None or processes == 1 else {"node": Partition(bounds, rank)}
    share = Share.of(network, processes, rank, nodes)
    seen = look_at(network, settings) if settings.encoder == "views" else None
    torch.manual_seed(settings.seed)
    model = scan(share, settings, seen=seen)
    history = train(
        model, epochs=20, seed=settings.seed, weight_decay=1e-3, label_decay=0.1, processes=processes
    )
    with torch.no_grad():
        codes = [model.mean_codes(name)[0] for name in model.types]
        probabilities = model.mean_codes(next(iter(model.types)))[1]
    return history.figures, codes, probabilities


def assert_alike(found, expected, tolerance):
    """Figures are the same in every process, and those of one; rows together are the rows of one."""
    for figures, _, _ in found:
        assert figures.keys() == expected[0].keys()
        for name, values in figures.items():
            np.testing.assert_allclose(
                values, expected[0][name], rtol=tolerance, atol=tolerance, err_msg=name
            )
    for place in range(len(expected[1])):
        whole = torch.cat([codes[place] for _, codes, _ in found])
        torch.testing.assert_close(whole, expected[1][place], rtol=10 * tolerance, atol=10 * tolerance)
    whole = torch.cat([probabilities for _, _, probabilities in found])
    torch.testing.assert_close(whole, expected[2], rtol=10 * tolerance, atol=10 * tolerance)


VARIANTS = {
    "paper": {},
    "unit rows": {"node_inputs": "unit", "all_pairs": "exact", "label_prior": "frequency"},
    "exact labels": {"labels": "exact", "kl_accounting": "atomic"},
    "values": {"links": "gaussian", "attributes": "gaussian"},
    "best": {"preset": "best"},
    "best, exact": {"preset": "best", "all_pairs": "exact", "links": "gaussian"},
}


SLOW = [name for name in VARIANTS if name not in ("paper", "best")]


@pytest.mark.parametrize(
    "variant", ["paper", "best", *(pytest.param(v, marks=pytest.mark.slow) for v in SLOW)]
)
def test_two_and_three_processes_are_one(variant, tmp_path):
    network = small_network()
    settings = settings_of(precision="float64", **VARIANTS[variant])
    expected = losses_and_codes(0, 1, network, settings)
    for processes in (2, 3):
        found = together(processes, tmp_path, losses_and_codes, network, settings)
        assert_alike(found, expected, 1e-9)


@pytest.mark.parametrize("preset", ["paper", "best"])
def test_two_processes_are_one_for_any_types(preset, tmp_path):
    network = general_network()
    settings = settings_of(preset=preset, precision="float64", all_pairs="exact")
    expected = losses_and_codes(0, 1, network, settings)
    found = together(2, tmp_path, losses_and_codes, network, settings)
    assert_alike(found, expected, 1e-8)


def test_rows_that_go_part_by_part_are_the_whole_for_any_types(monkeypatch):
    network = general_network()
    settings = settings_of(preset="best", precision="float64", all_pairs="exact")
    expected = losses_and_codes(0, 1, network, settings)
    monkeypatch.setattr(row_chunks, "WHOLE", 10)
    monkeypatch.setattr(row_chunks, "PART", 16)
    assert_alike([losses_and_codes(0, 1, network, settings)], expected, 1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [(0, 30, 60), (0, 54, 60)])
def test_rows_that_go_part_by_part_in_both_or_in_one(bounds, tmp_path, monkeypatch):
    network, settings = small_network(), settings_of(preset="best", precision="float64")
    expected = losses_and_codes(0, 1, network, settings)
    monkeypatch.setattr(row_chunks, "WHOLE", 10)
    monkeypatch.setattr(row_chunks, "PART", 8)
    assert_alike(together(2, tmp_path, losses_and_codes, network, settings, bounds), expected, 1e-9)


@pytest.mark.parametrize("preset", ["paper", pytest.param("best", marks=pytest.mark.slow)])
def test_single_precision_stays_together_for_twenty_steps(preset, tmp_path):
    network, settings = small_network(), settings_of(preset=preset)
    expected = losses_and_codes(0, 1, network, settings)
    assert_alike(together(2, tmp_path, losses_and_codes, network, settings), expected, 1e-4)


@pytest.mark.parametrize("preset", [pytest.param("paper", marks=pytest.mark.slow), "best"])
@pytest.mark.parametrize("bounds", [pytest.param((0, 59, 60), marks=pytest.mark.slow), (0, 1, 1, 60)])
def test_uneven_partitions_even_an_empty_one(preset, bounds, tmp_path):
    network, settings = small_network(), settings_of(preset=preset, precision="float64")
    expected = losses_and_codes(0, 1, network, settings)
    found = together(len(bounds) - 1, tmp_path, losses_and_codes, network, settings, bounds)
    assert_alike(found, expected, 1e-9)


class Stopped(Exception):
    pass


def with_checkpoints(rank, processes, network, settings, folder, stop, resume):
    """Train as far as `stop` says, with a checkpoint after every epoch."""
    share = Share.of(network, processes, rank)
    seen = look_at(network, settings) if settings.encoder == "views" else None
    torch.manual_seed(0)
    model = scan(share, settings, seen=seen)
    checkpoints = Checkpoints(folder, 0, resume, rank=rank, processes=processes)

    def progress(epoch, epochs, figures):
        if epoch == stop:
            raise Stopped

    history = None
    with suppress(Stopped):
        history = train(model, epochs=8, processes=processes, checkpoints=checkpoints, progress=progress)
    return history and history.figures["loss"]


@pytest.mark.parametrize("preset", ["paper", pytest.param("best", marks=pytest.mark.slow)])
@pytest.mark.parametrize("again", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_what_two_began_others_end(preset, again, tmp_path):
    network, settings = small_network(), settings_of(preset=preset, precision="float64")
    whole = with_checkpoints(0, 1, network, settings, tmp_path / "whole", 0, False)
    folder = tmp_path / "kept"
    together(2, tmp_path / "jobs", with_checkpoints, network, settings, folder, 5, False)
    assert len(list(folder.glob("state-*.safetensors"))) == 2
    for losses in together(again, tmp_path / "jobs", with_checkpoints, network, settings, folder, 0, True):
        np.testing.assert_allclose(losses, whole, rtol=1e-9)


@pytest.mark.slow
def test_what_one_began_two_end(tmp_path):
    network, settings = small_network(), settings_of(precision="float64")
    whole = with_checkpoints(0, 1, network, settings, tmp_path / "whole", 0, False)
    with_checkpoints(0, 1, network, settings, tmp_path / "kept", 5, False)
    for losses in together(2, tmp_path, with_checkpoints, network, settings, tmp_path / "kept", 0, True):
        np.testing.assert_allclose(losses, whole, rtol=1e-9)


def test_work_is_dealt_out_evenly_whatever_the_degrees():
    rng = np.random.default_rng(0)
    hubs = (rng.random((300, 300)) < np.where(np.arange(300) < 10, 0.9, 0.01)[:, None]).astype(float)
    network = Network.build(np.triu(hubs, 1) + np.triu(hubs, 1).T, np.ones((300, 2)))
    work = []
    for rank in range(3):
        share = Share.of(network, 3, rank)
        entries = share.matrix("links").nnz + share.matrix("attributes").nnz
        work.append(entries + 16 * share.partitions["node"].own.size)
    assert max(work) < 1.15 * min(work)
