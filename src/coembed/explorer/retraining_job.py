"""Training again while the page looks on: started, watched, taken over or dropped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from threading import Lock, Thread
from typing import Any

from coembed.errors import InputError, one_line
from coembed.explorer.asking import Explorer
from coembed.explorer.cards import reference
from coembed.fitted.corrections import Correction
from coembed.fitted.fitted import Fitted
from coembed.fitted.model_changes import TypeChanges, compare_models
from coembed.fitted.storage import save
from coembed.network.network import Network
from coembed.progress import EpochProgress, Tell

Retrain = Callable[[Fitted, Sequence[Correction], EpochProgress, Tell], Fitted]
"""From a model and labels that were given to another model; told of every epoch and every step."""
LISTED = 100
"""Items whose class changed that are told."""


class RetrainingJob:
    """One training at a time; its model waits, beside the one that answers, to be taken or dropped."""

    def __init__(self, retrain: Retrain) -> None:
        self.retrain = retrain
        self.status, self.doing, self.progress = "idle", None, 0.0
        self.problem: str | None = None
        self.changes: list[dict[str, Any]] | None = None
        self._after: Fitted | None = None
        self._lock = Lock()

    doing: str | None

    def told(self) -> dict[str, Any]:
        return {
            "status": self.status,
            "doing": self.doing,
            "progress": self.progress,
            "problem": self.problem,
            "changes": self.changes,
        }

    def start(self, explorer: Explorer, corrections: Sequence[Correction], truth: Network | None) -> None:
        with self._lock:
            if self.status == "training":
                raise InputError("a model is being trained already; wait for it")
            self.status, self.doing, self.progress, self.problem = "training", "starting", 0.0, None
            self.changes = self._after = None
        Thread(target=self._run, args=(explorer, corrections, truth), daemon=True).start()

    def _run(self, explorer: Explorer, corrections: Sequence[Correction], truth: Network | None) -> None:
        def epoch(done: int, epochs: int, figures: dict[str, float]) -> None:
            self.doing, self.progress = f"epoch {done} of {epochs}", done / max(epochs, 1)

        def step(words: str) -> None:
            self.doing = words

        try:
            after = self.retrain(explorer.fitted, corrections, epoch, step)
            found = compare_models(explorer.fitted, after, truth)
            self.changes = [changes_dict(explorer, each) for each in found]
            self._after, self.status = after, "done"
        except Exception as error:  # whatever it is: the model goes on answering, and the page says why
            self.problem, self.status = one_line(error), "failed"
            if not isinstance(error, InputError):
                print(f"the training failed: {self.problem}", file=sys.stderr, flush=True)
        finally:
            self.doing = None

    def take(self, explorer: Explorer) -> None:
        """Save the new model in the place of the old one."""
        with self._lock:
            if self._after is None or explorer.folder is None:
                raise InputError("there is no newly trained model to take; train one first")
            save(self._after, explorer.folder)
            self.drop()

    def drop(self) -> None:
        if self.status != "training":
            self.status, self.changes, self._after, self.problem = "idle", None, None, None


def changes_dict(explorer: Explorer, changes: TypeChanges) -> dict[str, Any]:
    """Before and after, side by side."""
    facts, rows = explorer.types[changes.type], changes.changed
    names = facts.class_names
    sides = (
        ("before", changes.labelled_before, changes.right_before, changes.p_before),
        ("after", changes.labelled_after, changes.right_after, changes.p_after),
    )
    return {
        "type": changes.type,
        "items": len(facts),
        "judged": changes.judged,
        **{
            name: {
                "labelled": labelled,
                "accuracy": right / changes.judged if changes.judged else None,
                "mean_probability": float(p.mean()) if len(p) else None,
            }
            for name, labelled, right, p in sides
        },
        "changed": len(rows),
        "listed": [
            {
                **reference(facts, int(row)),
                "before": names[changes.before[row]],
                "after": names[changes.after[row]],
                "p_before": float(changes.p_before[row]),
                "p_after": float(changes.p_after[row]),
            }
            for row in rows[:LISTED]
        ],
    }
