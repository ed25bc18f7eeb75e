"""What a fit leaves: arrays, names, and the questions they answer. Knows nothing of torch."""

from coembed.fitted.fitted import Fitted
from coembed.fitted.gaussians import Gaussians
from coembed.fitted.growing import Embedded
from coembed.fitted.matches import Match
from coembed.fitted.storage import load, save

__all__ = ["Embedded", "Fitted", "Gaussians", "Match", "load", "save"]
