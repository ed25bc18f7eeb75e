"""What goes over the wire, with examples: the OpenAPI description is made of these."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, RootModel

MOST_ANSWERS, MOST_PAIRS, MOST_NEW, MOST_JOINED, MOST_SPREADS, MOST_WHY = 200, 10_000, 20, 2_000, 400, 50
MOST_ROWS = 1_000
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


# Questions


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
    k: Annotated[int, Field(ge=1, le=20), BeforeValidator(_whole)] = 4


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
    k: Annotated[int, Field(ge=1, le=50), BeforeValidator(_whole)] = 8


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
    k: Annotated[int, Field(ge=1, le=50), BeforeValidator(_whole)] = 8


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


# Answers


class Health(BaseModel):
    status: Literal["ok"] = Field(examples=["ok"])
    version: str
    model: str = Field(description="Name of the network that was fitted.")
    nodes: int = Field(description="Items of the main type.")
    attributes: int = Field(description="Of the main type.")
    classes: int


class ClassEntry(BaseModel):
    label: str
    colour: str
    mark: str
    nodes: int
    observed: int


class ItemRef(BaseModel):
    id: str
    type: str
    title: str = Field(description="What people call it.")


class TypeEntry(BaseModel):
    name: str
    items: int
    owner: str | None = Field(description="The type whose attributes these are, if they are some.")
    classes: list[str]
    labelled: int
    colour: str | None
    mark: str


class RelationEntry(BaseModel):
    name: str
    source: str
    target: str
    directed: bool
    entries: int
    score: Unit
    column: str | None = Field(description="The column of the source's table that it is, if it is one.")
    kind: str | None
    span: list[int] | None = Field(description="Of a column: where its attributes begin and end.")


class TypesAnswer(BaseModel):
    main: str
    types: list[TypeEntry]
    relations: list[RelationEntry]


class Model(Health, TypesAnswer):
    plain: bool
    coloured: str = Field(description="The type whose classes are the colours of the map.")
    preset: str
    dim: int
    code_dim: int
    method: str
    links: int
    labelled: int
    can_embed: bool
    judged: bool
    scores: dict[str, Unit]
    class_list: list[ClassEntry]
    examples: list[ItemRef]


class Found(ItemRef):
    label: str | None = Field(description="Its class, observed or else predicted.")
    weight: int = Field(description="Entries of an item, owners of an attribute.")
    score: float = Field(description="5 equal, 4 begins so, 3 words begin so, 2 contains it, below: alike.")


class SearchAnswer(BaseModel):
    query: str
    offset: int
    items: list[Found]


class Listed(ItemRef):
    label: str | None
    observed: bool | None
    probability: float | None
    weight: int


class ItemsAnswer(BaseModel):
    total: int
    offset: int
    items: list[Listed]


class Match(ItemRef):
    score: float = Field(description="A cosine, a probability, or a value.")
    std: float = Field(description="Standard deviation of the score.")
    known: bool = Field(description="Whether the network already holds this pair.")
    label: str | None


class Matches(ItemRef):
    items: list[Match]


class AdviceEntry(ItemRef):
    settles: float = Field(description="How many wrong answers its label is expected to settle.")
    doubt: float = Field(description="The probability that its likeliest class is wrong.")
    predicted: str


class AdviceAnswer(BaseModel):
    type: str
    items: list[AdviceEntry]


class Completion(ItemRef):
    relation: str
    score: Unit
    text: str | None = Field(description="A number with its spread, or what is promised of a list, in words.")
    items: list[Match]


class LabelProbability(BaseModel):
    label: str
    probability: float


class Certainty(BaseModel):
    words: str | None
    surer_than: float | None = Field(description="Share of items of its type whose class is less certain.")
    sharper_than: float = Field(description="Share of items of its type whose place is less certain.")


class Neighbour(ItemRef):
    label: str | None
    value: float


class Neighbours(BaseModel):
    total: int
    offset: int
    items: list[Neighbour]


class Place(BaseModel):
    x: float
    y: float
    covariance: list[list[float]] = Field(description="How far the uncertainty carries it on the map.")


class ClassSet(BaseModel):
    coverage: float = Field(description="How often such sets hold the true class.")
    classes: list[str] = Field(description="The likeliest first.")


class CellEntry(BaseModel):
    column: str
    relation: str
    kind: str
    known: str | None
    expected: str | None
    spread: str | None = Field(description="Of a number, in its unit.")
    interval: str | None = Field(description="Of a number: what holds it nine times of ten.")
    values: list[Match] = Field(description="Of a category: its values, the likeliest first.")


class Suggested(BaseModel):
    relation: str
    other: str = Field(description="The type at the other end.")
    backwards: bool
    score: Unit
    suggested: list[Match]


class Walked(Suggested):
    directed: bool
    has: Neighbours


class ColumnRef(BaseModel):
    name: str
    kind: str
    relation: str


class ClassShare(BaseModel):
    label: str
    share: float = Field(description="Among the owners.")
    everywhere: float = Field(description="Among all items of their type.")


class ItemCard(ItemRef):
    owner: str | None = Field(description="Of an attribute: the type that has it.")
    column: ColumnRef | None = Field(description="Of an attribute: its column.")
    label: str | None = Field(description="The observed class, if any.")
    true_label: str | None = Field(description="The hidden class, where the truth was given.")
    probabilities: list[LabelProbability]
    certainty: Certainty
    sets: list[ClassSet] = Field(description="Which classes it may have; empty where none can be promised.")
    cells: list[CellEntry] = Field(description="Columns that have one cell an item.")
    relations: list[Walked] = Field(
        description="What it has and should have; columns of tags and words first."
    )
    nearest: dict[str, list[Match]] = Field(description="By type (cosine).")
    classes: list[ClassShare] = Field(description="Of an attribute: how the classes share it.")
    place: Place


class ReasonEntry(ItemRef):
    contribution: float = Field(description="What it adds to what is claimed; contributions add up.")
    without: float = Field(description="The score of the item placed without this alone.")
    relation: str = Field(description="Relation or column; empty for the known class of the item.")
    owns: bool = Field(description="Whether this linked item has what is explained.")


class WhyEntry(BaseModel):
    """``claimed = nothing + contributions + others + beyond``."""

    relation: str
    target: str
    title: str
    claimed: float = Field(description="What the model answers.")
    nothing: float = Field(description="What it would say of an item of which nothing is known.")
    others: float = Field(description="What all that is not among the reasons contributes.")
    others_count: int
    beyond: float = Field(description="What training learnt of the item itself, and closed-form scores.")
    owners: list[str]
    owners_total: int
    reasons: list[ReasonEntry]


class WhyAnswer(ItemRef):
    label: WhyEntry | None
    targets: list[WhyEntry]


class Spread(BaseModel):
    position: int
    covariance: list[list[float]]


class SpreadAnswer(BaseModel):
    items: dict[str, list[Spread]]


class Placed(BaseModel):
    id: str
    type: str
    unknown: dict[str, list[str]] = Field(
        description="By relation or column, what the model does not know; it was left out."
    )
    place: Place
    probabilities: list[LabelProbability]
    words: str | None
    cells: list[CellEntry]
    relations: list[Suggested]
    nearest: dict[str, list[Match]]


class PlaceAnswer(BaseModel):
    items: list[Placed]


class PredictedRow(ItemRef):
    predicted: str
    probability: float
    known: str | None = Field(description="The class that the network or the row itself gives.")
    new: bool = Field(description="Whether the model has not learnt from it.")
    probabilities: list[LabelProbability]
    set: list[str] | None = Field(description="Which classes it may have, where a coverage was asked for.")


class DriftEntry(BaseModel):
    column: str
    distance: float = Field(description="Share of the rows that would have to be others.")
    text: str


class PredictAnswer(BaseModel):
    items: list[PredictedRow]
    notices: list[str] = Field(description="What was missing, unknown or strange.")
    drift: list[DriftEntry] = Field(description="Columns that differ much from those of training.")


class EmbedAnswer(BaseModel):
    nodes: list[Placed]


class ScoreAnswer(RootModel[dict[str, list[float]]]):
    """Scores by relation."""


class TypeColumns(BaseModel):
    type: str
    class_names: list[str]
    id: list[str]
    title: list[str] | None = Field(description="Null: as the ids.")
    x: list[float]
    y: list[float]
    label: list[int] | None = Field(description="Index of the class; null without classes.")
    observed: list[int] | None
    probability: list[float] | None
    weight: list[int] = Field(description="Entries of an item, owners of an attribute.")


class MapAnswer(BaseModel):
    method: str
    types: list[TypeColumns]


class Training(BaseModel):
    epochs: int
    best_epoch: int | None
    stopped: str | None
    notices: list[str]
    truth: list[str] = Field(description="How good, what it follows, what to look at: lines for people.")
    loss: dict[str, list[float | None]]
    validation: dict[str, list[float | None]]
    validated_at: list[int]
    settings: dict[str, str | bool | int | float | None]


class ReliabilityBin(BaseModel):
    probability: float
    right: float
    nodes: int


class Mistake(ItemRef):
    predicted: str
    true: str
    probability: float


class QualityAnswer(BaseModel):
    type: str
    judged: int = Field(description="Items with a hidden label that is known here; 0: no truth was given.")
    figures: dict[str, float]
    class_names: list[str]
    confusion: list[list[int]]
    reliability: list[ReliabilityBin]
    mistakes: list[Mistake]


class Bin(BaseModel):
    from_: int = Field(alias="from")
    to: int
    count: int


class Counted(ItemRef):
    count: int


class DataAnswer(BaseModel):
    summary: dict[str, object]
    degrees: list[Bin]
    attributes_per_node: list[Bin]
    owners_per_attribute: list[Bin]
    common_attributes: list[Counted]
    linked_nodes: list[Counted]


class ErrorDetail(BaseModel):
    code: Literal[
        "bad_request",
        "unauthorised",
        "forbidden_host",
        "not_found",
        "method_not_allowed",
        "too_large",
        "invalid",
        "failed",
    ]
    message: str


class Error(BaseModel):
    """Every answer that is not one."""

    error: ErrorDetail
