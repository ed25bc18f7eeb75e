"""``-q`` hushes every command: nothing on standard error, the data where they were."""

from __future__ import annotations

import pytest
import typer
from people_network import people_network

from coembed.cli import main
from coembed.cli.app import app
from coembed.network import write

SMALL = ("--epochs", 1, "--set", "space_dim=0", "--set", "dim=4", "--no-compare")
# what each command is asked here; {} stands for the folder with `net`, `model` and `new.csv`
ASKED = {
    "train": ("{}/net", "-o", "{}/again", *SMALL),
    "tune": ("{}/net", "-o", "{}/tuning", "--trials", 1, "--set", "epochs=1", *SMALL[2:-1]),
    "evaluate": ("{}/net", "--task", "classification", "--method", "majority", "--labels", 0.5, "--seeds", 1),
    "reproduce": ("datasets", "-o", "{}/results", "--networks", "wordnet-demo"),
    "predict": ("{}/model",),
    "impute": ("{}/model", "{}/new.csv", "-o", "{}/full.csv"),
    "complete": ("{}/model", "--item", "p000"),
    "links": ("{}/model", "--item", "p000"),
    "profile": ("{}/model", "p000"),
    "similar": ("{}/model", "p000"),
    "nearest": ("{}/model", "--item", "p000"),
    "why": ("{}/model", "p000"),
    "find": ("{}/model", "degree>0"),
    "ask-next": ("{}/model",),
    "map": ("{}/model", "-o", "{}/map.png", "--method", "pca"),
    "explore": ("{}/model", "--method", "pca", "--no-browser"),
    "serve": ("{}/model", "--method", "pca"),
    "report": ("{}/model", "-o", "{}/report.html", "--method", "pca", "--cards", 1),
    "data": ("list", "--cache", "{}/cache"),
    "info": ("{}/net",),
    "convert": ("{}/net", "{}/other"),
    "synthesize": (
        "-o",
        "{}/made-up",
        "--nodes",
        300,
        "--links",
        1200,
        "--attributes",
        40,
        "--entries",
        2500,
    ),
    "embed": ("{}/model", "{}/net", "-o", "{}/placed.csv"),
    "export": ("{}/model", "-o", "{}/codes.csv"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quiet")
    write(people_network(), folder / "net")
    (folder / "new.csv").write_text("id,income,city,member,likes\nnew,,Oslo,yes,word01\n")
    with pytest.raises(SystemExit) as end:
        main([str(each) for each in ("train", folder / "net", "-o", folder / "model", *SMALL, "-q")])
    assert not end.value.code
    return folder


def test_every_command_is_asked():
    # `demo` is asked in test_commands.py, as it takes a while
    assert {*ASKED, "demo"} == set(typer.main.get_command(app).commands)


@pytest.mark.parametrize("command", ASKED)
def test_a_quiet_command_says_nothing(run, folder, command, monkeypatch):
    if command in ("explore", "serve"):
        monkeypatch.setattr("coembed.explorer.server.serve", lambda *_, tell, **__: tell("http://here"))
    ran = run(command, *(str(each).replace("{}", str(folder)) for each in ASKED[command]), "-q")
    assert (ran.code, ran.err) == (0, "")


def test_what_goes_wrong_is_told_all_the_same(run, folder):
    loud = run("export", folder / "model", "-o", folder / "codes.csv")
    assert "wrote" in loud.err
    refused = run("embed", folder / "model", folder / "nothing.csv", "-o", folder / "new.csv", "-q")
    assert refused.code == 2
    assert "does not exist" in refused.err
