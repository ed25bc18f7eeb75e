"""From a model to frames and to others' objects: in their order, nothing lost."""

import numpy as np
import pytest

import coembed
from coembed.errors import InputError
from coembed.settings import preset_settings

QUICK = preset_settings("best", epochs=1, dim=4, space_dim=0, pair_scores=False)


def test_a_frame_has_all_of_a_type(general):
    table = general.to_frame("film", like="pyarrow")
    assert table["id"].to_pylist() == list(general.network.items("film").ids)
    place = general.network.items("film").labels.classes.tolist().index("drama")
    np.testing.assert_allclose(table["p(drama)"], general.predict_proba("film")[:, place], atol=1e-6)
    codes = np.column_stack([table[f"code{i}"] for i in range(general.code_dim)])
    np.testing.assert_array_equal(codes, general.codes("film").mean)
    assert "title" in general.to_frame("person", like="pyarrow").column_names
    assert "class" not in general.to_frame("person.columns", like="pyarrow").column_names
    with pytest.raises(InputError, match="cannot be made"):
        general.to_frame(like="no_such_library")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_the_callers_library(general, library):
    module = pytest.importorskip(library)
    frame = general.to_frame("film", like=library)
    assert isinstance(frame, module.DataFrame)
    assert isinstance(general.to_frame("film", like=frame), module.DataFrame)
    assert list(frame["id"]) == list(general.network.items("film").ids)


def test_a_graph_gets_what_was_found_of_its_nodes():
    networkx = pytest.importorskip("networkx")
    graph = networkx.karate_club_graph()
    fitted = coembed.fit(coembed.read(graph, labels="club"), QUICK)
    turned = networkx.Graph()
    turned.add_nodes_from(reversed(list(graph)))  # the order of the graph, not that of the network
    assert fitted.write_to(turned) is turned
    np.testing.assert_allclose(turned.nodes[7]["coembed"], fitted.codes().mean[7])
    assert turned.nodes[7]["coembed_class"] in ("Mr. Hi", "Officer")
    assert 0.5 <= turned.nodes[7]["coembed_probability"] <= 1
    turned.add_node("nobody")
    with pytest.raises(InputError, match="nobody"):
        fitted.write_to(turned)
    with pytest.raises(InputError, match="nothing is written to a list"):
        fitted.write_to([])


def test_data_gets_tensors():
    torch = pytest.importorskip("torch")
    data_module = pytest.importorskip("torch_geometric.data")
    data = data_module.Data(
        x=torch.eye(6), edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]), y=torch.tensor([0, 1, 0, 1, 0, 1])
    )
    fitted = coembed.fit(coembed.read(data), QUICK)
    fitted.write_to(data)
    np.testing.assert_array_equal(data.coembed.numpy(), fitted.codes().mean)
    np.testing.assert_array_equal(data.coembed_class.numpy(), fitted.predict_proba().argmax(axis=1))


def test_anndata_gets_cells_and_genes():
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    obs = pandas.DataFrame({"kind": ["T", "B"] * 15}, index=[f"c{i}" for i in range(30)])
    adata = anndata.AnnData(rng.poisson(1.0, (30, 8)).astype(np.float32), obs)
    adata.var_names = [f"g{i}" for i in range(8)]
    fitted = coembed.fit(coembed.read(adata, labels="kind"), QUICK)
    some = adata[::-1, 2:5].copy()
    fitted.write_to(some)
    np.testing.assert_array_equal(some.obsm["X_coembed"][0], fitted.codes().mean[29])
    type = fitted.network.attribute_type("node")
    place = fitted.network.items(type).position("g3")
    np.testing.assert_array_equal(some.varm["X_coembed"][1], fitted.codes(type).mean[place])
    assert set(some.obs["coembed_class"]) <= {"T", "B"}
