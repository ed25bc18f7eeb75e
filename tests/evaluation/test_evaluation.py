"""The report of an evaluation: its names, its repeatability, its refusals."""

from __future__ import annotations

import json

import numpy as np
import pytest

from coembed.baselines import METHODS
from coembed.errors import InputError
from coembed.evaluation import Answer, Method, Problem, evaluate, scan_method
from coembed.evaluation.scan_method import settings_of
from coembed.network import Network
from coembed.settings import Task

SMALL = ["epochs=3", "dim=8", "hidden=16", "rank=32", "space_dim=0"]
CLASSES = {"accuracy", "macro_f1", "micro_f1", "ece", "error_auroc"}
SVM = {"svm_accuracy", "svm_macro_f1", "svm_micro_f1"}
PAIRS = {"auc", "ap", "auc_matched", "ap_matched", "mrr", "recall_at_10", "ndcg_at_10"}


@pytest.mark.parametrize(
    ("task", "method", "names"),
    [
        ("classification", "scan", CLASSES | SVM),
        ("classification", "linear-x", CLASSES),
        ("attributes", "scan", PAIRS),
        ("links", "neighbours", PAIRS),
    ],
)
def test_a_report_has_the_promised_shape(demo: Network, task: Task, method: str, names: set[str]) -> None:
    report = evaluate(demo, task, method, first_seed=4, seeds=2, changes=SMALL)
    assert list(report) == [
        "task",
        "type",
        "relation",
        "method",
        "network",
        "protocol",
        "seeds",
        "metrics",
        "seconds",
        "peak_rss_mb",
    ]
    assert report["seeds"] == [4, 5]
    assert set(report["metrics"]) == names
    for figure in report["metrics"].values():
        assert figure["mean"] == pytest.approx(np.mean(figure["values"]))
        assert figure["std"] == pytest.approx(np.std(figure["values"], ddof=1))
        assert all(0 <= value <= 1 for value in figure["values"])
    assert len(report["seconds"]["fit"]) == 2
    assert report["peak_rss_mb"] > 10
    assert json.loads(json.dumps(report, allow_nan=False)) == report


@pytest.mark.parametrize(
    ("task", "names"),
    [("classification", CLASSES | SVM), ("attributes", {"auc", "ap"}), ("links", {"auc", "ap"})],
)
def test_the_published_protocol_reports_what_the_public_code_prints(
    demo: Network, task: Task, names: set[str]
) -> None:
    report = evaluate(demo, task, seeds=1, protocol="published", changes=SMALL)
    assert set(report["metrics"]) == names
    assert report["protocol"] == "published"


def test_the_published_protocol_trains_to_the_last_of_200_epochs_unless_told(demo: Network) -> None:
    seen: list[Problem] = []

    def fit(problem: Problem) -> Answer:
        seen.append(problem)
        return METHODS["majority"].fit(problem)

    spy = Method("spy", ("classification",), fit, "")
    evaluate(demo, "classification", spy, seeds=1, protocol="published", changes=["dim=8"])
    settings = settings_of(seen[0])
    assert (settings.epochs, settings.patience, settings.validation, settings.dim) == (200, 0, 0.0, 8)


def test_the_published_embedding_knows_the_labels_and_its_scores_are_drawn(demo: Network) -> None:
    problem = Problem("attributes", demo, changes=tuple(SMALL))
    answer = scan_method.fit(problem)
    drawn = answer.as_published(0)
    pairs = np.array([[0, 1], [5, 2]])
    assert np.array_equal(drawn.embedding(), answer.fitted.latents().mean[:, : answer.fitted.dim])
    assert not np.array_equal(drawn.embedding(), answer.embedding())
    assert np.array_equal(drawn.pair_scores(pairs), answer.as_published(0).pair_scores(pairs))
    assert not np.array_equal(drawn.pair_scores(pairs), answer.as_published(1).pair_scores(pairs))
    rows = drawn.row_scores(pairs[:, 0])
    assert rows[[0, 1], pairs[:, 1]] == pytest.approx(drawn.pair_scores(pairs), rel=1e-4)


