"""The coverage-guided fuzzer finds nothing either; it needs atheris, which not every Python has."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
FILES = (
    *("links/edges.csv", "links/labels.csv", "items/people.csv", "schema/network.toml", "npz/net.npz"),
    *("mat/net.mat", "mat-4/net.mat", "mat-packed/net.mat", "scan/net.edge", "scan/net.label"),
    *("planetoid/ind.x.graph", "planetoid/ind.x.allx", "planetoid/ind.x.test.index", "split/split.npz"),
    *("parquet/edges.parquet", "mapped/network.json", "mapped-types/network.json", "model/model.json"),
)
RUNS = 20_000


@pytest.mark.slow
@pytest.mark.skipif(find_spec("atheris") is None, reason="atheris is not installed")
@pytest.mark.parametrize("file", FILES)
def test_nothing_but_input_errors_is_found(file):
    command = [sys.executable, "coverage_guided.py", file, f"-runs={RUNS}", "-seed=1", "-max_total_time=600"]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
