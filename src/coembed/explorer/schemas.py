"""What goes over the wire, with examples: the OpenAPI description is made of these."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

Kind = Literal["node", "attribute"]
MOST_ANSWERS, MOST_PAIRS, MOST_NEW, MOST_JOINED, MOST_SPREADS, MOST_WHY = 200, 10_000, 20, 2_000, 400, 50
LONGEST_ID = 65_536

Id = Annotated[str, Field(max_length=LONGEST_ID, examples=["Denmark.n.01"])]


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
    k: Count = 10


class SimilarQuestion(ItemQuestion):
    kind: Kind | None = None


class NeighbourQuestion(_Question):
    id: Id
    kind: Kind = "node"
    to: Kind = "node"
    offset: Offset = 0
    limit: Count = 50


class WhyQuestion(_Question):
    id: Id
    attributes: Annotated[list[Id], Field(max_length=MOST_WHY, examples=[["sea", "europe"]])] = []
    k: Annotated[int, Field(ge=1, le=20), BeforeValidator(_whole)] = 4


class SpreadQuestion(_Question):
    """Positions in the columns of the map."""

    nodes: Annotated[list[Whole], Field(max_length=MOST_SPREADS, examples=[[0, 1]])] = []
    attributes: Annotated[list[Whole], Field(max_length=MOST_SPREADS, examples=[[0]])] = []


Value = Annotated[float, Field(ge=-1e30, le=1e30, allow_inf_nan=False)]
Joined = Annotated[
    list[Id] | dict[Id, Value], Field(max_length=MOST_JOINED, description="Names, or names with values.")
]


class NewNode(_Question):
    id: Id = "new node"
    attributes: Joined = []
    links: Joined = []


class EmbedQuestion(_Question):
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


class ScoreQuestion(_Question):
    """Pairs of nodes, and pairs of node and attribute."""

    links: Annotated[
        list[Annotated[list[Id], Field(min_length=2, max_length=2)]],
        Field(max_length=MOST_PAIRS, examples=[[["Denmark.n.01", "Sweden.n.01"]]]),
    ] = []
    attributes: Annotated[
        list[Annotated[list[Id], Field(min_length=2, max_length=2)]],
        Field(max_length=MOST_PAIRS, examples=[[["Denmark.n.01", "sea"]]]),
    ] = []


# Answers


class Health(BaseModel):
    status: Literal["ok"] = Field(examples=["ok"])
    version: str
    model: str = Field(description="Name of the network that was fitted.")
    nodes: int
    attributes: int
    classes: int


class ClassEntry(BaseModel):
    label: str
    colour: str
    mark: str
    nodes: int
    observed: int


class ItemRef(BaseModel):
    id: str
    kind: Kind


class Model(Health):
    preset: str
    dim: int
    code_dim: int
    method: str
    links: int
    labelled: int
    can_embed: bool
    judged: bool
    scores: dict[str, Literal["probability", "value"]]
    class_list: list[ClassEntry]
    examples: list[ItemRef]


class Found(ItemRef):
    label: str | None = Field(description="Class of a node, observed or else predicted.")
    weight: int = Field(description="Links of a node, owners of an attribute.")
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


class Matches(BaseModel):
    id: str
    kind: Kind
    items: list[Match]


class LabelProbability(BaseModel):
    label: str
    probability: float


class Certainty(BaseModel):
    words: str | None
    surer_than: float | None = Field(description="Share of nodes whose class is less certain.")
    sharper_than: float = Field(description="Share of nodes whose place is less certain.")


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


class NodeCard(ItemRef):
    label: str | None = Field(description="The observed class, if any.")
    true_label: str | None = Field(description="The hidden class, where the truth was given.")
    probabilities: list[LabelProbability]
    certainty: Certainty
    links: Neighbours
    attributes: Neighbours
    suggested_attributes: list[Match]
    suggested_links: list[Match]
    similar: list[Match]
    profile: list[Match] = Field(description="Nearest attributes (cosine).")
    place: Place


class ClassShare(BaseModel):
    label: str
    share: float = Field(description="Among the owners.")
    everywhere: float = Field(description="Among all nodes.")


class AttributeCard(ItemRef):
    owners: Neighbours
    nodes: list[Match] = Field(description="The nodes it stands for (cosine).")
    similar: list[Match]
    classes: list[ClassShare]
    sharper_than: float
    place: Place


class ReasonEntry(ItemRef):
    contribution: float = Field(description="What the score loses without it.")
    owns: bool = Field(description="Whether this linked node owns the attribute.")


class WhyEntry(BaseModel):
    target: str
    score: float
    owners: list[str]
    owners_total: int
    reasons: list[ReasonEntry]


class WhyAnswer(BaseModel):
    id: str
    label: WhyEntry | None
    attributes: list[WhyEntry]


class Spread(BaseModel):
    position: int
    covariance: list[list[float]]


class SpreadAnswer(BaseModel):
    nodes: list[Spread]
    attributes: list[Spread]


class Unknown(BaseModel):
    attributes: list[str]
    links: list[str]


class Placed(BaseModel):
    id: str
    kind: Literal["new"]
    unknown: Unknown = Field(description="What the model does not know; it was left out.")
    place: Place
    probabilities: list[LabelProbability]
    words: str | None
    suggested_attributes: list[Match]
    suggested_links: list[Match]
    similar: list[Match]
    profile: list[Match]


class EmbedAnswer(BaseModel):
    nodes: list[Placed]


class ScoreAnswer(BaseModel):
    links: list[float]
    attributes: list[float]


class NodeColumns(BaseModel):
    id: list[str]
    x: list[float]
    y: list[float]
    label: list[int] = Field(description="Index of the class, -1 without classes.")
    observed: list[int]
    probability: list[float]
    degree: list[int]


class AttributeColumns(BaseModel):
    id: list[str]
    x: list[float]
    y: list[float]
    owners: list[int]


class MapAnswer(BaseModel):
    method: str
    class_names: list[str]
    nodes: NodeColumns
    attributes: AttributeColumns


class Training(BaseModel):
    epochs: int
    best_epoch: int | None
    stopped: str | None
    notices: list[str]
    loss: dict[str, list[float | None]]
    validation: dict[str, list[float | None]]
    validated_at: list[int]
    settings: dict[str, str | bool | int | float | None]


class ReliabilityBin(BaseModel):
    probability: float
    right: float
    nodes: int


class Mistake(BaseModel):
    id: str
    predicted: str
    true: str
    probability: float


class QualityAnswer(BaseModel):
    judged: int = Field(description="Nodes with a hidden label that is known here; 0: no truth was given.")
    figures: dict[str, float]
    class_names: list[str]
    confusion: list[list[int]]
    reliability: list[ReliabilityBin]
    mistakes: list[Mistake]


class Bin(BaseModel):
    from_: int = Field(alias="from")
    to: int
    count: int


class Counted(BaseModel):
    id: str
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
