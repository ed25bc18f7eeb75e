"""What a fit leaves: arrays, names, and the questions they answer. Knows nothing of torch."""

from coembed.result.answers import Match
from coembed.result.codes import Codes
from coembed.result.fitted import Fitted
from coembed.result.foldin import Embedded
from coembed.result.storage import load, save

__all__ = ["Codes", "Embedded", "Fitted", "Match", "load", "save"]
