"""What is answered about the model as a whole, and when nothing can be answered."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from coembed.explorer.item_schemas import ItemRef
from coembed.explorer.request_schemas import Unit


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


class Look(BaseModel):
    colour: str
    mark: str


class Model(Health, TypesAnswer):
    plain: bool
    coloured: str = Field(description="The type whose classes are the colours of the map.")
    preset: str
    dim: int
    code_dim: int
    method: str
    mixing: float | None = Field(
        description="Share of entities among the nearest on the map of attributes, over their share of all: "
        "1 where they lie among each other, 0 where apart; null without attributes."
    )
    links: int
    labelled: int
    can_embed: bool
    judged: bool
    scores: dict[str, Unit]
    class_list: list[ClassEntry]
    palette: list[Look] = Field(description="For the values of any other field.")
    link: str | None = Field(description="The address of an item's record, with {id}, {title} or {type}.")
    shown: list[str] = Field(description="Fields that tooltips and cards tell.")
    examples: list[ItemRef]


class Region(BaseModel):
    x: float
    y: float
    count: int
    names: list[str] = Field(description="What sets its items apart.")


class RegionsAnswer(BaseModel):
    box: list[float] = Field(description="x0, y0, x1, y1 of the density.")
    density: list[list[float]] = Field(description="Rows of cells, from low to high y.")
    regions: list[Region]


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


class Liveness(BaseModel):
    status: Literal["alive"]


class Readiness(BaseModel):
    status: Literal["ready", "starting"]
    doing: str | None = Field(description="What is being done, while it is not ready or reloads.")
    progress: float | None = Field(description="How much of that is done, from 0 to 1, where it is known.")
    loads: int = Field(description="How often a model was loaded.")
    since: str | None = Field(description="When the model that answers was loaded.")
    problem: str | None = Field(description="Why the last reload failed; the model before it answers on.")


class Reloading(BaseModel):
    status: Literal["reloading"]


class ErrorDetail(BaseModel):
    code: Literal[
        "bad_request",
        "unauthorised",
        "forbidden_host",
        "forbidden_origin",
        "not_found",
        "method_not_allowed",
        "too_slow",
        "too_large",
        "invalid",
        "failed",
        "busy",
        "starting",
    ]
    message: str
    near: list[ItemRef] = Field([], description="Of an item that is not there: those that may be meant.")


class Error(BaseModel):
    """Every answer that is not one."""

    error: ErrorDetail
