"""The scikit-learn face of the model; it does nothing itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from coembed.errors import InputError
from coembed.fitted import Fitted
from coembed.network.adapters.sample_rows import network_of_rows, rows_like
from coembed.network.items import Labels
from coembed.network.network import UNKNOWN, Network
from coembed.network.readers.read import read
from coembed.settings import Task, preset_settings

DIRECT = ("dim", "hidden", "alpha", "beta", "epochs", "learning_rate", "validation", "patience", "device")


class SCAN(ClassifierMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Gaussian embeddings of the items and attributes of a network in one space, and the missing labels.

    Of a network of several types `predict`, `transform` and the attributes below tell of the main type;
    ``result_`` answers for all.

    Parameters
    ----------
    preset, task
        Where the settings come from; ``None`` below means: as the preset has it.
    dim, hidden, alpha, beta, epochs, learning_rate, validation, patience, device
        The settings asked for most, see :class:`coembed.Settings`.
    settings
        Any other settings by name.
    random_state
        An integer for the same bits every time, or what scikit-learn takes.

    Attributes
    ----------
    node_embedding_, attribute_embedding_
        Means, N x D and M x (D + K).
    classes_
        The classes, as `y` has them, or by name.
    result_
        The fitted result, which answers more questions (:class:`coembed.Fitted`).

    Examples
    --------
    >>> from coembed import SCAN, demo_network
    >>> scan = SCAN(dim=16, epochs=3, random_state=0).fit(demo_network())
    >>> scan.node_embedding_.shape, len(scan.predict())
    ((1476, 16), 1476)

    Rows of features, of which some have a class:

    >>> X, y = np.random.default_rng(0).normal(size=(60, 3)), np.repeat(["a", "b", None], 20)
    >>> SCAN(dim=4, epochs=2, random_state=0).fit(X, y).predict(X[:5]).shape
    (5,)
    """

    def __init__(
        self,
        preset: str = "best",
        task: Task = "classification",
        *,
        dim: int | None = None,
        hidden: int | None = None,
        alpha: float | None = None,
        beta: float | None = None,
        epochs: int | None = None,
        learning_rate: float | None = None,
        validation: float | None = None,
        patience: int | None = None,
        device: str | None = None,
        settings: dict[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.preset = preset
        self.task = task
        self.dim = dim
        self.hidden = hidden
        self.alpha = alpha
        self.beta = beta
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.validation = validation
        self.patience = patience
        self.device = device
        self.settings = settings
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> SCAN:
        """Fit to a network, to what :func:`coembed.read` takes, or to rows of features.

        An array, a sparse matrix or one frame has a row an item. `y`, where given, replaces the labels: texts
        or numbers of classes, of which -1, None and NaN are unknown.
        """
        from coembed.training import fit

        rows = not isinstance(X, Network) and rows_like(X)
        if rows:
            X = self._checked(X, reset=True)
            network = network_of_rows(X)
        else:
            network = read(X)
        classes = None
        if y is not None:
            check_consistent_length(network.main.ids, y)
            network, classes = _with_labels(network, y)
        changes = {name: getattr(self, name) for name in DIRECT if getattr(self, name) is not None}
        settings = preset_settings(
            self.preset, self.task, **{**(self.settings or {}), **changes}, seed=self._seed()
        )
        self.result_: Fitted = fit(network, settings, preset=self.preset)
        known = self.result_.network.main.labels
        named = np.empty(0, dtype=object) if known is None else known.classes
        self.classes_ = named if classes is None else classes
        self.node_embedding_ = self.result_.node_mean
        attributes = network.attribute_type(network.main.name)
        self.attribute_embedding_ = None if attributes is None else self.result_.mean_of(attributes)
        return self

    def predict(self, X: Any = None) -> np.ndarray:
        """The likeliest class of every item: of training, of a network with new ones, or of rows."""
        probabilities = self.predict_proba(X)
        return np.asarray(self.classes_)[probabilities.argmax(axis=1)]

    def predict_proba(self, X: Any = None) -> np.ndarray:
        """Class probabilities of every item, in the order of ``classes_``."""
        return self._asked(X)[0]

    def transform(self, X: Any = None) -> np.ndarray:
        """Means of the items (N x D); new ones are placed without training."""
        return self._asked(X, classes=False)[1]

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        """:meth:`fit`, and :meth:`transform` of the same."""
        return self.fit(X, y, **fit_params).transform(X)

    def score(self, X: Any = None, y: Any = None, sample_weight: np.ndarray | None = None) -> float:
        """Accuracy on the items whose class `y` tells; of a network by default on the labels it came with."""
        predicted = self.predict(X)
        if y is None:
            network = self.result_.network if X is None else read(X)
            labels = network.main.labels
            if labels is None or labels.several:
                raise InputError("there is no one class an item to score by; give y")
            seen = labels.is_known
            return float(accuracy_score(labels.classes[labels.values[seen]], predicted[seen]))
        truth = np.asarray(y)
        seen = ~_unknown(truth)
        weight = None if sample_weight is None else np.asarray(sample_weight)[seen]
        return float(
            accuracy_score(truth[seen].astype(predicted.dtype), predicted[seen], sample_weight=weight)
        )

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the coordinates, which frames of :meth:`transform` have."""
        check_is_fitted(self, "result_")
        return np.array([f"scan{i}" for i in range(self.node_embedding_.shape[1])], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # an empty cell is unknown
        tags.input_tags.sparse = True
        tags.target_tags.required = False
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def _checked(self, X: Any, reset: bool) -> Any:
        """Rows of features: numbers as scikit-learn checks them; frames of other things as they are."""
        frame = hasattr(X, "columns")
        if frame and not _all_numbers(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        return validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype="numeric", ensure_all_finite="allow-nan"
        )

    def _asked(self, X: Any, classes: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities and means of what is asked for."""
        check_is_fitted(self, "result_")
        result = self.result_
        if X is None:
            return (result.predict_proba() if classes else np.empty(0)), result.node_mean
        if hasattr(self, "n_features_in_") and not isinstance(X, Network):
            from coembed.fitted.sample_answers import answer_rows

            found, means = answer_rows(result, self._checked(X, reset=False))
            if classes and found is None:
                raise InputError("the model knows no classes; fit it with y")
            return np.empty(0) if found is None else found, means
        network = read(X)
        grown = result.embed(network).result
        main = grown.network.main
        rows = np.array([main.position(each) for each in network.items(main.name).ids])
        return (grown.predict_proba()[rows] if classes else np.empty(0)), grown.node_mean[rows]

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))


