"""What is answered about items."""

from __future__ import annotations

from pydantic import BaseModel, Field, RootModel

from coembed.explorer.request_schemas import Unit


class ItemRef(BaseModel):
    id: str
    type: str
    title: str = Field(description="What people call it.")


class Found(ItemRef):
    label: str | None = Field(description="Its class, observed or else predicted.")
    weight: int = Field(description="Entries of an item, owners of an attribute.")
    score: float = Field(description="5 equal, 4 begins so, 3 words begin so, 2 contains it, below: alike.")


class SearchAnswer(BaseModel):
    query: str
    total: int = Field(description="Items that fit, among the 140 names that are looked at closely.")
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
    text: str | None = Field(description="The value in its unit, of a number or date.")


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


class NumberBin(BaseModel):
    from_: str = Field(alias="from")
    to: str
    count: int


class Numbers(BaseModel):
    """How the known cells of a column of numbers or dates are spread; a quarter lies below `quarter`."""

    known: int
    missing: int
    lowest: str
    quarter: str
    middle: str
    three_quarters: str
    highest: str
    bins: list[NumberBin]


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
    numbers: Numbers | None = Field(description="Of the attribute that a column of numbers is.")
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


class TableAnswer(BaseModel):
    columns: dict[str, list[object]] = Field(description="All of the same length.")
    notices: list[str] = Field(description="What was missing, unknown or strange.")
