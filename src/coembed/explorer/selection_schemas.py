"""What is asked and answered about selections."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from coembed.explorer.item_schemas import ItemRef, Listed
from coembed.explorer.request_schemas import (
    LONGEST_ID,
    MOST_BATCH,
    Count,
    Id,
    Offset,
    TypeName,
    _Question,
)

LONGEST_QUERY = 4_000
QueryText = Annotated[str, Field(max_length=LONGEST_QUERY, examples=["class:animal p<0.6 has:river"])]
FieldName = Annotated[str, Field(max_length=LONGEST_ID, examples=["degree"])]


class Selection(_Question):
    """Which items are meant: those that fit all that is given."""

    query: QueryText | None = Field(None, description="See the page on queries.")
    ids: dict[TypeName, Annotated[list[Id], Field(max_length=MOST_BATCH)]] | None = Field(
        None, description="By type.", examples=[{"node": ["Denmark.n.01"]}]
    )
    bits: dict[TypeName, Annotated[str, Field(max_length=800_000)]] | None = Field(
        None, description="By type, a bit an item in the order of the map, in base64: many at once."
    )


class ApartQuestion(_Question):
    selection: Selection
    against: Selection | None = Field(None, description="By default all others of the same types.")
    k: Count = 30


class SelectionQuestion(_Question):
    selection: Selection


class TableQuestion(_Question):
    selection: Selection
    type: TypeName | None = Field(None, description="Whose rows; by default the first that is selected.")
    sort: FieldName | None = None
    descending: bool = False
    offset: Offset = 0
    limit: Count = 50


class ExportQuestion(_Question):
    selection: Selection
    format: Literal["csv", "parquet"] = "csv"


class FindAnswer(BaseModel):
    query: str
    total: int
    counts: dict[str, int]
    offset: int
    items: list[Listed]
    bits: dict[str, str] | None


class FieldEntry(BaseModel):
    name: str
    kind: Literal["number", "date", "category", "tags"]
    types: list[str]


class KeptEntry(BaseModel):
    name: str
    query: str | None
    counts: dict[str, int]


class FieldsAnswer(BaseModel):
    fields: list[FieldEntry]
    words: list[str] = Field(description="What else a query may name.")
    selections: list[KeptEntry]


class TypeValues(BaseModel):
    type: str
    values: list[float | None] = Field(description="Numbers, days since 1970, or positions in `names`.")


class ValuesAnswer(BaseModel):
    field: str
    kind: Literal["number", "date", "category"]
    names: list[str]
    types: list[TypeValues]


class ApartEntry(BaseModel):
    type: str
    field: str
    kind: str
    value: str | None = Field(description="The name that is commoner or rarer; of a number null.")
    inside: float = Field(description="Share of the items that have it; of a number the median.")
    outside: float
    effect: float = Field(description="log2 of the ratio of odds; of a number, -1 all below to 1 all above.")
    p: float
    q: float = Field(description="Corrected for all that was tested.")
    query: str = Field(description="The term that finds such items.")
    texts: list[str] = Field(description="Inside and outside, for people.")


class ApartAnswer(BaseModel):
    counts: dict[str, int]
    against: dict[str, int] | None
    items: list[ApartEntry]


class ColumnEntry(BaseModel):
    name: str
    kind: str


class TablePage(BaseModel):
    type: str
    total: int
    counts: dict[str, int]
    offset: int
    columns: list[ColumnEntry]
    rows: list[list[Any]]


class RelationLinks(BaseModel):
    relation: str
    source: str
    target: str
    directed: bool
    total: int
    from_: list[int] = Field(alias="from")
    to: list[int]


class LinksAnswer(BaseModel):
    relations: list[RelationLinks]


class ItemWithLabel(ItemRef):
    label: str | None


class Entries(BaseModel):
    total: int
    items: list[ItemWithLabel]


class SharedEntries(BaseModel):
    relation: str
    backwards: bool
    other: str
    both: Entries
    first: Entries
    second: Entries


class ComparedClass(BaseModel):
    label: str
    probabilities: list[float]


class ComparedCell(BaseModel):
    column: str
    known: list[str | None]
    expected: list[str | None]


class ComparedLink(BaseModel):
    relation: str
    known: bool
    score: float
    std: float


class CompareAnswer(BaseModel):
    items: list[ItemWithLabel]
    cosine: float
    classes: list[ComparedClass]
    cells: list[ComparedCell]
    relations: list[SharedEntries]
    linked: list[ComparedLink]
