"""ONNX graphs: an `onnxruntime.InferenceSession`, an `onnx.ModelProto`, or the path of a .onnx file."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.display import one_line
from taylorpoda._support.optional import require
from taylorpoda.games.models.base import Quantity
from taylorpoda.games.models.boosted import is_a
from taylorpoda.games.models.onnx_inputs import feed
from taylorpoda.games.models.onnx_labels import labels_in
from taylorpoda.games.models.onnx_outputs import choose_outputs

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SESSION = ("onnxruntime.capi.onnxruntime_inference_collection", "InferenceSession")


class OnnxAdapter:
    """What the graph gives: its probabilities if it has them, else its one output of numbers."""

    def matches(self, model: Any) -> bool:
        """Whether it is a session, a model in memory, or a path ending in .onnx."""
        if isinstance(model, str | PathLike):
            return str(fspath(model)).lower().endswith(".onnx")
        return is_a(model, *_SESSION) or _is_proto(model)

    def quantity(self, model: Any, *, raw: bool) -> Quantity:
        """The graph's probabilities, or its one output of numbers."""
        if raw:
            msg = (
                'output="raw" is the margin of a boosted ensemble, which an ONNX graph does not give. Use output=None.'
            )
            raise ValueError(msg)
        predict = OnnxPrediction(model)
        return Quantity(
            predict,
            f"ONNX {predict.outputs.name}",
            kind="probability" if predict.outputs.probabilities else "value",
            classes=predict.classes(),
            library="onnxruntime",
            late_classes=predict.classes,
        )


def _is_proto(model: Any) -> bool:
    return type(model).__name__ == "ModelProto" and callable(getattr(model, "SerializeToString", None))


class OnnxPrediction:
    """Rows to the graph's inputs to its answer; pickles with the graph, not with the session.

    Args:
        model: A session, a model in memory, or a path.
    """

    def __init__(self, model: Any) -> None:
        runtime = require("onnxruntime", "onnx", "an ONNX model")
        self._graph: bytes | None
        if is_a(model, *_SESSION):
            self._session = model
            self._graph = _graph_of(model)
        else:
            self._graph = model.SerializeToString() if _is_proto(model) else _read(Path(model))
            self._session = _opened(runtime, self._graph, model)
        self.outputs = choose_outputs(self._session.get_outputs())
        self._classes = self._written_classes()

    def classes(self) -> tuple[Any, ...] | None:
        """The classes, as far as the graph or its answers have named them."""
        return self._classes

    def _written_classes(self) -> tuple[Any, ...] | None:
        return labels_in(self._graph, self.outputs.label) if self.outputs.probabilities else None

    def __call__(self, rows: Any) -> NDArray[Any]:
        """Run the graph; one that takes a fixed number of rows gets them in portions of that size."""
        inputs = self._session.get_inputs()
        fixed = inputs[0].shape[0] if inputs[0].shape else None
        tensors = feed(inputs, rows)
        total = len(next(iter(tensors.values())))
        if not isinstance(fixed, int) or total == fixed:
            return self._run(tensors)
        parts = []
        for start in range(0, total, fixed):
            part = {name: tensor[start : start + fixed] for name, tensor in tensors.items()}
            short = fixed - min(fixed, total - start)
            if short:  # the last portion is filled up with copies of its last row, whose answers are dropped
                part = {n: np.concatenate([t, np.repeat(t[-1:], short, axis=0)]) for n, t in part.items()}
            parts.append(self._run(part)[: fixed - short])
        return np.concatenate(parts)

    def _run(self, tensors: dict[str, NDArray[Any]]) -> NDArray[Any]:
        answers = self._session.run(list(self.outputs.names), tensors)
        if not self.outputs.mapped:
            return answers[0] if len(answers) == 1 else np.stack([np.ravel(a) for a in answers], axis=1)
        if self._classes is None:
            self._classes = tuple(answers[0][0])
        return np.array([[answer[label] for label in self._classes] for answer in answers[0]])

    def __getstate__(self) -> dict[str, Any]:
        if self._graph is None:
            msg = "this InferenceSession does not give its graph away; pass the path of the .onnx file to pickle it."
            raise TypeError(msg)
        return {"graph": self._graph}

    def __setstate__(self, state: dict[str, Any]) -> None:
        runtime = require("onnxruntime", "onnx", "an ONNX model")
        session = runtime.InferenceSession(state["graph"], providers=runtime.get_available_providers())
        self._graph, self._session = state["graph"], session
        self.outputs = choose_outputs(session.get_outputs())
        self._classes = self._written_classes()


def _read(path: Path) -> bytes:
    if not path.is_file():
        msg = f"model={str(path)!r} does not exist; allowed: the path of an .onnx file, a session, or a ModelProto."
        raise FileNotFoundError(msg)
    return path.read_bytes()


def _opened(runtime: Any, graph: bytes, model: Any) -> Any:
    try:
        return runtime.InferenceSession(graph, providers=runtime.get_available_providers())
    except Exception as error:  # the runtime's errors share no base class
        named = repr(str(fspath(model))) if isinstance(model, str | PathLike) else f"a {type(model).__name__}"
        msg = f"model={named} is no graph that onnxruntime can open: {one_line(error, 300)}"
        raise ValueError(msg) from error


def _graph_of(session: Any) -> bytes | None:
    graph = getattr(session, "_model_bytes", None)
    path = getattr(session, "_model_path", None)
    if graph is None and path:
        try:
            graph = Path(path).read_bytes()
        except OSError:
            return None
    return graph
