"""PyTorch modules: rows go to the module's device in its floating type; evaluation mode, no gradients, in batches."""

from __future__ import annotations

import sys
import threading
import weakref
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.games.models.base import Quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

_BATCH_ROWS = 2**14


class TorchAdapter:
    """`torch.nn.Module`, scripted and compiled ones included: what the module returns for a tensor of rows."""

    def matches(self, model: Any) -> bool:
        """Whether it is a module."""
        torch = sys.modules.get("torch")
        return torch is not None and isinstance(model, torch.nn.Module)

    def quantity(self, model: Any, *, raw: bool) -> Quantity:
        """The module's forward pass."""
        name = type(model).__name__
        if raw:
            msg = f'output="raw" is the margin of a boosted ensemble; {name} is a torch module. Use output=None.'
            raise ValueError(msg)
        return Quantity(TorchPrediction(model), name, library="torch")


@dataclass(frozen=True)
class TorchPrediction:
    """Rows to tensors to the module's answer, on the central processor.

    Floating-point cells take the dtype of the module's parameters, as the module itself demands; integers and
    booleans stay what they are.

    Attributes:
        module: The module; its device and its training flags stay as they are.
    """

    module: Any

    def __call__(self, rows: Any) -> Any:
        """Run the module in evaluation mode and without gradients."""
        import torch

        table: Any = rows if isinstance(rows, torch.Tensor) else torch.as_tensor(_numbers(rows))
        like = next((p for p in self.module.parameters() if p.is_floating_point()), None)
        if like is not None:
            table = table.to(like.device, like.dtype if table.is_floating_point() else None)
        with evaluation_mode(self.module), torch.no_grad():
            parts = [_answer(self.module(part), torch) for part in table.split(_BATCH_ROWS)]
        return torch.cat(parts) if len(parts) != 1 else parts[0]


def _answer(answer: Any, torch: Any) -> Any:
    if isinstance(answer, torch.Tensor):
        return answer.detach().cpu()
    logits = answer.get("logits") if isinstance(answer, dict) else getattr(answer, "logits", None)
    if isinstance(logits, torch.Tensor):
        return logits.detach().cpu()
    if isinstance(answer, list | tuple) and len(answer) == 1:
        return _answer(answer[0], torch)
    parts = f" of {len(answer)}" if isinstance(answer, list | tuple | dict) else ""
    msg = (
        f"the module returned a {type(answer).__name__}{parts}; a tensor of shape (rows,) or (rows, outputs) is "
        "needed. Say which part is meant: wrap the module in one whose forward returns that tensor alone."
    )
    raise TypeError(msg)


def _numbers(rows: Any) -> Any:
    """The rows as an array torch reads; a mixed DataFrame becomes one array of its numbers."""
    array = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
    if array.dtype.kind == "O":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            msg = f"a torch module reads numbers, and some column of the rows holds none ({error})."
            raise TypeError(msg) from error
    return np.require(array, requirements=["C", "W"])  # a tensor shares its memory, so torch wants it writable


@dataclass
class _Held:
    """How many threads hold a module in evaluation mode, and the flags to give back when the last one leaves."""

    count: int
    flags: list[tuple[Any, bool]]


_LOCK = threading.Lock()
_HELD: weakref.WeakKeyDictionary[Any, _Held] = weakref.WeakKeyDictionary()


@contextmanager
def evaluation_mode(module: Any) -> Iterator[None]:
    """Hold a module in evaluation mode; every submodule gets its own flag back, also after an error.

    Args:
        module: The module; several threads may hold it at once.
    """
    with _LOCK:
        held = _HELD.get(module)
        if held is None:
            held = _HELD[module] = _Held(0, [(part, part.training) for part in module.modules()])
            module.eval()
        held.count += 1
    try:
        yield
    finally:
        with _LOCK:
            held.count -= 1
            if held.count == 0:
                del _HELD[module]
                for part, training in held.flags:
                    part.training = training
