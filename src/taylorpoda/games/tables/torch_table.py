"""torch tensors: rows stay on their device, so a function of tensors gets tensors."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.games.tables.base import Table
from taylorpoda.games.tables.numpy_table import NumpyTable

if TYPE_CHECKING:
    from numpy.typing import NDArray


def read_tensor(data: Any, parameter: str) -> TorchTable | None:
    """The table of a two-dimensional tensor; None for anything else."""
    torch = sys.modules.get("torch")
    return TorchTable.of(data, parameter) if torch is not None and isinstance(data, torch.Tensor) else None


class TorchTable(Table):
    """Rows of a torch tensor.

    Args:
        tensor: Shape (rows, columns), without gradients.
    """

    kind = "torch tensor"
    named = False

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor
        self.names = tuple(f"x{j}" for j in range(tensor.shape[1]))

    @classmethod
    def of(cls, data: Any, parameter: str) -> TorchTable:
        """Read a tensor; one row may be one-dimensional."""
        if data.layout is not sys.modules["torch"].strided or data.is_complex():
            msg = (
                f"{parameter} is a tensor of layout {data.layout} and dtype {data.dtype}; allowed: dense tensors of "
                "real numbers, e.g. tensor.to_dense()."
            )
            raise TypeError(msg)
        tensor = data.detach()
        tensor = tensor[None, :] if tensor.ndim == 1 else tensor
        if tensor.ndim != 2 or tensor.shape[1] == 0:
            msg = f"{parameter} has shape {tuple(data.shape)}; expected (rows, columns) with at least one column."
            raise ValueError(msg)
        return cls(tensor)

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return int(self._tensor.shape[0])

    @property
    def row_bytes(self) -> int:
        """Bytes of one row."""
        return int(self._tensor.shape[1] * self._tensor.element_size())

    def native(self) -> Any:
        """The tensor."""
        return self._tensor

    def take(self, rows: NDArray[np.intp]) -> TorchTable:
        """Some rows."""
        return TorchTable(self._tensor[self._index(rows)])

    def column(self, position: int) -> NDArray[Any]:
        """One column, on the central processor."""
        return self._numpy()[:, position]

    def read(self, data: Any, parameter: str) -> TorchTable:
        """Other rows, by position; see `Table.read`."""
        import torch

        if isinstance(data, torch.Tensor):
            data = data.detach().cpu()
            if self._tensor.dtype == data.dtype and data.ndim == 2 and data.shape[1] == self.n_columns:
                return TorchTable(data.to(self._tensor.device))
        rows = NumpyTable(self._numpy()).read(np.asarray(data), parameter)
        exact = torch.tensor(rows.native(), device=self._tensor.device)
        cast = exact.to(self._tensor.dtype)
        if not bool(torch.equal(cast.to(exact.dtype).nan_to_num(), exact.nan_to_num())):
            msg = f"{parameter} has dtype {exact.dtype} but the background has {cast.dtype}, and not every cell fits."
            raise ValueError(msg)
        return TorchTable(cast)

    def stack(self, other: Table) -> TorchTable:
        """Rows of both."""
        import torch

        return TorchTable(torch.cat([self._tensor, other.native()]))

    def mix(self, rows: NDArray[np.intp], present: NDArray[np.bool_], donors: NDArray[np.intp]) -> Any:
        """Hybrid rows, on the device of the rows."""
        import torch

        known = torch.as_tensor(np.require(present, requirements=["C", "W"]), device=self._tensor.device)
        return torch.where(known, self._tensor[self._index(rows)], self._tensor[self._index(donors)])

    def codes(self) -> NDArray[np.int64]:
        """Cells as integers."""
        return NumpyTable(self._numpy()).codes()

    def _index(self, rows: NDArray[np.intp]) -> Any:
        import torch

        return torch.as_tensor(np.array(rows, dtype=np.int64), device=self._tensor.device)

    def _numpy(self) -> NDArray[Any]:
        tensor = self._tensor.cpu()
        return np.asarray(tensor.float() if "bfloat16" in str(tensor.dtype) else tensor)
