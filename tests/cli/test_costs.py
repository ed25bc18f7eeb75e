"""What a fit will take is said before it starts, and above a fixed size the default is the quick preset."""

import json

from coembed import demo_network
from coembed.training import costs


def test_size_counts_entries_and_labels():
    network = demo_network()
    entries = sum(relation.values.nnz for relation in network.relations.values())
    assert costs.size_of(network) == entries + costs.PER_LABEL * len(network.labelled)


def test_large_networks_are_solved_for_by_default(run, network_file, tmp_path, monkeypatch):
    monkeypatch.setattr(costs, "LARGE", 1000)
    ran = run("train", network_file, "-o", tmp_path / "model", "--no-compare")
    assert ran.code == 0
    assert "of a processor with preset best" in ran.err
    assert "preset fast is the default above a size of" in ran.err
    assert json.loads((tmp_path / "model" / "model.json").read_text())["preset"] == "fast"


def test_who_says_how_to_train_gets_it(run, network_file, tmp_path, monkeypatch):
    monkeypatch.setattr(costs, "LARGE", 1000)
    ran = run(
        "train", network_file, "-o", tmp_path / "m", "--epochs", 1, "--set", "space_dim=0", "--no-compare"
    )
    assert ran.code == 0
    assert json.loads((tmp_path / "m" / "model.json").read_text())["preset"] == "best"
