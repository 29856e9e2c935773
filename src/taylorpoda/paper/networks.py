"""The networks whose predictions are explained: as the paper tells them, or as its research code trained them."""

from __future__ import annotations

from dataclasses import dataclass

# The one network that was published with the paper has these.
HIDDEN: tuple[int, ...] = (64, 64, 32, 16)
NETWORKS = ("paper", "code")

# The paper's first column is "tanh & logistic" without saying which is which: its code has logistic here.
_LOGISTIC = frozenset({"cancer"})
# What the research code's grid search found, for both of its columns. Its script for ReLU networks sets ReLU for the
# classes only; for the regressions it sets what the other script does.
_CODE: dict[str, tuple[str, tuple[int, ...]]] = {
    "cancer": ("logistic", (32, 32, 16)),
    "rice": ("tanh", (64, 32, 32)),
    "titanic": ("tanh", (64, 64, 32, 16)),
    "abalone": ("identity", (64, 64, 32, 16)),
    "california": ("tanh", (32, 32, 32, 16)),
    "concrete": ("tanh", (64, 64, 32, 16)),
}


@dataclass(frozen=True)
class Network:
    """A network of scikit-learn with its defaults but these.

    Attributes:
        activation: "tanh", "relu", "logistic" or "identity".
        hidden: Sizes of the hidden layers.
    """

    activation: str
    hidden: tuple[int, ...]


def network_of(data: str, model: str, task: str, *, networks: str, hidden: tuple[int, ...]) -> Network | None:
    """Which network a column of the tables explains; None for XGBoost.

    Args:
        data: The data set.
        model: "mlp_tanh", "mlp_relu" or "xgboost".
        task: "classification" or "regression".
        networks: "paper" for what the column is called, "code" for what the research code trained.
        hidden: Hidden layers of the paper's.
    """
    if model == "xgboost":
        return None
    if networks == "code":
        activation, layers = _CODE[data]
        return Network("relu" if model == "mlp_relu" and task == "classification" else activation, layers)
    if model == "mlp_relu":
        return Network("relu", hidden)
    return Network("logistic" if data in _LOGISTIC else "tanh", hidden)
