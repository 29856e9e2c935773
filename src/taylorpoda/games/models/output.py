"""What models give back, brought to float64 once: the only cast of this library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import array_api_compat
import numpy as np

from taylorpoda._support.arrays import as_array, check_unmasked

if TYPE_CHECKING:
    from numpy.typing import NDArray


class GameError(ValueError):
    """A model or game raised; the original error is chained, and the message names the coalition."""


def as_outputs(raw: Any, rows: int, source: str) -> tuple[NDArray[np.float64], int]:
    """Bring a model's answer to float64 of shape (rows, outputs).

    Args:
        raw: (m,), (m, 1), (m, outputs): arrays, Series, DataFrames, tensors, lists.
        rows: m.
        source: Who gave it, for messages.

    Returns:
        The outputs, and the number of axes the answer had (1 for (m,) and 2 for (m, outputs)).

    Raises:
        ValueError: If the shape is wrong.
        TypeError: If the answer is not numbers.
    """
    array = _as_array(raw, source)
    if array.dtype.kind == "O":
        array = _numbers_of_objects(array, source)
    if array.dtype.kind not in "fiub":
        example = array.ravel()[0] if array.size else ""
        msg = (
            f"{source} gave {array.dtype} values (such as {str(example)!r}); real numbers are needed. "
            "For a classifier pass the estimator itself or its predict_proba, not predict."
        )
        raise TypeError(msg)
    if array.ndim not in (1, 2) or array.shape[0] != rows or (array.ndim == 2 and array.shape[1] == 0):
        msg = (
            f"{source} gave shape {array.shape} for {rows} rows; allowed: ({rows},), ({rows}, 1) or ({rows}, outputs)."
        )
        raise ValueError(msg)
    whole = array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size
    if whole and max(int(array.max()), -int(array.min())) > 2**53:
        msg = f"{source} gave integers beyond 2**53, which float64 does not hold exactly; return floats instead."
        raise ValueError(msg)
    outputs = np.array(array, dtype=np.float64)  # a copy: models may reuse their buffer
    return (outputs[:, None] if outputs.ndim == 1 else outputs), array.ndim


def names_in(raw: Any) -> tuple[str, ...] | None:
    """The names of a model's outputs where it answers with a DataFrame whose columns have names of their own."""
    columns = getattr(raw, "column_names", None)
    columns = getattr(raw, "columns", None) if columns is None else columns
    try:
        names = tuple(columns) if columns is not None else ()
    except TypeError:
        return None
    named = bool(names) and all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
    return tuple(map(str, names)) if named else None


def _as_array(raw: Any, source: str) -> NDArray[Any]:
    if isinstance(raw, np.ndarray):
        check_unmasked(raw, f"what {source} gave")
        return raw
    if array_api_compat.is_torch_array(raw):
        raw = raw.detach().cpu()
        return np.asarray(raw.float() if "bfloat16" in str(raw.dtype) else raw)
    if hasattr(raw, "to_numpy"):
        return np.asarray(raw.to_numpy())
    if hasattr(raw, "toarray"):
        return np.asarray(raw.toarray())
    return as_array(raw, f"what {source} gave")


def _numbers_of_objects(array: NDArray[Any], source: str) -> NDArray[np.float64]:
    for cell in array.ravel():
        if isinstance(cell, str | bytes) or cell is None:
            msg = (
                f"{source} gave objects such as {cell!r}; real numbers are needed. "
                "For a classifier pass the estimator itself or its predict_proba, not predict."
            )
            raise TypeError(msg)
    try:
        return np.asarray(array.astype(np.float64))
    except (TypeError, ValueError) as error:
        msg = f"{source} gave values that are not real numbers: {error}"
        raise TypeError(msg) from error
