"""The published recipe, for comparison: (x * S, S) into 128-128 ELU, Adam 1e-3, batches of 64, up to 100 epochs.

As the research code has it: a third of the rows is held out with 128 coalitions each, the learning rate halves after
five epochs without progress, and training stops after ten. Three things are done more quickly than there, with the same
result: the model is asked once, coalitions are drawn by the batch, and batches are gathered by index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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
    n, size, outputs = material.players.n_players, material.features.shape[1], material.outputs.shape[1]
    parameters = initial_parameters([size + n, *_HIDDEN, outputs], generator, still=False)
    trainer = _Trainer(material, build(parameters, _ACTIVATION, _DECAY), generator)
    epochs = trainer.run()
    return Surrogate(
        encoder=material.encoder,
        players=material.players,
        base=None,
        linear=LinearPredictor(np.eye(size), np.zeros((size, outputs)), plain=True),
        loss=material.loss,
        parameters=tuple(array.astype(np.float64) for array in trainer.best),
        activation=_ACTIVATION,
        telling=np.arange(n),
        measured=Measured(None, {"epochs": epochs}),
    )


class _Trainer:
    def __init__(self, material: Material, network: Network, generator: np.random.Generator) -> None:
        self._material = material
        self._network = network
        self._generator = generator
        self._features = material.features.astype(np.float32)
        self._targets = material.loss.targets(material.outputs).astype(np.float32)
        self._feature_player = material.player_of_feature
        self._heldout = np.repeat(material.heldout, _COALITIONS_PER_ROW)
        self._coalitions = self._draw(len(self._heldout))
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
        scores = self._network.forward(self._inputs(rows, self._draw(len(rows))))
        self._network.learn(self._material.loss.gradient(scores, self._targets[rows]), rate)

    def _loss(self) -> float:
        total = 0.0
        for start in range(0, len(self._heldout), _HELDOUT_BATCH):
            part = slice(start, start + _HELDOUT_BATCH)
            rows = self._heldout[part]
            scores = self._network.scores(self._inputs(rows, self._coalitions[part]))
            weights = self._material.weights[rows]
            total += self._material.loss.value(scores, self._targets[rows], weights) * weights.sum()
        return total / float(self._material.weights[self._heldout].sum())
