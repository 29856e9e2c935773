"""From a data set to what the experiments use: features and targets in [0, 1], a split, hold-out rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.datasets import Dataset
    from taylorpoda.paper.store import Arrays

_TEST_SHARE = 0.2


def sample(dataset: Dataset, *, rows: int, seed: int) -> Arrays:
    """Prepare a data set as the paper does.

    Features are scaled to [0, 1] over all rows; a regression target is made normal by Box-Cox over all rows,
    then scaled to [0, 1]. 80 % of the rows train; `rows` of the others, at random, are explained. The draws are those
    of the research code (scikit-learn's split, then numpy's choice), so its seed gives its rows.

    Args:
        dataset: The data set.
        rows: How many rows to explain.
        seed: Of the split.

    Returns:
        "train" (m, n), "train_y", "rows" (rows, n), "y".

    Raises:
        ValueError: If fewer rows are held out than are to be explained.
    """
    features = _unit(np.asarray(dataset.X, dtype=np.float64))
    target = np.asarray(dataset.y)
    if dataset.task == "regression":
        transformed, _ = stats.boxcox(target)
        target = _unit(np.asarray(transformed)[:, None])[:, 0]
    held_out = math.ceil(_TEST_SHARE * len(features))
    if rows > held_out:
        msg = f"rows={rows}, but {dataset.name!r} holds out only {held_out} rows."
        raise ValueError(msg)
    order = np.random.RandomState(seed).permutation(len(features))
    explained = order[np.random.RandomState(seed).permutation(held_out)[:rows]]
    train = order[held_out:]
    return {
        "train": features[train],
        "train_y": target[train],
        "rows": features[explained],
        "y": target[explained],
    }


def _unit(columns: NDArray[Any]) -> NDArray[np.float64]:
    low, high = columns.min(axis=0), columns.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    return np.asarray((columns - low) / span)
