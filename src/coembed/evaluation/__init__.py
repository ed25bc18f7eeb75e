"""Tasks: what can be asked of a method, how its answers are judged, and the evaluation around both."""

from coembed.evaluation.evaluation import Outcome, evaluate, evaluate_types, run_trial
from coembed.evaluation.problem import Answer, Method, Pairs, Problem
from coembed.evaluation.training_truth import Truth, truth_of, with_truth
from coembed.evaluation.trial import Splits, Trial, draw_splits, published_trial, strict_trial

__all__ = [
    "Answer",
    "Method",
    "Outcome",
    "Pairs",
    "Problem",
    "Splits",
    "Trial",
    "Truth",
    "draw_splits",
    "evaluate",
    "evaluate_types",
    "published_trial",
    "run_trial",
    "strict_trial",
    "truth_of",
    "with_truth",
]
