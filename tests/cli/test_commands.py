import csv
import json
import os
import pty
import subprocess
import sys

import numpy as np
import pytest

from coembed.fitted import load
from coembed.network import Network, demo_network, read, write

START = ("demo", "train", "evaluate", "info", "convert")
COMMANDS = (*START, "predict", "complete", "links", "profile", "similar", "nearest", "embed", "export", "map")
REPORT = [
    "task",
    "type",
    "relation",
    "method",
    "network",
    "protocol",
    "seeds",
    "metrics",
    "seconds",
    "peak_rss_mb",
]
SENSE, WORD = "Africa.n.01", "river"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(run, command):
    ran = run(command, "--help")
    assert ran.code == 0
    assert f"coembed {command}" in ran.out
    assert "Examples" in ran.out


def test_help_lists_every_command(run):
    ran = run("--help")
    assert all(command in ran.out for command in COMMANDS)
    assert run("--version").out.startswith("coembed 0.")


def test_info_tells_the_figures_of_the_network(run, network_file):
    figures = run("info", network_file, "--json").json
    assert (figures["nodes"], figures["links"], figures["labelled"]) == (1476, 3682, 148)
    lines = dict(line.split("\t") for line in run("info", network_file).out.splitlines())
    assert lines["nodes"] == "1,476"
    assert lines["class plant"].endswith("nodes")


@pytest.mark.parametrize("target", ["out.npz", "folder"])
def test_convert_loses_nothing(run, network_file, tmp_path, target):
    assert run("convert", network_file, tmp_path / target).code == 0
    here, there = read(network_file), read(tmp_path / target)
    assert list(here.node_names) == list(there.node_names)
    assert (here.links != there.links).nnz == 0
    np.testing.assert_array_equal(here.labels, there.labels)


def test_train_saves_the_model_it_reports(run, network_file, tmp_path):
    report = run("train", network_file, "-o", tmp_path / "m", "--epochs", 3, "--set", "dim=5", "--json")
    assert report.json["epochs"] == 3
    assert report.json["figures"]["loss"] > 0
    assert report.json["seconds_per_epoch"] > 0
    assert report.json["processor_seconds_per_epoch"] > 0
    assert report.json["peak_rss_mb"] > 50
    fitted = load(tmp_path / "m")
    assert (fitted.dim, fitted.settings["epochs"], fitted.network.name) == (5, 3, "wordnet")


def test_progress_goes_to_standard_error_and_quiet_means_quiet(run, network_file, tmp_path):
    loud = run("train", network_file, "-o", tmp_path / "m", "--epochs", 2, "--dim", 4)
    assert loud.out == ""
    assert "2/2" in loud.err
    assert "loss" in loud.err
    assert "beta state" not in loud.err
    quiet = run("train", network_file, "-o", tmp_path / "m", "--epochs", 2, "--dim", 4, "-q")
    assert (quiet.out, quiet.err) == ("", "")


def test_an_interrupted_training_is_saved(run, network_file, tmp_path, monkeypatch):
    from coembed.cli.console import TrainingProgress

    def interrupt(self, epoch, epochs, figures):
        if epoch == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(TrainingProgress, "__call__", interrupt)
    ran = run("train", network_file, "-o", tmp_path / "m", "--epochs", 50, "--dim", 4)
    assert ran.code == 0
    assert "interrupted" in ran.err
    assert load(tmp_path / "m").history["stopped"] == "interrupted"


def test_a_checkpoint_is_kept_until_the_model_is_saved(run, network_file, tmp_path, monkeypatch):
    from coembed.cli.console import TrainingProgress

    def fall(self, epoch, epochs, figures):
        if epoch == 3:
            raise MemoryError

    training = ("train", network_file, "-o", tmp_path / "m", "--epochs", 5, "--dim", 4, "--preset", "paper")
    kept = ("--checkpoint", tmp_path / "run", "--every", 0)
    with monkeypatch.context() as patch:
        patch.setattr(TrainingProgress, "__call__", fall)
        assert run(*training, *kept).code == 2
    assert (tmp_path / "run" / "checkpoint.json").exists()
    assert "--resume" in run(*training, *kept).err
    assert run(*training, "--resume").code == 2
    assert run(*training, *kept, "--resume", "--json").json["epochs"] == 5
    assert not (tmp_path / "run").exists()


def test_predictions_agree_on_screen_in_json_and_in_files(run, model, tmp_path):
    fitted = load(model)
    rows = run("predict", model, "--json").json
    assert [row["node"] for row in rows] == list(fitted.network.node_names)
    assert [row["predicted"] for row in rows] == list(fitted.predict())
    assert sum(row["known"] is not None for row in rows) == 148
    lines = run("predict", model).out.splitlines()
    assert lines[0].split("\t") == ["node", "predicted", "probability", "known"]
    assert [line.split("\t")[1] for line in lines[1:]] == list(fitted.predict())
    for ending in ("csv", "tsv", "parquet", "json"):
        assert run("predict", model, "--unlabelled", "-o", tmp_path / f"p.{ending}").code == 0
    with (tmp_path / "p.csv").open(newline="") as stream:
        written = list(csv.DictReader(stream))
    assert len(written) == 1328
    assert abs(sum(float(written[0][f"p({name})"]) for name in fitted.network.class_names) - 1) < 1e-4
    assert len(json.loads((tmp_path / "p.json").read_text())) == 1328


