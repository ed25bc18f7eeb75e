import numpy as np
import pytest

from coembed.errors import InputError
from coembed.fitted.placing import infer, infer_attributes, reading_of
from coembed.network.network import Network
from coembed.views import Touch


def twin_of(network: Network, row: int, column: int) -> Network:
    """The network with a twin of one node (its links and attributes) and a twin of one attribute."""
    a, x = network.links.toarray(), network.attributes.toarray()
    a = np.vstack([np.hstack([a, a[:, [row]]]), np.append(a[row], 0)])
    x = np.hstack([np.vstack([x, x[row]]), np.append(x[:, column], 0)[:, None]])
    return Network.build(
        a,
        x,
        np.append(network.labels, -1),
        node_names=[*network.node_names, "twin"],
        attribute_names=[*network.attribute_names, "twin word"],
        class_names=network.class_names,
        name="grown",
    )


def inferred(fitted):
    """The items of the training network, as if they were new."""
    links = reading_of(fitted, "links", fitted.network.links)
    owned = reading_of(fitted, "attributes", fitted.network.attributes)
    reach = {"node": {"links>": Touch(links, None), "attributes>": Touch(owned, None)}}
    return (*infer(fitted, reach)["node"], infer_attributes(fitted, "attribute", owned.T.tocsr()))


def test_inference_of_the_training_network_gives_the_stored_arrays(any_fitted):
    nodes, probabilities, words = inferred(any_fitted)
    np.testing.assert_allclose(nodes.mean, any_fitted.node_mean, atol=1e-5)
    np.testing.assert_allclose(nodes.std, any_fitted.node_std, rtol=1e-4)
    if any_fitted.network.n_classes:
        np.testing.assert_allclose(probabilities, any_fitted.probabilities, atol=1e-5)
    np.testing.assert_allclose(words.mean, any_fitted.attribute_mean, atol=1e-5)
    np.testing.assert_allclose(words.std, any_fitted.attribute_std, rtol=1e-4)


def test_embedding_the_training_network_changes_nothing(any_fitted):
    embedded = any_fitted.embed(any_fitted.network)
    assert not any(len(positions) for positions in embedded.new.values())
    np.testing.assert_array_equal(embedded.result.nodes.mean, any_fitted.nodes.mean)
    np.testing.assert_array_equal(embedded.result.attribute_mean, any_fitted.attribute_mean)


@pytest.mark.parametrize("row", [0, 11, 39])
def test_a_node_added_again_under_another_name_lands_on_the_original(any_fitted, row):
    embedded = any_fitted.embed(twin_of(any_fitted.network, row, column=4))
    assert {type: list(positions) for type, positions in embedded.new.items()} == {
        "node": [40],
        "attribute": [15],
    }
    placed = embedded.result
    np.testing.assert_allclose(placed.node_mean[40], any_fitted.node_mean[row], atol=1e-5)
    np.testing.assert_allclose(placed.node_std[40], any_fitted.node_std[row], rtol=1e-4)
    np.testing.assert_allclose(placed.probabilities[40], any_fitted.probabilities[row], atol=1e-5)
    np.testing.assert_allclose(placed.attribute_mean[15], any_fitted.attribute_mean[4], atol=1e-5)
    # and no known item has moved
    np.testing.assert_array_equal(placed.node_mean[:40], any_fitted.node_mean)
    np.testing.assert_array_equal(placed.attribute_mean[:15], any_fitted.attribute_mean)


def test_order_and_absence_of_known_items_do_not_matter(fitted, rng):
    """A new node with its neighbours alone, shuffled, lands where it lands in the whole network."""
    whole = twin_of(fitted.network, 11, 4)
    keep = rng.permutation(np.append(whole.links[[40]].indices, 40))
    words = rng.permutation(16)
    part = Network.build(
        whole.links[keep][:, keep],
        whole.attributes[keep][:, words],
        node_names=whole.node_names[keep],
        attribute_names=whole.attribute_names[words],
    )
    here, there = fitted.embed(part).result, fitted.embed(whole).result
    np.testing.assert_allclose(here.node_mean[40], there.node_mean[40], atol=1e-6)


