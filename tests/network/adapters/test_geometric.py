"""Data and HeteroData: types, masks, weights and directions."""

import numpy as np
import pytest

import coembed
from coembed.errors import InputError
from coembed.network.adapters.geometric import from_geometric

torch = pytest.importorskip("torch")
data_module = pytest.importorskip("torch_geometric.data")


def plain():
    x = (torch.arange(24).reshape(6, 4) % 3 == 0).float()
    pairs = torch.tensor([[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]])
    y = torch.tensor([0, 1, 0, 1, 2, -1])
    return data_module.Data(x=x, edge_index=pairs, y=y)


def test_data_is_a_plain_network():
    network = coembed.read(plain())
    assert network.is_plain
    np.testing.assert_array_equal(network.attributes.toarray(), plain().x.numpy())
    np.testing.assert_array_equal(network.labels, [0, 1, 0, 1, 2, -1])
    assert network.n_links == 3
    assert list(network.node_names[:2]) == ["0", "1"]


def test_only_what_the_mask_shows_is_known():
    data = plain()
    data.train_mask = torch.tensor([True, True, False, False, False, True])
    np.testing.assert_array_equal(coembed.read(data).labels, [0, 1, -1, -1, -1, -1])
    np.testing.assert_array_equal(from_geometric(data, mask=None).labels, [0, 1, 0, 1, 2, -1])
    assert coembed.read(data).n_classes == 3


def test_weights_and_directions():
    data = plain()
    data.edge_index = torch.tensor([[0, 1, 2], [1, 2, 0]])
    data.edge_weight = torch.tensor([0.5, 2.0, 1.5])
    links = coembed.read(data).relation("links")
    assert links.directed
    assert links.values[0, 1] == 0.5
    assert links.values[1, 0] == 0


def test_several_labels_a_node():
    data = plain()
    data.y = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0], [1.0, 0.0], [float("nan"), 0.0]])
    labels = coembed.read(data).main.labels
    assert labels.several
    np.testing.assert_array_equal(labels.values, [[1, 0], [0, 1], [1, 1], [0, 0], [1, 0], [-1, 0]])


def test_types_and_relations_of_hetero_data():
    data = data_module.HeteroData()
    data["film"].x = torch.eye(3)
    data["person"].x = torch.rand(4, 5)
    data["person"].y = torch.tensor([0, 1, 1, 0])
    data["studio"].num_nodes = 2
    data["person", "saw", "film"].edge_index = torch.tensor([[0, 1, 3], [2, 0, 1]])
    data["person", "knows", "person"].edge_index = torch.tensor([[0, 1], [1, 2]])
    data["film", "of", "studio"].edge_index = torch.tensor([[0, 1, 2], [0, 1, 1]])
    network = coembed.read(data)
    assert network.main.name == "person"  # the one with classes
    assert set(network.entity_types) == {"film", "person", "studio"}
    saw = network.relation("saw")
    assert (saw.source, saw.target, saw.values.nnz) == ("person", "film", 3)
    assert network.relation("knows").directed
    assert network.attribute_type("film") == "film.attributes"
    fitted = coembed.fit(network, coembed.preset_settings("best", epochs=1, dim=4, space_dim=0))
    assert fitted.predict_proba("person").shape == (4, 2)


def test_numbers_are_no_classes():
    data = plain()
    data.y = torch.tensor([0.5, 1.0, 2.0, 3.0, 1.0, 0.0])
    with pytest.raises(InputError, match="no classes"):
        coembed.read(data)
