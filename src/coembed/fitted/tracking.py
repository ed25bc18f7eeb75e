"""What ``history.jsonl`` holds, told to programs that compare trainings: TensorBoard, MLflow."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coembed.errors import InputError, one_line
from coembed.files import written
from coembed.fitted.fitted import Fitted
from coembed.fitted.history_lines import epoch_figures

Tracker = Callable[[Fitted], None]
"""Is told of a fitted model; made before the work, so that what is wrong with the place is found then."""
EXPERIMENT = "coembed"
_METRICS, _PARAMETERS = 1000, 100
"""What MLflow takes at once."""


def tensorboard_tracker(folder: Path) -> Tracker:
    """Writes an event file into a folder, one scalar a figure and epoch.

    Examples
    --------
    >>> tensorboard_tracker(Path("pyproject.toml/runs"))  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    coembed.errors.InputError: ...
    """
    try:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary
        from tensorboard.summary.writer.event_file_writer import EventFileWriter
    except ImportError as error:
        raise InputError(f"--tensorboard needs {error.name}; install coembed[tensorboard]") from None
    with written(folder):
        folder.mkdir(parents=True, exist_ok=True)

    def track(fitted: Fitted) -> None:
        writer = EventFileWriter(str(folder))
        for epoch, figures in epoch_figures(fitted.history):
            values = [Summary.Value(tag=name, simple_value=value) for name, value in figures.items()]
            writer.add_event(Event(wall_time=time.time(), step=epoch, summary=Summary(value=values)))
        writer.close()

    return track


def mlflow_tracker(uri: str) -> Tracker:
    """Makes a run of the experiment `coembed`: settings as parameters, figures as metrics by epoch."""
    logging.getLogger("mlflow").setLevel(logging.WARNING)
    try:
        from mlflow import MlflowClient
        from mlflow.entities import Metric, Param
        from mlflow.exceptions import MlflowException
    except ImportError as error:
        raise InputError(f"--mlflow needs {error.name}; install coembed[mlflow]") from None

    try:
        client = MlflowClient(tracking_uri=uri)
        found = client.get_experiment_by_name(EXPERIMENT)
        experiment = client.create_experiment(EXPERIMENT) if found is None else found.experiment_id
    except (MlflowException, ImportError, OSError) as error:
        raise InputError(f"--mlflow {uri}: {one_line(error, 200)}; check the address") from None

    def track(fitted: Fitted) -> None:
        now = int(time.time() * 1000)
        names = _metric_names({name for _, figures in epoch_figures(fitted.history) for name in figures})
        metrics = [
            Metric(names[name], value, now, epoch)
            for epoch, figures in epoch_figures(fitted.history)
            for name, value in figures.items()
        ]
        settings: dict[str, Any] = {"preset": fitted.preset, **fitted.settings}
        parameters = [Param(name, str(value)) for name, value in settings.items()]
        try:
            run = client.create_run(experiment, run_name=fitted.network.name).info.run_id
            for start in range(0, len(parameters), _PARAMETERS):
                client.log_batch(run, params=parameters[start : start + _PARAMETERS])
            for start in range(0, len(metrics), _METRICS):
                client.log_batch(run, metrics=metrics[start : start + _METRICS])
            client.set_terminated(run)
        except (MlflowException, OSError) as error:
            raise InputError(f"the model is saved, but --mlflow {uri}: {one_line(error, 200)}") from None

    return track


def _metric_names(names: set[str]) -> dict[str, str]:
    """Names as MLflow takes them, none of them twice.

    Examples
    --------
    >>> _metric_names({"loss", "AUC of a?", "AUC of a_"})
    {'AUC of a?': 'AUC of a_', 'AUC of a_': 'AUC of a_ 2', 'loss': 'loss'}
    """
    found: dict[str, str] = {}
    for name in sorted(names):
        plain = re.sub(r"[^\w\-. :/]", "_", name)[:240]
        same = sum(re.sub(r" \d+$", "", each) == plain for each in found.values())
        found[name] = f"{plain} {same + 1}" if same else plain
    return found