def test_rows_and_pairs_of_our_model_agree(demo: Network) -> None:
    for task in ("attributes", "links"):
        answer = scan_method.fit(Problem(task, demo, changes=tuple(SMALL)))  # type: ignore[arg-type]
        pairs = np.array([[0, 1], [7, 20]])
        assert answer.row_scores(pairs[:, 0])[[0, 1], pairs[:, 1]] == pytest.approx(
            answer.pair_scores(pairs), rel=1e-4
        )


def test_the_same_seeds_give_the_same_figures(demo: Network) -> None:
    first, second = (evaluate(demo, "classification", seeds=1, changes=SMALL)["metrics"] for _ in range(2))
    assert first == second


def test_the_validation_part_has_figures_of_its_own(demo: Network) -> None:
    test, validation = (
        evaluate(demo, "attributes", "neighbours", seeds=1, part=part)["metrics"]  # type: ignore[arg-type]
        for part in ("test", "validation")
    )
    assert "auc_matched" not in validation
    assert validation["auc"]["mean"] == pytest.approx(test["auc"]["mean"], abs=0.1)
    assert validation["auc"] != test["auc"]


def test_progress_tells_the_seed(demo: Network) -> None:
    heard: list[tuple[int, int, dict[str, float]]] = []
    evaluate(
        demo,
        "links",
        seeds=2,
        labels=0,
        changes=SMALL,
        progress=lambda epoch, epochs, figures: heard.append((epoch, epochs, figures)),
    )
    assert {figures["seed"] for _, _, figures in heard} == {0, 1}
    assert len(heard) == 6


@pytest.mark.parametrize(
    ("task", "change", "figure"),
    [
        ("classification", "validation=0.2", "validation accuracy"),
        ("attributes", "validation_pairs=0.05", "validation attribute AUC"),
        ("links", "validation_pairs=0.05", "validation link AUC"),
    ],
)
def test_what_is_kept_for_validation_chooses_the_epoch_when_settings_say_so(
    demo: Network, task: Task, change: str, figure: str
) -> None:
    heard: list[set[str]] = []

    def listen(epoch: int, epochs: int, figures: dict[str, float]) -> None:
        heard.append({name for name in figures if name.startswith("validation")})

    evaluate(demo, task, preset="paper", seeds=1, changes=SMALL, progress=listen)
    assert heard[-1] == set()
    evaluate(demo, task, preset="paper", seeds=1, changes=[*SMALL, change], progress=listen)
    assert heard[-1] == {figure}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"task": "clustering"}, "no task 'clustering'"),
        ({"method": "magic"}, "no method 'magic'; known: scan"),
        ({"method": "degree"}, "does not do classification"),
        ({"protocol": "loose"}, "no protocol"),
        ({"inputs": "half"}, "no inputs"),
        ({"seeds": 0}, "seeds must be"),
        ({"preset": "none"}, "no preset"),
        ({"changes": ["alpha"]}, "setting=value"),
        ({"protocol": "published", "inputs": "masked"}, "leave those options out"),
    ],
)
def test_bad_requests_are_refused_in_one_sentence(demo: Network, given: dict, said: str) -> None:
    with pytest.raises(InputError, match=said) as refusal:
        evaluate(demo, **({"task": "classification", "seeds": 1} | given))
    assert "\n" not in str(refusal.value)


def test_an_answer_that_is_not_a_number_is_refused(demo: Network) -> None:
    class Diverged(Answer):
        def probabilities(self) -> np.ndarray:
            return np.full((demo.n_nodes, demo.n_classes), np.nan)

    with pytest.raises(InputError, match="diverged"):
        evaluate(
            demo, "classification", Method("nan", ("classification",), lambda _: Diverged(), ""), seeds=1
        )


def test_nodes_of_unknown_class_are_neither_shown_nor_asked(demo: Network) -> None:
    labels = demo.labels.copy()
    labels[::2] = -1
    report = evaluate(
        demo.with_labels(labels), "classification", seeds=1, protocol="published", changes=SMALL
    )
    assert 0 <= report["metrics"]["svm_accuracy"]["mean"] <= 1
