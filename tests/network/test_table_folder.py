"""Folders of tables: types, relations, columns and labels are found, and all that is odd is said."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coembed.errors import InputError
from coembed.network import read


def put(folder, **texts):
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        data = text if isinstance(text, bytes) else text.encode()
        (folder / f"{name}.csv").write_bytes(data)
    return folder


SHOP = {
    "customers": "id,name,age,city\nc1,Ann,31,Oslo\nc2,Bob,,Rome\nc3,Ann,24,Oslo\nc4,Eve,55,Rome\n",
    "products": "id,price,makes\np1,2.5,c1\np2,9,c1\np3,4,c2\n",
    "orders": "customer,product,count\nc1,p1,2\nc1,p2,1\nc2,p1,5\nc9,p1,1\n",
    "friends": "a,b\nc1,c2\nc2,c3\n",
}


def pairs_of(network, name):
    relation = network.relation(name)
    rows, columns = relation.values.nonzero()
    left, right = network.items(relation.source).ids, network.items(relation.target).ids
    return {(left[i], right[j]) for i, j in zip(rows, columns, strict=True)}


def test_a_folder_of_tables_is_a_network(tmp_path):
    network = read(put(tmp_path / "shop", **SHOP))
    assert network.name == "shop"
    assert list(network.types) == ["customers", "products", "customers.attributes", "products.attributes"]
    assert pairs_of(network, "orders") == {("c1", "p1"), ("c1", "p2"), ("c2", "p1")}
    assert network.relation("orders").values[0, 0] == 2
    assert pairs_of(network, "friends") == {("c1", "c2"), ("c2", "c3")}
    assert network.relation("friends").directed
    assert network.relation("makes").target == "customers"
    assert [r.column.kind for r in network.columns("customers")] == ["number", "category"]
    assert list(network.items("customers.attributes").ids) == ["age", "city=Oslo", "city=Rome"]
    assert list(network.items("customers").titles) == ["Ann", "Bob", "Ann", "Eve"]
    said = "orders.csv: 1 row(s) were left out: their 'customer', such as 'c9', is no id of customers"
    assert said in network.notices


def test_columns_lie_side_by_side_in_one_attribute_type(tmp_path):
    network = read(put(tmp_path, **SHOP))
    age, city = network.columns("customers")
    assert (age.column.start, age.column.stop, city.column.start, city.column.stop) == (0, 1, 1, 3)
    assert age.values.shape == city.values.shape == (4, 3)
    assert set(age.values.indices) == {0}
    assert set(city.values.indices) == {1, 2}
    assert (age.absent, age.likelihood) == ("unknown", "gaussian")
    assert (city.absent, city.likelihood) == ("unknown", "categorical")
    assert age.values.nnz == 3


def test_a_single_table_is_a_network(tmp_path):
    put(tmp_path, customers=SHOP["customers"])
    network = read(tmp_path / "customers.csv")
    assert network.name == "customers"
    assert list(network.types) == ["customers", "customers.attributes"]
    packed = tmp_path / "others.csv.gz"
    packed.write_bytes(gzip.compress(SHOP["customers"].encode()))
    assert len(read(packed).main) == 4
    table = pa.table({"id": ["a", "b", "c"], "likes": [["x"], ["x", "y"], None], "age": [1.5, None, 2]})
    pq.write_table(table, tmp_path / "people.parquet")
    network = read(tmp_path / "people.parquet")
    assert list(network.items("people.attributes").ids) == ["likes=x", "likes=y", "age"]


def test_labels_are_chosen_by_column_or_by_table_and_column(tmp_path):
    put(tmp_path, **SHOP)
    for chosen in ("city", ["customers.city"]):
        network = read(tmp_path, labels=chosen)
        labels = network.items("customers").labels
        assert list(labels.classes) == ["Oslo", "Rome"]
        assert labels.values.tolist() == [0, 1, 0, 1]
        assert labels.column == "city"
        assert "city" not in network.relations
    with pytest.raises(InputError, match="no column for the label 'citty'; did you mean"):
        read(tmp_path, labels=["citty"])


def test_the_type_that_is_asked_about_is_the_main_one(tmp_path):
    put(tmp_path, a="id,x\n1,5\n2,6\n", b="id,y\nq,u\nr,u\ns,v\nt,v\n")
    assert read(tmp_path).main.name == "a"
    assert read(tmp_path, labels=["b.y"]).main.name == "b"


def test_labels_may_be_unknown_and_must_be_classes(tmp_path):
    put(tmp_path, a="id,y,tags\n1,u,a;b\n2,,b\n3,v,a\n4,NA,a;b\n")
    assert read(tmp_path / "a.csv", labels=["y"]).labels.tolist() == [0, -1, 1, -1]
    several = read(tmp_path / "a.csv", labels=["tags"])
    assert several.main.labels.values.tolist() == [[1, 1], [0, 1], [1, 0], [1, 1]]
    assert "'tags' has several classes in a cell" in " ".join(several.notices)
    with pytest.raises(InputError, match="two label columns"):
        read(tmp_path / "a.csv", labels=["y", "tags"])


def test_a_label_with_a_class_for_nearly_every_item_is_told(tmp_path):
    incomes = "".join(f"{i},{i * 7},{'uv'[i % 2]}\n" for i in range(30))
    put(tmp_path, a=f"id,income,team\n{incomes}")
    told = " ".join(read(tmp_path / "a.csv", labels=["income"]).notices)
    assert "'income' has 30 classes for 30 labels, too few to learn each" in told
    assert "too few" not in " ".join(read(tmp_path / "a.csv", labels=["team"]).notices)


def test_a_column_called_label_is_one_and_that_is_said(tmp_path):
    put(tmp_path, a="id,x,label\n1,5,u\n2,6,u\n3,7,v\n4,9,v\n")
    network = read(tmp_path / "a.csv")
    assert list(network.class_names) == ["u", "v"]
    assert "a.csv: 'label' was taken as the label" in network.notices


def test_what_could_be_a_label_is_said_if_none_was_chosen(tmp_path):
    network = read(put(tmp_path, **SHOP))
    assert any("--label customers.city" in notice for notice in network.notices)


def test_kinds_can_be_overruled(tmp_path):
    put(tmp_path, **SHOP)
    kinds = {r.name: r.column.kind for r in read(tmp_path, kinds={"age": "category"}).columns("customers")}
    assert kinds == {"age": "category", "city": "category"}
    network = read(tmp_path, kinds={"customers.age": "skip", "customers.name": "text"})
    assert "age" not in network.relations
    with pytest.raises(InputError, match="no column 'agee'; did you mean 'age'"):
        read(tmp_path, kinds={"agee": "number"})
    with pytest.raises(InputError, match="no kind of column for age: 'digit'"):
        read(tmp_path, kinds={"age": "digit"})


def test_a_relation_listed_both_ways_has_no_direction(tmp_path):
    network = read(put(tmp_path, **{**SHOP, "friends": "a,b\nc1,c2\nc2,c1\n"}))
    assert not network.relation("friends").directed
    assert network.relation("friends").n_entries == 1


def test_two_keys_make_a_relation_even_if_one_is_unique(tmp_path):
    network = read(put(tmp_path, **{**SHOP, "bosses": "customer,boss\nc1,c2\nc2,c3\nc3,c4\n"}))
    assert network.relation("bosses").n_entries == 3
    assert "bosses" not in network.types


def test_an_own_id_besides_two_keys_makes_a_type(tmp_path):
    orders = "id,customer,product\no1,c1,p1\no2,c1,p1\no3,c2,p3\n"
    network = read(put(tmp_path, **{**SHOP, "orders": orders}))
    assert len(network.items("orders")) == 3
    assert pairs_of(network, "customer") == {("o1", "c1"), ("o2", "c1"), ("o3", "c2")}


def test_numbers_are_keys_only_if_named_so(tmp_path):
    put(
        tmp_path,
        customers="id,age\n" + "".join(f"{i},{20 + i}\n" for i in range(1, 61)),
        orders="order_id,customer_id,amount\n"
        + "".join(f"{i},{i % 60 + 1},{i % 7}\n" for i in range(1, 121)),
        likes="from,to\n" + "".join(f"{i},{i % 60 + 1}\n" for i in range(1, 61)),
    )
    network = read(tmp_path)
    assert [r.name for r in network.entity_relations] == ["likes", "customer_id"]
    assert {r.name: r.column.kind for r in network.columns("orders")} == {"amount": "number"}
    assert [r.column.kind for r in network.columns("customers")] == ["number"]


def test_keys_with_gaps_that_a_program_made_numbers_of(tmp_path):
    put(tmp_path, teams="id,x\n1,5\n2,7\n3,9\n", players="id,team\na,1.0\nb,\nc,3.0\n")
    assert pairs_of(read(tmp_path), "team") == {("a", "1"), ("c", "3")}


def test_lists_of_keys_and_keys_of_the_own_table(tmp_path):
    put(
        tmp_path,
        films="id,cast,sequel_of\nf1,p1;p2,\nf2,p2,f1\nf3,,f2\n",
        people="id,born\np1,1950\np2,1961\n",
    )
    network = read(tmp_path)
    assert pairs_of(network, "cast") == {("f1", "p1"), ("f1", "p2"), ("f2", "p2")}
    assert pairs_of(network, "sequel_of") == {("f2", "f1"), ("f3", "f2")}
    assert network.relation("sequel_of").directed


def test_a_long_table_of_tags_is_a_column(tmp_path):
    tags = "customer,tag\nc1,chess\nc2,chess\nc2,go\nc3,go\n"
    network = read(put(tmp_path, **{**SHOP, "hobbies": tags}))
    hobbies = network.relation("hobbies")
    assert hobbies.column.kind == "tags"
    assert hobbies.n_entries == 4
    assert "hobbies=chess" in network.items("customers.attributes").ids.tolist()


def test_rows_without_ids_are_numbered_and_that_is_said(tmp_path):
    put(tmp_path, iris="length,width,species\n5.1,3.5,a\n4.9,3.0,a\n5.1,3.2,b\n5.0,3.5,b\n")
    network = read(tmp_path / "iris.csv")
    assert list(network.main.ids) == ["1", "2", "3", "4"]
    assert "iris.csv: no column has unique ids: the rows are numbered" in network.notices


def test_rows_that_are_there_twice(tmp_path):
    put(tmp_path, a="id,x,y\nu,1,2\nv,2,3\nu,1,2\nw,5,2\n")
    network = read(tmp_path / "a.csv")
    assert list(network.main.ids) == ["u", "v", "w"]
    assert "a.csv: 1 row(s) are there twice and count once" in network.notices
    put(tmp_path, a="id,x,y\nu,1,2\nv,2,3\nu,1,9\nw,5,2\n")
    with pytest.raises(InputError, match=r"line 4: id 'u' is that of .*line 2, but 'y' differs; keep one"):
        read(tmp_path / "a.csv")


def test_words_for_missing_are_ids_where_they_are_ids(tmp_path):
    put(tmp_path, words="id,letters\nunknown,7\nnone,4\nnull,4\n", uses="word,n\nunknown,1\nnone,2\n")
    network = read(tmp_path)
    assert list(network.items("words").ids) == ["unknown", "none", "null"]


def test_two_columns_of_one_name_are_told_apart_by_their_table(tmp_path):
    put(
        tmp_path,
        a="id,size,links\n1,5,2\n2,6,9\n",
        b="id,size\nq,3\nr,4\n",
        links="x,y\n1,q\n2,r\n",
    )
    network = read(tmp_path)
    assert list(network.relations) == ["links", "a.size", "a.links", "b.size"]
    assert network.relation("b.size").column.name == "size"


@pytest.mark.parametrize("name", ["kl", "items", "values", "a.b", "größe in m", "=", "type", "a.attributes"])
def test_any_name_will_do(tmp_path, name):
    put(tmp_path, a=f'id,"{name}","{name}=1"\nu,1,x\nv,2,x\nw,5,1\ny,5,1\n')
    network = read(tmp_path / "a.csv")
    assert list(network.relations) == [name, f"{name}=1"]
    assert len(set(network.items("a.attributes").ids)) == len(network.items("a.attributes")) == 3


def test_the_column_called_id_is_the_id(tmp_path):
    text = "customer_id,email,id,age\n7,a@x.org,k1,31\n8,b@x.org,k2,44\n"
    assert list(read(put(tmp_path / "a", customers=text)).main.ids) == ["k1", "k2"]


def test_utf16_is_read(tmp_path):
    text = "id\ttown\tage\n1\tÅre\t3,5\n2\tŁódź\t4,5\n3\tÅre\t5,0\n"
    network = read(put(tmp_path / "a", people=text.encode("utf-16")))
    assert "town=Åre" in network.items("people.attributes").ids
    assert network.relation("age").column.cell(network.relation("age").values.data).tolist() == [3.5, 4.5, 5]


def test_tables_as_people_save_them(tmp_path):
    put(tmp_path, a='\ufeffid;x;note;\r\nu;1,5;"a; b";\r\nv;2,5;"c\nd";\r\n')
    network = read(tmp_path / "a.csv")
    assert list(network.main.ids) == ["u", "v"]
    assert list(network.relations) == ["x"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,x,x\n1,2,3\n", "a.csv: two columns are called 'x'; give each its own name"),
        ("id,x,y\n1,2,3\n2,3\n", "a.csv, line 3: expected 3 columns, found 2"),
        ("id,x,y\n", "holds no rows"),
        ("id,x,y\n1,Zürich,3\n".encode("latin-1"), "line 2: not UTF-8 text"),
        ("id,x,y\n1,2,3\n,3,4\n", "line 3: the id is empty"),
    ],
)
def test_broken_tables_are_explained(tmp_path, text, said):
    put(tmp_path, a=text)
    with pytest.raises(InputError, match=said):
        read(tmp_path / "a.csv", labels=())


def test_a_table_without_rows_is_left_out(tmp_path):
    network = read(put(tmp_path, **{**SHOP, "empty": "id,x,y\n"}))
    assert "empty.csv holds no rows below its header and is left out" in network.notices


def test_lists_of_links_are_read_as_ever(tmp_path):
    for text in (
        "a,b\nb,c\n",
        "source,target,weight\na,b,1\nb,c,2\n",
        "a,b,0.5\nb,c,1\n",
        "from,to,year\na,b,1\nb,c,2\n",
    ):
        put(tmp_path, friends=text)
        network = read(tmp_path / "friends.csv")
        assert network.is_plain
        assert network.n_links == 2


@pytest.mark.parametrize(
    "text",
    [
        "id,age\nann,31\nbob,44\neve,31\n",
        "id,town\nann,Oslo\nbob,Rome\neve,Oslo\n",
        "id,age\n31,44\n44,31\n50,44\n",  # ages that are ids, too
        "name,age\nann,31\nann,44\neve,31\n",
        "node,group\nann,x\nbob,y\neve,x\n",
        "country,people\nMali,24\nPeru,34\nOman,5\n",
    ],
)
def test_an_id_and_what_it_has_is_a_table(tmp_path, text):
    network = read(put(tmp_path / "a", people=text) / "people.csv")
    assert list(network.types) == ["people", "people.attributes"]
    assert len(network.items("people")) == 3


@pytest.mark.parametrize(
    "text",
    [
        "id,friend\nann,bob\nann,eve\nbob,eve\n",
        "source,target\nann,bob\n",
        "id,target\n1,7\n2,8\n",
        "person,friend\nann,bob\neve,kim\n",
        "user_id,item_id\n1,7\n2,8\n",
        "ann,bob\nbob,eve\n",
    ],
)
def test_two_columns_of_ids_are_links(tmp_path, text):
    network = read(put(tmp_path / "a", people=text) / "people.csv")
    assert network.is_plain
    assert network.n_links == text.count("\n") - (not text.startswith("ann"))


def test_a_repeated_id_of_two_columns_is_refused(tmp_path):
    path = put(tmp_path / "a", people="id,age\n1,31\n2,44\n1,2\n") / "people.csv"
    with pytest.raises(InputError, match=r"line 4: id '1' is that of .*line 2, but 'age' differs.*source"):
        read(path)


def test_items_beside_links_are_read(tmp_path):
    network = read(put(tmp_path, customers=SHOP["customers"], edges="source,target\nc1,c2\nc2,c3\n"))
    assert network.relation("edges").n_entries == 2
    put(tmp_path, attributes="c1,red\n")
    assert read(tmp_path).is_plain  # links, attributes and labels: as ever


def test_several_tables_may_be_given(tmp_path):
    put(tmp_path, **SHOP)
    network = read(tmp_path / "customers.csv", tmp_path / "friends.csv")
    assert list(network.types) == ["customers", "customers.attributes"]
    assert network.relation("friends").n_entries == 2


def test_other_formats_have_no_columns_to_speak_of(tmp_path):
    from coembed.network import demo_network, write

    write(demo_network(), tmp_path / "demo.npz")
    with pytest.raises(InputError, match="holds no tables of items"):
        read(tmp_path / "demo.npz", labels=["x"])


def test_explicit_zeros_of_numbers_survive(tmp_path):
    put(tmp_path, a="id,x,z\n" + "".join(f"i{i},{i % 3},{i % 2}\n" for i in range(30)))
    network = read(tmp_path / "a.csv")
    assert network.relation("x").values.nnz == 30
    assert np.count_nonzero(network.relation("x").values.data == 0) == 10
    assert network.relation("z").column.kind == "yes/no"
    assert network.relation("z").values.nnz == 30


class Frame:
    """As data frames of other libraries do: columns are handed over as a stream of Arrow."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_tables_in_memory_are_read_as_files_are(tmp_path):
    from pyarrow import csv

    from coembed.network import from_tables

    put(tmp_path, **SHOP)
    frames = {name: Frame(csv.read_csv(tmp_path / f"{name}.csv")) for name in sorted(SHOP)}
    made, found = from_tables(frames, labels="city"), read(tmp_path, labels="city")
    assert list(made.types) == list(found.types)
    assert list(made.relations) == list(found.relations)
    for name, relation in found.relations.items():
        np.testing.assert_array_equal(made.relation(name).values.toarray(), relation.values.toarray())
    with pytest.raises(InputError, match="people cannot be read as a table"):
        from_tables({"people": 3})


