"""Which of an ONNX graph's outputs is explained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_REAL = ("tensor(float)", "tensor(double)", "tensor(float16)")


@dataclass(frozen=True)
class ChosenOutputs:
    """The outputs that are run.

    Attributes:
        names: One output, or one per class.
        probabilities: Whether they are class probabilities.
        mapped: Whether the answer is one {class: probability} mapping per row.
        label: The output that holds the predicted class, where there is one.
    """

    names: tuple[str, ...]
    probabilities: bool
    mapped: bool = False
    label: str | None = None

    @property
    def name(self) -> str:
        """What provenance calls it."""
        return self.names[0] if len(self.names) == 1 else f"{self.names[0]}..{self.names[-1]}"


def choose_outputs(outputs: Sequence[Any]) -> ChosenOutputs:
    """Probabilities where there are some, else the only output of numbers.

    Args:
        outputs: What the session declares: each with a name and a type.

    Raises:
        ValueError: If several outputs could be meant; the message lists them.
    """
    for one in outputs:
        if one.type.startswith("seq(map("):
            return ChosenOutputs((one.name,), probabilities=True, mapped=True)
    if len(outputs) == 1:
        return ChosenOutputs((outputs[0].name,), probabilities=False)
    labels = [one for one in outputs if one.type in {"tensor(int64)", "tensor(string)"}]
    real = [one for one in outputs if one.type in _REAL]
    label = labels[0].name if len(labels) == 1 else None
    named = [one for one in real if "prob" in one.name.lower()]
    if len(named) == 1:
        return ChosenOutputs((named[0].name,), probabilities=True, label=label)
    if len(real) == 1:
        return ChosenOutputs((real[0].name,), probabilities=bool(labels), label=label)
    if len(labels) == 1 and len(real) == len(outputs) - 1 and all(len(one.shape) == 1 for one in real):
        return ChosenOutputs(tuple(one.name for one in real), probabilities=True, label=label)
    listed = ", ".join(f"{one.name}: {one.type}" for one in outputs)
    msg = (
        f"the ONNX graph has several outputs ({listed}) and none is called probabilities; explain one of "
        "them with "
        'a callable, e.g. model=lambda rows: session.run(["name"], {"X": rows})[0].'
    )
    raise ValueError(msg)
