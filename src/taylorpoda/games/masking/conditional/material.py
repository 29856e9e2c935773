"""What a surrogate is trained on: encoded rows, what the model says of them, and which are held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taylorpoda.games.masking.conditional.loss import Loss, choose_kind
from taylorpoda.games.masking.encoding import Encoder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.games.masking.base import MaskingContext
    from taylorpoda.games.players import Players


@dataclass(frozen=True)
class Material:
    """Rows with positive weight, encoded, and the model's answers.

    Attributes:
        players: How columns make players.
        encoder: Reads rows.
        loss: What is matched.
        features: Shape (r, e).
        outputs: Shape (r, k): the model's answers, one model row each.
        weights: Shape (r,), positive, summing to 1.
        train: Positions of the rows that are learned from.
        heldout: Positions of those that are not.
    """

    players: Players
    encoder: Encoder
    loss: Loss
    features: NDArray[np.float64]
    outputs: NDArray[np.float64]
    weights: NDArray[np.float64]
    train: NDArray[np.intp]
    heldout: NDArray[np.intp]

    @classmethod
    def of(
        cls, context: MaskingContext, loss: str, generator: np.random.Generator, heldout: float, *, unit: bool = False
    ) -> Material:
        """Ask the model about every background row once and hold a share out; `unit`: numbers in [0, 1]."""
        used = np.flatnonzero(context.weights > 0)
        rows = context.background.take(used)
        weights = context.weights[used] / context.weights[used].sum()
        outputs = context.model(rows.copy().native(), len(used), lambda row: f"background row {used[row]}")
        encoder = Encoder.of(rows, weights)
        if unit:
            encoder = encoder.in_unit_range(rows)
        order = generator.permutation(len(used))
        size = int(heldout * len(used))
        kind = choose_kind(loss, context.model, outputs)
        return cls(
            context.players,
            encoder,
            Loss.of(kind, outputs, weights),
            encoder.encode(rows),
            outputs,
            weights,
            order[size:],
            order[:size],
        )

    @property
    def base(self) -> NDArray[np.float64]:
        """The weighted mean of the model's answers."""
        return np.asarray(self.weights @ self.outputs)

    @property
    def player_of_feature(self) -> NDArray[np.intp]:
        """Shape (e,): which player each feature belongs to."""
        return self.players.player_of_column[self.encoder.column]

    def share(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """The weights of some rows, summing to 1."""
        return np.asarray(self.weights[rows] / self.weights[rows].sum())

    @property
    def telling(self) -> NDArray[np.intp]:
        """The players that vary in the background: only their presence tells anything."""
        return np.unique(self.player_of_feature)

    @property
    def even(self) -> bool:
        """Whether all rows weigh the same."""
        return bool(np.ptp(self.weights) <= 1e-12 * self.weights.max())
