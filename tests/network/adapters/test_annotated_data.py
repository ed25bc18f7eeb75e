"""AnnData: counts, a layer or raw; columns of obs; a graph that is there, or made on request."""

import numpy as np
import pytest
import scipy.sparse as sp

import coembed
from coembed.errors import InputError
from coembed.network.adapters.annotated_data import from_anndata

anndata = pytest.importorskip("anndata")
pandas = pytest.importorskip("pandas")


@pytest.fixture
def adata():
    rng = np.random.default_rng(0)
    counts = sp.csr_matrix(rng.poisson(0.6, (40, 12)).astype(np.float32))
    kinds = np.array(["T", "B"] * 20, dtype=object)
    kinds[5:15] = None
    obs = pandas.DataFrame(
        {
            "kind": pandas.Categorical(kinds),
            "batch": ["one", "two", "two", "one"] * 10,
            "size": rng.normal(5, 1, 40),
        },
        index=[f"cell{i}" for i in range(40)],
    )
    found = anndata.AnnData(counts, obs, pandas.DataFrame(index=[f"gene{i}" for i in range(12)]))
    found.layers["half"] = counts / 2
    return found


def test_genes_are_attributes_and_columns_of_obs_are_columns(adata):
    network = coembed.read(adata, labels="kind")
    assert list(network.main.ids) == list(adata.obs_names)
    assert len(network.main.labels.known) == 30
    genes = network.relation("attributes")
    own = genes.values.toarray()[:, genes.column.start : genes.column.stop]
    np.testing.assert_array_equal(own, adata.X.toarray())
    titles = [network.items(genes.target).title(i) for i in range(genes.column.start, genes.column.stop)]
    assert titles == list(adata.var_names)
    assert {each.column.kind for each in network.columns("node")} == {"category", "number", "counts"}
    assert not network.entity_relations
    assert any("neighbours=15" in notice for notice in network.notices)


def test_layers_raw_and_graphs(adata):
    half = from_anndata(adata, ["kind"], layer="half").relation("attributes")
    np.testing.assert_array_equal(half.values.toarray()[:, half.column.start :], adata.X.toarray() / 2)
    adata.raw = adata
    assert from_anndata(adata[:, :5].copy(), layer="raw").relation("attributes").column.stop >= 12
    joined = from_anndata(adata, neighbours=3).relation("links")
    assert not joined.directed
    assert np.diff(joined.values.indptr).min() >= 3
    adata.obsp["connectivities"] = sp.csr_matrix(([0.5], ([0], [1])), shape=(40, 40))
    assert coembed.read(adata).relation("links").values[1, 0] == 0.5
    with pytest.raises(InputError, match="halves"):
        from_anndata(adata, layer="halves")


def test_files_of_anndata(adata, tmp_path):
    adata.write_h5ad(tmp_path / "cells.h5ad")
    one, other = coembed.read(tmp_path / "cells.h5ad", labels="kind"), coembed.read(adata, labels="kind")
    assert list(one.main.ids) == list(other.main.ids)
    for name, relation in other.relations.items():
        np.testing.assert_array_equal(one.relation(name).values.toarray(), relation.values.toarray())
    (tmp_path / "broken.h5ad").write_bytes(b"no HDF5 at all")
    with pytest.raises(InputError, match=r"not a whole \.h5ad"):
        coembed.read(tmp_path / "broken.h5ad")
