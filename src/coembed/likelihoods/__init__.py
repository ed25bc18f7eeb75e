"""How a value comes about, given the score of a pair: one object a likelihood, in a file of its own.

Each says what the model needs (the cost of a value, in torch, which is imported only there) and what an
answer needs (the expected value and its spread, in numpy). A further one is a file and a line here.
"""

from coembed.errors import no_such
from coembed.likelihoods.bernoulli import Bernoulli
from coembed.likelihoods.categorical import Categorical
from coembed.likelihoods.gaussian import Gaussian
from coembed.likelihoods.likelihood import Likelihood
from coembed.likelihoods.poisson import Poisson

LIKELIHOODS: dict[str, Likelihood] = {
    each.name: each for each in (Bernoulli(), Gaussian(), Categorical(), Poisson())
}

__all__ = ["LIKELIHOODS", "Likelihood", "likelihood"]


def likelihood(name: str) -> Likelihood:
    """The likelihood of that name."""
    if name not in LIKELIHOODS:
        raise no_such("likelihood", name, LIKELIHOODS)
    return LIKELIHOODS[name]