def test_answers_are_those_of_the_result(run, model):
    fitted = load(model)
    for arguments, matches in [
        (("complete", model, "--node", SENSE), fitted.complete_attributes(SENSE)),
        (("links", model, "--node", SENSE, "-k", 4), fitted.suggest_links(SENSE, 4)),
        (("profile", model, SENSE), fitted.profile(SENSE)),
        (("profile", model, WORD), fitted.nodes_about(WORD)),
        (("similar", model, WORD, "-k", 3), fitted.similar(WORD, 3)),
        (("similar", model, WORD, "--kind", "attribute"), fitted.similar(WORD)),
        (("nearest", model, "--item", WORD, "--to", "node"), fitted.nearest(WORD, "node")),
        (("complete", model, "--item", SENSE, "--relation", "links"), fitted.complete(SENSE, "links")),
    ]:
        assert run(*arguments, "--json").json == [match.as_dict() for match in matches]
        lines = run(*arguments).out.splitlines()
        assert [line.split("\t")[0] for line in lines[1:]] == [match.name for match in matches]


def test_newcomers_are_placed_in_a_table_or_in_a_model(run, model, tmp_path):
    old = demo_network()
    near = [old.node_index(SENSE), *old.links[[old.node_index(SENSE)]].indices[:5]]
    links = np.zeros((7, 7))
    links[6, :6] = links[:6, 6] = 1
    newcomers = Network.build(links, node_names=[*old.node_names[near], "Atlantis"], name="newcomers")
    write(newcomers, tmp_path / "new.npz")
    ran = run("embed", model, tmp_path / "new.npz", "-o", tmp_path / "placed.csv")
    assert "1 new nodes, 0 new attributes" in ran.err
    with (tmp_path / "placed.csv").open(newline="") as stream:
        assert [row["id"] for row in csv.DictReader(stream) if row["new"] == "true"] == ["Atlantis"]
    assert run("embed", model, tmp_path / "new.npz", "-o", tmp_path / "grown").code == 0
    assert len(run("similar", tmp_path / "grown", "Atlantis", "--json").json) == 10


def test_newcomers_and_attributes_that_touch_nothing_known_are_told(run, model, tmp_path):
    (tmp_path / "edges.csv").write_text(f"Atlantis,{SENSE}\nutopia,nowhere\n")
    (tmp_path / "attributes.csv").write_text(f"Atlantis,{WORD}\nAtlantis,blorp\n{SENSE},seen\n")
    ran = run("embed", model, tmp_path / "edges.csv", tmp_path / "attributes.csv", "-o", tmp_path / "out.csv")
    assert "3 new nodes, 2 new attributes" in ran.err
    assert "1 attribute(s) are unknown to the model and no known item has them" in ran.err
    assert "so they say nothing: 'blorp'" in ran.err
    assert "so they say nothing: 'utopia', 'nowhere'" in ran.err


@pytest.mark.parametrize("name", ["codes.csv", "codes.parquet", "codes.npz", "codes.txt", "codes.tsv"])
def test_export_writes_what_the_ending_says(run, model, tmp_path, name):
    assert run("export", model, "-o", tmp_path / name).code == 0
    assert (tmp_path / name).stat().st_size > 1000


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_map_draws_and_keeps_its_layout_with_the_model(run, model, tmp_path, ending):
    assert run("map", model, "-o", tmp_path / f"map.{ending}", "--method", "pca").code == 0
    assert (tmp_path / f"map.{ending}").stat().st_size > 10_000
    assert (model / "map-pca.npz").is_file()


def test_evaluate_prints_one_object(run, network_file):
    ran = run(
        "evaluate", network_file, "--task", "classification", "--method", "majority", "--seeds", 2, "--json"
    )
    assert list(ran.json) == REPORT
    assert len(ran.json["metrics"]["accuracy"]["values"]) == 2
    table = run("evaluate", network_file, "--task", "links", "--method", "degree", "--seeds", 1)
    assert table.out.startswith("metric\tvalue\n")
    assert "±" not in table.out
    table = run("evaluate", network_file, "--task", "links", "--method", "degree", "--seeds", 2)
    assert table.out.startswith("metric\tmean\t±")


