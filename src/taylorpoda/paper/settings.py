"""What is reproduced: the names of the paper's tables, and the choices a reader may change."""

from __future__ import annotations

from dataclasses import dataclass

from taylorpoda._support.choices import check_choice
from taylorpoda.paper.networks import HIDDEN, NETWORKS, Network, network_of

DATA: dict[str, str] = {
    "cancer": "classification",
    "rice": "classification",
    "titanic": "classification",
    "abalone": "regression",
    "california": "regression",
    "concrete": "regression",
}
MODELS: dict[str, str] = {
    "mlp_tanh": "MLP (tanh & logistic)",
    "mlp_relu": "MLP (ReLU)",
    "xgboost": "XGBoost",
}
# Rows of the tables in the paper's order; the last is what the paper lacks.
METHODS: tuple[str, ...] = ("OCC-1", "LIME", "WeightedSHAP", "TaylorPODA", "TaylorPODA-optimal")
BASELINE = "SHAP"
PRINTED_METHODS: tuple[str, ...] = METHODS[:4]
UTILITIES: dict[str, tuple[str, ...]] = {
    "classification": ("inclusion_aup", "exclusion_aup", "inclusion_auc", "exclusion_auc"),
    "regression": ("inclusion_aup", "exclusion_aup", "inclusion_mse", "exclusion_mse"),
}
UTILITY_TITLES: dict[str, str] = {
    "inclusion_aup": "Inclusion AUP",
    "exclusion_aup": "Exclusion AUP",
    "inclusion_auc": "Inclusion AUC",
    "exclusion_auc": "Exclusion AUC",
    "inclusion_mse": "Inclusion MSE",
    "exclusion_mse": "Exclusion MSE",
}
# What one printed unit is worth, and whether the printed scale divides the sum by the number of features.
UNITS: dict[str, float] = {name: 1e-4 if name.endswith("mse") else 1e-2 for name in UTILITY_TITLES}
AVERAGED = frozenset(name for name in UTILITY_TITLES if name.endswith(("auc", "mse")))

_SURROGATES = ("ours", "paper")
_LABELS = ("y", "model")
_FAST_DATA = ("titanic", "concrete")
_FAST_ROWS = 10
_EXPLAINING = 2


@dataclass(frozen=True)
class Settings:
    """One run of the reproduction.

    Attributes:
        data: Names of data sets.
        models: Names of models.
        surrogate: Which masked-output calculator: "ours", or "paper" for the published recipe.
        rows: Hold-out rows that are explained.
        seed: Seeds everything. The models are trained with it, and what is explained is drawn with
            `explaining_seed`.
        networks: The networks that are explained: those of the "paper", or those its research "code" trained.
        hidden: Hidden layers of the paper's networks; the code's have layers of their own.
        label: What the AUC utilities compare with: the true "y", or the "model"'s own label.
        retrain: How many times the surrogate is trained, with seeds of its own; the tables are those of the
            first.
        bootstrap: Resamples behind every interval.
        candidates: Allocations TaylorPODA compares per row, Shapley among them.
    """

    data: tuple[str, ...] = tuple(DATA)
    models: tuple[str, ...] = tuple(MODELS)
    surrogate: str = "ours"
    rows: int = 100
    seed: int = 2024
    networks: str = "paper"
    hidden: tuple[int, ...] = HIDDEN
    label: str = "y"
    retrain: int = 1
    bootstrap: int = 100
    candidates: int = 16

    def __post_init__(self) -> None:
        """Refuse what is not known, with the nearest name that is."""
        for parameter, chosen, known in (("data", self.data, DATA), ("models", self.models, MODELS)):
            if not chosen:
                msg = f"{parameter} is empty; allowed: one or more of {', '.join(map(repr, known))}."
                raise ValueError(msg)
            for name in chosen:
                check_choice(parameter, name, known)
            if len(set(chosen)) != len(chosen):
                msg = f"{parameter} names something twice: {list(chosen)}."
                raise ValueError(msg)
        check_choice("surrogate", self.surrogate, _SURROGATES)
        check_choice("label", self.label, _LABELS)
        check_choice("networks", self.networks, NETWORKS)
        for parameter, number, least in (
            ("rows", self.rows, 1),
            ("seed", self.seed, 0),
            ("retrain", self.retrain, 1),
            ("bootstrap", self.bootstrap, 2),
            ("candidates", self.candidates, 2),
        ):
            if number < least:
                msg = f"{parameter}={number}; it must be at least {least}."
                raise ValueError(msg)
        if self.seed >= 2**32:
            msg = f"seed={self.seed}; the models' libraries take seeds below 2**32."
            raise ValueError(msg)
        if not self.hidden or min(self.hidden) < 1:
            msg = f"hidden={self.hidden!r}; it must be one or more positive layer sizes, e.g. 64,64,32,16."
            raise ValueError(msg)
        if self.networks == "code" and self.hidden != HIDDEN:
            msg = f"hidden={self.hidden!r} with networks='code'; the code's have layers of their own, so leave it out."
            raise ValueError(msg)

    @property
    def explaining_seed(self) -> int:
        """Of the split, the explained rows, LIME's draws and the bootstrap.

        The research code trains its models with 2024 and explains with 2026, so the default gives the paper's own
        rows: the same 100 of every data set.
        """
        return (self.seed + _EXPLAINING) % 2**32

    def network(self, data: str, model: str) -> Network | None:
        """The network of one pair; None for XGBoost."""
        return network_of(data, model, DATA[data], networks=self.networks, hidden=self.hidden)

    def pairs(self) -> list[tuple[str, str]]:
        """The (data, model) pairs in the order of the tables."""
        return [(data, model) for data in DATA if data in self.data for model in MODELS if model in self.models]


def fast_settings(data: tuple[str, ...] = (), rows: int = _FAST_ROWS) -> dict[str, object]:
    """What --fast changes: few rows, two small data sets unless others are named."""
    return {"data": data or _FAST_DATA, "rows": rows}
