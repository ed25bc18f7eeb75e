import csv
from dataclasses import replace

import numpy as np
import pytest
from pyarrow import parquet

from coembed.errors import InputError
from coembed.fitted.export import export
from coembed.network import Items


def all_codes(fitted):
    return np.vstack([fitted.nodes.mean, fitted.attribute_mean])


def all_names(fitted):
    return [*fitted.network.node_names, *fitted.network.attribute_names]


def renamed(fitted, attribute_names):
    types = fitted.network.types
    words = Items.build("attribute", attribute_names)
    return replace(fitted, network=replace(fitted.network, types={**types, "attribute": words}))


def test_csv_holds_every_item_with_its_code(fitted, tmp_path):
    export(fitted, tmp_path / "codes.csv")
    with (tmp_path / "codes.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["id"] for row in rows] == all_names(fitted)
    assert [row["type"] for row in rows] == ["node"] * 40 + ["attribute"] * 15
    codes = [[float(row[f"mean{c}"]) for c in range(fitted.code_dim)] for row in rows]
    np.testing.assert_allclose(codes, all_codes(fitted), rtol=1e-5)


def test_csv_survives_commas_quotes_and_new_lines_in_names(fitted, tmp_path):
    odd = renamed(fitted, attribute_names=[f'a,"{i}"\nb' for i in range(15)])
    export(odd, tmp_path / "codes.csv")
    with (tmp_path / "codes.csv").open(newline="") as stream:
        assert [row["id"] for row in csv.DictReader(stream)] == all_names(odd)


def test_parquet_tells_labels_observed_before_predicted(fitted, tmp_path):
    export(fitted, tmp_path / "codes.parquet")
    table = parquet.read_table(tmp_path / "codes.parquet").to_pydict()
    known = fitted.network.labelled
    assert [table["label"][i] for i in known] == list(
        fitted.network.class_names[fitted.network.labels[known]]
    )
    assert all(table["probability"][i] == 1 for i in known)
    assert table["label"][40:] == [None] * 15
    np.testing.assert_array_equal(np.array(table["std"], np.float32)[:40], fitted.nodes.std)


def test_npz_gives_the_arrays_without_pickle(fitted, tmp_path):
    export(fitted, tmp_path / "codes.npz")
    with np.load(tmp_path / "codes.npz", allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["node.mean"], fitted.nodes.mean)
        np.testing.assert_array_equal(arrays["attribute.std"], fitted.attribute_std)
        np.testing.assert_array_equal(arrays["node.probabilities"], fitted.probabilities)
        assert list(arrays["node.ids"]) == list(fitted.network.node_names)
        assert list(arrays["node.classes"]) == list(fitted.network.class_names)
        assert not [name for name in arrays if name.endswith(".query")]


def read_word2vec(path):
    count, width = map(int, path.read_text().split("\n", 1)[0].split())
    rows = [line.split(" ") for line in path.read_text().splitlines()[1:]]
    assert len(rows) == count
    assert all(len(row) == width + 1 for row in rows)
    return [row[0] for row in rows], np.array([row[1:] for row in rows], float)


def test_word2vec_text_is_read_back(fitted, tmp_path):
    names, codes = read_word2vec(*export(fitted, tmp_path / "codes.txt"))
    assert names == all_names(fitted)
    np.testing.assert_allclose(codes, all_codes(fitted), rtol=1e-5)


def test_word2vec_names_stay_one_field_and_unique(fitted, tmp_path):
    odd = renamed(fitted, attribute_names=["n0", "two words", "\t", *(f"w{i}" for i in range(12))])
    names, _ = read_word2vec(*export(odd, tmp_path / "codes.vec"))
    assert names[0] == "node:n0"
    assert names[40:42] == ["attribute:n0", "attribute:two_words"]
    clash = renamed(fitted, attribute_names=["a b", "a_b", *(f"w{i}" for i in range(13))])
    with pytest.raises(InputError, match="differ in spaces only"):
        export(clash, tmp_path / "clash.txt")
    assert not (tmp_path / "clash.txt").exists()


def test_projector_pair_has_one_line_an_item(fitted, tmp_path):
    odd = renamed(fitted, attribute_names=["tab\tin it", *(f"w{i}" for i in range(14))])
    vectors, metadata = export(odd, tmp_path / "codes.tsv")
    np.testing.assert_allclose(np.loadtxt(vectors, delimiter="\t"), all_codes(odd), rtol=1e-5)
    lines = metadata.read_text().splitlines()
    assert lines[0] == "title\ttype\tlabel\tid"
    assert len(lines) == 56
    assert all(line.count("\t") == 3 for line in lines)


@pytest.mark.parametrize("format", ["csv", "parquet", "npz", "word2vec", "projector"])
def test_every_format_takes_models_without_classes_or_attributes(unlabelled, bare, tmp_path, format):
    for fitted in (unlabelled, bare):
        assert all(path.stat().st_size for path in export(fitted, tmp_path / "codes", format))


def test_unknown_formats_are_refused(fitted, tmp_path):
    with pytest.raises(InputError, match="no format for the ending of"):
        export(fitted, tmp_path / "codes.doc")
    with pytest.raises(InputError, match="no format 'doc'"):
        export(fitted, tmp_path / "codes.csv", "doc")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("format", ["npz", "parquet"])
def test_an_index_of_the_exported_vectors_gives_the_same_ten(fitted, tmp_path, format):
    faiss = pytest.importorskip("faiss")
    (path,) = export(fitted, tmp_path / f"codes.{format}")
    if format == "npz":
        arrays = np.load(path)
        found = {type: (arrays[f"{type}.ids"], arrays[f"{type}.mean"]) for type in ("node", "attribute")}
    else:
        table = parquet.read_table(path).to_pydict()
        types, ids, vectors = (np.array(table[name]) for name in ("type", "id", "mean"))
        found = {type: (ids[types == type], vectors[types == type]) for type in ("node", "attribute")}
    for here, there, asked in (
        ("node", "attribute", fitted.profile),
        ("attribute", "node", fitted.nodes_about),
    ):
        (names, queries), (others, vectors) = found[here], found[there]
        queries, vectors = (np.array(each, dtype=np.float32) for each in (queries, vectors))
        faiss.normalize_L2(queries)
        faiss.normalize_L2(vectors)
        index = faiss.IndexFlatIP(vectors.shape[1])
        index.add(vectors)
        scores, places = index.search(queries, 10)
        for name, row, score in zip(names, places, scores, strict=True):
            told = asked(str(name), 10)
            assert [match.name for match in told] == [str(others[place]) for place in row]
            np.testing.assert_allclose([match.score for match in told], score, atol=1e-5)
