"""Makes the small valid files that fuzzing begins with: ``python corpus_making.py`` writes ``corpus``.

Each folder is one network, model or checkpoint, read as a whole.
"""

from __future__ import annotations

import pickle
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.io
import scipy.sparse as sp

if TYPE_CHECKING:
    from coembed.fitted import Fitted

CORPUS = Path(__file__).resolve().parent / "corpus"
sys.path.insert(0, str(CORPUS.parents[1]))

PEOPLE = '''id,name,age,town,member,joined,likes,about
p1,Ann,31,Oslo,yes,2021-03-05,chess;tea,"reads books, and
writes them"
p2,Bob,,Rome,no,2020-11-30,tea,sails small boats at sea
p3,Eve,24,Oslo,yes,,"chess;""go""",reads about boats and the sea
p4,Ида,57.5,,no,2019-01-01,,writes books about tea
p5,Ann,40,Rome,yes,2022-06-17,go;tea,plays chess in the evening
p6,Zoë,38,Oslo,,2021-12-24,chess,sails and writes
'''
ORDERS = "order,customer,amount\no1,p1,12.5\no2,p2,3\no3,p1,99\no4,p5,7.25\n"
FOLLOWS = "from,to,weight\np1,p2,1\np2,p3,0.5\np3,p1,2\np5,p6,1\n"
SCHEMA = """[types.people]
file = "people.csv"
id = "id"
title = "name"
label = "town"

[types.people.columns.age]
kind = "number"

[relations.follows]
file = "follows.csv"
source = "from"
target = "to"
source_type = "people"
target_type = "people"
directed = true
"""
GRAPHML = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="age" attr.type="double"/>
<key id="d1" for="node" attr.name="town" attr.type="string"/>
<key id="d2" for="edge" attr.name="weight" attr.type="double"/>
<graph edgedefault="undirected">
<node id="ann"><data key="d0">31</data><data key="d1">Oslo</data></node>
<node id="bøb"><data key="d1">Rome</data></node>
<node id="eve"><data key="d0">24.5</data><data key="d1">Oslo</data></node>
<edge source="ann" target="bøb"><data key="d2">2</data></edge>
<edge source="bøb" target="eve"/>
</graph></graphml>
"""
GEXF = """<?xml version="1.0" encoding="utf-8"?>
<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2"><graph defaultedgetype="directed">
<attributes class="node"><attribute id="0" title="town" type="string"/>
<attribute id="1" title="age" type="double"/></attributes>
<nodes><node id="a" label="ann"><attvalues><attvalue for="0" value="Oslo"/><attvalue for="1" value="31"/>
</attvalues></node><node id="b" label="bøb"><attvalues><attvalue for="1" value="24"/></attvalues></node>
<node id="e" label="eve"/></nodes>
<edges><edge id="0" source="a" target="b" weight="2"/><edge id="1" source="b" target="e"/></edges>
</graph></gexf>
"""
GML = """graph [ directed 1
  node [ id 1 label "ann" age 31 town "Oslo" ]
  node [ id 2 label "bob" age 24.5 ]
  node [ id 3 label "eve" town "Rome" ]
  edge [ source 1 target 2 weight 2.5 ]
  edge [ source 2 target 3 ]
]
"""


def main() -> None:
    from coembed.network import Network, split_labels, write
    from coembed.network.split_files import save_split

    shutil.rmtree(CORPUS, ignore_errors=True)

    def folder(name: str) -> Path:
        (CORPUS / name).mkdir(parents=True)
        return CORPUS / name

    links = sp.csr_array(np.array([[0, 1, 0, 0], [1, 0, 2, 0], [0, 2, 0, 1], [0, 0, 1, 0]], dtype=np.float32))
    attributes = sp.csr_array(np.array([[1, 0], [0, 1], [1, 1], [0, 0]], dtype=np.float32))
    network = Network.build(
        links, attributes, [0, 1, -1, 0], node_names=["ann", "bøb", "eve", "zoe"], class_names=["a", "b"]
    )

    place = folder("links")
    (place / "edges.csv").write_text("source,target,weight\nann,bob,1\nbob,eve,0.5\neve,zoe,2\n")
    (place / "attributes.tsv").write_text("node\tattribute\nann\tred\nbob\tblue\nzoe\tred\n")
    (place / "labels.csv").write_text("node,label\nann,1\nbob,2\neve,\n")
    (folder("items") / "people.csv").write_text(PEOPLE)
    place = folder("tables")
    for name, text in (("people.csv", PEOPLE), ("orders.csv", ORDERS), ("follows.csv", FOLLOWS)):
        (place / name).write_text(text)
    place = folder("schema")
    for name, text in (("people.csv", PEOPLE), ("follows.csv", FOLLOWS), ("network.toml", SCHEMA)):
        (place / name).write_text(text)
    for name, text in (("graphml", GRAPHML), ("gexf", GEXF), ("gml", GML)):
        (folder(name) / f"net.{name}").write_text(text)
    write(network, folder("npz") / "net.npz")
    for name, options in (("mat", {}), ("mat-packed", {"do_compression": True}), ("mat-4", {"format": "4"})):
        content = {"Network": sp.csc_matrix(links.astype(float)), "Attributes": attributes.toarray()}
        scipy.io.savemat(
            folder(name) / "net.mat", content | {"Label": np.array([[1.0, 2, -1, 1]]).T}, **options
        )
    place = folder("scan")
    (place / "net.edge").write_text("#Nodes 4\n#Edges 3\n0 1\n1 2\n2 3\n")
    (place / "net.node").write_text("#Nodes 4\n#Attributes 2\n0 0\n1 1\n2 0\n")
    (place / "net.label").write_text("1\n2\n-1\n1\n")
    place = folder("planetoid")
    planetoid = {
        "allx": sp.csr_matrix(np.eye(3, 2)),
        "ally": np.eye(3, 2),
        "tx": sp.csr_matrix(np.ones((1, 2))),
        "ty": np.array([[0, 1]]),
        "graph": {0: [1], 1: [0, 2], 2: [3], 3: []},
    }
    for ending, value in planetoid.items():
        (place / f"ind.x.{ending}").write_bytes(pickle.dumps(value, protocol=2))
    (place / "ind.x.test.index").write_text("3\n")
    table = pa.table(
        {"source": ["ann", "bob", "eve"], "target": ["bob", "eve", "zoe"], "weight": [1.0, 2.0, 0.5]}
    )
    pq.write_table(table, folder("parquet") / "edges.parquet")
    rows = {"id": ["p1", "p2", "p3"], "age": [31, None, 24], "likes": [["tea"], ["go", "tea"], None]}
    pq.write_table(pa.table(rows), folder("parquet-items") / "people.parquet")
    write(network, CORPUS / "mapped", "mapped")
    save_split(split_labels(network, labels=0.5), folder("split") / "split.npz")
    _models(network)


def _models(network: object) -> None:
    from people_network import people_network

    from coembed.fitted import save
    from coembed.network import write
    from coembed.settings import preset_settings
    from coembed.training import Checkpoints, fit

    general = people_network(people=12, films=8)
    write(general, CORPUS / "mapped-types", "mapped")
    small = {"epochs": 2, "dim": 3, "hidden": 4, "rank": 3, "space_dim": 6}
    save(_doubting(fit(general, preset_settings("best", **small))), CORPUS / "model")
    paper = preset_settings("paper", epochs=2, dim=3, hidden=4, block=1024)
    save(fit(network, paper), CORPUS / "model-paper")
    fit(network, paper, checkpoints=Checkpoints(CORPUS / "checkpoint", minutes=0))


def _doubting(fitted: Fitted) -> Fitted:
    """With doubt of classes, pairs and numbers, which so small a network does not tell."""
    from dataclasses import replace

    from coembed.fitted.pair_doubt import PairDoubt
    from coembed.training.class_doubt import split_conformal

    known = np.flatnonzero(fitted.labels_of("person") >= 0)
    doubt = split_conformal(fitted.predict_proba("person"), fitted.labels_of("person"), known)
    pairs = PairDoubt.of(np.linspace(0.5, 1, 9), np.linspace(0, 0.6, 40), 0.1)
    fits = {
        "saw": replace(fitted.relations["saw"], doubt=pairs),
        "income": replace(fitted.relations["income"], errors=np.linspace(0, 2, 20).astype(np.float32)),
    }
    return replace(
        fitted,
        types={**fitted.types, "person": replace(fitted.types["person"], doubt=doubt)},
        relations={**fitted.relations, **fits},
    )


if __name__ == "__main__":
    main()
