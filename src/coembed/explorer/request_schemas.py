"""What is asked over the wire, with examples and bounds: the OpenAPI description is made of these."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, RootModel

from coembed.fitted.questions import COVERAGE

MOST_ANSWERS, MOST_PAIRS, MOST_NEW, MOST_JOINED, MOST_SPREADS, MOST_WHY = 200, 10_000, 20, 2_000, 400, 50
MOST_ROWS = 1_000
MOST_BATCH = 10_000
"""Rows of a table that is asked about at once."""
LONGEST_ID = 65_536

LONGEST_NAME = 1000
"""Characters of the name of a type, a relation or a column."""

Id = Annotated[str, Field(max_length=LONGEST_ID, examples=["Denmark.n.01"])]
TypeName = Annotated[str, Field(max_length=LONGEST_NAME, examples=["node"])]
RelationName = Annotated[str, Field(max_length=LONGEST_NAME, examples=["links"])]
Unit = Literal["probability", "score", "value"]


def _whole(value: object) -> object:
    """JSON knows one kind of number: 3.0 is a whole one, too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole)]  # bounds stand before it, or the description loses them
Count = Annotated[int, Field(ge=1, le=MOST_ANSWERS), BeforeValidator(_whole)]
Offset = Annotated[int, Field(ge=0, le=10_000_000), BeforeValidator(_whole)]


class _Question(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class ItemQuestion(_Question):
    """A question about one item whose id may be too long for an address."""

    id: Id
    type: TypeName | None = Field(None, description="Needed only if several types have that id.")
    k: Count = 10


class NearestQuestion(ItemQuestion):
    to: TypeName | None = Field(None, description="Of which type; by default the item's own.")


class CompleteQuestion(ItemQuestion):
    relation: RelationName | None = Field(None, description="By default its words, or its first relation.")
    column: Annotated[str, Field(max_length=LONGEST_NAME, examples=["attributes"])] | None = Field(
        None, description="Instead of a relation."
    )
    known: bool = Field(False, description="Rank also what the network already holds.")
    backwards: bool = Field(False, description="Of a directed relation: who should point to the item.")
    fdr: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        None, description="Only what is so sure that at most this share of all lists is wrong."
    )
    coverage: Annotated[float, Field(gt=0, lt=1)] = Field(
        COVERAGE, description="Of a number: how often its interval holds it."
    )


class NeighbourQuestion(_Question):
    id: Id
    type: TypeName | None = None
    relation: RelationName | None = None
    backwards: bool = False
    offset: Offset = 0
    limit: Count = 50


class WhyQuestion(_Question):
    id: Id
    type: TypeName | None = None
    label: Id | None = Field(None, description="The class to explain; by default the likeliest.")
    relation: RelationName | None = Field(None, description="By default its words, or its first relation.")
    column: RelationName | None = Field(None, description="Or a column, by its name.")
    backwards: bool = Field(False, description="Of a directed relation: who points to the item.")
    targets: Annotated[list[Id], Field(max_length=MOST_WHY, examples=[["sea", "europe"]])] = Field(
        [],
        description="Ids at the far end of the relation, or values of the column; with a relation or column "
        "and none of them, the likeliest.",
    )
    k: Count = 4


class SpreadQuestion(_Question):
    """Positions in the columns of the map, by type."""

    items: Annotated[
        dict[TypeName, Annotated[list[Whole], Field(max_length=MOST_SPREADS)]],
        Field(max_length=100, examples=[{"node": [0, 1], "attribute": [0]}]),
    ]


Value = Annotated[float, Field(ge=-1e30, le=1e30, allow_inf_nan=False)]
Text = Annotated[str, Field(max_length=LONGEST_ID)]
Joined = Annotated[
    list[Id] | dict[Id, Value], Field(max_length=MOST_JOINED, description="Names, or names with values.")
]
Cell = Annotated[
    Text | Value | bool | Joined | None,
    Field(description="As its table has it: a number, a text, yes or no; or a list of tags."),
]


class NewItem(_Question):
    id: Id = "new item"
    type: TypeName | None = Field(None, description="By default the main type.")
    relations: Annotated[dict[RelationName, Joined], Field(max_length=200)] = {}
    columns: Annotated[
        dict[Annotated[str, Field(max_length=LONGEST_NAME)], Cell], Field(max_length=2000)
    ] = {}


class PlaceQuestion(_Question):
    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={
            "examples": [
                {
                    "items": [
                        {
                            "id": "newcomer",
                            "relations": {"links": ["salmon.n.01"]},
                            "columns": {"attributes": ["fish", "sea"]},
                        }
                    ],
                    "k": 5,
                }
            ]
        },
    )
    items: Annotated[list[NewItem], Field(min_length=1, max_length=MOST_NEW)]
    k: Count = 8


RowCell = Annotated[
    Text | Value | bool | Annotated[list[Id], Field(max_length=MOST_JOINED)] | None,
    Field(description="As its table has it: a number, a text, yes or no; or a list of tags, or of ids."),
]


class PredictQuestion(_Question):
    """Rows of a new table, by the names of its columns."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={
            "examples": [
                {"rows": [{"id": "newcomer", "attributes": ["fish", "sea"], "links": ["salmon.n.01"]}]}
            ]
        },
    )
    rows: Annotated[
        list[
            Annotated[
                dict[Annotated[str, Field(max_length=LONGEST_NAME)], RowCell],
                Field(min_length=1, max_length=2000),
            ]
        ],
        Field(min_length=1, max_length=MOST_ROWS),
    ]
    type: TypeName | None = Field(None, description="By default the type that has most of the columns.")
    coverage: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        None, description="Also a set of classes that holds the true one so often."
    )
    id: Annotated[str, Field(max_length=LONGEST_NAME)] | None = Field(None, description="The column of ids.")
    as_new: bool = Field(False, description="By what the rows hold, even if their ids are known.")


class NewNode(_Question):
    id: Id = "new node"
    attributes: Joined = []
    links: Joined = []


class EmbedQuestion(_Question):
    """New nodes of a plain network, the short way."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={
            "examples": [
                {
                    "nodes": [{"id": "newcomer", "attributes": ["fish", "sea"], "links": ["salmon.n.01"]}],
                    "k": 5,
                }
            ]
        },
    )
    nodes: Annotated[list[NewNode], Field(min_length=1, max_length=MOST_NEW)]
    k: Count = 8


Pair = Annotated[list[Id], Field(min_length=2, max_length=2)]


class ScoreQuestion(RootModel[dict[RelationName, Annotated[list[Pair], Field(max_length=MOST_PAIRS)]]]):
    """Pairs of ids by relation, the near end first."""

    model_config = ConfigDict(
        strict=True,
        json_schema_extra={
            "examples": [
                {"links": [["Denmark.n.01", "Sweden.n.01"]], "attributes": [["Denmark.n.01", "sea"]]}
            ],
            "maxProperties": 100,
        },
    )


class TableQuestion(_Question):
    """A table, column by column: all columns have the same length."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"columns": {"id": ["Denmark.n.01", "Sweden.n.01"]}}]},
    )
    columns: Annotated[
        dict[
            Annotated[str, Field(max_length=LONGEST_NAME)],
            Annotated[list[RowCell], Field(max_length=MOST_BATCH)],
        ],
        Field(min_length=1, max_length=2000),
    ]
