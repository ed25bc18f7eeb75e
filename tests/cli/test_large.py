"""Commands for large networks: making one up, and converting to mapped files."""

import csv
import os

import numpy as np
import pytest

from coembed.network import read, synthesize, true_classes

SIZES = ["--nodes", 300, "--links", 1200, "--attributes", 40, "--entries", 2500, "--classes", 4, "--seed", 3]


@pytest.mark.parametrize(("format", "place"), [("mapped", "net"), ("csv", "net"), ("npz", "net.npz")])
def test_synthesize_writes_what_the_function_makes_and_the_truth(run, tmp_path, format, place):
    ran = run("synthesize", "-o", tmp_path / place, *SIZES, "--labels", 0.2, "--format", format, "--json")
    assert ran.code == 0
    report = ran.json
    counts = ("nodes", "links", "attributes", "entries", "classes")
    assert [report[key] for key in counts] == [300, 1200, 40, 2500, 4]
    made, written = synthesize(300, 1200, 40, 2500, 4, 0.2, 3), read(tmp_path / place)
    assert (made.links != written.links).nnz == 0
    assert (made.attributes != written.attributes).nnz == 0
    np.testing.assert_array_equal(made.labels, written.labels)
    with open(report["truth"], newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["node"] for row in rows] == list(made.node_names)
    assert [row["class"] for row in rows] == [f"class{k}" for k in true_classes(300, 4, 3)]


def test_progress_is_for_people(run, tmp_path):
    ran = run("synthesize", "-o", tmp_path / "net", *SIZES)
    assert (ran.code, ran.out) == (0, "")
    assert "making links" in ran.err
    assert "1,200 links" in ran.err
    assert run("synthesize", "-o", tmp_path / "net", *SIZES, "-q").err == ""


def test_impossible_sizes_and_places_leave_nothing(run, tmp_path):
    ran = run("synthesize", "-o", tmp_path / "net", "--nodes", 10, "--links", 45)
    assert ran.code == 2
    assert "more than a quarter" in ran.err
    assert run("synthesize", "-o", tmp_path / "net", *SIZES, "--format", "xlsx").code == 2
    assert os.listdir(tmp_path) == []


def test_convert_makes_mapped_folders(run, network_file, tmp_path, demo):
    assert run("convert", network_file, tmp_path / "net", "--to", "mapped").code == 0
    assert run("convert", network_file, tmp_path / "net.mapped").code == 0
    for place in ("net", "net.mapped"):
        network = read(tmp_path / place)
        assert network.n_links == demo.n_links
        assert type(network.node_names).__name__ == "Names"


def test_predict_of_some_nodes(run, model):
    everything = {row["node"]: row for row in run("predict", model, "--json").json}
    names = list(everything)[5:7]
    some = run("predict", model, "--json", "--node", names[1], "-n", names[0]).json
    assert some == [everything[names[1]], everything[names[0]]]
    assert run("predict", model, "--node", "nobody").code == 2


def test_an_approximate_answer_says_so(run, model, tmp_path, monkeypatch):
    pytest.importorskip("faiss")
    from coembed.fitted import load, nearest_index, save

    monkeypatch.setattr(nearest_index, "EXACT_ITEMS", 500)
    save(load(model), tmp_path / "model")
    name = load(model).network.node_names[3]
    for words in (["similar", tmp_path / "model", name], ["profile", tmp_path / "model", name]):
        ran = run(*words, "--json")
        assert len(ran.json) == 10
        assert "of the ten nearest" in ran.err


def test_links_alone_say_what_lies_beside_them_when_streamed(run, tmp_path):
    (tmp_path / "edges.csv").write_text("a,b\n")
    (tmp_path / "labels.csv").write_text("a,x\n")
    ran = run("convert", tmp_path / "edges.csv", tmp_path / "net", "--to", "mapped", "--memory", "1GB")
    assert ran.code == 0
    assert "labels.csv beside edges.csv not read" in ran.err
    assert read(tmp_path / "net").n_classes == 0
