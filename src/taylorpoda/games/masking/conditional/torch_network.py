"""The same network in torch, on the processor or a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.optional import require

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.games.masking.conditional.network import Activation


class TorchNetwork:
    """The torch backend.

    Args:
        parameters: Weights and biases to start from.
        activation: Between layers.
        decay: Adam's two rates of forgetting.
        device: Where it runs; None for a GPU if there is one.
    """

    def __init__(
        self,
        parameters: list[NDArray[np.float32]],
        activation: Activation,
        decay: tuple[float, float],
        device: str | None = None,
    ) -> None:
        torch = require("torch", "torch", 'masking="conditional" with backend="torch"')
        self._torch = torch
        self._device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        layers: list[Any] = []
        for layer, weight in enumerate(parameters[::2]):
            linear = torch.nn.utils.skip_init(torch.nn.Linear, *weight.shape)  # its own start would draw globally
            with torch.no_grad():
                linear.weight.copy_(torch.from_numpy(weight.T.copy()))
                linear.bias.copy_(torch.from_numpy(parameters[2 * layer + 1]))
            layers += [linear, torch.nn.SiLU() if activation == "silu" else torch.nn.ELU()]
        self._module = torch.nn.Sequential(*layers[:-1]).to(self._device)
        self._optimizer = torch.optim.Adam(self._module.parameters(), betas=decay)
        self._scores: Any = None

    def forward(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Scores of a batch, remembered for `learn`."""
        self._scores = self._module(self._torch.from_numpy(inputs).to(self._device))
        return np.asarray(self._scores.detach().cpu().numpy())

    def scores(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Scores without learning from them."""
        with self._torch.no_grad():
            return np.asarray(self._module(self._torch.from_numpy(inputs).to(self._device)).cpu().numpy())

    def learn(self, gradient: NDArray[np.float32], rate: float) -> None:
        """One step of Adam."""
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        self._optimizer.zero_grad()
        self._scores.backward(self._torch.from_numpy(gradient).to(self._device))
        self._optimizer.step()

    def parameters(self) -> list[NDArray[np.float32]]:
        """Copies of weights and biases."""
        arrays: list[NDArray[np.float32]] = []
        for layer in self._module:
            if hasattr(layer, "weight"):
                arrays += [layer.weight.detach().cpu().numpy().T.copy(), layer.bias.detach().cpu().numpy().copy()]
        return arrays
