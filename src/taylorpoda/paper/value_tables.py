"""The shared masked-output calculator: the conditional surrogate, and the table of all coalitions' values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taylorpoda.engines.exact import DenseGames
from taylorpoda.explainer import Explainer
from taylorpoda.games.masking.conditional import Conditional

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray


def value_table(
    predict: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    background: NDArray[np.float64],
    rows: NDArray[np.float64],
    *,
    surrogate: Any,
    task: str,
    seed: int,
) -> NDArray[np.float64]:
    """Train a surrogate for a model and value all coalitions of some rows.

    Args:
        predict: The model, rows -> (m,).
        background: Training rows, shape (m, n).
        rows: Rows to explain, shape (rows, n).
        surrogate: "ours" or "paper".
        task: "classification" if the model gives probabilities, else "regression".
        seed: Of the training.

    Returns:
        Shape (rows, 2**n); the last column is the model's own answer.
    """
    # numpy whatever is installed: a GPU would give other bytes, and on networks this small no speed.
    rule = Conditional(surrogate, backend="numpy", loss="kl" if task == "classification" else "squared", seed=seed)
    explainer = Explainer(predict, background, masking=rule, policy="shapley", engine="exact", random_state=seed)
    games = explainer(rows).games
    assert isinstance(games, DenseGames)  # noqa: S101 - what the exact engine gives
    return games.values[:, 0, :]
