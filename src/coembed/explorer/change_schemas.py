"""What is asked and answered about changes: selections that are kept, corrections, trainings."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from coembed.explorer.item_schemas import ItemRef
from coembed.explorer.request_schemas import LONGEST_NAME, Id, TypeName, _Question
from coembed.explorer.selection_schemas import KeptEntry, Selection

Name = Annotated[str, Field(max_length=LONGEST_NAME, examples=["rivers"])]


class KeepQuestion(_Question):
    name: Name
    selection: Selection


class NameQuestion(_Question):
    name: Name


class KeptAnswer(BaseModel):
    selections: list[KeptEntry]


class CorrectionQuestion(_Question):
    id: Id
    label: Annotated[str, Field(max_length=LONGEST_NAME, examples=["animal"])]
    type: TypeName | None = Field(None, description="By default the type whose classes are the colours.")


class CorrectionEntry(BaseModel):
    type: str
    id: str
    label: str
    was: str = Field(description="What the model said then.")
    when: str


class CorrectionsAnswer(BaseModel):
    corrections: list[CorrectionEntry]
    pending: int = Field(description="Those that the model has not learnt yet.")


class ModelSide(BaseModel):
    labelled: int
    accuracy: float | None = Field(description="Of items that neither model was told of, by the truth.")
    mean_probability: float | None


class ChangedItem(ItemRef):
    before: str
    after: str
    p_before: float
    p_after: float


class TypeChange(BaseModel):
    type: str
    items: int
    judged: int
    before: ModelSide
    after: ModelSide
    changed: int
    listed: list[ChangedItem]


class Retraining(BaseModel):
    status: Literal["idle", "training", "done", "failed"]
    doing: str | None
    progress: float
    problem: str | None
    changes: list[TypeChange] | None


class ChangesAnswer(BaseModel):
    allowed: bool = Field(description="Whether this server keeps selections and corrections.")
    can_retrain: bool
    corrections: list[CorrectionEntry]
    pending: int
    retraining: Retraining | None
