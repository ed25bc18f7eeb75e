"""Bad input: exit code 2, one sentence on standard error, nothing on standard output, nothing written."""

import pytest

CASES = {
    "no such network": (["info", "nowhere.npz"], "nowhere.npz does not exist"),
    "no such model": (["predict", "nowhere"], "nowhere does not exist"),
    "unknown node": (
        ["complete", "MODEL", "--node", "Afrika.n.01"],
        "no node 'Afrika.n.01'; did you mean 'Africa.n.01'",
    ),
    "unknown item": (["profile", "MODEL", "xyzzy"], "no node and no attribute 'xyzzy'"),
    "unknown type": (["similar", "MODEL", "river", "--type", "edge"], "no type 'edge'"),
    "unknown preset": (["train", "NETWORK", "-o", "m", "--preset", "worst"], "no preset 'worst'"),
    "unknown task": (["train", "NETWORK", "-o", "m", "--task", "cook"], "no task 'cook'"),
    "unknown setting": (["train", "NETWORK", "-o", "m", "--set", "alhpa=1"], "no setting 'alhpa'"),
    "setting without value": (
        ["train", "NETWORK", "-o", "m", "--set", "alpha"],
        "not of the form setting=value",
    ),
    "setting out of range": (["train", "NETWORK", "-o", "m", "--dim", "0"], "dim must be at least 1"),
    "unknown device": (
        ["train", "NETWORK", "-o", "m", "--set", "device=toaster"],
        "device 'toaster' cannot be used",
    ),
    "unknown ending": (["export", "MODEL", "-o", "codes.doc"], "no format for the ending of codes.doc"),
    "unknown format": (["export", "MODEL", "-o", "codes.csv", "--format", "doc"], "no format 'doc'"),
    "unknown table": (["predict", "MODEL", "-o", "p.doc"], "p.doc must end in"),
    "unknown picture": (["map", "MODEL", "-o", "map.gif"], "map.gif must end in"),
    "an attribute for a node": (
        ["complete", "MODEL", "--node", "fish"],
        "is an attribute of wordnet; give the name of a node",
    ),
    "no item": (["complete", "MODEL"], "give an item with --item ID"),
    "two items": (["links", "MODEL", "--item", "a", "--node", "b"], "not both"),
    "unknown relation": (
        ["complete", "MODEL", "--node", "Africa.n.01", "--relation", "friends"],
        "no relation or column 'friends'",
    ),
    "unknown column": (
        ["complete", "MODEL", "--node", "Africa.n.01", "--column", "income"],
        "no column of node 'income'",
    ),
    "unknown target": (["nearest", "MODEL", "--item", "fish", "--to", "film"], "no type 'film'"),
    "misspelt setting": (["train", "NETWORK", "-o", "m", "--set", "alfa=2"], "did you mean 'alpha'?"),
    "misspelt preset": (["train", "NETWORK", "-o", "m", "--preset", "bst"], "did you mean 'best'?"),
    "misspelt method": (
        ["evaluate", "NETWORK", "--task", "links", "--method", "degre"],
        "did you mean 'degree'",
    ),
    "misspelt item": (["profile", "MODEL", "Denmrak.n.01"], "did you mean"),
    "unknown map": (["map", "MODEL", "-o", "map.png", "--method", "atlas"], "no map method 'atlas'"),
    "unknown method": (["evaluate", "NETWORK", "--task", "links", "--method", "luck"], "no method 'luck'"),
    "method of another task": (
        ["evaluate", "NETWORK", "--task", "links", "--method", "majority"],
        "does not do links",
    ),
    "floors of no task": (
        ["evaluate", "NETWORK", "--task", "luck", "--method", "all-floors"],
        "no task 'luck'",
    ),
    "no such type": (
        ["evaluate", "NETWORK", "--task", "classification", "--type", "dog", "--method", "majority"],
        "no type 'dog'",
    ),
    "a kind without a name": (
        ["evaluate", "NETWORK", "--task", "columns", "--as", "age"],
        "give a column and its kind",
    ),
    "unknown protocol": (
        ["evaluate", "NETWORK", "--task", "links", "--protocol", "kind"],
        "no protocol 'kind'",
    ),
    "no output folder": (["predict", "MODEL", "-o", "FILE/p.csv"], "cannot be written"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_ends_with_one_sentence(run, model, network_file, tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "FILE").write_text("mine")
    places = {"MODEL": str(model), "NETWORK": str(network_file)}
    arguments, message = CASES[case]
    ran = run(*(places.get(argument, argument) for argument in arguments))
    assert ran.code == 2
    assert ran.out == ""
    assert message in ran.err
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["FILE"]


@pytest.mark.parametrize(
    "arguments", [["train", "NETWORK"], ["profile"], ["complete", "MODEL", "-k", "0"], ["fly"]]
)
def test_wrong_usage_ends_with_code_2(run, arguments):
    assert run(*arguments).code == 2


@pytest.mark.parametrize("command", [["train", "NETWORK", "-o", "FILE"], ["demo", "-o", "FILE"]])
def test_a_file_in_the_way_is_told_before_the_training(run, network_file, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "FILE").write_text("mine")
    ran = run(*(str(network_file) if argument == "NETWORK" else argument for argument in command))
    assert ran.code == 2
    assert "FILE is a file" in ran.err
    assert (tmp_path / "FILE").read_text() == "mine"


def test_a_model_without_classes_says_what_to_do(run, tmp_path):
    (tmp_path / "edges.csv").write_text("a,b\nb,c\nc,d\n")
    assert run("train", tmp_path / "edges.csv", "-o", tmp_path / "m", "--epochs", 2, "-q").code == 0
    ran = run("predict", tmp_path / "m")
    assert ran.code == 2
    assert "train with some labels" in ran.err
    assert run("profile", tmp_path / "m", "a").code == 2  # no attributes to rank
    assert run("links", tmp_path / "m", "--node", "a").code == 0


def test_a_broken_model_is_told(run, model, tmp_path):
    (tmp_path / "model.json").write_text("{")
    ran = run("profile", tmp_path, "x")
    assert ran.code == 2
    assert "model.json, line 1: this is not JSON, the file is damaged" in ran.err
