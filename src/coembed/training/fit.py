"""A network becomes a fitted result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import torch

from coembed.distributed.exchange import chosen
from coembed.distributed.job import Job
from coembed.distributed.shares import Share
from coembed.errors import InputError
from coembed.fitted import Fitted
from coembed.model import SVAE
from coembed.model.row_chunks import give_back, keep_freed
from coembed.model.scan import look_at, read_as, scan
from coembed.model.schema import Keys
from coembed.model.views_inference import ViewsInference
from coembed.network import Network
from coembed.network.splits import fingerprint
from coembed.progress import EpochProgress, Tell, notebook_progress
from coembed.settings import Settings, preset_of
from coembed.training.cell_ensemble import with_cell_models
from coembed.training.cell_errors import with_cell_errors
from coembed.training.checkpoint import Checkpoints
from coembed.training.closed_form_result import closed_form_result
from coembed.training.common_space import with_common_space
from coembed.training.extraction import Calibration, fitted_result
from coembed.training.holdout import Holdout, chosen_by, hold_out, validation_figures, without_labels_of
from coembed.training.label_combination import MOST_ASKED, best_temperature
from coembed.training.label_ensemble import call_ensemble, labels_to_spare
from coembed.training.label_members import label_decay
from coembed.training.label_views import LabelViews, label_views
from coembed.training.loop import train
from coembed.training.pair_errors import with_pair_doubt
from coembed.training.pair_score_weights import with_pair_scores
from coembed.training.prepared import Prepared, Whole
from coembed.training.several_label_ensemble import calibrated
from coembed.training.way_ensemble import with_way_models
from coembed.views import Seen, TypeViews, training_views
from coembed.views.budget import BYTES, affordable_hidden, plan_views, suitable_epochs
from coembed.views.lens import MOST_SECOND

WHOLE_BYTES = BYTES // 2
"""Dense views up to which they are made again with what was kept aside. Larger networks lose little by it."""


def fit(
    network: Network,
    settings: Settings,
    *,
    preset: str | None = None,
    holdout: Holdout | None = None,
    progress: EpochProgress | None = None,
    steps: Tell | None = None,
    checkpoints: Checkpoints | None = None,
) -> Fitted:
    """Fit the model to a network of any types.

    Parameters
    ----------
    preset
        The name to be kept with the result; by default that of the preset whose settings these are.
    holdout
        What chooses the epoch. Its pairs must already be absent from the network; the labels of its items are
        hidden here. By default the shares `validation` and `validation_pairs` of the settings are kept aside.
    progress
        Called after every epoch with its number, the number of epochs, and the figures so far. In a notebook,
        without `progress` and `steps`, the cell shows both.
    steps
        Called with a few words before anything else that takes a while.
    checkpoints
        Where all that is needed to go on after a fall is kept, and whether to go on from what is there. The
        result is that of a fit without a fall.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> from coembed.settings import preset_settings
    >>> fitted = fit(demo_network(), preset_settings("paper", epochs=2))
    >>> fitted.node_mean.shape, fitted.attribute_mean.shape
    ((1476, 64), (626, 71))
    """
    watcher = notebook_progress() if progress is None and steps is None else None
    if watcher is not None:
        progress, steps = watcher, watcher.step
    tell = steps or (lambda step: None)
    # what was prepared has no name here: when it is no longer needed it can go
    fitted = learn(
        prepare(network, settings, holdout, tell, checkpoints),
        preset=preset or preset_of(settings),
        progress=progress,
        tell=tell,
        checkpoints=checkpoints,
    )
    assert fitted is not None
    if watcher is not None:
        watcher.end()
    # pairs that were kept aside here are known all the same: nobody should be told that they are missing
    return fitted if holdout is not None else knowing(fitted, network)


def prepare(
    network: Network,
    settings: Settings,
    holdout: Holdout | None,
    tell: Tell,
    checkpoints: Checkpoints | None = None,
) -> Prepared:
    """Settings without anything open, what may be seen, and how it looks."""
    largest = max(len(items) for items in network.types.values())
    keep_freed(largest)
    choose_device(settings.device)  # one that is not there is better said before the work than after
    if network.is_plain:
        found = read_as(network, settings)
        settings = settings.change(links=found["links"].likelihood, attributes=found["attributes"].likelihood)
    settings = settings.change(epochs=settings.epochs or suitable_epochs(network))
    by_views = settings.encoder == "views"
    settings, notices = affordable(settings, network) if by_views else (settings, [])
    identity = fingerprint(network)
    if checkpoints is not None:
        checkpoints.belong_to(identity, settings.as_dict())
        checkpoints.check()
    visible, held = (network, holdout) if holdout is not None else hold_out(network, settings)
    visible = without_labels_of(visible, held.labels)
    seen = None
    readings = read_as(visible, settings)
    if by_views:
        tell("looking at words, cells and relations of all items")
        seen = look_at(visible, settings, tell)
    labels = {name: items.labels.values for name, items in network.types.items() if items.labels is not None}
    prepared = Prepared(
        settings, visible, held, labels, readings, seen, notices=tuple(notices), fingerprint=identity
    )
    if seen is None or not (settings.calibrate or settings.label_ensemble):
        return prepared
    labelled = label_views(visible, settings.seed)
    whole = visible if holdout is not None else without_labels_of(network, held.labels)
    everything, around = seen.types, labelled
    quick = settings.fitting == "closed-form"
    if (held.pairs or held.cells) and bytes_of(seen) <= WHOLE_BYTES and not quick:
        alike = {name: seen.types[name].alike for name in seen.lens.types}
        everything, around = training_views(whole, seen.lens, alike), label_views(whole, settings.seed)
    opinions, strengths, thresholds, spared, said = {}, {}, {}, {}, list(notices)
    out_of_fold, shares, doubts = {}, {}, {}
    for name in visible.labelled_types:
        known = visible.items(name).labels
        assert known is not None
        of_type = "" if visible.is_plain else f" of {name}"
        tell(f"asking an ensemble about the classes{of_type}")
        ensemble = call_ensemble(whole, everything[name], around, name, settings)
        if ensemble is not None:
            opinions[name], strengths[name] = ensemble.opinion, ensemble.strength
            shares[name] = ensemble.share
            out_of_fold[name] = ensemble.accuracy
            if ensemble.doubt is not None:
                doubts[name] = ensemble.doubt
            if ensemble.thresholds is not None:
                thresholds[name] = ensemble.thresholds
            said.append(ensemble.in_words(of_type))
        if (
            settings.calibrate
            and not quick
            and (ensemble is None or (ensemble.share < 1 and not known.several))
        ):
            spared[name] = labels_to_spare(known.values, settings.seed)
    return replace(
        prepared,
        seen=labelled.beside(seen),
        mass=labelled.mass,
        opinions=opinions,
        strengths=strengths,
        out_of_fold=out_of_fold,
        thresholds=thresholds,
        shares=shares,
        doubts=doubts,
        whole={}
        if around is labelled
        else {name: _whole(everything[name], around, name) for name in opinions},
        spared=spared,
        notices=tuple(said),
    )


def bytes_of(seen: Seen) -> int:
    """Of the dense views of all types."""
    return sum(view.nbytes for views in seen.types.values() for view in views.dense.values())


def _whole(views: TypeViews, labels: LabelViews, type: str) -> Whole:
    own = labels.types.get(type)
    return Whole(replace(views, dense={**views.dense, **labels.of(type)}), None if own is None else own.walk)


def learn(
    prepared: Prepared,
    job: Job | None = None,
    *,
    preset: str = "best",
    progress: EpochProgress | None = None,
    tell: Tell = lambda step: None,
    checkpoints: Checkpoints | None = None,
) -> Fitted | None:
    """Train the model of what was prepared, by the processes of a job; the first gets the result."""
    job = job or Job()
    settings, held = prepared.settings, prepared.held
    if settings.fitting == "gradient":
        fitted = _trained(prepared, job, preset, progress, checkpoints)
    else:
        fitted = None if job.rank else closed_form_result(prepared, preset)
    if fitted is None:
        return None
    # of a large network, gigabytes that what follows can use
    del prepared
    give_back()
    interrupted = fitted.history["stopped"] == "interrupted"
    weighing = settings.pair_scores and settings.encoder == "views" and not interrupted
    if weighing and held.cells:
        tell("fitting linear models and trees to the cells")
        fitted = with_cell_models(fitted, held)
    fitted = with_cell_errors(fitted, held)
    if weighing:
        if any(each.directed for each in fitted.network.relations.values()):
            tell("growing trees that tell which way links go")
            fitted = with_way_models(fitted)
        tell("weighing closed-form scores")
        fitted = with_pair_scores(fitted, held)
    if settings.space_dim and not interrupted:
        fitted = with_common_space(fitted, held, tell)
    return with_pair_doubt(fitted, held) if weighing else fitted


def _trained(
    prepared: Prepared,
    job: Job,
    preset: str,
    progress: EpochProgress | None,
    checkpoints: Checkpoints | None,
) -> Fitted | None:
    """By epochs of gradient descent; the first process gets the result."""
    settings, visible, held, seen = prepared.settings, prepared.network, prepared.held, prepared.seen
    keep_freed(max(len(items) for items in visible.types.values()))
    if checkpoints is not None:
        checkpoints.belong_to(prepared.fingerprint, settings.as_dict())
    learnt = without_labels_of(visible, prepared.spared)
    device = choose_device(settings.device)
    torch.manual_seed(settings.seed)
    share = Share.of(learnt, job.processes, job.rank)
    model = scan(share, settings, device, seen, prepared.opinions, prepared.readings)
    del share
    history = train(
        model,
        epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        schedule=settings.schedule,
        weight_decay=settings.weight_decay,
        label_decay=label_decay(settings, _most_classes(visible)),
        seed=settings.seed,
        validate=partial(validation_figures, model, visible, held, prepared.labels) if held else None,
        choose=chosen_by,
        patience=settings.patience,
        progress=progress,
        checkpoints=checkpoints,
        processes=job.processes,
    )
    history.notices[:0] = prepared.notices
    history.out_of_fold = {name: dict(figures) for name, figures in prepared.out_of_fold.items()}
    if seen is not None:
        history.follows = {name: _follows(model, prepared, name) for name in _with_known_labels(visible)}
        history.notices += [_trust(visible, name, shares) for name, shares in history.follows.items()]
    calibrations = {}
    if settings.calibrate and seen is not None and history.stopped != "interrupted":
        calibrations = {name: _calibration(model, prepared, name) for name in visible.labelled_types}
    return fitted_result(model, visible, settings, history, preset, prepared, calibrations)


def knowing(fitted: Fitted, network: Network) -> Fitted:
    """The result with all pairs and cells of the network, those that were kept aside included."""
    values = {name: relation.values for name, relation in network.relations.items()}
    return replace(fitted, network=fitted.network.with_values(values))


def _with_known_labels(network: Network) -> list[str]:
    found = []
    for name in network.labelled_types:
        known = network.items(name).labels
        if known is not None and len(known.known):
            found.append(name)
    return found


def _most_classes(network: Network) -> int:
    """Of a type whose items have one class each."""
    known = [network.items(name).labels for name in _with_known_labels(network)]
    return max((each.n_classes for each in known if each is not None and not each.several), default=1)


def _calibration(model: SVAE, prepared: Prepared, type: str) -> Calibration:
    """By the labels of items that were spared; or to be as sure of the others as the ensemble is."""
    asked, opinion = prepared.spared.get(type, np.empty(0, np.int64)), prepared.opinions.get(type)
    known = prepared.network.items(type).labels
    assert known is not None
    if len(asked):
        wanted = known.values[asked] if known.several else np.eye(known.n_classes)[known.values[asked]]
    elif opinion is not None and prepared.settings.label_ensemble:
        asked = np.flatnonzero(~known.is_known)[:MOST_ASKED]
        wanted = opinion[asked]
    if not len(asked):
        return Calibration()
    key = Keys.of(prepared.network).types[type]
    with torch.no_grad():
        logits = model.evidence(key).label_logits
    assert logits is not None
    rows = torch.as_tensor(np.array(asked), device=logits.device)
    found = chosen(logits, rows, model.types[key].partition)
    if known.several:
        scale, shift = calibrated(found.cpu().numpy().astype(np.float64), np.array(wanted, dtype=np.float64))
        return Calibration((1 / scale).astype(np.float32), shift.astype(np.float32))
    return Calibration(best_temperature(found.cpu(), torch.as_tensor(np.array(wanted))))


def affordable(settings: Settings, network: Network) -> tuple[Settings, list[str]]:
    """Settings with a rank and hidden layers that very many items leave room for, and what to say of it."""
    plan = plan_views(network, settings.rank)
    fits = {"rank": plan.rank, "hidden": affordable_hidden(network, settings.hidden, plan)}
    asked = settings.as_dict()
    less = [f"{name} {value} instead of {asked[name]}" for name, value in fits.items() if value < asked[name]]
    if plan.one_hot:
        less.append(f"{plan.one_hot} features for a category of more values")
    if plan.second < MOST_SECOND:
        less.append(f"{plan.second or 'no'} views of what is two relations away")
    count = sum(len(network.items(name)) for name in network.entity_types)
    notices = [f"{count:,} items: {', '.join(less)}, for memory and time"] if less else []
    return settings.change(**fits), notices


def _follows(model: SVAE, prepared: Prepared, type: str) -> dict[str, float]:
    """What the classes were read from, largest share first."""
    inference = model.inference[Keys.of(prepared.network).types[type]]
    assert isinstance(inference, ViewsInference)
    assert prepared.seen is not None
    with torch.no_grad():
        shares = inference.label_shares()
    about = {step.name: step.about for step in prepared.seen.lens.types[type].steps}
    about |= {"words": "own attributes", "own": "own attributes", "cells": "own attributes"}
    said: dict[str, float] = {}
    for view, share in shares.items():
        group = about.get(view, "links" if view.startswith("position") else "counts")
        said[group] = said.get(group, 0.0) + share
    return {group: max(share, 0.0) for group, share in sorted(said.items(), key=lambda s: -s[1])}


def _trust(network: Network, type: str, follows: Mapping[str, float]) -> str:
    """One line on that."""
    parts = [f"{100 * share:.0f} % {group}" for group, share in follows.items()]
    of_type = "" if network.is_plain else f" of {type}"
    return f"classes{of_type} follow " + ", ".join(parts[:6])


def choose_device(name: str) -> torch.device:
    """The device that a setting names; `auto` is the accelerator torch finds, else the processor."""
    if name == "auto":
        # sparse CSR products, which everything stands on, exist for these two
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"device {name!r} cannot be used here ({reason}); try device=auto") from None
    return device
