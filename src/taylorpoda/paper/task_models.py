"""The models that are explained: scikit-learn networks and XGBoost, kept as plain arrays."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.optional import require

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from taylorpoda.paper.networks import Network
    from taylorpoda.paper.store import Arrays

_PURPOSE = "reproducing the paper"


def train(network: Network | None, task: str, features: NDArray[Any], target: NDArray[Any], *, seed: int) -> Arrays:
    """Train a model.

    The networks are scikit-learn's with its defaults but the activation, the hidden layers and the seed;
    XGBoost classifies with its defaults and regresses with 100 trees of depth 4 and learning rate 0.1, as
    the public research code does.

    Args:
        network: Which network; None for XGBoost.
        task: "classification" or "regression".
        features: Shape (m, n).
        target: Shape (m,).
        seed: Of the training.

    Returns:
        The model as arrays, for `restore`.
    """
    if network is None:
        return _train_boosted(task, features, target, seed)
    return _train_network(network, task, features, target, seed)


def restore(network: Network | None, arrays: Any, task: str) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """What the model predicts: rows -> the probability of the positive class, or the value."""
    if network is None:
        xgboost = require("xgboost", "paper", _PURPOSE)
        booster = xgboost.Booster({"nthread": 1})
        booster.load_model(bytearray(np.asarray(arrays["booster"], dtype=np.uint8).tobytes()))
        return _Boosted(booster)
    layers = sum(1 for key in arrays if str(key).startswith("weight"))
    return _Network(
        weights=tuple(np.asarray(arrays[f"weight{layer}"]) for layer in range(layers)),
        offsets=tuple(np.asarray(arrays[f"offset{layer}"]) for layer in range(layers)),
        activation=_ACTIVATIONS[network.activation],
        probability=task == "classification",
    )


def _train_network(network: Network, task: str, features: NDArray[Any], target: NDArray[Any], seed: int) -> Arrays:
    networks = require("sklearn.neural_network", "paper", _PURPOSE)
    kind = networks.MLPClassifier if task == "classification" else networks.MLPRegressor
    model = kind(hidden_layer_sizes=network.hidden, activation=network.activation, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 200 epochs are the paper's; whether they converged is not the question
        model.fit(features, target)
    weights = {f"weight{layer}": weight for layer, weight in enumerate(model.coefs_)}
    offsets = {f"offset{layer}": offset for layer, offset in enumerate(model.intercepts_)}
    return weights | offsets


def _train_boosted(task: str, features: NDArray[Any], target: NDArray[Any], seed: int) -> Arrays:
    xgboost = require("xgboost", "paper", _PURPOSE)
    if task == "classification":
        model = xgboost.XGBClassifier(random_state=seed, n_jobs=1)
    else:
        model = xgboost.XGBRegressor(n_estimators=100, learning_rate=0.1, max_depth=4, random_state=seed, n_jobs=1)
    model.fit(features, target)
    return {"booster": np.frombuffer(bytes(model.get_booster().save_raw("ubj")), dtype=np.uint8)}


def _logistic(signal: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * signal)))


def _relu(signal: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.maximum(signal, 0.0)


_ACTIVATIONS: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "identity": np.asarray,
    "logistic": _logistic,
    "relu": _relu,
    "tanh": np.tanh,
}


@dataclass(frozen=True, eq=False)
class _Network:
    """A trained network: what scikit-learn's predict or predict_proba computes."""

    weights: tuple[NDArray[np.float64], ...]
    offsets: tuple[NDArray[np.float64], ...]
    activation: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    probability: bool

    def __call__(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        signal = np.asarray(rows, dtype=np.float64)
        for layer, (weight, offset) in enumerate(zip(self.weights, self.offsets, strict=True)):
            signal = signal @ weight + offset
            if layer < len(self.weights) - 1:
                signal = self.activation(signal)
        if not self.probability:
            return signal[:, 0]
        return _logistic(signal[:, 0])


@dataclass(frozen=True, eq=False)
class _Boosted:
    """A trained booster: the probability of the positive class, or the value."""

    booster: Any

    def __call__(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self.booster.inplace_predict(np.asarray(rows)), dtype=np.float64)
