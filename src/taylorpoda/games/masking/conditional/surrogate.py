"""The trained surrogate: v(S) for every coalition of every row, in closed form and without a model call."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.games.masking.base import DirectMasking, Measured
from taylorpoda.games.masking.conditional.certain import Certain
from taylorpoda.games.masking.conditional.network import activate
from taylorpoda.games.masking.conditional.threads import few_threads

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from taylorpoda.games.masking.base import MaskingContext
    from taylorpoda.games.masking.conditional.linear_predictor import LinearPredictor
    from taylorpoda.games.masking.conditional.loss import Loss
    from taylorpoda.games.masking.conditional.network import Activation
    from taylorpoda.games.masking.encoding import Encoder
    from taylorpoda.games.models.base import BoundModel
    from taylorpoda.games.players import Players
    from taylorpoda.games.tables.base import Table

# Hidden layers of this many numbers stay in the processor's cache.
_CHUNK_CELLS = 2**18
_MAP_CELLS = 2**22


@dataclass(frozen=True, eq=False)
class Surrogate(DirectMasking):
    """E[model output | features of the coalition], as a network learned it.

    Pass it as `masking=` to any number of explainers whose models have the same outputs and whose rows have the same
    columns and players. The full coalition is always the model's own answer, and the empty one the weighted mean over
    the background. So is, in an explainer, every coalition that knows all columns that vary: nothing else is open.

    Attributes:
        encoder: Reads rows.
        players: How columns make players.
        base: v of the empty coalition, shape (outputs,); None where the network says it.
        linear: The linear part.
        loss: The scale of the outputs.
        parameters: Weights and biases of the network, none where there is no network.
        activation: Between its layers.
        telling: The players the network hears of, in order.
        measured: The error on held-out rows and coalitions.
        notes: How it was trained.
        certain: What the model itself answers; None until it serves an explainer, and where every column varies.
    """

    name = "conditional"
    encoder: Encoder
    players: Players
    base: NDArray[np.float64] | None
    linear: LinearPredictor
    loss: Loss
    parameters: tuple[NDArray[np.float64], ...]
    activation: Activation
    telling: NDArray[np.intp]
    measured: Measured = field(default_factory=Measured)
    notes: Mapping[str, Any] = field(default_factory=dict)
    certain: Certain | None = None

    @property
    def n_outputs(self) -> int:
        """Outputs of the model it was trained on."""
        return len(self.loss.shift)

    def fit(self, context: MaskingContext) -> Surrogate:
        """Serve an explainer.

        Raises:
            ValueError: If the columns, the players or the outputs are not those it was trained on.
        """
        names = tuple(column.name for column in self.encoder.reader.columns)
        theirs = context.background.names
        if len(names) != len(theirs) or (context.background.named and names != theirs):
            msg = f"the surrogate was trained on the columns {list(names)}, the background has {list(theirs)}."
            raise ValueError(msg)
        if not np.array_equal(self.players.player_of_column, context.players.player_of_column):
            msg = (
                f"the surrogate was trained on the players {list(self.players.names)}, "
                f"the explainer has {list(context.players.names)}; train another one for other groups."
            )
            raise ValueError(msg)
        if not context.model.called:
            first = context.background.take(np.arange(1))
            context.model(first.native(), 1, lambda row: f"background row {row}")
        if context.model.n_outputs != self.n_outputs:
            msg = (
                f"the surrogate was trained on {self.n_outputs} outputs, the model has {context.model.n_outputs}; "
                "train it with the same output= as the explainer."
            )
            raise ValueError(msg)
        self._check_scale(scale_of(context.model))
        return replace(self, certain=Certain.of(context, self.telling))

    def _check_scale(self, theirs: str) -> None:
        """Refuse to mix probabilities, margins and log-odds: v(N) is the model's own."""
        ours = self.notes.get("trained_on", theirs)
        # What a plain callable gives is known to its user only, unless link= says that it is on another scale.
        told = "value" not in (ours, theirs)
        if ours != theirs and (told or "log-odds" in (ours, theirs)):
            msg = (
                f"the surrogate was trained on outputs of the kind {ours!r}, the explainer explains {theirs!r}; train "
                "it with the same output= and link= as the explainer."
            )
            raise ValueError(msg)

    def values(self, rows: Table, coalitions: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Values of all coalitions of all rows, shape (rows, coalitions, outputs)."""
        with few_threads():
            values = self.valued(self.encoder.encode(rows), coalitions)
        if self.certain is not None:
            self.certain.fill(rows, coalitions, values)
        return values

    def valued(self, features: NDArray[np.float64], coalitions: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The same for rows that are encoded, shape (rows, e)."""
        result = np.empty((len(features), len(coalitions), self.n_outputs))
        size = max(self.encoder.n_features, 1)
        width = max([len(bias) for bias in self.parameters[1::2]], default=size)
        step = max(1, min(_MAP_CELLS // (size * (size + width)), _CHUNK_CELLS // width))
        for start in range(0, len(coalitions), step):
            part = coalitions[start : start + step]
            first_layer = self.parameters[0][: self.encoder.n_features] if self.parameters else None
            maps, offset_maps = self.linear.maps(self._known(part), first_layer)
            rows_at_once = max(1, _CHUNK_CELLS // (width * len(part)))
            for first in range(0, len(features), rows_at_once):
                some = features[first : first + rows_at_once]
                scores = np.matmul(some, offset_maps)
                if self.parameters:
                    scores = scores + self._network(some, part, maps)
                predicted = self.loss.outputs(scores)
                result[first : first + rows_at_once, start : start + step] = predicted.transpose(1, 0, 2)
        if self.base is not None:
            result[:, ~coalitions[:, self.telling].any(axis=1)] = self.base
        return result

    def _known(self, coalitions: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return coalitions[:, self.players.player_of_column[self.encoder.column]]

    def _network(
        self, features: NDArray[np.float64], coalitions: NDArray[np.bool_], maps: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Scores of the network, shape (coalitions, rows, outputs).

        The first layer splits: what the coalition adds is the same for every row, and the map from known to expected
        features has been joined with its weights.
        """
        values = np.matmul(features, maps)
        of_coalition = coalitions[:, self.telling] @ self.parameters[0][features.shape[1] :]
        values += (of_coalition + self.parameters[1])[:, None, :]
        flat = values.reshape(-1, values.shape[-1])
        for weight, bias in zip(self.parameters[2::2], self.parameters[3::2], strict=True):
            flat = activate(self.activation, flat)[0] @ weight
            flat += bias
        return flat.reshape(len(coalitions), len(features), -1)

    def describe(self) -> dict[str, Any]:
        """What provenance says."""
        return {**super().describe(), **self.notes}

    def save(self, path: str | Path) -> None:
        """Write it to one file: arrays and JSON, no pickle."""
        from taylorpoda.games.masking.conditional.storage import save

        save(self, path)

    def noted(self, **notes: Any) -> Surrogate:
        """The same with more to say about how it was trained."""
        return replace(self, notes={**self.notes, **notes})


def scale_of(model: BoundModel) -> str:
    """What a model's outputs are: "log-odds" under link="logit", else "probability", "margin" or "value"."""
    return "log-odds" if model.link == "logit" else model.quantity.kind
