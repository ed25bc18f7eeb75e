"""The command of the paper's experiments: what it refuses, what it leaves."""

from __future__ import annotations

import pytest

from coembed.experiments.cell_work import WORK


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tabel1"], "no experiment 'tabel1'"),
        (["table1", "--methods", "gnc"], "no method 'gnc'"),
        (["table1", "--networks", "corra"], "no benchmark network 'corra'"),
        (["table1", "--seeds", "x"], "seeds must look like"),
        (["table1", "--protocol", "loose"], "no protocol 'loose'"),
        (["table1", "--backend", "slurm"], "no backend 'slurm'"),
        (["table1", "--data", "nowhere"], "nowhere is not a folder"),
        (["table1", "--tuned", "nowhere.toml"], "nowhere.toml cannot be read"),
        (["report"], "no finished cells"),
    ],
)
def test_a_wrong_word_is_one_sentence_and_leaves_nothing(run, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    ran = run("reproduce", *words, "-o", "out")
    assert ran.code == 2
    assert said in ran.err
    assert len(ran.err.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_a_failed_cell_is_told_at_the_end(run, tmp_path, monkeypatch):
    monkeypatch.setitem(WORK, "datasets", lambda job, progress: 1 / 0)
    ran = run("reproduce", "datasets", "-o", tmp_path, "--networks", "wordnet-demo", "--data", tmp_path)
    assert ran.code == 1
    assert "failed: datasets-strict/counts.wordnet-demo.0: ZeroDivisionError" in ran.err
