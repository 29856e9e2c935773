"""The published recipe, for comparison: (x * S, S) into 128-128 ELU, Adam 1e-3, batches of 64, up to 100 epochs.

As the research code has it: 30 % of the rows are held out with 128 coalitions each, the learning rate halves after
five epochs without progress, and training stops after ten. Numbers are matched in [0, 1], not standardized, and a
probability is the softmax of two scores: both decide how fast Adam learns, and so how much noise is left. Three things
are done more quickly than there, with the same result: the model is asked once, coalitions are drawn by the batch, and
batches are gathered by index.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import entr

from taylorpoda._support.progress import ProgressBar
from taylorpoda.games.masking.base import Measured
from taylorpoda.games.masking.conditional.linear_predictor import LinearPredictor
from taylorpoda.games.masking.conditional.network import initial_parameters
from taylorpoda.games.masking.conditional.sampling import of_size
from taylorpoda.games.masking.conditional.surrogate import Surrogate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.games.masking.conditional.material import Material
    from taylorpoda.games.masking.conditional.network import Activation, Network
    from taylorpoda.games.masking.conditional.training import Build

HELDOUT = 0.3
_HIDDEN = (128, 128)
_ACTIVATION: Activation = "elu"
_DECAY = (0.9, 0.999)
_BATCH, _EPOCHS, _PATIENCE = 64, 100, 10
_RATE, _LEAST_RATE, _RATE_PATIENCE = 1e-3, 1e-5, 5
_COALITIONS_PER_ROW = 128
_HELDOUT_BATCH = 4096


def train_by_recipe(material: Material, build: Build, generator: np.random.Generator) -> Surrogate:
    """Train a surrogate as the paper does.

    Args:
        material: What to learn from.
        build: Makes a network of the chosen backend.
        generator: Where random numbers come from.

    Raises:
        ValueError: If there are too few rows to hold some out.
    """
    if not len(material.heldout):
        have = len(material.features)
        msg = f'surrogate="paper" holds out 30 % of the background, which has {have} rows; pass at least 4.'
        raise ValueError(msg)
    material = replace(material, loss=material.loss.in_unit_range(material.outputs))
    n, size, outputs = material.players.n_players, material.features.shape[1], material.outputs.shape[1]
    heads = 2 if material.loss.kind == "sigmoid" else 1
    parameters = initial_parameters([size + n, *_HIDDEN, heads * outputs], generator, still=False)
    trainer = _Trainer(material, build(parameters, _ACTIVATION, _DECAY), generator)
    epochs = trainer.run()
    *inner, weight, bias = trainer.best
    last = [_log_odds(array, outputs) for array in (weight, bias)] if heads == 2 else [weight, bias]
    return Surrogate(
        encoder=material.encoder,
        players=material.players,
        base=None,
        linear=LinearPredictor(np.eye(size), np.zeros((size, outputs)), plain=True),
        loss=material.loss,
        parameters=tuple(array.astype(np.float64) for array in (*inner, *last)),
        activation=_ACTIVATION,
        telling=np.arange(n),
        measured=Measured(None, {"epochs": epochs}),
    )


def _log_odds(scores: NDArray[np.float32], outputs: int) -> NDArray[np.float32]:
    """From two scores per probability, first all those of "no", to its log-odds; of weights as well as of scores."""
    return np.asarray(scores[..., outputs:] - scores[..., :outputs])


class _Trainer:
    def __init__(self, material: Material, network: Network, generator: np.random.Generator) -> None:
        self._material = material
        self._network = network
        self._generator = generator
        self._features = material.features.astype(np.float32)
        self._targets = material.loss.targets(material.outputs).astype(np.float32)
        self._paired = material.loss.kind == "sigmoid"
        self._feature_player = material.player_of_feature
        self._heldout = np.repeat(material.heldout, _COALITIONS_PER_ROW)
        self._coalitions = self._draw(len(self._heldout))
        self._entropy = self._least_loss()
        self.best = network.parameters()

    def run(self) -> int:
        """Train until nothing improves; how many epochs that took."""
        rows = self._material.train
        share = self._material.share(rows)
        steps = -(-len(rows) // _BATCH)
        rate, lowest, best_epoch = _RATE, self._loss(), 0
        plateau, waited = lowest, 0
        with ProgressBar("training the surrogate by the paper's recipe", _EPOCHS) as bar:
            for epoch in range(_EPOCHS):
                drawn = self._generator.choice(rows, (steps, _BATCH), p=share)
                for some in drawn:
                    self._step(some, rate)
                loss = self._loss()
                bar.advance()
                waited = 0 if loss < plateau * (1 - 1e-4) else waited + 1
                plateau = min(plateau, loss) if waited == 0 else plateau
                if waited > _RATE_PATIENCE:
                    rate, waited = max(rate / 2, _LEAST_RATE), 0
                if loss < lowest:
                    self.best, lowest, best_epoch = self._network.parameters(), loss, epoch
                elif epoch - best_epoch >= _PATIENCE:
                    return epoch + 1
        return _EPOCHS

    def _draw(self, count: int) -> NDArray[np.bool_]:
        """Coalitions of every size from none to all."""
        n = self._material.players.n_players
        return of_size(self._generator, self._generator.integers(n + 1, size=count), n)

    def _inputs(self, rows: NDArray[np.intp], coalitions: NDArray[np.bool_]) -> NDArray[np.float32]:
        masked = self._features[rows] * coalitions[:, self._feature_player]
        return np.concatenate([masked, coalitions], axis=1, dtype=np.float32)

    def _step(self, rows: NDArray[np.intp], rate: float) -> None:
        scores = self._joined(self._network.forward(self._inputs(rows, self._draw(len(rows)))))
        slope = self._material.loss.gradient(scores, self._targets[rows])
        self._network.learn(np.concatenate([-slope, slope], axis=1) if self._paired else slope, rate)

    def _joined(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        return _log_odds(scores, self._targets.shape[1]) if self._paired else scores

    def _least_loss(self) -> float:
        """The entropy of held-out probabilities: cross-entropy less this is the divergence."""
        if self._material.loss.kind == "squared":
            return 0.0
        rows = self._material.heldout
        known = self._targets[rows].astype(np.float64)
        each = entr(known).sum(axis=1) + (entr(1 - known).sum(axis=1) if self._paired else 0.0)
        return float(self._material.share(rows) @ each)

    def _loss(self) -> float:
        total = 0.0
        for start in range(0, len(self._heldout), _HELDOUT_BATCH):
            part = slice(start, start + _HELDOUT_BATCH)
            rows = self._heldout[part]
            scores = self._joined(self._network.scores(self._inputs(rows, self._coalitions[part])))
            weights = self._material.weights[rows]
            total += self._material.loss.value(scores, self._targets[rows], weights) * weights.sum()
        return total / float(self._material.weights[self._heldout].sum()) - self._entropy
