"""How much of a gradient is chance: absent pairs by a random block, with and without a parabola.

    OMP_NUM_THREADS=1 python benchmarks/block_variance.py --data DIR [--network cora] [--preset best]
        [--epochs 30] [--draws 8]

Trains for some epochs, and then takes the gradient of the mean cost of absent pairs by all weights of the
encoders, again and again with other blocks but the same codes. Printed is the mean squared distance from the
exact gradient, as a share of its squared length.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from coembed.distributed.job import Job
from coembed.distributed.shares import Share
from coembed.experiments.benchmark_networks import open_network
from coembed.kernels import Noise
from coembed.likelihoods.bernoulli import Bernoulli
from coembed.model.relation_term import RelationTerm
from coembed.model.scan import look_at, read_as, scan
from coembed.network import split_labels
from coembed.settings import preset_settings
from coembed.training.loop import train

PLAIN, BENT = (1024, 512), (1024, 512, 256, 128)


class Straight(Bernoulli):
    """Without a parabola."""

    def nearest_parabola(self, mean: float, variance: float) -> tuple[float, float]:
        return 0.0, 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path())
    parser.add_argument("--network", default="cora")
    parser.add_argument("--preset", default="best")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--draws", type=int, default=8)
    given = parser.parse_args()
    network = open_network(given.network, given.data)
    visible = split_labels(network, 0.1, seed=0).visible(network)
    changes = {"label_ensemble": 0, "epochs": given.epochs}
    settings = preset_settings(given.preset).change(**changes)
    seen = look_at(visible, settings, lambda step: None) if settings.encoder == "views" else None
    torch.manual_seed(0)
    share = Share.of(visible, Job().processes, Job().rank)
    model = scan(share, settings, torch.device("cpu"), seen, {}, read_as(visible, settings))
    train(model, epochs=given.epochs, schedule=settings.schedule, label_decay=settings.label_decay)
    weights = [weight for name, weight in model.named_parameters() if name.startswith("inference")]
    for term in model.relations:
        assert isinstance(term, RelationTerm)
        ends = (term.relation.source, term.relation.target)
        codes = {name: model._infer(name, Noise(0).of(name)).codes for name in ends}
        left, right = term._ends(*(codes[name] for name in ends))

        def slopes(cost: torch.Tensor, count: int = term.n_pairs) -> torch.Tensor:
            found = torch.autograd.grad(cost / count, weights, retain_graph=True, allow_unused=True)
            return torch.cat([each.flatten() for each in found if each is not None]).double()

        exact = slopes(term._absent(left, right))
        for kind, blocks in ((Straight(), PLAIN), (Bernoulli(), BENT)):
            for block in blocks:
                term.kind, term.block = kind, block
                drawn = [
                    slopes(term._sampled_absent(left, right, Noise(1, step))) for step in range(given.draws)
                ]
                off = torch.stack(drawn).sub(exact).square().sum(dim=1).mean() / exact.square().sum()
                name = "plain" if isinstance(kind, Straight) else "with a parabola"
                print(f"{term.relation.title or term.relation.name}: {name}, {block}: {off:.5f}", flush=True)


if __name__ == "__main__":
    main()