def test_evaluate_puts_several_methods_in_one_table(run, network_file):
    several = ("--method", "degree", "--method", "popularity", "--method", "degree")
    table = run("evaluate", network_file, "--task", "links", *several, "--seeds", 1)
    assert [line.split("\t")[0] for line in table.out.splitlines()] == ["method", "degree", "popularity"]
    found = run("evaluate", network_file, "--task", "links", *several, "--seeds", 1, "--json").json
    assert [report["method"] for report in found] == ["degree", "popularity"]
    assert {report["relation"] for report in found} == {"links"}
    quick = ("--set", "epochs=1", "--set", "dim=4", "--set", "hidden=4", "--seeds", 1, "--json", "-q")
    every = run("evaluate", network_file, "--task", "links", "--method", "all-floors", *quick).json
    assert [report["method"] for report in every][:3] == ["scan", "popularity", "degree"]


def test_evaluate_asks_tables_by_type_and_relation(run, tmp_path):
    rng = np.random.default_rng(0)
    people = ["id,job,age,town"]
    for i in range(60):
        job = int(rng.integers(2))
        people.append(f"p{i},{('cook', 'judge')[job]},{30 + 20 * job + rng.integers(9)},{'LM'[job]}ille")
    (tmp_path / "people.csv").write_text("\n".join(people))
    knows = [f"p{i},p{j}" for i, j in rng.integers(60, size=(200, 2)) if i != j]
    (tmp_path / "knows.csv").write_text("\n".join(["people,whom", *knows]))
    label = ("--label", "people.job", "--seeds", 1, "--json")
    classes = run("evaluate", tmp_path, "--task", "classification", "--method", "trees-own", *label).json
    assert (classes["type"], classes["relation"]) == ("people", None)
    assert classes["metrics"]["accuracy"]["mean"] > 0.8
    cells = run("evaluate", tmp_path, "--task", "columns", "--method", "ridge-cells", *label).json
    assert cells["metrics"]["r2 age"]["mean"] > 0.5
    asked = ("--task", "direction", "--relation", "knows", "--method", "in-degree")
    assert run("evaluate", tmp_path, *asked, *label).json["relation"] == "knows"


@pytest.fixture
def quick_map(monkeypatch):
    monkeypatch.setattr("coembed.maps.layout.MOST_FOR_TSNE", 0)


@pytest.mark.usefixtures("quick_map")
def test_demo_tells_its_story_and_leaves_a_model_and_a_map(run, tmp_path):
    ran = run("demo", "-o", tmp_path / "d", "--epochs", 3)
    assert ran.code == 0
    story = ran.out[: ran.out.index("Written in")]  # below stand paths
    assert max(map(len, story.splitlines())) <= 80
    for phrase in ("1,476 senses", "always the commonest class", "linear model on the words", "±", "Now you"):
        assert phrase in ran.out
    assert load(tmp_path / "d" / "model").network.n_nodes == 1476
    assert (tmp_path / "d" / "map.png").stat().st_size > 50_000


@pytest.mark.usefixtures("quick_map")
def test_demo_figures_are_those_of_its_own_model_on_the_hidden_labels(run, tmp_path):
    from coembed.network import split_labels

    ran = run("demo", "-o", tmp_path / "d", "--epochs", 3, "--json", "-q")
    assert ran.err == ""
    report = ran.json
    network = demo_network()
    split = split_labels(network, labels=0.1, seed=0)
    fitted = load(report["model"])
    assert not set(split.test) & set(fitted.network.labelled)
    right = (fitted.probabilities.argmax(1) == network.labels)[split.test].mean()
    assert report["accuracy"]["coembed"] == pytest.approx(right)
    assert 0.45 < report["accuracy"]["always the commonest class"] < 0.47


def test_queries_and_the_import_need_no_torch(model):
    program = f"""
import sys
import coembed
from coembed.cli import main
coembed.demo_network, coembed.load, coembed.Network, coembed.preset_settings, coembed.SCAN
for arguments in (["profile", {str(model)!r}, "{SENSE}"], ["predict", {str(model)!r}], ["--help"],
                  ["links", {str(model)!r}, "--node", "{SENSE}"], ["similar", {str(model)!r}, "{WORD}"]):
    try:
        main(arguments)
    except SystemExit as end:
        assert not end.code
    assert "torch" not in sys.modules, arguments
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_terminal_gets_a_table_and_few_rows(model):
    """On a terminal the answer is for the eye; what is cut is told."""
    parent, child = pty.openpty()
    command = [sys.executable, "-c", "from coembed.cli import main; main()", "predict", str(model)]
    process = subprocess.Popen(command, stdout=child, stderr=subprocess.PIPE, text=True)
    os.close(child)
    shown = b""
    while chunk := _read(parent):
        shown += chunk
    error = process.communicate(timeout=60)[1]
    assert process.returncode == 0
    assert shown.count(b"\n") == 21
    assert "1,456 more" in error


def _read(descriptor):
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the other end of the terminal is closed
        return b""


def test_the_demo_of_tables_tells_of_every_labelled_type(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("demo", "tables", "--epochs", "2", "--json", "-q")
    found = json.loads(done.out)
    assert set(found["accuracy"]) == {"nouns", "verbs"}
    assert all(0 <= share <= 1 for each in found["accuracy"].values() for share in each.values())
    assert (tmp_path / found["map"]).stat().st_size > 10_000
    assert run("demo", "chairs").code == 2
