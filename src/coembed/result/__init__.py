"""What a fit leaves: arrays, names, and the questions they answer. Knows nothing of torch."""

from coembed.result.fitted import Fitted
from coembed.result.scores import Codes

__all__ = ["Codes", "Fitted"]
