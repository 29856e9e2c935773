"""The one seam: everything is a game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@runtime_checkable
class Game(Protocol):
    """Any callable that gives the value of coalitions."""

    def __call__(self, coalitions: NDArray[np.bool_], /) -> Any:
        """Value every coalition.

        Args:
            coalitions: Shape (m, n_players); True where a player is present.

        Returns:
            Shape (m,), or (m, outputs).
        """
        ...