def test_links_among_new_nodes_are_used(fitted):
    network = twin_of(fitted.network, 0, 0)
    friends = network.links.toarray()
    friends = np.vstack([np.hstack([friends, np.eye(41)[:, [40]]]), np.append(np.eye(41)[40], 0)])
    grown = Network.build(
        friends,
        np.vstack([network.attributes.toarray(), np.zeros(16)]),
        node_names=[*network.node_names, "friend"],
        attribute_names=network.attribute_names,
    )
    alone = Network.build(
        np.zeros((1, 1)),
        np.zeros((1, 15)),
        node_names=["friend"],
        attribute_names=fitted.network.attribute_names,
    )
    placed, lonely = fitted.embed(grown).result, fitted.embed(alone).result
    assert np.abs(placed.node_mean[41] - lonely.node_mean[40]).max() > 1e-3


def test_a_given_label_of_a_new_node_enters_its_code(fitted):
    network = twin_of(fitted.network, 11, 4)
    labels = network.labels.copy()
    labels[40] = 2
    placed = fitted.embed(network.with_labels(labels)).result
    assert list(placed.nodes.mean[40, fitted.dim :]) == [0, 0, 1]
    # a class unknown to the model is no class
    strange = Network.build(
        network.links,
        network.attributes,
        np.append(np.full(40, -1), 0),
        node_names=network.node_names,
        attribute_names=network.attribute_names,
        class_names=["never seen"],
    )
    assert fitted.embed(strange).result.network.labels[40] == -1


def test_new_items_answer_questions(fitted):
    placed = fitted.embed(twin_of(fitted.network, 11, 4)).result
    assert placed.similar("twin", k=1)[0].score > 0.5
    assert placed.similar("twin word", k=1)[0].name == "word4"
    column = placed.network.relation("attributes").column
    assert (column.start, column.stop) == (0, 16)  # a new word is one of the column's


def test_models_without_classes_or_attributes_place_nodes_too(unlabelled, bare):
    assert unlabelled.embed(twin_of(unlabelled.network, 3, 3)).result.node_mean.shape == (41, 5)
    n = bare.network
    grown = Network.build(np.pad(n.links.toarray(), (0, 1)), None, node_names=[*n.node_names, "hermit"])
    placed = bare.embed(grown).result
    assert np.isfinite(placed.node_mean).all()


def test_a_network_of_strangers_is_refused(fitted):
    with pytest.raises(InputError, match="shares no node and no attribute name"):
        fitted.embed(Network.build([[0, 1], [1, 0]], node_names=["x", "y"]))


def test_a_placed_result_cannot_place_more(fitted):
    placed = fitted.embed(fitted.network).result
    with pytest.raises(InputError, match="use the model that was trained"):
        placed.embed(fitted.network)


def test_new_nodes_that_are_linked_to_one_another_land_where_the_formula_says(fitted, rng):
    """Known ones stay as they are; the degree of a new one counts its links with known and with new ones."""
    old = fitted.network
    to_known = (rng.random((3, 40)) < 0.15).astype(np.float64)
    among = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]], dtype=np.float64)
    owned = (rng.random((3, 15)) < 0.3).astype(np.float64)
    grown = Network.build(
        np.block([[old.links.toarray(), to_known.T], [to_known, among]]),
        np.vstack([old.attributes.toarray(), owned]),
        node_names=[*old.node_names, "u", "v", "w"],
        attribute_names=old.attribute_names,
    )
    placed = fitted.embed(grown).result
    layers, trained = fitted.placing.layers["node"], fitted.trained.rows["node"]
    half = ((to_known.sum(axis=1) + among.sum(axis=1) + 1) ** -0.5)[:, None]

    def propagated(at_known, here):
        return half * (to_known @ (trained.scale * at_known) + (among + np.eye(3)) @ (half * here))

    first = to_known @ layers.first["links"] + owned @ layers.first["words"]
    outputs = propagated(trained.hidden, np.tanh(propagated(trained.first, first))) @ layers.last
    outputs = outputs + placed.probabilities[40:] @ fitted.types["node"].label_shift
    np.testing.assert_allclose(placed.node_mean[40:], outputs[:, :5], atol=1e-5)
