"""The scikit-learn face of the model; it does nothing itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coembed.fitted import Fitted
from coembed.network.network import UNKNOWN, Network
from coembed.settings import Task, preset_settings


class SCAN(BaseEstimator):  # type: ignore[misc]
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
        Names of the classes.
    result_
        The fitted result, which answers more questions (:class:`coembed.Fitted`).

    Examples
    --------
    >>> from coembed import SCAN, demo_network
    >>> scan = SCAN(dim=16, epochs=3, random_state=0).fit(demo_network())
    >>> scan.node_embedding_.shape, len(scan.predict())
    ((1476, 16), 1476)
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

    def fit(self, network: Network, y: np.ndarray | None = None) -> SCAN:
        """Fit to a network; `y`, where given, replaces its labels (integers, negative: unknown)."""
        from coembed.training import fit

        if y is not None and not network.is_plain:
            network = network.with_labels(np.where(np.asarray(y) < 0, UNKNOWN, y))
        elif y is not None:
            network = Network.build(
                network.links,
                network.attributes,
                y,
                node_names=network.node_names,
                attribute_names=network.attribute_names,
                class_names=network.class_names if network.n_classes else None,
                name=network.name,
                notices=network.notices,
            )
        direct = (
            "dim",
            "hidden",
            "alpha",
            "beta",
            "epochs",
            "learning_rate",
            "validation",
            "patience",
            "device",
        )
        changes = {name: getattr(self, name) for name in direct if getattr(self, name) is not None}
        settings = preset_settings(
            self.preset, self.task, **{**(self.settings or {}), **changes}, seed=self._seed()
        )
        self.result_: Fitted = fit(network, settings, preset=self.preset)
        self.classes_ = self.result_.network.class_names
        self.node_embedding_ = self.result_.node_mean
        attributes = network.attribute_type(network.main.name)
        self.attribute_embedding_ = None if attributes is None else self.result_.mean_of(attributes)
        return self

    def predict(self, network: Network | None = None) -> np.ndarray:
        """The likeliest class of every node by name: of the training network, or of one with new nodes."""
        result, rows = self._result(network)
        return result.predict()[rows]

    def predict_proba(self, network: Network | None = None) -> np.ndarray:
        """Class probabilities of every node, in the order of ``classes_``."""
        result, rows = self._result(network)
        return result.predict_proba()[rows]

    def transform(self, network: Network | None = None) -> np.ndarray:
        """Means of the nodes (N x D); new nodes are placed without training."""
        result, rows = self._result(network)
        return result.node_mean[rows]

    def fit_transform(self, network: Network, y: np.ndarray | None = None) -> np.ndarray:
        return self.fit(network, y).transform()

    def _result(self, network: Network | None) -> tuple[Fitted, np.ndarray]:
        """The result that knows the items of a network, and where they are in it."""
        check_is_fitted(self, "result_")
        if network is None:
            return self.result_, np.arange(len(self.result_.network.main))
        result = self.result_.embed(network).result
        main = result.network.main
        return result, np.array([main.position(each) for each in network.items(main.name).ids])

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))
