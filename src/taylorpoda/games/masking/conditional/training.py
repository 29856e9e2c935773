"""How a surrogate is trained here: large batches, one cycle of learning rates, a linear start.

The published recipe sees one coalition of one row at a time, with zeros for what is absent. Here the network is given
the linear prediction of the absent features instead of zeros, and only learns what the best linear guess at the output
leaves over. Both parts are closed forms per coalition, so a batch takes a few coalitions with many rows each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from taylorpoda._support.progress import ProgressBar
from taylorpoda.games.masking.base import Measured
from taylorpoda.games.masking.conditional.linear_predictor import LinearPredictor
from taylorpoda.games.masking.conditional.network import initial_parameters
from taylorpoda.games.masking.conditional.sampling import draw_coalitions
from taylorpoda.games.masking.conditional.surrogate import Surrogate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from taylorpoda.games.masking.conditional.material import Material
    from taylorpoda.games.masking.conditional.network import Activation, Network

    Build = Callable[[list[NDArray[np.float32]], Activation, tuple[float, float]], Network]

HELDOUT = 0.15
_HIDDEN = (64, 64, 64)
_ACTIVATION: Activation = "silu"
_DECAY = (0.9, 0.99)
_RATE = 0.015
_WARM_UP = 0.15
_COALITIONS, _ROWS = 32, 16
_FEWEST_STEPS, _ROWS_PER_STEP = 160, 40
# Fewer rows than this say more through the linear part alone.
_FEWEST_ROWS = 30
_CHECKS, _PATIENCE = 8, 4
_HELDOUT_PAIRS = 2048
# Maps of all coalitions are kept while they take no more numbers than this; otherwise some serve several batches.
_KEPT_CELLS = 2**21
_BATCHES_PER_MAP = 4


def default_steps(rows: int) -> int:
    """More rows, more steps: 260 for 4,000 rows, 660 for 20,000."""
    return _FEWEST_STEPS + rows // _ROWS_PER_STEP


def train(material: Material, build: Build, generator: np.random.Generator, steps: int | None) -> Surrogate:
    """Train a surrogate.

    Args:
        material: What to learn from.
        build: Makes a network of the chosen backend.
        generator: Where random numbers come from.
        steps: Batches; None decides by the rows.

    Returns:
        The surrogate whose held-out error was lowest on the way.
    """
    features, train_rows = material.features, material.train
    linear = LinearPredictor.of(
        features[train_rows], material.loss.scores(material.outputs[train_rows]), material.share(train_rows)
    )
    n, size, outputs = len(material.telling), features.shape[1], material.outputs.shape[1]
    inputs = Inputs(material, linear)
    if len(features) < _FEWEST_ROWS or inputs.largest < 1:
        return _assemble(material, linear, [], Measured(None, {"steps": 0}))
    steps = default_steps(len(features)) if steps is None else steps
    network = build(initial_parameters([size + n, *_HIDDEN, outputs], generator, still=True), _ACTIVATION, _DECAY)
    trial = Trial(inputs, generator)
    best, best_loss, since, step = network.parameters(), trial.loss(network), 0, 0
    batches = inputs.batches(generator, steps)
    checks = {round(steps * (check + 1) / _CHECKS) for check in range(_CHECKS)}
    with ProgressBar("training the surrogate", steps) as bar:
        for step, (batch, offset, targets) in enumerate(batches, start=1):
            scores = network.forward(batch) + offset
            network.learn(material.loss.gradient(scores, targets), _rate((step - 1) / steps))
            bar.advance()
            if step in checks:
                loss = trial.loss(network)
                since = 0 if loss < best_loss else since + 1
                if loss < best_loss:
                    best, best_loss = network.parameters(), loss
                if since == _PATIENCE:
                    break
    surrogate = _assemble(material, linear, best, Measured())
    measured = trial.measure(surrogate)
    return _assemble(material, linear, best, replace(measured, details={**measured.details, "steps": step}))


def _rate(progress: float) -> float:
    """One cycle: up in a straight line, down along half a cosine."""
    if progress < _WARM_UP:
        return _RATE * (progress / _WARM_UP + 1e-3)
    return _RATE * 0.5 * (1 + float(np.cos(np.pi * (progress - _WARM_UP) / (1 - _WARM_UP))))


def _assemble(
    material: Material, linear: LinearPredictor, parameters: list[NDArray[np.float32]], measured: Measured
) -> Surrogate:
    return Surrogate(
        encoder=material.encoder,
        players=material.players,
        base=material.base,
        linear=linear,
        loss=material.loss,
        parameters=tuple(array.astype(np.float64) for array in parameters),
        activation=_ACTIVATION,
        telling=material.telling,
        measured=measured,
    )


@dataclass(frozen=True)
class Inputs:
    """Turns rows and coalitions into what the network reads.

    Attributes:
        material: What is learned from.
        linear: The linear part.
    """

    material: Material
    linear: LinearPredictor

    @cached_property
    def features(self) -> NDArray[np.float32]:
        """Shape (r, e)."""
        return self.material.features.astype(np.float32)

    @cached_property
    def targets(self) -> NDArray[np.float32]:
        """Shape (r, k)."""
        return self.material.loss.targets(self.material.outputs).astype(np.float32)

    @cached_property
    def telling(self) -> NDArray[np.intp]:
        """The players that vary, t of them."""
        return self.material.telling

    @property
    def largest(self) -> int:
        """The size of the largest coalition that is not known without a network: all players are the model itself."""
        return len(self.telling) - (len(self.telling) == self.material.players.n_players)

    @cached_property
    def _kept(self) -> tuple[NDArray[np.float32], NDArray[np.float32]] | None:
        """The maps of all coalitions, if there are few."""
        n, size = len(self.telling), self.features.shape[1]
        if n > 16 or (size * (size + self.targets.shape[1])) << n > _KEPT_CELLS:
            return None
        every = (np.arange(1 << n)[:, None] >> np.arange(n)) & 1 == 1
        return self._maps(every)

    def _maps(self, coalitions: NDArray[np.bool_]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        known = coalitions[:, np.searchsorted(self.telling, self.material.player_of_feature)]
        maps, offsets = self.linear.maps(known)
        return maps.astype(np.float32), offsets.astype(np.float32)

    def maps(self, coalitions: NDArray[np.bool_]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Linear predictions of features and of scores for coalitions (c, t) of the players that vary."""
        if self._kept is None:
            return self._maps(coalitions)
        place = coalitions @ (1 << np.arange(coalitions.shape[1]))
        return self._kept[0][place], self._kept[1][place]

    def grid(
        self,
        rows: NDArray[np.intp],
        coalitions: NDArray[np.bool_],
        maps: tuple[NDArray[np.float32], NDArray[np.float32]],
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Network inputs and offsets: the first coalition with the first rows, and so on.

        Args:
            rows: Shape (c, q).
            coalitions: Shape (c, t).
            maps: Of the coalitions.

        Returns:
            Shapes (c * q, e + t) and (c * q, k).
        """
        n, size = coalitions.shape[1], self.features.shape[1]
        own = self.features[rows]
        inputs = np.empty((*rows.shape, size + n), dtype=np.float32)
        np.matmul(own, maps[0], out=inputs[:, :, :size])
        inputs[:, :, size:] = coalitions[:, None, :]
        offset = np.matmul(own, maps[1])
        return inputs.reshape(-1, size + n), offset.reshape(-1, offset.shape[2])

    def draw(self, generator: np.random.Generator, count: int) -> NDArray[np.bool_]:
        """Coalitions of the players that vary, shape (count, t), every size equally often."""
        return draw_coalitions(generator, count, len(self.telling), self.largest)

    def batches(
        self, generator: np.random.Generator, steps: int
    ) -> Iterator[tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]]:
        """Network inputs, offsets and targets of every step; rows come in turn, heavier ones more often."""
        rows = self.material.train
        share = self.material.share(rows)
        batch = _COALITIONS * _ROWS
        order = np.empty(0, dtype=np.intp)
        for step in range(steps):
            while len(order) < batch:
                again = generator.permutation(rows) if self.material.even else generator.choice(rows, batch, p=share)
                order = np.concatenate([order, again])
            some, order = order[:batch], order[batch:]
            if step % (1 if self._kept is not None else _BATCHES_PER_MAP) == 0:
                coalitions = self.draw(generator, _COALITIONS)
                maps = self.maps(coalitions)
            inputs, offset = self.grid(some.reshape(_COALITIONS, _ROWS), coalitions, maps)
            yield inputs, offset, self.targets[some]


class Trial:
    """Held-out rows with held-out coalitions, the same at every check.

    Args:
        inputs: Turns them into network inputs.
        generator: Where the coalitions come from.
    """

    def __init__(self, inputs: Inputs, generator: np.random.Generator) -> None:
        material = inputs.material
        each = max(1, min(len(material.heldout), 4 * _ROWS))
        repeats = max(2, _HELDOUT_PAIRS // len(material.heldout))
        rows = np.concatenate([generator.permutation(material.heldout) for _ in range(repeats)])
        groups = max(1, min(len(rows), 2 * _HELDOUT_PAIRS) // each)
        self._material = material
        self._rows = rows[: groups * each].reshape(groups, each)
        coalitions = inputs.draw(generator, groups)
        self._coalitions = np.zeros((groups, material.players.n_players), dtype=bool)
        self._coalitions[:, inputs.telling] = coalitions
        self._inputs, self._offset = inputs.grid(self._rows, coalitions, inputs.maps(coalitions))
        self._targets = inputs.targets[self._rows.ravel()]
        self._weights = material.weights[self._rows.ravel()]

    def loss(self, network: Network) -> float:
        """The loss on held-out rows and coalitions."""
        scores = network.scores(self._inputs) + self._offset
        return self._material.loss.value(scores, self._targets, self._weights)

    def measure(self, surrogate: Surrogate) -> Measured:
        """E[(model - v)^2] on held-out rows and coalitions, in units of the model's output."""
        parts = [
            surrogate.valued(self._material.features[rows], coalition[None])[:, 0]
            for rows, coalition in zip(self._rows, self._coalitions, strict=True)
        ]
        outputs = self._material.outputs[self._rows.ravel()]
        squares = np.square(np.concatenate(parts) - outputs).mean(axis=1)
        error = float(self._weights @ squares / self._weights.sum())
        rows = self._material.heldout
        spread = np.square(self._material.outputs[rows] - self._material.base).mean(axis=1)
        trivial = float(self._material.share(rows) @ spread)
        return Measured(error, {"heldout_rows": len(rows), "trivial_error": trivial})
