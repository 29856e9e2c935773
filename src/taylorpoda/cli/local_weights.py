"""LIME for the comparison: the model's own answers around each row, where its features are numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.display import one_line
from taylorpoda.games.models import bind_model
from taylorpoda.methods.lime import lime

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.cli.inputs import Inputs
    from taylorpoda.explanation import Explanation

_LONGEST_REASON = 300


@dataclass(frozen=True, eq=False)
class LocalWeights:
    """LIME's weights of the explained rows, or why there are none.

    Attributes:
        weights: Shape (rows, outputs, n), or None.
        reason: Why not, in half a sentence; "" where there are weights.
        model_rows: Rows the model was asked for them.
    """

    weights: NDArray[np.float64] | None
    reason: str = ""
    model_rows: int = 0


def local_weights(explanation: Explanation, model: Any, inputs: Inputs, options: dict[str, Any]) -> LocalWeights:
    """LIME on the rows of an explanation.

    Args:
        explanation: Of the rows of `inputs`.
        model: The model.
        inputs: Background and rows.
        options: The explainer's; `output`, `output_names`, `link` and `random_state` are read.

    Returns:
        The weights, features in the explanation's order; where LIME does not apply or fails, the reason.
    """
    reason = _unsuited(explanation, inputs)
    if reason:
        return LocalWeights(None, reason)
    bound = bind_model(model, output=options["output"], link=options["link"], output_names=options.get("output_names"))

    def asked(samples: NDArray[np.float64]) -> NDArray[np.float64]:
        return bound(_like(inputs.background, samples), len(samples))[:, bound.explained]

    try:
        found = lime(
            asked,
            _numbers(inputs.background),
            _numbers(inputs.rows),
            categorical_features=_flags(inputs.background),
            random_state=options["random_state"],
        )
    except Exception as error:  # noqa: BLE001 - one rival of many: its failure, or the model's on its samples, is told
        return LocalWeights(None, one_line(error, _LONGEST_REASON), bound.rows_evaluated)
    column_of_player = np.argsort(explanation.subject.player_of_column)
    return LocalWeights(found[..., column_of_player], model_rows=bound.rows_evaluated)


def _unsuited(explanation: Explanation, inputs: Inputs) -> str:
    """Why LIME does not apply to these tables, or ""."""
    columns = inputs.columns.names
    if len(explanation.feature_names) < len(columns):
        return "it weighs single columns, and some are put together by --group"
    if not isinstance(inputs.background, np.ndarray):
        other = [str(name) for name, kind in inputs.background.dtypes.items() if not _is_number(kind)]
        if other:
            return f"it reads numbers only, and {', '.join(other[:3])}{' ...' * (len(other) > 3)} holds something else"
    gaps = ~np.isfinite(np.concatenate([_numbers(inputs.background), _numbers(inputs.rows)])).all(axis=0)
    if gaps.any():
        return f"it reads no missing cells, and {columns[int(np.argmax(gaps))]!r} has some"
    return ""


def _is_number(kind: Any) -> bool:
    return isinstance(kind, np.dtype) and kind.kind in "fiub"


def _numbers(table: Any) -> NDArray[np.float64]:
    return np.asarray(table, dtype=np.float64)


def _flags(table: Any) -> list[int]:
    """Columns of truth values: LIME draws them from the background, where it draws numbers between those."""
    kinds = [table.dtype] * table.shape[1] if isinstance(table, np.ndarray) else table.dtypes.to_list()
    return [column for column, kind in enumerate(kinds) if kind.kind == "b"]


def _like(background: Any, samples: NDArray[np.float64]) -> Any:
    """Samples in the container the model reads; integers are numbers here, for LIME draws between them."""
    if isinstance(background, np.ndarray):
        return samples
    made = type(background)(samples, columns=background.columns)
    return made.astype({name: kind for name, kind in background.dtypes.items() if kind.kind in "fb"})
