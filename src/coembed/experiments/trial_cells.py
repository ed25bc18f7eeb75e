"""A cell as a trial of the evaluation."""

from __future__ import annotations

from coembed.evaluation.evaluation import Outcome, run_trial
from coembed.experiments.benchmark_networks import open_network
from coembed.experiments.cell import CellJob
from coembed.progress import EpochProgress


def run_cell(job: CellJob, progress: EpochProgress | None = None) -> Outcome:
    """Hide, fit, ask, as the cell says."""
    cell = job.cell
    outcome = run_trial(
        open_network(cell.network, job.data),
        cell.task,
        cell.method,
        cell.seed,
        preset=cell.preset,
        labels=cell.labels,
        protocol=cell.protocol,
        changes=cell.changes,
        progress=progress,
    )
    fitted = getattr(outcome.answer, "fitted", None)
    if fitted is not None and fitted.history.get("stopped") == "interrupted":
        raise KeyboardInterrupt  # a fit ends gracefully; half of one is no result here
    return outcome
