"""How columns make players: one each, or groups of columns that enter and leave together."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taylorpoda._support.display import is_missing

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Players:
    """The players of a tabular game.

    Attributes:
        names: One name per player.
        player_of_column: Shape (n_columns,): which player each column belongs to.
    """

    names: tuple[str, ...]
    player_of_column: NDArray[np.intp]

    @property
    def n_players(self) -> int:
        """How many players there are."""
        return len(self.names)

    @property
    def grouped(self) -> bool:
        """Whether some player holds more than one column."""
        return len(self.player_of_column) != len(self.names)

    def columns_of(self, coalitions: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The columns known to each coalition: (m, n_players) -> (m, n_columns)."""
        if not self.grouped and bool(np.all(self.player_of_column == np.arange(self.n_players))):
            return coalitions
        return coalitions[:, self.player_of_column]

    @classmethod
    def from_groups(cls, columns: Sequence[str], groups: object) -> Players:
        """Read the user's `groups`.

        Args:
            columns: The column names, in order.
            groups: None for one player per column; a mapping of player name to its columns; or a sequence with one
                group label per column. Columns no group of a mapping names stay players of their own.

        Returns:
            The players, in order of their first column.

        Raises:
            ValueError: If a column is unknown or claimed twice, or the lengths differ.
            TypeError: If `groups` is of another kind.
        """
        if groups is None:
            return cls(tuple(columns), np.arange(len(columns)))
        if isinstance(groups, Mapping):
            labels = _labels_from_mapping(columns, groups)
        elif isinstance(groups, Sequence | np.ndarray) and not isinstance(groups, str):
            if any(is_missing(label) for label in groups):
                msg = f"groups={list(groups)[:40]!r} holds a missing label; it needs one label per column."
                raise ValueError(msg)
            labels = [str(label) for label in groups]
            if len(labels) != len(columns):
                msg = f"groups has {len(labels)} labels for {len(columns)} columns; it needs one label per column."
                raise ValueError(msg)
        else:
            msg = (
                f"groups has type {type(groups).__name__}; allowed: None, a mapping {{player: [columns]}}, "
                "or one label per column."
            )
            raise TypeError(msg)
        names = tuple(dict.fromkeys(labels))
        position = {name: index for index, name in enumerate(names)}
        return cls(names, np.array([position[label] for label in labels], dtype=np.intp))


def _labels_from_mapping(columns: Sequence[str], groups: Mapping[object, object]) -> list[str]:
    index = {name: position for position, name in enumerate(columns)}
    labels = list(columns)
    owner: dict[int, str] = {}
    for player, members in groups.items():
        if isinstance(members, str) or not isinstance(members, Iterable):
            listed: list[object] = [members]
        else:
            listed = list(members)
        if not listed:
            msg = f"groups: player {player!r} has no columns."
            raise ValueError(msg)
        for member in listed:
            position = index.get(str(member), _position(member))
            if position is None or not 0 <= position < len(columns):
                msg = f"groups: player {player!r} names the column {member!r}; known columns: {list(columns)}."
                raise ValueError(msg)
            if position in owner:
                msg = f"groups: column {member!r} belongs to both {owner[position]!r} and {player!r}."
                raise ValueError(msg)
            owner[position] = str(player)
            labels[position] = str(player)
    lone = {labels[position] for position in range(len(columns)) if position not in owner}
    clash = lone & set(owner.values())
    if clash:
        msg = f"groups: {sorted(clash)} name both a group and a column outside it."
        raise ValueError(msg)
    return labels


def _position(member: object) -> int | None:
    """A column given by its position, as any integer but a boolean."""
    if isinstance(member, bool | np.bool_):
        return None
    try:
        return operator.index(member)  # type: ignore[arg-type]
    except TypeError:
        return None
