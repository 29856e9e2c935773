"""What a surrogate is trained to match: numbers by squared error, probabilities by Kullback-Leibler divergence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from taylorpoda.games.models.base import BoundModel

LossKind = Literal["squared", "softmax", "sigmoid"]
# Log-odds of outputs, for the linear part only, are taken after pulling them this far from 0 and 1.
_PULL = 0.02
_SUM_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Loss:
    """One loss with the scale of one model's outputs.

    Attributes:
        kind: "squared"; "softmax" for the probabilities of classes; "sigmoid" for probabilities one by one.
        shift: Shape (outputs,): where scores start.
        scale: Shape (outputs,): what one unit of a score is worth ("squared" only).
    """

    kind: LossKind
    shift: NDArray[np.float64]
    scale: NDArray[np.float64]

    @classmethod
    def of(cls, kind: str, outputs: NDArray[np.float64], weights: NDArray[np.float64]) -> Loss:
        """The loss for outputs (r, k)."""
        ones = np.ones(outputs.shape[1])
        if kind == "squared":
            mean = weights @ outputs
            scale = np.sqrt(weights @ np.square(outputs - mean))
            return cls("squared", mean, np.where(scale > 1e-12 * np.abs(mean), scale, 1.0))
        loss = cls("softmax" if kind == "softmax" else "sigmoid", 0 * ones, ones)
        return cls(loss.kind, weights @ loss.scores(outputs), ones)

    def in_unit_range(self, outputs: NDArray[np.float64]) -> Loss:
        """The same loss, numbers in [0, 1] over the outputs (r, k) and probabilities as they are."""
        nothing, ones = np.zeros_like(self.shift), np.ones_like(self.scale)
        if self.kind != "squared":
            return Loss(self.kind, nothing, ones)
        low = outputs.min(axis=0)
        span = outputs.max(axis=0) - low
        return Loss(self.kind, low, np.where(span > 1e-12 * np.abs(low), span, ones))

    def scores(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Outputs on the scale on which the linear part predicts them, shape (r, k)."""
        if self.kind == "squared":
            return (outputs - self.shift) / self.scale
        pulled = outputs * (1 - 2 * _PULL) + _PULL
        if self.kind == "sigmoid":
            return np.asarray(np.log(pulled) - np.log1p(-pulled) - self.shift)
        logs = np.log(pulled)
        return np.asarray(logs - logs.mean(axis=1, keepdims=True) - self.shift)

    def targets(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Outputs as `gradient` and `value` compare them: standardized, or the probabilities themselves."""
        return self.scores(outputs) if self.kind == "squared" else outputs

    def predict(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Scores (..., k) to what `targets` holds."""
        if self.kind == "squared":
            return scores
        shifted = scores + self.shift.astype(scores.dtype)
        if self.kind == "sigmoid":
            return np.asarray(1 / (1 + np.exp(-np.clip(shifted, -60, 60))))
        exp = np.exp(shifted - shifted.max(axis=-1, keepdims=True))
        return np.asarray(exp / exp.sum(axis=-1, keepdims=True))

    def outputs(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores (..., k) to model outputs."""
        predicted = self.predict(scores)
        return predicted * self.scale + self.shift if self.kind == "squared" else predicted

    def gradient(self, scores: NDArray[Any], targets: NDArray[Any]) -> NDArray[Any]:
        """Of the mean loss by the scores, shape (r, k)."""
        slope = 2.0 if self.kind == "squared" else 1.0
        return np.asarray((self.predict(scores) - targets) * scores.dtype.type(slope / len(scores)))

    def value(self, scores: NDArray[Any], targets: NDArray[Any], weights: NDArray[np.float64]) -> float:
        """The weighted mean loss."""
        predicted = self.predict(scores).astype(np.float64)
        if self.kind == "squared":
            each = np.square(predicted - targets).sum(axis=1)
        elif self.kind == "softmax":
            each = -(targets * np.log(np.maximum(predicted, 1e-12))).sum(axis=1)
        else:
            bounded = np.clip(predicted, 1e-12, 1 - 1e-12)
            each = -(targets * np.log(bounded) + (1 - targets) * np.log1p(-bounded)).sum(axis=1)
        return float(weights @ each / weights.sum())

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """For saving."""
        return {"kind": np.array(self.kind), "shift": self.shift, "scale": self.scale}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Loss:
        """Rebuild from `to_arrays`."""
        return cls(str(arrays["kind"]), arrays["shift"], arrays["scale"])  # type: ignore[arg-type]


def choose_kind(asked: str, model: BoundModel, outputs: NDArray[np.float64]) -> str:
    """The loss that fits a model's outputs.

    Args:
        asked: "auto", "squared" or "kl".
        model: The bound model.
        outputs: Its answers, shape (r, k).

    Returns:
        "squared", "softmax" or "sigmoid".

    Raises:
        ValueError: If "kl" is asked for and the outputs are no probabilities.
    """
    inside = bool((outputs >= 0).all() and (outputs <= 1).all())
    sums = inside and outputs.shape[1] > 1 and bool((np.abs(outputs.sum(axis=1) - 1) <= _SUM_TOLERANCE).all())
    if asked == "squared":
        return "squared"
    if asked == "kl":
        if not inside:
            reach = f"{outputs.min()} to {outputs.max()}"
            msg = f'loss="kl" needs outputs from 0 to 1, but the model {model.name} gave {reach}.'
            raise ValueError(msg)
        return "softmax" if sums else "sigmoid"
    if sums:
        return "softmax"
    probability = model.quantity.kind == "probability" and model.link is None
    return "sigmoid" if inside and probability else "squared"
