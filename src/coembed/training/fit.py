"""A network becomes a fitted result."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import torch

from coembed.distributed.exchange import chosen
from coembed.distributed.job import Job
from coembed.distributed.shares import Share
from coembed.distributed.view_shares import dealt_out
from coembed.errors import InputError
from coembed.fitted import Fitted
from coembed.model import SVAE
from coembed.model.row_chunks import give_back, keep_freed
from coembed.model.scan import (
    NODE,
    likelihood_of,
    look,
    scan,
)
from coembed.model.views_inference import ViewsInference
from coembed.network import Network
from coembed.network.splits import fingerprint
from coembed.progress import EpochProgress, Tell
from coembed.settings import Settings
from coembed.training.checkpoint import Checkpoints
from coembed.training.extraction import fitted_result
from coembed.training.holdout import Holdout, hold_out, validation_figures, without_labels_of
from coembed.training.label_ensemble import best_temperature, call_jury, labels_to_spare
from coembed.training.loop import train
from coembed.training.pair_score_weights import with_companions
from coembed.training.prepared import Prepared
from coembed.views import GROUPS
from coembed.views.decomposition import affordable_hidden, affordable_rank

MOST_ASKED = 20_000
"""Unlabelled nodes that are enough to tell how sure the model is."""


def fit(
    network: Network,
    settings: Settings,
    *,
    preset: str = "best",
    holdout: Holdout | None = None,
    progress: EpochProgress | None = None,
    steps: Tell | None = None,
    checkpoints: Checkpoints | None = None,
) -> Fitted:
    """Fit SCAN to a network.

    Parameters
    ----------
    holdout
        What chooses the epoch. Its pairs must already be absent from the network; the labels of its nodes are
        hidden here. By default the shares `validation` and `validation_pairs` of the settings are kept aside.
    progress
        Called after every epoch with its number, the number of epochs, and the figures so far.
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
    tell = steps or (lambda step: None)
    # what was prepared has no name here: when it is no longer needed it can go
    fitted = learn(
        prepare(network, settings, holdout, tell, checkpoints),
        preset=preset,
        progress=progress,
        tell=tell,
        checkpoints=checkpoints,
    )
    assert fitted is not None
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
    keep_freed(network.n_nodes)
    choose_device(settings.device)  # one that is not there is better said before the work than after
    settings = settings.change(
        links=likelihood_of(network.links, settings.links),
        attributes=likelihood_of(network.attributes, settings.attributes),
    )
    by_views = settings.encoder == "views"
    settings, notices = affordable(settings, network.n_nodes) if by_views else (settings, [])
    identity = ""
    if checkpoints is not None:
        identity = fingerprint(network)
        checkpoints.belong_to(identity, settings.as_dict())
        checkpoints.check()
    visible, held = (network, holdout) if holdout is not None else hold_out(network, settings)
    visible = without_labels_of(visible, held.nodes)
    seen = None
    if by_views:
        tell("looking at attributes, links and nodes alike")
        seen = look(visible, settings, tell)
    prepared = Prepared(settings, visible, held, network.labels, seen, notices=notices, fingerprint=identity)
    if seen is None or not (settings.calibrate or settings.jury):
        return prepared
    tell("asking a jury about the classes")
    jury = call_jury(seen.nodes, visible.labels, visible.n_classes, settings)
    if jury is not None:
        return replace(prepared, opinion=jury.opinion, temperature=jury.temperature)
    spared = labels_to_spare(visible.labels, settings.seed) if settings.calibrate else prepared.spared
    return replace(prepared, spared=spared)


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
    settings, visible, held, seen = prepared.settings, prepared.network, prepared.held, prepared.seen
    keep_freed(visible.n_nodes)
    if checkpoints is not None:
        checkpoints.belong_to(prepared.fingerprint, settings.as_dict())
    learnt = without_labels_of(visible, prepared.spared)
    device = choose_device(settings.device)
    torch.manual_seed(settings.seed)
    if job.processes == 1:
        model = scan(learnt, settings, device, seen, prepared.opinion)
    else:
        share = Share.of(learnt, job.processes, job.rank)
        own = None if seen is None else dealt_out(seen, share.nodes, share.items)
        rows = slice(share.nodes.own.start, share.nodes.own.stop)
        opinion = None if prepared.opinion is None else np.array(prepared.opinion[rows])
        model = scan(share, settings, device, own, opinion)
        del share, own
    history = train(
        model,
        epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        schedule=settings.schedule,
        weight_decay=settings.weight_decay,
        label_decay=settings.label_decay,
        seed=settings.seed,
        validate=partial(validation_figures, model, held, prepared.labels) if held else None,
        patience=settings.patience,
        progress=progress,
        checkpoints=checkpoints,
        processes=job.processes,
    )
    history.notices[:0] = prepared.notices
    if seen is not None and visible.n_classes and len(visible.labelled):
        history.notices.append(_trust(model))
    temperature = 1.0
    if settings.calibrate and seen is not None and history.stopped != "interrupted":
        temperature = _temperature(model, prepared)
    fitted = fitted_result(model, visible, settings, history, preset, seen, temperature)
    if fitted is None:
        return None
    # of a large network, gigabytes that what follows can use
    del model, seen, prepared
    give_back()
    if settings.companions and settings.encoder == "views" and history.stopped != "interrupted":
        tell("weighing the companions")
        fitted = with_companions(fitted, held)
    return fitted


