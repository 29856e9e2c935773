"""Models from files: what a file is, is read off its first bytes; a pickle is opened only when it is trusted."""

from __future__ import annotations

import json
import os
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from taylorpoda._support.optional import require
from taylorpoda.cli.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_ALLOWED = (
    "XGBoost (.json, .ubj), LightGBM (.txt), CatBoost (.cbm, .json), ONNX (.onnx), skops (.skops), "
    "and with --trust pickle and joblib (.pkl, .joblib)"
)
_PICKLES = (".pkl", ".pickle", ".joblib", ".sav", ".pt", ".pth")
_SIGNATURES = {b"CBM1": "catboost", b"tree\n": "lightgbm", b"tree\r\n": "lightgbm", b"\x80": "pickle"}
_COMPRESSED = (b"\x78\x01", b"\x78\x9c", b"\x78\xda", b"\x1f\x8b", b"BZ", b"\xfd7z")


@dataclass(frozen=True)
class LoadedModel:
    """A model out of a file.

    Attributes:
        model: What the explainer takes.
        library: The library it was read with.
        path: The file.
    """

    model: Any
    library: str
    path: Path


def load_model(path: Path, *, trust: bool) -> LoadedModel:
    """Read a model.

    Args:
        path: Its file.
        trust: Whether code in the file may run.

    Raises:
        InputError: If the file is missing, of no known kind, broken, or needs trust it was not given.
        ImportError: If its library is not installed; the message is the install line.
    """
    if not path.is_file():
        kind = "is a directory" if path.is_dir() else "does not exist"
        msg = f"MODEL={str(path)!r} {kind}; allowed: a file of {_ALLOWED}."
        raise InputError(msg)
    kind = _kind_of(path)
    if kind == "pickle" and not trust:
        msg = (
            f"MODEL={str(path)!r} is a pickle (or joblib) file. Loading one runs whatever code is in it, so it is "
            "opened only with --trust: use that if you made the file or trust who did. Safer ways to hand over a "
            "model: skops, ONNX, or the library's own save_model."
        )
        raise InputError(msg)
    try:
        model = _LOADERS[kind](path, trust)
    except (ImportError, InputError):
        raise
    except Exception as error:  # what a library raises on a broken file is its own
        msg = f"MODEL={str(path)!r} looks like a model of {kind} but cannot be read: {str(error).strip()[:300]}"
        raise InputError(msg) from error
    return LoadedModel(model, kind, path)


def _kind_of(path: Path) -> str:
    with path.open("rb") as stream:
        start = stream.read(512)
    found = _kind_of_bytes(start) or ("skops" if _is_skops(path) else "")
    if not found and start.lstrip()[:1] == b"{":
        found = _kind_of_json(path)
    if not found and path.name.lower().endswith((".onnx", *_PICKLES)):
        found = "onnx" if path.name.lower().endswith(".onnx") else "pickle"
    if not found and start.startswith(_COMPRESSED):
        found = "pickle"  # joblib.dump(..., compress=...)
    if not found:
        msg = f"MODEL={str(path)!r} is of no known kind; allowed: {_ALLOWED}."
        raise InputError(msg)
    return found


def _kind_of_bytes(start: bytes) -> str:
    if start.startswith(b"{L") and b"learner" in start[:64]:
        return "xgboost"
    for signature, kind in _SIGNATURES.items():
        if start.startswith(signature):
            return kind
    return ""


def _is_skops(path: Path) -> bool:
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return "schema.json" in archive.namelist()


def _kind_of_json(path: Path) -> str:
    try:
        keys = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        msg = f"MODEL={str(path)!r} starts like JSON but is none ({error}); allowed: {_ALLOWED}."
        raise InputError(msg) from error
    if not isinstance(keys, dict):
        return ""
    if "learner" in keys:
        return "xgboost"
    return "catboost" if {"oblivious_trees", "trees"} & set(keys) and "model_info" in keys else ""


def _load_xgboost(path: Path, _: bool) -> Any:  # noqa: FBT001 - one signature for all
    xgboost = require("xgboost", "xgboost", "an XGBoost model")
    booster = xgboost.Booster(model_file=str(path))
    told = json.loads(booster.attr("scikit_learn") or "{}")
    kinds = {"classifier": "XGBClassifier", "regressor": "XGBRegressor", "ranker": "XGBRanker"}
    kind = kinds.get(str(told.get("_estimator_type")))
    if kind is None:
        return booster
    model = getattr(xgboost, kind)(enable_categorical=True)
    model.load_model(str(path))
    return model


def _load_lightgbm(path: Path, _: bool) -> Any:  # noqa: FBT001 - one signature for all
    lightgbm = require("lightgbm", "lightgbm", "a LightGBM model")
    with _silent():
        return lightgbm.Booster(model_file=str(path))


@contextmanager
def _silent() -> Iterator[None]:
    """Drop what a library writes to standard error by itself: the error it raises says the same."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _load_catboost(path: Path, _: bool) -> Any:  # noqa: FBT001 - one signature for all
    catboost = require("catboost", "catboost", "a CatBoost model")
    file_format = "json" if path.read_bytes()[:1] == b"{" else "cbm"
    plain = catboost.CatBoost().load_model(str(path), format=file_format)
    kind = "CatBoostClassifier" if len(plain.classes_) else "CatBoostRegressor"
    return getattr(catboost, kind)().load_model(str(path), format=file_format)


def _load_onnx(path: Path, _: bool) -> Any:  # noqa: FBT001 - one signature for all
    from taylorpoda.games.models.onnx_models import OnnxAdapter

    OnnxAdapter().quantity(str(path) if path.suffix.lower() == ".onnx" else path, raw=False)
    return str(path)


def _load_skops(path: Path, trust: bool) -> Any:  # noqa: FBT001 - one signature for all
    skops = require("skops.io", "skops", "a skops file")
    foreign = skops.get_untrusted_types(file=str(path))
    if foreign and not trust:
        msg = (
            f"MODEL={str(path)!r} holds types that skops does not vouch for: {', '.join(foreign)}. Loading them may "
            "run their code; use --trust if you trust who made the file."
        )
        raise InputError(msg)
    return skops.load(str(path), trusted=foreign)


def _load_pickle(path: Path, _: bool) -> Any:  # noqa: FBT001 - one signature for all
    try:
        joblib = require("joblib", "demo", "a joblib file")
    except ImportError:
        import pickle

        with path.open("rb") as stream:
            return pickle.load(stream)  # noqa: S301 - the user said --trust
    return joblib.load(path)


_LOADERS: dict[str, Callable[[Path, bool], Any]] = {
    "xgboost": _load_xgboost,
    "lightgbm": _load_lightgbm,
    "catboost": _load_catboost,
    "onnx": _load_onnx,
    "skops": _load_skops,
    "pickle": _load_pickle,
}