def _of_training(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method as scikit-learn wraps it for `set_output`, where X may still be left out."""

    @wraps(method)
    def asked(self: SCAN, X: Any = None) -> Any:
        return method(self, X)

    return asked


SCAN.transform = _of_training(SCAN.transform)  # type: ignore[method-assign]


def _with_labels(network: Network, y: Any) -> tuple[Network, np.ndarray | None]:
    """The network with the labels that `y` has, and its classes as they are there.

    Whole numbers, where the network has classes, are positions among these.
    """
    given = np.asarray(column_or_1d(y, warn=True))
    if given.dtype.kind not in "biufOUSb":
        raise InputError(f"y holds {given.dtype}, which is no class; give texts or whole numbers")
    hidden = _unknown(given)
    if given.dtype.kind == "f" and np.isinf(given).any():
        raise InputError("y contains infinity, which is no class; give -1 or NaN for unknown")
    if hidden.all():
        raise InputError("y tells no class at all; give some, or leave y out")
    if given.dtype.kind == "f" and np.any(given[~hidden] % 1 != 0):
        raise InputError("Unknown label type: y holds numbers that are not whole, and this is a classifier")
    if given.dtype.kind == "c":
        raise InputError("Complex data not supported")
    known = network.main.labels
    if known is not None and known.n_classes and given.dtype.kind in "iuf":
        values = np.where(hidden, UNKNOWN, np.where(hidden, 0, given)).astype(np.int64)
        return network.with_labels(Labels.build(values, known.classes).values), None
    classes, codes = np.unique(
        given[~hidden].astype(str) if given.dtype.kind == "O" else given[~hidden], return_inverse=True
    )
    values = np.full(len(given), UNKNOWN)
    values[~hidden] = codes
    return network.with_classes(Labels.build(values, [str(each) for each in classes])), classes


def _unknown(y: np.ndarray) -> np.ndarray:
    """Which cells of `y` tell no class: None, NaN, and of numbers those below zero."""
    if y.dtype.kind == "O":
        return np.array(
            [each is None or each != each or (isinstance(each, (int, float)) and each < 0) for each in y],
            bool,
        )
    if y.dtype.kind in "fi":
        return ~(y >= 0)
    return np.zeros(len(y), dtype=bool)


def _all_numbers(frame: Any) -> bool:
    kinds = getattr(frame, "dtypes", None)
    if kinds is None:
        return False
    return all(getattr(kind, "kind", "O") in "biuf" for kind in kinds)
