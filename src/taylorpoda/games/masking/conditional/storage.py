"""Surrogates on disk: one npz file of arrays with their description as JSON, no pickle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from taylorpoda._support.safe_write import drafted
from taylorpoda.games.masking.base import Measured
from taylorpoda.games.masking.cells import CellReader
from taylorpoda.games.masking.conditional.linear_predictor import LinearPredictor
from taylorpoda.games.masking.conditional.loss import Loss
from taylorpoda.games.masking.conditional.surrogate import Surrogate
from taylorpoda.games.masking.encoding import Encoder
from taylorpoda.games.players import Players

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FORMAT = "taylorpoda surrogate 1"


def save(surrogate: Surrogate, path: str | Path) -> None:
    """Write a surrogate to `path`, exactly as given."""
    description = {
        "format": _FORMAT,
        "columns": surrogate.encoder.reader.to_json(),
        "players": list(surrogate.players.names),
        "plain": surrogate.linear.plain,
        "activation": surrogate.activation,
        "layers": len(surrogate.parameters),
        "heldout_error": surrogate.measured.heldout_error,
        "details": dict(surrogate.measured.details),
        "notes": dict(surrogate.notes),
    }
    arrays: dict[str, NDArray[Any]] = {
        "description": np.array(json.dumps(description)),
        "player_of_column": surrogate.players.player_of_column,
        "telling": surrogate.telling,
        "covariance": surrogate.linear.covariance,
        "cross": surrogate.linear.cross,
        **{f"encoder.{name}": array for name, array in surrogate.encoder.to_arrays().items()},
        **{f"loss.{name}": array for name, array in surrogate.loss.to_arrays().items()},
        **{f"layer.{place}": array for place, array in enumerate(surrogate.parameters)},
    }
    if surrogate.base is not None:
        arrays["base"] = surrogate.base
    with drafted(Path(path)) as draft, draft.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def load_surrogate(path: str | Path) -> Surrogate:
    """Read a surrogate written by `Surrogate.save`.

    Args:
        path: The file.

    Returns:
        A surrogate to pass as `masking=`.

    Raises:
        ValueError: If the file holds something else.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        description = json.loads(str(arrays["description"]))
        known = description["format"] == _FORMAT
    except FileNotFoundError:
        msg = f"path={str(path)!r} does not exist; allowed: a file written by Surrogate.save."
        raise FileNotFoundError(msg) from None
    except (BadZipFile, ValueError, KeyError, AttributeError, TypeError, EOFError) as error:
        msg = f"path={str(path)!r} holds no surrogate written by Surrogate.save."
        raise ValueError(msg) from error
    if not known:
        msg = f"{str(path)!r} has the format {description['format']!r}; this version reads {_FORMAT!r}."
        raise ValueError(msg)
    try:
        return _assembled(description, arrays)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        msg = f"path={str(path)!r} is a surrogate with damaged parts: {error!r}."
        raise ValueError(msg) from error


def _assembled(description: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Surrogate:
    def part(prefix: str) -> dict[str, NDArray[Any]]:
        return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}

    return Surrogate(
        encoder=Encoder.from_arrays(CellReader.from_json(description["columns"]), part("encoder.")),
        players=Players(tuple(description["players"]), arrays["player_of_column"]),
        base=arrays.get("base"),
        linear=LinearPredictor(arrays["covariance"], arrays["cross"], bool(description["plain"])),
        loss=Loss.from_arrays(part("loss.")),
        parameters=tuple(arrays[f"layer.{place}"] for place in range(description["layers"])),
        activation=description["activation"],
        telling=arrays["telling"],
        measured=Measured(description["heldout_error"], description["details"]),
        notes=description["notes"],
    )
