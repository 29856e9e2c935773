"""The explained rows of any container as plain arrays: a new container is one entry in `_KINDS`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from taylorpoda._support.optional import require
from taylorpoda.explanation.storage import arrow_columns, pandas_columns, polars_columns
from taylorpoda.explanation.storage.cells import decode_cells, encode_cells
from taylorpoda.games.tables import read_table
from taylorpoda.games.tables.numpy_table import NumpyTable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from taylorpoda.games.tables.base import Table

    Stored = tuple[dict[str, Any], dict[str, NDArray[Any]]]


def _encode_numpy(array: NDArray[Any]) -> Stored:
    if array.dtype.kind == "O":
        return {"shape": list(array.shape)}, {"objects": encode_cells(array.ravel())}
    return {}, {"cells": array}


def _decode_numpy(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    if "objects" not in arrays:
        return arrays["cells"]
    cells = decode_cells(arrays["objects"])
    flat = np.empty(len(cells), dtype=object)
    flat[:] = cells
    return flat.reshape([int(length) for length in meta["shape"]])


def _encode_sparse(rows: Any) -> Stored:
    flavor = "matrix" if type(rows).__name__.endswith("matrix") else "array"
    meta = {"shape": list(map(int, rows.shape)), "flavor": flavor}
    return meta, {"cells": rows.data, "indices": rows.indices, "indptr": rows.indptr}


def _decode_sparse(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Any:
    from scipy import sparse

    n_rows, n_columns = (int(length) for length in meta["shape"])
    kind = sparse.csr_matrix if meta["flavor"] == "matrix" else sparse.csr_array
    rows = kind((arrays["cells"], arrays["indices"], arrays["indptr"]), shape=(n_rows, n_columns))
    rows.check_format(full_check=True)
    return rows


def _encode_tensor(tensor: Any) -> Stored:
    plain = tensor.detach().cpu()
    name = str(plain.dtype).removeprefix("torch.")
    return {"dtype": name}, {"cells": (plain.float() if name == "bfloat16" else plain).numpy()}


def _decode_tensor(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Any:
    torch = require("torch", "torch", "the stored rows, a tensor")
    dtype = getattr(torch, str(meta["dtype"]), None)
    if not isinstance(dtype, torch.dtype):
        msg = f"{str(meta['dtype'])[:40]!r} is no type of tensors"
        raise ValueError(msg)  # noqa: TRY004 - what is wrong is the file's text, not its type
    return torch.from_numpy(arrays["cells"]).to(dtype)


class _Kind(NamedTuple):
    encode: Callable[[Any], Stored]
    decode: Callable[[Mapping[str, Any], Mapping[str, NDArray[Any]]], Any]


_KINDS = {
    "numpy array": _Kind(_encode_numpy, _decode_numpy),
    "pandas DataFrame": _Kind(pandas_columns.encode_frame, pandas_columns.decode_frame),
    "polars DataFrame": _Kind(polars_columns.encode_frame, polars_columns.decode_frame),
    "pyarrow Table": _Kind(arrow_columns.encode_table, arrow_columns.decode_table),
    "scipy sparse matrix": _Kind(_encode_sparse, _decode_sparse),
    "torch tensor": _Kind(_encode_tensor, _decode_tensor),
}


def encode_rows(table: Table) -> Stored:
    """The explained rows.

    Raises:
        TypeError: If the container, or a column's type, cannot be stored.
    """
    if table.kind not in _KINDS:
        msg = f"explained rows of the kind {table.kind} cannot be stored; allowed: {', '.join(_KINDS)}."
        raise TypeError(msg)
    meta, arrays = _KINDS[table.kind].encode(table.native())
    names = list(table.names) if isinstance(table, NumpyTable) and table.named else None
    return {"kind": table.kind, "names": names, "content": meta}, arrays


def decode_rows(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Table:
    """The rows again, behind the container seam."""
    table = read_table(_KINDS[meta["kind"]].decode(meta["content"], arrays), "rows")
    if meta["names"] is not None and isinstance(table, NumpyTable):
        names = tuple(str(name) for name in meta["names"])
        if len(names) != table.n_columns:
            msg = "it names another number of columns than it has"
            raise ValueError(msg)
        return table.renamed(names)
    return table