def knowing(fitted: Fitted, network: Network) -> Fitted:
    """The result with all pairs of the network, those that were kept aside included."""
    return replace(fitted, network=fitted.network.with_matrices(network.links, network.attributes))


def _temperature(model: SVAE, prepared: Prepared) -> float:
    """By the labels of nodes that were spared; or to be as sure of the others as the jury is."""
    asked, opinion = prepared.spared, prepared.opinion
    labels, classes = prepared.network.labels, prepared.network.n_classes
    if len(asked):
        wanted = np.eye(classes)[labels[asked]]
    elif opinion is not None and prepared.settings.jury:
        asked = np.flatnonzero(labels < 0)[:MOST_ASKED]
        wanted = opinion[asked]
    if not len(asked):
        return prepared.temperature
    with torch.no_grad():
        logits = model.evidence(NODE).label_logits
    assert logits is not None
    rows = torch.as_tensor(np.array(asked), device=logits.device)
    found = chosen(logits, rows, model.types[NODE].partition)
    return best_temperature(found.cpu(), torch.as_tensor(np.array(wanted)))


def affordable(settings: Settings, n_nodes: int) -> tuple[Settings, list[str]]:
    """The settings with a rank and hidden layers that very many nodes leave room for, and what to say of it.

    Examples
    --------
    >>> settings, notices = affordable(Settings(rank=256, hidden=64), 1_000_000)
    >>> notices
    ['1,000,000 nodes: rank 64 instead of 256, hidden 32 instead of 64, for memory and time']
    """
    fits = {
        "rank": affordable_rank(settings.rank, n_nodes),
        "hidden": affordable_hidden(settings.hidden, n_nodes),
    }
    asked = settings.as_dict()
    less = [f"{name} {value} instead of {asked[name]}" for name, value in fits.items() if value < asked[name]]
    notices = [f"{n_nodes:,} nodes: {', '.join(less)}, for memory and time"] if less else []
    return settings.change(**fits), notices


def _trust(model: SVAE) -> str:
    """One line on what the classes were read from."""
    node = model.inference[NODE]
    assert isinstance(node, ViewsInference)
    with torch.no_grad():
        shares = node.label_shares()
    said = {group: sum(shares.get(view, 0.0) for view in views.split()) for group, views in GROUPS.items()}
    parts = [
        f"{100 * max(share, 0):.0f} % {group}" for group, share in sorted(said.items(), key=lambda s: -s[1])
    ]
    return "classes follow " + ", ".join(parts)


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
