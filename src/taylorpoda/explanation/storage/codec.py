"""An Explanation as a header and arrays, and back, every part checked against the others."""

from __future__ import annotations

import operator
import re
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._version import __version__
from taylorpoda.allocation.result import Allocation
from taylorpoda.engines.stored import games_of
from taylorpoda.explanation.core import Explanation
from taylorpoda.explanation.storage.archive import StorageError
from taylorpoda.explanation.storage.cells import decode, encode
from taylorpoda.explanation.storage.evidence import StoredProof, checked_evidence, evidence_arrays
from taylorpoda.explanation.storage.pandas_columns import inside
from taylorpoda.explanation.storage.rows import decode_rows, encode_rows
from taylorpoda.explanation.subject import Subject
from taylorpoda.games.models.labels import LabelRule
from taylorpoda.utilities import REGISTRY, Utility

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.engines.base import SolvedGames

FORMAT = "taylorpoda.Explanation"
FORMAT_VERSION = 1


def encode_explanation(explanation: Explanation) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Everything an explanation holds.

    Raises:
        TypeError: If its rows or options hold something that cannot be stored.
    """
    subject = explanation.subject
    rows, arrays = encode_rows(subject.rows)
    arrays = {f"rows/{name}": array for name, array in arrays.items()}
    games = explanation.games.to_arrays()
    arrays |= {f"games/{name}": np.asarray(array) for name, array in games.items()}
    arrays |= {f"evidence/{name}": array for name, array in evidence_arrays(explanation.allocation).items()}
    arrays["attributions"] = np.asarray(explanation.allocation.attributions)
    arrays["player_of_column"] = np.asarray(subject.player_of_column, dtype=np.int64)
    if subject.target is not None:
        arrays["target"] = subject.target
    if explanation.gap_to_model is not None:
        arrays["gap_to_model"] = explanation.gap_to_model
    options = dict(explanation.options)
    shares = options.pop("shares", None)
    if isinstance(shares, Mapping):
        options["shares"] = {operator.index(key): np.asarray(part).tolist() for key, part in shares.items()}
    elif shares is not None:
        arrays["shares"] = _table_of_shares(explanation)
    labels = subject.labels
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "written_by": __version__,
        "engine": explanation.games.engine,
        "policy": explanation.policy,
        "utility": {
            "name": explanation.utility.name,
            "builtin": _is_builtin(explanation.utility),
            "higher_is_better": bool(explanation.utility.higher_is_better),
            "needs_target": bool(explanation.utility.needs_target),
        },
        "seed": explanation.allocation.seed,
        "options": encode(options),
        "provenance": _plain(explanation.provenance),
        "rows": rows,
        "subject": {
            "feature_names": list(subject.feature_names),
            "output_names": encode(subject.output_names),
            "single": bool(subject.single),
            "model": subject.model,
            "container": subject.container,
            "classes": encode(labels.classes),
            "chosen": labels.chosen,
            "aliases": encode(labels.aliases),
        },
    }
    return header, arrays


def _table_of_shares(explanation: Explanation) -> NDArray[np.float64]:
    """A user's own shares, one table per row and output; coalitions without a dividend are split evenly."""
    rows, outputs = explanation.games.full.shape
    n = explanation.games.n_players
    members = (np.arange(1 << n)[:, None] >> np.arange(n)) & 1
    even = members / np.maximum(members.sum(axis=1), 1)[:, None]
    tables = np.broadcast_to(even, (rows, outputs, 1 << n, n)).copy()
    for row in range(rows):
        for output in range(outputs):
            view = explanation.allocation.shares(row * outputs + output)
            tables[row, output, np.asarray(view.coalitions, dtype=np.int64)] = view.array
    return tables


def _is_builtin(utility: Utility) -> bool:
    return utility.name in REGISTRY and REGISTRY[utility.name] is utility


