"""One space of all types, taught by the combined answer: near by cosine is what belongs together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from coembed.fitted import Fitted
from coembed.fitted.common_placing import directions_of_others, steering_of
from coembed.progress import Tell
from coembed.training.closed_form_space import closed_form_directions
from coembed.training.holdout import Holdout
from coembed.training.space_choice import QUICKLY, kept_aside, leaning, with_code_questions
from coembed.training.space_targets import Stack, neighbours_wanted
from coembed.training.space_teaching import STEPS, taught_directions
from coembed.views.decomposition import affordable_rank

AN_EPOCH = 10
"""Steps at most for each epoch of the model: whoever asks for few epochs will not wait for the space."""
WIDE_FROM, WIDER = 30, 4
"""Entries an item from which on a space of so many times the coordinates is needed to tell them."""
MOST_TAUGHT = 30_000
"""Items that are taught; of more some drawn at random, and the others are placed as newcomers are."""


def with_common_space(
    fitted: Fitted, holdout: Holdout | None = None, tell: Tell = lambda step: None
) -> Fitted:
    """The fitted result with a direction of every item, and how newcomers find theirs."""
    network, seed = fitted.network, int(fitted.settings.get("seed", 0))
    entries = sum(relation.values.nnz for relation in network.relations.values())
    largest = max(len(items) for items in network.types.values())
    dim = int(fitted.settings.get("space_dim", 0))
    solved = fitted.settings.get("fitting") == "closed-form"
    if not solved and entries > WIDE_FROM * sum(len(items) for items in network.types.values()):
        dim *= WIDER
    dim = affordable_rank(dim, largest)
    if not dim or not entries or fitted.placing is None:
        return fitted
    asked = kept_aside(fitted, holdout or Holdout())
    everybody = {name: np.arange(len(items)) for name, items in network.types.items()}
    if solved:
        tell("the common space: all types in one")
        found = closed_form_directions(fitted, holdout or Holdout(), asked, dim)
        asked = kept_aside(fitted, holdout or Holdout(), QUICKLY)
    else:
        stack = Stack(_taken(fitted, np.random.default_rng([seed, 71])))
        wanted = neighbours_wanted(fitted.afresh(), stack, tell, seed)
        tell("the common space: all types in one")
        most = AN_EPOCH * int(fitted.settings.get("epochs", STEPS[1]))
        taught = taught_directions(wanted, stack.sizes, dim, seed, most)
        parts = {type: taught[stack.part(type)] for type in network.types}
        steering = steering_of(network, stack.taken, parts)
        found = directions_of_others(network, stack.taken, parts, steering)
        found = leaning(fitted, asked, found, steering)
    steering = steering_of(network, everybody, found)
    fitted = replace(
        fitted,
        types={name: replace(space, direction=found[name]) for name, space in fitted.types.items()},
        placing=replace(fitted.placing, steering=steering),
    )
    return with_code_questions(fitted, asked, holdout or Holdout())


def _taken(fitted: Fitted, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """All items, or of a type with very many some; those of small types all the same."""
    found = {}
    for name, items in fitted.network.types.items():
        count = len(items)
        few = count <= MOST_TAUGHT
        found[name] = np.arange(count) if few else np.sort(rng.choice(count, MOST_TAUGHT, replace=False))
    return found
