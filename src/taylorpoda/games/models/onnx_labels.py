"""The class labels written into an ONNX graph: in a classifier node, or in the table its label output is read from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taylorpoda._support.optional import require

if TYPE_CHECKING:
    from collections.abc import Mapping

# What a converter puts between the table of classes and the label output.
_PASSED_THROUGH = frozenset({"Cast", "Reshape", "Identity", "Squeeze", "Flatten"})
_LOOKUPS = frozenset({"ArrayFeatureExtractor", "Gather"})


def labels_in(content: bytes | None, label: str | None) -> tuple[Any, ...] | None:
    """The class labels a graph carries.

    Args:
        content: The serialized graph, or None where it is not at hand.
        label: The output that holds the predicted classes, or None.

    Returns:
        One label per class; None without the onnx package or where the graph names none.
    """
    if content is None:
        return None
    try:
        onnx = require("onnx", "onnx", "reading class labels")
    except ImportError:
        return None
    graph = onnx.load_from_string(content).graph
    for node in reversed(graph.node):
        for attribute in node.attribute:
            if not attribute.name.startswith("classlabels"):
                continue
            labels = tuple(attribute.ints) or tuple(text.decode() for text in attribute.strings)
            if labels:
                return labels
    return None if label is None else _looked_up(onnx, graph, label)


def _looked_up(onnx: Any, graph: Any, label: str) -> tuple[Any, ...] | None:
    """The constant table that the label output picks from, as arg max does in graphs without a classifier node."""
    makers: Mapping[str, Any] = {output: node for node in graph.node for output in node.output}
    constants = {one.name: one for one in graph.initializer}
    node = makers.get(label)
    while node is not None and node.op_type in _PASSED_THROUGH:
        node = makers.get(node.input[0])
    if node is None or node.op_type not in _LOOKUPS or node.input[0] not in constants:
        return None
    table = onnx.numpy_helper.to_array(constants[node.input[0]])
    if table.ndim != 1:
        return None
    return tuple(cell.decode() if isinstance(cell, bytes) else cell for cell in table.tolist())
