"""The six utilities of the paper: area under the prediction recovery curve, its squares, and label recovery."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import array_api_compat

from taylorpoda.utilities.base import Utility, take

if TYPE_CHECKING:
    from taylorpoda.utilities.base import Context, Pointwise, Side


def absolute_error(value: Any, full_value: Any, target: Any, threshold: float) -> Any:  # noqa: ARG001 - one signature
    """|f(x) - v|."""
    return abs(value - full_value)


def squared_error(value: Any, full_value: Any, target: Any, threshold: float) -> Any:  # noqa: ARG001 - one signature
    """(f(x) - v)**2."""
    return (value - full_value) ** 2


def label_hit(value: Any, full_value: Any, target: Any, threshold: float) -> Any:
    """1 where the label is y, else 0; a value equal to the threshold is labeled 0."""
    xp = array_api_compat.array_namespace(full_value)
    return xp.astype((value > threshold) == (target == 1), full_value.dtype)


@dataclass(frozen=True)
class PointwiseStage:
    """The table c(S) of a built-in utility, or only the entries asked for.

    Attributes:
        side: "inclusion" values S itself, "exclusion" its complement.
        pointwise: What one coalition adds.
        classifies: Whether it reads labels, which then replace the values where several outputs compete.
    """

    side: Side
    pointwise: Pointwise
    classifies: bool

    def __call__(self, context: Context, coalitions: Any = None) -> Any:
        """The terms of all coalitions, shape (..., 2**n), or of subset indices (..., m) in their shape."""
        labels = context.labels if self.classifies else None
        read = context.values if labels is None else labels
        if coalitions is not None:
            full = context.values.shape[-1] - 1
            at = take(read, full - coalitions if self.side == "exclusion" else coalitions)
        elif self.side == "exclusion":
            at = array_api_compat.array_namespace(read).flip(read, axis=-1)
        else:
            at = read
        full_value = context.full_value[..., None]
        target = None if context.target is None else context.target[..., None]
        if labels is not None:
            return array_api_compat.array_namespace(full_value).astype(at == target, full_value.dtype)
        return self.pointwise(at, full_value, target, context.threshold)


def _builtin(name: str, side: Side, pointwise: Pointwise, *, higher_is_better: bool) -> Utility:
    classifies = pointwise is label_hit
    return Utility(
        name,
        stage=PointwiseStage(side, pointwise, classifies),
        higher_is_better=higher_is_better,
        needs_target=classifies,
        side=side,
        pointwise=pointwise,
    )


BUILTIN = {
    utility.name: utility
    for utility in (
        _builtin("inclusion_aup", "inclusion", absolute_error, higher_is_better=False),
        _builtin("exclusion_aup", "exclusion", absolute_error, higher_is_better=True),
        _builtin("inclusion_mse", "inclusion", squared_error, higher_is_better=False),
        _builtin("exclusion_mse", "exclusion", squared_error, higher_is_better=True),
        _builtin("inclusion_auc", "inclusion", label_hit, higher_is_better=True),
        _builtin("exclusion_auc", "exclusion", label_hit, higher_is_better=False),
    )
}
