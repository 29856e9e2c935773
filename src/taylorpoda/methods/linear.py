"""The methods that are linear in the game: Shapley, OCC-1, patches, and TaylorPODA at given shares."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.arrays import as_table
from taylorpoda.allocation import allocate
from taylorpoda.dividends import occlusion_of, shapley_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray


def shapley(values: Any) -> Any:
    """The Shapley value: every interaction is split evenly among its members.

    Args:
        values: Table of a game, shape (..., 2**n), numpy or torch; bit j of the last index is player j.

    Returns:
        Attributions of shape (..., n); they sum to v(N) - v(empty).

    Example:
        >>> import numpy as np
        >>> shapley(np.array([0.0, 1.0, 2.0, 5.0]))
        array([2., 3.])
    """
    return shapley_of(values)


def occlusion(
    values: Any, *, patches: Sequence[Iterable[int] | NDArray[np.bool_]] | None = None, per_player: bool = False
) -> Any:
    """OCC-1, v(N) - v(N without i), or the occlusion of patches, v(N) - v(N without the patch).

    Every interaction is credited in full to each of its members, so the attributions do not sum to
    v(N) - v(empty) where there are any.

    Args:
        values: Table of a game, shape (..., 2**n), numpy or torch.
        patches: Groups of players that are occluded together, their numbers or a mask of n booleans; they may overlap.
            None: every player by itself.
        per_player: With patches, give every player the mean effect of the patches that hold it, 0 where there
            are none, as heat maps of images do.

    Returns:
        Attributions of shape (..., n), or (..., patches) for patches that are not spread over their players.

    Raises:
        TypeError: If a patch holds something that is no number of a player.
        ValueError: If a patch is empty or holds an unknown player.

    Example:
        >>> import numpy as np
        >>> occlusion(np.array([0.0, 1.0, 2.0, 5.0]))
        array([3., 4.])
        >>> occlusion(np.array([0.0, 1.0, 2.0, 5.0]), patches=[(0, 1)])
        array([5.])
    """
    if patches is None:
        if per_player:
            msg = "per_player=True needs patches=; without patches every player has its own effect already."
            raise ValueError(msg)
        return occlusion_of(values)
    xp, table, n_players = as_table(values)
    masks = [_patch_mask(number, patch, n_players) for number, patch in enumerate(patches)]
    full = table.shape[-1] - 1
    effects = [table[..., full] - table[..., full ^ mask] for mask in masks]
    if not per_player:
        return xp.stack(effects, axis=-1) if effects else table[..., :0]
    nothing = xp.zeros_like(table[..., full])
    columns = []
    for player in range(n_players):
        held = [effect for effect, mask in zip(effects, masks, strict=True) if mask >> player & 1]
        columns.append(sum(held[1:], held[0]) / len(held) if held else nothing)
    return xp.stack(columns, axis=-1) if columns else table[..., :0]


def _patch_mask(number: int, patch: Iterable[int] | NDArray[np.bool_], n_players: int) -> int:
    mask = 0
    for player in _players(number, patch, n_players):
        if not 0 <= player < n_players:
            msg = f"patches[{number}] holds player {player!r}; allowed: 0 to {n_players - 1}."
            raise ValueError(msg)
        mask |= 1 << player
    if not mask:
        msg = f"patches[{number}] is empty; a patch holds at least one player."
        raise ValueError(msg)
    return mask


def _players(number: int, patch: Any, n_players: int) -> list[int]:
    """The numbers in a patch: as listed, or where a mask is True."""
    allowed = f"the numbers of players, 0 to {n_players - 1}, or a mask of {n_players} booleans"
    try:
        listed = list(patch)
        if listed and all(isinstance(one, bool | np.bool_) for one in listed) and len(listed) == n_players:
            return [player for player, held in enumerate(listed) if held]
        if any(isinstance(one, bool | np.bool_) for one in listed):
            raise TypeError  # noqa: TRY301 - one message for whatever is no number
        return [operator.index(one) for one in listed]
    except TypeError:
        msg = f"patches[{number}]={patch!r} is not understood; allowed: {allowed}."
        raise TypeError(msg) from None


def taylorpoda(values: Any, *, shares: Mapping[int, Any] | NDArray[Any]) -> Any:
    """TaylorPODA at shares of your own: a_i = H({i}) + sum over S holding i of share(i, S) * H(S).

    Args:
        values: Table of a game, shape (..., 2**n).
        shares: For every coalition of two or more players the shares of its members: {subset: n shares}, or
            an array of shape (2**n, n). Shares are not negative and sum to 1 over the members.

    Returns:
        Attributions of shape (..., n); they sum to v(N) - v(empty) whatever the shares.

    Raises:
        ValueError: If the shares are negative, given to players outside the coalition, or do not sum to 1.

    Example:
        >>> import numpy as np
        >>> taylorpoda(np.array([0.0, 1.0, 2.0, 5.0]), shares={3: [0.25, 0.75]})
        array([1.5, 3.5])
    """
    return allocate(values, policy="shares", shares=shares).attributions
