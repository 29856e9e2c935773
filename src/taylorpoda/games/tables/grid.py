"""Every coalition of some rows with every donor, for cells of one fixed size: whole pieces of rows are copied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.games.coalitions import all_coalitions

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PIECE = 6  # columns of a piece at most: 64 ways to mix it
_PIECE_BYTES = 2**20  # all mixtures of all pieces stay in the cache
_STEP_BYTES = 2**18  # hybrid rows stay in the cache until all their pieces are in place
_FEWEST = 128  # coalitions worth preparing pieces for


def choose(present: NDArray[np.bool_], own: NDArray[Any], donors: NDArray[Any]) -> NDArray[Any]:
    """Cells of `own` where `present`, of `donors` elsewhere, in their own dtype: `np.where` would turn byte orders."""
    mixed = np.empty(np.broadcast_shapes(present.shape, own.shape, donors.shape), dtype=donors.dtype)
    mixed[...] = donors
    np.copyto(mixed, own, where=present)
    return mixed


class HybridGrid:
    """Rows mixed with the same donors, coalition after coalition.

    The columns are cut into pieces of a few columns. A piece has few mixtures of present and absent cells; each is made
    once, and every hybrid row is put together from whole pieces. Comparing nothing and casting nothing, a piece is
    copied as the bytes it is.

    Args:
        own: Shape (rows, columns): the explained rows.
        donors: Shape (donors, columns), of the same dtype.
    """

    def __init__(self, own: NDArray[Any], donors: NDArray[Any]) -> None:
        self._own = own
        self._donors = donors
        self._pieces: list[list[NDArray[Any]]] = []  # for every row, the mixtures of its pieces
        self._asked = 0  # coalitions, over all calls

    def __call__(self, present: NDArray[np.bool_]) -> NDArray[Any]:
        """The hybrid rows of some coalitions.

        Args:
            present: Shape (coalitions, columns).

        Returns:
            Shape (rows * coalitions * donors, columns), in that nesting order.
        """
        n_columns, width = self._donors.shape[1], self._width()
        self._asked += len(present)
        if self._asked < _FEWEST or width < 2:
            return choose(present[None, :, None, :], self._own[:, None, None, :], self._donors).reshape(-1, n_columns)
        spans = [slice(start, min(start + width, n_columns)) for start in range(0, n_columns, width)]
        if not self._pieces:
            self._pieces = [[self._mixtures(row, columns) for columns in spans] for row in self._own]
        grid = np.empty((len(self._own), len(present), *self._donors.shape), dtype=self._donors.dtype)
        rows = grid.view(self._rows_of_pieces(spans))[..., 0]
        ways = [present[:, columns] @ (1 << np.arange(columns.stop - columns.start)) for columns in spans]
        step = max(1, _STEP_BYTES // self._donors.nbytes)
        for position, pieces in enumerate(self._pieces):
            for start in range(0, len(present), step):
                some = slice(start, start + step)
                for k, mixtures in enumerate(pieces):
                    rows[str(k)][position, some] = mixtures[ways[k][some]]
        return grid.reshape(-1, n_columns)

    def _width(self) -> int:
        """Columns of a piece: as many as keep all mixtures in the cache; none for objects, which are no bytes."""
        if self._donors.dtype.hasobject or not self._donors.nbytes:
            return 0
        return min(_PIECE, self._donors.shape[1], (_PIECE_BYTES // self._donors.nbytes).bit_length() - 1)

    def _mixtures(self, row: NDArray[Any], columns: slice) -> NDArray[Any]:
        """All mixtures of some columns, each row of cells as one item: shape (2**columns, donors)."""
        ways = all_coalitions(columns.stop - columns.start)
        mixed = choose(ways[:, None, :], row[columns], self._donors[:, columns])
        whole = np.dtype((np.void, mixed.itemsize * mixed.shape[-1]))
        return mixed.view(whole)[..., 0]

    def _rows_of_pieces(self, spans: list[slice]) -> np.dtype[Any]:
        size = self._donors.itemsize
        return np.dtype(
            {
                "names": [str(k) for k in range(len(spans))],
                "formats": [np.dtype((np.void, size * (columns.stop - columns.start))) for columns in spans],
                "offsets": [size * columns.start for columns in spans],
                "itemsize": size * self._donors.shape[1],
            }
        )
