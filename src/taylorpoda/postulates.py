"""Audit a method by computation: does it keep the paper's postulates?

A linear method is known once its attributions of the unanimity games u_T(S) = [T is part of S] are: the only
dividend of u_T is H(T) = 1, so they say who gets how much of each dividend. A method that chooses among
linear ones, game by game, is audited as the family it chooses from.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from taylorpoda._support.arrays import to_numpy
from taylorpoda._support.seeds import stream
from taylorpoda.dividends import values_from
from taylorpoda.dividends.dense import coalition_sizes, membership
from taylorpoda.methods import METHODS, lime, weighted_shap

if TYPE_CHECKING:
    from numpy.typing import NDArray

Verdict = bool | Literal["partial"] | None
Linear = Callable[[Any], Any]

_TOLERANCE = 1e-9
_MOST_PLAYERS = 10
_PROBES = 12
_SEED = 20250710


class NotLinearError(ValueError):
    """The method is not linear in the game and no family was given: its postulates cannot be computed."""


@dataclass(frozen=True, eq=False)
class Audit:
    """Which postulates a method keeps.

    Attributes:
        precision: The dividend of a single player goes wholly to that player and to nobody else.
        federation: The dividend of a coalition goes to its members only (that of the empty one to nobody).
        zero_discrepancy: The attributions sum to v(N) - v(empty), whatever the game.
        adaptation: False for a single method; "partial" for a family that realizes different shares but not
            every vertex of every interaction's simplex; True for one that does.
        coefficients: Attributions of the unanimity games, shape (2**n, n): entry (T, i) is what player i
            gets of H(T). Shape (members, 2**n, n) for a family. None where the postulates do not apply.
        members: How many linear methods were audited.
        note: Why the postulates do not apply, or how the family was made.
    """

    precision: bool | None
    federation: bool | None
    zero_discrepancy: bool | None
    adaptation: Verdict
    coefficients: NDArray[np.float64] | None = field(repr=False)
    members: int = 1
    note: str = ""


def audit(method: str | Linear | Iterable[Linear], n_players: int) -> Audit:
    """Compute which postulates a method keeps.

    Args:
        method: A callable, values of shape (2**n,) -> attributions of shape (n,); the name of a registered
            method; a family, an iterable of such callables; or a callable with a keyword `shares`, which is
            audited over all vertices of the share simplices and some random interior points (it is given an
            array of shape (2**n, n), or, if it cannot read that, the mapping {subset: n shares} of the
            coalitions of two or more players).
        n_players: n, from 2 to 10; with n = 2 federation is all but empty.

    Returns:
        The audit. A postulate holds for a family when it holds for every member.

    Raises:
        NotLinearError: If a method is not linear in the game; give the family it chooses from instead.
        ValueError: If a name or the number of players is not allowed, or a method gives a wrong shape.

    Example:
        >>> audit("shapley", 3)
        Audit(precision=True, federation=True, zero_discrepancy=True, adaptation=False, members=1, note='')
        >>> audit("occlusion", 3).zero_discrepancy
        False
        >>> audit("weighted_shap", 3).adaptation
        'partial'
        >>> from taylorpoda.methods import without_precision, without_federation, without_zero_discrepancy
        >>> audit(without_precision, 3).precision, audit(without_precision, 3).federation
        (False, True)
        >>> audit(without_federation, 3).federation, audit(without_federation, 3).zero_discrepancy
        (False, True)
        >>> audit(without_zero_discrepancy, 3).zero_discrepancy, audit(without_zero_discrepancy, 3).precision
        (False, True)
    """
    n = _checked_players(n_players)
    if isinstance(method, str):
        return _audit_registered(method, n)
    if callable(method):
        for name, function in (("weighted_shap", weighted_shap), ("lime", lime)):
            if _is_function(method, function):
                return _audit_registered(name, n)
        if _takes_shares(method):
            return _audit_shares(method, n)
        return _verdicts(_coefficients(method, n)[None], single=True)
    if isinstance(method, Iterable):
        return _audit_family(list(method), n)
    msg = (
        f"method={method!r} has type {type(method).__name__}; allowed: a callable values -> attributions, "
        "the name of a registered method, or an iterable of such callables."
    )
    raise TypeError(msg)


def _checked_players(n_players: object) -> int:
    try:
        n = operator.index(n_players)  # type: ignore[arg-type]
    except TypeError:
        msg = f"n_players={n_players!r} has type {type(n_players).__name__}; it must be an integer."
        raise TypeError(msg) from None
    if not 2 <= n <= _MOST_PLAYERS:
        msg = f"n_players={n}; allowed: 2 to {_MOST_PLAYERS} (one player has no interactions to share)."
        raise ValueError(msg)
    return n


def _audit_registered(name: str, n: int) -> Audit:
    known = METHODS[name]
    if known.outside:
        return Audit(None, None, None, None, None, members=0, note=known.outside)
    if known.shared is not None:
        return _audit_shares(known.shared, n, batched=True)
    assert known.family is not None  # noqa: S101 - an entry says one of the three
    members = known.family()
    if len(members) == 1:
        return _verdicts(_coefficients(members[0], n, batched=True)[None], single=True)
    return _audit_family(list(members), n, batched=True)


def _audit_family(members: list[Linear], n: int, *, batched: bool = False) -> Audit:
    wrong = next((place for place, member in enumerate(members) if not callable(member)), None)
    if not members or wrong is not None:
        which = "no members" if wrong is None else f"member {wrong} {members[wrong]!r}, which is not callable"
        msg = f"method is a family with {which}; allowed: one or more callables values -> attributions."
        raise ValueError(msg)
    coefficients = np.stack([_coefficients(member, n, batched=batched) for member in members])
    return _verdicts(coefficients, single=False, note=f"a family of {len(members)} linear methods")


def _audit_shares(method: Callable[..., Any], n: int, *, batched: bool = False) -> Audit:
    settings = _share_settings(n)
    members = [partial(_with_shares, method, setting) for setting in settings]
    coefficients = np.stack([_coefficients(member, n, batched=batched) for member in members])
    note = f"{n} settings of shares that pass through every vertex, {len(settings) - n} inside the simplices"
    return _verdicts(coefficients, single=False, note=note)


def _share_settings(n: int) -> list[NDArray[np.float64]]:
    """Shares (2**n, n): all of S to its k-th member (or last), for every k; then even and random ones."""
    held = membership(n)
    sizes = coalition_sizes(n)
    place = np.cumsum(held, axis=1) - 1
    settings = [(held & (place == np.minimum(rank, sizes - 1)[:, None])).astype(np.float64) for rank in range(n)]
    draws = stream(_SEED, n).exponential(size=(2, 1 << n, n)) * held
    inside = (held.astype(np.float64), *draws)
    tiny = np.finfo(np.float64).tiny  # the empty coalition has no members to share among
    return settings + [weights / np.maximum(weights.sum(axis=1, keepdims=True), tiny) for weights in inside]


def _with_shares(method: Callable[..., Any], setting: NDArray[np.float64], values: NDArray[np.float64]) -> Any:
    try:
        return method(values, shares=setting)
    except (AttributeError, TypeError, LookupError) as error:
        several = np.flatnonzero(coalition_sizes(setting.shape[1]) > 1)
        try:
            return method(values, shares={int(subset): setting[subset] for subset in several})
        except (AttributeError, TypeError, LookupError):
            raise error from None


def _coefficients(method: Linear, n: int, *, batched: bool = False) -> NDArray[np.float64]:
    """Attributions of the unanimity games, after the method has proven linear on games that are none.

    A user's method sees one game at a time; only our own (`batched`) are known to take many at once.
    """
    games = values_from(np.eye(1 << n))
    if batched:
        coefficients = np.asarray(method(games), dtype=np.float64)
    else:
        coefficients = np.stack([_attributions(method, game, n) for game in games])
    for dividends in _probes(n):
        expected = dividends @ coefficients
        found = _attributions(method, values_from(dividends), n)
        reach = np.sum(np.abs(dividends)) * max(1.0, float(np.max(np.abs(coefficients))))
        if not np.all(np.abs(found - expected) <= _TOLERANCE * reach):
            msg = (
                f"method={_name(method)} is not linear in the game: a game is not attributed as the sum of "
                f"its parts, off by {float(np.max(np.abs(found - expected))):.3g}. The postulates of a "
                "method that chooses game by game are those of the family it chooses from: pass an iterable "
                "of the linear methods it chooses from, or a callable with a keyword `shares`."
            )
            raise NotLinearError(msg)
    return coefficients


def _probes(n: int) -> list[NDArray[np.float64]]:
    """Dividends of many kinds: dense, sparse, one-signed, tiny, huge, sums and multiples of unanimity."""
    draw = stream(_SEED, n, 1)
    count = 1 << n
    probes = [np.zeros(count)]
    for number in range(_PROBES):
        dividends = draw.normal(size=count)
        if number % 3 == 1:
            dividends = np.abs(dividends) * (draw.random(count) < 0.3)
        if number % 3 == 2:
            dividends = -np.abs(dividends)
        probes.append(dividends * (1.0, 1e-6, 1e6, 0.1)[number % 4])
        pair = np.zeros(count)
        pair[draw.choice(count, size=2, replace=False)] = (1.0, (-1.0, 1.0, 0.5)[number % 3])
        probes.append(pair)
    single = np.zeros(count)
    single[-1] = -3.0
    return [*probes, single]


def _attributions(method: Linear, game: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    made = np.asarray(to_numpy(method(game.copy())), dtype=np.float64)
    if made.shape != (n,):
        msg = f"method={_name(method)} gave shape {made.shape} for {game.size} values; expected ({n},)."
        raise ValueError(msg)
    if not np.all(np.isfinite(made)):
        msg = f"method={_name(method)} gave NaN or infinity for a unanimity game or a sum of such games."
        raise ValueError(msg)
    return made


def _verdicts(coefficients: NDArray[np.float64], *, single: bool, note: str = "") -> Audit:
    n = coefficients.shape[-1]
    sizes = coalition_sizes(n)
    outsiders = ~membership(n)
    alone = coefficients[:, [1 << player for player in range(n)], :]
    foreign = coefficients[:, (sizes != 1)[:, None] & outsiders]
    totals = coefficients.sum(axis=-1) - (sizes > 0)
    return Audit(
        precision=_is_zero(alone - np.eye(n)),
        federation=_is_zero(foreign),
        zero_discrepancy=_is_zero(totals),
        adaptation=False if single else _adaptation(coefficients),
        coefficients=coefficients[0] if single else coefficients,
        members=len(coefficients),
        note=note,
    )


def _adaptation(coefficients: NDArray[np.float64]) -> Verdict:
    n = coefficients.shape[-1]
    several = coalition_sizes(n) > 1
    held = membership(n)[several]
    shares = np.where(held, coefficients[:, several, :], 0.0)
    if _is_zero(shares - shares[:1]):
        return False
    for player in range(n):
        with_player = held[:, player]
        vertex = np.zeros(n)
        vertex[player] = 1.0
        off = np.max(np.abs(shares[:, with_player, :] - vertex), axis=-1)
        if not np.all(np.min(off, axis=0) <= _TOLERANCE):
            return "partial"
    return True


def _is_zero(array: NDArray[np.float64]) -> bool:
    return bool(np.all(np.abs(array) <= _TOLERANCE))


def _takes_shares(method: Callable[..., Any]) -> bool:
    try:
        return "shares" in inspect.signature(method).parameters
    except (TypeError, ValueError):
        return False


def _is_function(method: object, function: Callable[..., Any]) -> bool:
    while isinstance(method, partial):
        method = method.func
    return method is function


def _name(method: object) -> str:
    while isinstance(method, partial):
        method = method.func
    return getattr(method, "__qualname__", repr(method))


@dataclass(frozen=True)
class PostulateRow:
    """One line of the paper's second table beside what the audit computes.

    Attributes:
        method: How the paper prints it.
        printed: The paper's verdicts: precision, federation, zero-discrepancy, adaptation.
        computed: The audit's.
        remark: Why they differ, or "".
    """

    method: str
    printed: tuple[Verdict, Verdict, Verdict, Verdict]
    computed: tuple[Verdict, Verdict, Verdict, Verdict]
    remark: str = ""


_WHY_PRECISE = (
    "The paper prints 'no': it argues that the independent effect is multiplied by the weights w_S. They "
    "sum to one for every candidate of WeightedSHAP (each is a mean of marginal gains, and H({i}) is part "
    "of every one of them), so H({i}) arrives whole; precision would fail only for weights that do not sum "
    "to one."
)
_PRINTED: tuple[tuple[str, str, tuple[Verdict, Verdict, Verdict, Verdict], str], ...] = (
    ("occlusion", "OCC-1", (True, True, False, False), ""),
    ("lime", "LIME", (None, None, None, None), ""),
    ("shapley", "SHAP", (True, True, True, False), ""),
    ("weighted_shap", "WeightedSHAP", (False, True, False, "partial"), _WHY_PRECISE),
    ("taylorpoda", "TaylorPODA", (True, True, True, True), ""),
)


def paper_postulates(n_players: int = 4) -> tuple[PostulateRow, ...]:
    """The paper's table of postulates, printed beside computed.

    Args:
        n_players: The size of the games the methods are audited on.

    Returns:
        One row per method of the paper.

    Example:
        >>> [row.method for row in paper_postulates(3) if row.printed != row.computed]
        ['WeightedSHAP']
    """
    rows = []
    for name, title, printed, remark in _PRINTED:
        found = audit(name, n_players)
        computed = (found.precision, found.federation, found.zero_discrepancy, found.adaptation)
        rows.append(PostulateRow(title, printed, computed, remark if printed != computed else ""))
    return tuple(rows)
