"""LIME (Ribeiro, Singh and Guestrin, 2016) for tables, through the `lime` package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.integers import whole_number
from taylorpoda._support.optional import require
from taylorpoda._support.progress import ProgressBar
from taylorpoda._support.seeds import resolve_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

SAMPLES = 5000
_SEED_RANGE = 2**32


def lime(
    model: Callable[[NDArray[np.float64]], Any],
    background: Any,
    X: Any,
    *,
    feature_names: Sequence[str] | None = None,
    categorical_features: Sequence[int] | None = None,
    num_samples: int = SAMPLES,
    discretize_continuous: bool = True,
    random_state: object = None,
) -> NDArray[np.float64]:
    """LIME's local linear weights, one number per feature and row.

    LIME fits a linear model to the answers of `model` around the row; it does not share out a game's value,
    so its weights need not sum to anything and the postulates do not apply. The defaults are those of the
    `lime` package: quartile bins, 5,000 samples. Every row is explained with the same draws, so its answer
    depends neither on its neighbors nor on its position.

    Args:
        model: Callable (m, n) -> (m,) or (m, outputs): what is explained. It is asked once per row, whatever the
            number of outputs.
        background: Training rows, shape (rows, n), numeric.
        X: Rows to explain, shape (rows, n).
        feature_names: One name per feature.
        categorical_features: Columns that hold codes of categories.
        num_samples: Model rows per explained row.
        discretize_continuous: Whether numeric features are binned by quartiles.
        random_state: Seed, see `taylorpoda.Explainer`.

    Returns:
        Shape (rows, n), or (rows, outputs, n) where the model answers (m, outputs).

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
    num_samples = whole_number("num_samples", num_samples, least=1)
    if feature_names is not None and len(feature_names) != train.shape[1]:
        msg = f"feature_names holds {len(feature_names)} names; allowed: {train.shape[1]}, one per column."
        raise ValueError(msg)
    for column in categorical_features or ():
        if not 0 <= column < train.shape[1]:
            msg = f"categorical_features holds {column!r}; allowed: columns 0 to {train.shape[1] - 1}."
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
    asked = _Asked(model)
    attributions: NDArray[np.float64] | None = None
    with ProgressBar("explaining with LIME", len(rows)) as bar:
        for number, row in enumerate(rows):
            output = 0
            while output < asked.n_outputs:
                state.seed(seed)
                explained = explainer.explain_instance(
                    row, asked.output(output, afresh=output == 0), num_features=len(row), num_samples=num_samples
                )
                if attributions is None:
                    attributions = np.zeros((len(rows), asked.n_outputs, rows.shape[1]))
                for feature, weight in explained.local_exp[1]:
                    attributions[number, output, feature] = weight
                output += 1
            bar.advance()
    if attributions is None:
        return np.zeros(rows.shape)
    return attributions[:, 0] if asked.flat else attributions


class _Asked:
    """The model's answers to the samples around one row: one call serves every output, for the draws are the same."""

    def __init__(self, model: Callable[[NDArray[np.float64]], Any]) -> None:
        self._model = model
        self._answers = np.empty((0, 1))
        self.n_outputs = 1
        self.flat = True

    def output(self, position: int, *, afresh: bool) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        """One output as the function of samples that the package asks for; `afresh` for a new row."""

        def ask(samples: NDArray[np.float64]) -> NDArray[np.float64]:
            if afresh:
                answers = np.asarray(self._model(samples), dtype=np.float64)
                if answers.ndim not in (1, 2) or len(answers) != len(samples):
                    msg = (
                        f"model answered {len(samples)} rows with shape {answers.shape}; allowed: (m,) or (m, outputs)."
                    )
                    raise ValueError(msg)
                self.flat = answers.ndim == 1
                self._answers = answers.reshape(len(samples), -1)
                self.n_outputs = self._answers.shape[1]
            return self._answers[:, position]

        return ask
