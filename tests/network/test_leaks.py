"""Columns that tell the label alone are found, and others are not."""

import numpy as np
import pytest

from coembed.network import make_customers, read
from coembed.network.leaks import telling_columns


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["id,y,code,score,noisy,many,flag"]
    for i in range(300):
        k = int(rng.integers(3))
        noisy = k if rng.random() < 0.9 else (k + 1) % 3
        lines.append(
            f"i{i},{'abc'[k]},{'xyz'[k]},{k + rng.normal() / 100:.4f},v{noisy},u{i // 2},{int(k == 1)}"
        )
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "t.csv"


def test_what_tells_the_label_is_found_and_said(table):
    network = read(table, labels=["y"], kinds={"many": "category"})
    assert [relation.name for relation, _ in telling_columns(network, "t")] == ["code", "score"]
    said = (
        "t.code alone tells the label of 100% of the rows; if it is known only with the label, leave it out"
    )
    assert any(said in notice for notice in network.notices)


def test_nothing_is_said_of_ordinary_columns():
    assert telling_columns(make_customers(500), "customers") == []


def test_few_or_lopsided_labels_prove_nothing(table):
    network = read(table, labels=["y"])
    few = network.with_labels(np.where(np.arange(300) < 40, network.labels, -1))
    assert telling_columns(few, "t") == []
    assert telling_columns(network.with_labels(np.zeros(300, dtype=int)), "t") == []
