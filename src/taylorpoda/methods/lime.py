"""LIME (Ribeiro, Singh and Guestrin, 2016) for tables, through the `lime` package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.optional import require
from taylorpoda._support.progress import ProgressBar
from taylorpoda._support.seeds import resolve_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

_SEED_RANGE = 2**32


def lime(
    model: Callable[[NDArray[np.float64]], Any],
    background: Any,
    X: Any,
    *,
    feature_names: Sequence[str] | None = None,
    categorical_features: Sequence[int] | None = None,
    num_samples: int = 5000,
    discretize_continuous: bool = True,
    random_state: object = None,
) -> NDArray[np.float64]:
    """LIME's local linear weights, one number per feature and row.

    LIME fits a linear model to the answers of `model` around the row; it does not share out a game's value,
    so its weights need not sum to anything and the postulates do not apply. The defaults are those of the
    `lime` package: quartile bins, 5,000 samples. Every row is explained with the same draws, so its answer
    depends neither on its neighbors nor on its position.

    Args:
        model: Callable (m, n) -> (m,): what is explained.
        background: Training rows, shape (rows, n), numeric.
        X: Rows to explain, shape (rows, n).
        feature_names: One name per feature.
        categorical_features: Columns that hold codes of categories.
        num_samples: Model rows per explained row.
        discretize_continuous: Whether numeric features are binned by quartiles.
        random_state: Seed, see `taylorpoda.Explainer`.

    Returns:
        Shape (rows, n).

    Raises:
        ImportError: If `lime` is not installed; the message is the install line.
        ValueError: If the shapes do not fit.
    """
    tabular = require("lime.lime_tabular", "lime", "methods.lime")
    train = np.asarray(background, dtype=np.float64)
    rows = np.asarray(X, dtype=np.float64)
    if train.ndim != 2 or rows.ndim != 2 or train.shape[1] != rows.shape[1]:
        msg = f"background has shape {train.shape} and X {rows.shape}; allowed: (rows, n) with the same n."
        raise ValueError(msg)
    seed = resolve_seed(random_state) % _SEED_RANGE
    state = np.random.RandomState(seed)  # the lime package knows no other kind
    explainer = tabular.LimeTabularExplainer(
        train,
        mode="regression",
        feature_names=None if feature_names is None else list(feature_names),
        categorical_features=None if categorical_features is None else list(categorical_features),
        discretize_continuous=discretize_continuous,
        random_state=state,
    )
    n_features = rows.shape[1]
    attributions = np.zeros(rows.shape)
    with ProgressBar("explaining with LIME", len(rows)) as bar:
        for number, row in enumerate(rows):
            state.seed(seed)
            explained = explainer.explain_instance(row, model, num_features=n_features, num_samples=num_samples)
            for feature, weight in explained.local_exp[1]:
                attributions[number, feature] = weight
            bar.advance()
    return attributions
