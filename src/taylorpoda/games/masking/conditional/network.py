"""A small fully connected network in numpy: forward, backward and Adam on one flat vector."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Activation = Literal["silu", "elu"]
_EPSILON = 1e-8


class Network(Protocol):
    """What training needs of a backend."""

    def forward(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Scores of a batch, remembered for `learn`."""
        ...

    def learn(self, gradient: NDArray[np.float32], rate: float) -> None:
        """One step of Adam along the gradient by the scores of the last `forward`."""
        ...

    def scores(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Scores without learning from them."""
        ...

    def parameters(self) -> list[NDArray[np.float32]]:
        """Copies of weights and biases, layer by layer."""
        ...


def initial_parameters(
    sizes: Sequence[int], generator: np.random.Generator, *, still: bool
) -> list[NDArray[np.float32]]:
    """Weights and biases to start from.

    Args:
        sizes: Of the layers, inputs first.
        generator: Where they come from.
        still: Whether the last layer starts at zero, so that the untrained network says nothing. Otherwise weights
            are uniform within 1/sqrt(inputs), as torch starts them.
    """
    parameters: list[NDArray[np.float32]] = []
    last = len(sizes) - 2
    for layer, (inputs, outputs) in enumerate(pairwise(sizes)):
        if still:
            weight = generator.standard_normal((inputs, outputs)) * np.sqrt(2.0 / inputs) * (layer != last)
            bias = np.zeros(outputs)
        else:
            bound = 1.0 / np.sqrt(inputs)
            weight = generator.uniform(-bound, bound, (inputs, outputs))
            bias = generator.uniform(-bound, bound, outputs)
        parameters += [weight.astype(np.float32), bias.astype(np.float32)]
    return parameters


def activate(activation: str, values: NDArray[Any], *, slope: bool = False) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """The activation of pre-activations, and its derivative where asked for."""
    if activation == "silu":
        with np.errstate(over="ignore"):  # exp of a large number is infinite, and 1 / infinity the right answer
            gate = 1 / (1 + np.exp(-values))
        active = values * gate
        return active, gate + active * (1 - gate) if slope else None
    exp = np.exp(np.minimum(values, 0))
    return np.maximum(values, 0) + exp - 1, exp if slope else None


class NumpyNetwork:
    """The numpy backend.

    Args:
        parameters: Weights and biases to start from.
        activation: Between layers.
        decay: Adam's two rates of forgetting.
    """

    def __init__(
        self, parameters: list[NDArray[np.float32]], activation: Activation, decay: tuple[float, float]
    ) -> None:
        self._activation = activation
        self._decay = decay
        self._flat = np.concatenate([array.ravel() for array in parameters])
        self._slope = np.zeros_like(self._flat)
        self._first = np.zeros_like(self._flat)
        self._second = np.zeros_like(self._flat)
        self._steps = 0
        shapes = [array.shape for array in parameters]
        self._parameters = _views(self._flat, shapes)
        self._gradients = _views(self._slope, shapes)
        self._active: list[NDArray[np.float32]] = []
        self._slopes: list[NDArray[np.float32] | None] = []

    def forward(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Scores of a batch, remembered for `learn`."""
        self._active, self._slopes = [inputs], [None]
        return self._run(inputs, remember=True)

    def scores(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Scores without learning from them."""
        return self._run(inputs, remember=False)

    def _run(self, inputs: NDArray[np.float32], *, remember: bool) -> NDArray[np.float32]:
        layers = len(self._parameters) // 2
        values = inputs
        for layer in range(layers):
            values = values @ self._parameters[2 * layer]
            values += self._parameters[2 * layer + 1]
            if layer < layers - 1:
                values, slope = activate(self._activation, values, slope=remember)
                if remember:
                    self._active.append(values)
                    self._slopes.append(slope)
        return values

    def learn(self, gradient: NDArray[np.float32], rate: float) -> None:
        """One step of Adam."""
        for layer in range(len(self._parameters) // 2 - 1, -1, -1):
            np.matmul(self._active[layer].T, gradient, out=self._gradients[2 * layer])
            np.sum(gradient, axis=0, out=self._gradients[2 * layer + 1])
            slope = self._slopes[layer]
            if slope is not None:
                gradient = gradient @ self._parameters[2 * layer].T
                gradient *= slope
        self._steps += 1
        early, late = self._decay
        self._first *= early
        self._first += (1 - early) * self._slope
        self._second *= late
        self._second += (1 - late) * np.square(self._slope)
        size = np.sqrt(self._second / (1 - late**self._steps))
        size += _EPSILON
        self._flat -= (rate / (1 - early**self._steps)) * self._first / size

    def parameters(self) -> list[NDArray[np.float32]]:
        """Copies of weights and biases."""
        return [array.copy() for array in self._parameters]


def _views(flat: NDArray[np.float32], shapes: Sequence[tuple[int, ...]]) -> list[NDArray[np.float32]]:
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    return [part.reshape(shape) for part, shape in zip(np.split(flat, ends[:-1]), shapes, strict=True)]