def test_titles_of_several_words_are_a_text_too_unless_they_are_only_to_be_titles(tmp_path):
    words = ["cut", "size", "rank", "tree", "width", "core"]
    rows = [
        f"p{i},on the {word} of {'graphs' if i % 2 else 'maps'},{i % 3}.5" for i, word in enumerate(words)
    ]
    names = [f"p{i},{word},{i % 3}.5" for i, word in enumerate(words)]
    (tmp_path / "papers.csv").write_text("id,title,score\n" + "\n".join(rows))
    (tmp_path / "people.csv").write_text(
        "id,name,score\n" + "\n".join(each.replace("p", "q", 1) for each in names)
    )
    network = read(tmp_path)
    assert "graphs" in list(network.items("papers.attributes").titles)
    assert network.items("papers").titles[0] == "on the cut of maps"
    assert "people.attributes" in network.types
    assert "cut" not in list(network.items("people.attributes").titles)
    assert any("'title' has the titles, whose words are attributes, too" in each for each in network.notices)
    alone = read(tmp_path, kinds={"papers.title": "skip"})
    assert "graphs" not in list(alone.items("papers.attributes").titles)
    assert alone.items("papers").titles[0] == "on the cut of maps"


def test_a_wrong_label_names_a_column_once_and_not_all_of_a_hundred(tmp_path):
    wide = (
        "id,"
        + ",".join(f"c{i}" for i in range(100))
        + "\n"
        + "".join(f"{i}" + ",1" * 100 + "\n" for i in range(9))
    )
    folder = put(tmp_path, wide=wide, people="id,age,segment\n1,30,a\n2,40,b\n")
    with pytest.raises(InputError, match=r"did you mean 'people\.segment'\?$"):
        read(folder, labels="segmnt")
    with pytest.raises(InputError, match=r"known: .*wide\.c\d+ and 84 more$"):
        read(folder, labels="%%%")