def _plain(value: Any) -> Any:
    """Provenance: what cannot be stored as it is becomes its text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    try:
        return encode(value.tolist() if isinstance(value, np.ndarray) else value)
    except TypeError:
        return str(value)


def decode_explanation(
    header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], utility: Utility | None
) -> Explanation:
    """The explanation of a file.

    Raises:
        StorageError: If parts are missing or contradict each other.
    """
    _check_format(header)
    told = header["subject"]
    names = tuple(str(name) for name in told["feature_names"])
    n = len(names)
    games = games_of(str(header["engine"]), inside(arrays, "games"))
    attributions = _numbers(arrays, "attributions")
    _check_games(games, attributions, n)
    rows, outputs = attributions.shape[:2]
    output_names = decode(told["output_names"])
    subject = Subject(
        rows=decode_rows(header["rows"], inside(arrays, "rows")),
        feature_names=names,
        player_of_column=arrays["player_of_column"].astype(np.intp),
        output_names=output_names,
        single=bool(told["single"]),
        target=_numbers(arrays, "target") if "target" in arrays else None,
        labels=LabelRule(decode(told["classes"]), told["chosen"], decode(told["aliases"])),
        model=str(told["model"]),
        container=str(told["container"]),
    )
    _check_subject(subject, rows, outputs)
    options = dict(decode(header["options"]))
    if "shares" in arrays:
        options["shares"] = _numbers(arrays, "shares")
    elif "shares" in options:
        options["shares"] = {key: np.asarray(part) for key, part in options["shares"].items()}
    chosen = _utility(header["utility"], utility)
    proof = StoredProof(
        checked_evidence(inside(arrays, "evidence"), (rows, outputs), n),
        attributions,
        games,
        str(header["policy"]),
        chosen,
        subject.target,
        options,
    )
    return Explanation(
        games=games,
        allocation=Allocation(attributions, games.base, proof.policy, chosen.name, proof, header["seed"]),
        subject=subject,
        policy=proof.policy,
        utility=chosen,
        provenance=decode(header["provenance"]),
        options=options,
        gap_to_model=_numbers(arrays, "gap_to_model", (rows, outputs)) if "gap_to_model" in arrays else None,
    )


def _check_format(header: Mapping[str, Any]) -> None:
    if header.get("format") != FORMAT or not isinstance(header.get("format_version"), int):
        msg = "its header is not that of an explanation"
        raise StorageError(msg)
    written = str(header.get("written_by"))
    if header["format_version"] > FORMAT_VERSION or _release(written) > _release(__version__):
        msg = (
            f"the file was written by taylorpoda {written[:20]} (format {header['format_version']}), newer than this "
            f"taylorpoda {__version__} (format {FORMAT_VERSION}); what it may hold beyond that is not read."
        )
        warnings.warn(msg, UserWarning, stacklevel=5)


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.split("+", maxsplit=1)[0])[:3])


def _numbers(
    arrays: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, ...] | None = None
) -> NDArray[np.float64]:
    array = arrays[name]
    if array.dtype != np.float64 or not np.isfinite(array).all() or (shape is not None and array.shape != shape):
        msg = f"its {name} has shape {array.shape[:8]} and dtype {array.dtype}, or holds NaN or infinity"
        raise StorageError(msg)
    return array


def _check_games(games: SolvedGames, attributions: NDArray[np.float64], n: int) -> None:
    expected = attributions.shape[:2]
    fits = attributions.ndim == 3 and attributions.shape[2] == n == games.n_players
    if not fits or games.full.shape != expected or games.base.shape != expected:
        msg = f"its games do not belong to its attributions of shape {attributions.shape[:8]}"
        raise StorageError(msg)
    if not (np.isfinite(games.full).all() and np.isfinite(games.base).all()):
        msg = "its games hold NaN or infinity"
        raise StorageError(msg)


def _check_subject(subject: Subject, rows: int, outputs: int) -> None:
    names, columns = subject.output_names, subject.player_of_column
    n = len(subject.feature_names)
    wrong = [
        subject.rows.n_rows != rows and "rows",
        columns.shape != (subject.rows.n_columns,) and "columns",
        sorted(set(columns.tolist())) != list(range(n)) and "players",
        names is not None and (not isinstance(names, tuple) or len(names) != outputs) and "output names",
        subject.single and outputs != 1 and "outputs",
        subject.target is not None and subject.target.shape != (rows,) and "labels",
    ]
    found = [part for part in wrong if part]
    if found:
        msg = (
            f"its {' and '.join(map(str, found))} do not belong to its {rows} rows, {outputs} outputs and {n} features"
        )
        raise StorageError(msg)


def _utility(told: Mapping[str, Any], given: Utility | None) -> Utility:
    name = str(told["name"])
    if given is not None:
        if not isinstance(given, Utility) or given.name != name:
            msg = (
                f"utility={given!r} is not the one the file names, {name!r}; allowed: None, or a Utility of that name."
            )
            raise ValueError(msg)
        return given
    if told["builtin"]:
        return REGISTRY[name]

    def missing(attributions: Any, context: Any) -> Any:  # noqa: ARG001 - the signature of a utility
        msg = (
            f"utility {name!r} was made by the user and is not in the file; load it with "
            "taylorpoda.load(path, utility=...), or name another utility."
        )
        raise ValueError(msg)

    return Utility(
        name,
        evaluate=missing,
        higher_is_better=bool(told["higher_is_better"]),
        needs_target=bool(told["needs_target"]),
    )
