"""The search that all tuning shares: Optuna proposes, a trial is made of it, what came of it is told."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from coembed.errors import InputError, one_line
from coembed.experiments.search_spaces import Range, Space

SEED = 0
"""Of the split whose validation part is looked at, and of the search."""
_STARTUP = 4
"""Trials at random, after the usual settings, before the sampler (TPE) leans on what it was told."""


def new_search(storage: Any = None, name: str | None = None) -> Any:
    """An Optuna study; of a storage the one of that name, with all that it has been told so far."""
    optuna = import_optuna()
    return optuna.create_study(storage=storage, study_name=name, direction="maximize", load_if_exists=True)


def import_optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise InputError("tuning needs optuna; run: pip install 'coembed[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def try_next(search: Any, space: Space, attempt: Callable[[dict[str, Any]], float]) -> dict[str, Any]:
    """One more trial: its settings, its value (None: they do not work), its error, its seconds.

    The usual settings come first. A sampler of its own for each trial: its choice depends on its number
    and on the trials before, not on the process, so that a search that was stopped goes on as if it had not
    been, and workers that share a storage try different things.
    """
    optuna = import_optuna()
    ended = [each for each in search.get_trials(deepcopy=False) if each.state.is_finished()]
    trial = search.ask()
    search.sampler = optuna.samplers.TPESampler(
        seed=SEED + trial.number, n_startup_trials=_STARTUP, constant_liar=True
    )
    tried = space if any(not each.params for each in ended) else {}
    settings = {name: _suggest(trial, name, each) for name, each in tried.items()}
    start = time.perf_counter()
    done: dict[str, Any] = {"settings": settings, "value": None}
    try:
        done["value"] = round(attempt(settings), 6)
    except (ArithmeticError, InputError, MemoryError) as error:
        # that they do not work is an outcome, too
        done["error"] = f"{type(error).__name__}: {one_line(error)}"
    done["seconds"] = round(time.perf_counter() - start, 2)
    state = optuna.trial.TrialState
    for name in done.keys() - {"settings", "value"}:
        trial.set_user_attr(name, done[name])
    search.tell(trial, done["value"], state=state.FAIL if done["value"] is None else state.COMPLETE)
    return done


def add_earlier(search: Any, space: Space, done: Mapping[str, Any]) -> None:
    """Tell a search of a trial that was made before."""
    optuna = import_optuna()
    state = optuna.trial.TrialState
    search.add_trial(
        optuna.trial.create_trial(
            state=state.FAIL if done["value"] is None else state.COMPLETE,
            params=done["settings"],
            distributions={name: _distribution(space[name]) for name in done["settings"]},
            value=done["value"],
        )
    )


def _suggest(trial: Any, name: str, space: Range | tuple[Any, ...]) -> Any:
    if not isinstance(space, Range):
        return trial.suggest_categorical(name, space)
    suggest = trial.suggest_int if space.whole else trial.suggest_float
    return suggest(name, space.low, space.high, log=space.log)


def _distribution(space: Range | tuple[Any, ...]) -> Any:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if not isinstance(space, Range):
        return CategoricalDistribution(space)
    kind: Any = IntDistribution if space.whole else FloatDistribution
    return kind(space.low, space.high, log=space.log)
