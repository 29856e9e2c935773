"""From a file's columns to what a model reads: which ones, in which order, with categories where it knows some."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.cli.errors import InputError
from taylorpoda.games.models import bind_model
from taylorpoda.games.models.boosted import is_a
from taylorpoda.games.models.sklearn_models import last_step

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Columns:
    """Which columns a model reads.

    Attributes:
        names: The columns of the file, in the model's order.
        model_names: The model's own names for them, or None where it has none.
        categories: Positions of categorical features, with the categories the model knows (or None).
        text: Positions of categorical features that the model wants as text.
        unread: Columns of the file that the model does not read.
    """

    names: tuple[str, ...]
    model_names: tuple[str, ...] | None
    categories: dict[int, list[Any] | None]
    text: tuple[int, ...]
    unread: tuple[str, ...]


def choose_columns(model: Any, available: Sequence[str], taken: Sequence[str]) -> Columns:
    """Match a file's columns with a model's features.

    Args:
        model: The model.
        available: All columns of the file.
        taken: Columns that are no features: the target, and what the user drops.

    Raises:
        InputError: If features are missing, or their number differs where the model has no names.
    """
    free = [name for name in available if name not in set(taken)]
    wanted = bind_model(model).quantity.feature_names
    count = _n_features(model)
    if wanted is not None:
        names = _matched(wanted, free, taken)
    else:
        names = free
        if count is not None and len(names) != count:
            besides = f" besides {list(taken)}" if taken else ""
            msg = (
                f"the model reads {count} columns and has no names for them, but DATA has {len(names)}{besides}; "
                f"name what is no feature with --target and --drop. Columns: {names[:40]}."
            )
            raise InputError(msg)
    categories, text = _categorical(model)
    return Columns(tuple(names), wanted, categories, text, tuple(name for name in free if name not in set(names)))


def _matched(wanted: Sequence[str], free: Sequence[str], taken: Sequence[str]) -> list[str]:
    """Each feature's column: by its own name, or as LightGBM rewrites names (spaces become underscores)."""
    rewritten = {"_".join(name.split()): name for name in free}
    names = [name if name in set(free) else rewritten.get(name, "") for name in wanted]
    missing = [feature for feature, name in zip(wanted, names, strict=True) if not name]
    features = sorted(set(missing) & set(taken))
    if features:
        msg = f"--target or --drop names {features}, which the model reads as features; name other columns."
        raise InputError(msg)
    if missing:
        msg = f"DATA has no column for the model's features {missing[:20]}; its columns are {list(free)[:40]}."
        raise InputError(msg)
    return names


def _n_features(model: Any) -> int | None:
    for attribute in ("num_features", "num_feature"):  # boosters of XGBoost and LightGBM
        counter = getattr(model, attribute, None)
        if callable(counter):
            return int(counter())
    for attribute in ("n_features_in_", "n_features_"):
        try:
            count = getattr(model, attribute, None)
        except (AttributeError, ValueError, TypeError):
            continue
        if isinstance(count, int | np.integer):
            return int(count)
    return None


def _categorical(model: Any) -> tuple[dict[int, list[Any] | None], tuple[int, ...]]:
    last = last_step(model)
    if last is not model:
        return {}, ()  # a pipeline encodes its columns itself
    if is_a(model, "catboost.core", "CatBoost"):
        return {}, tuple(int(position) for position in model.get_cat_feature_indices())
    if is_a(model, "lightgbm.sklearn", "LGBMModel") or is_a(model, "lightgbm.basic", "Booster"):
        booster = getattr(model, "booster_", model)
        known = booster.pandas_categorical or []
        places = _lightgbm_categoricals(booster) if known else []
        return dict(zip(places, known, strict=False)), ()
    if is_a(model, "xgboost.sklearn", "XGBModel") or is_a(model, "xgboost.core", "Booster"):
        booster = model.get_booster() if hasattr(model, "get_booster") else model
        types = booster.feature_types or []
        return dict.fromkeys(k for k, kind in enumerate(types) if kind == "c"), ()
    return {}, ()


def _lightgbm_categoricals(booster: Any) -> list[int]:
    """Positions of categorical features: those whose range is a list of codes in the model's text."""
    for line in booster.model_to_string(num_iteration=1).splitlines():
        if line.startswith("feature_infos="):
            ranges = line.removeprefix("feature_infos=").split(" ")
            return [k for k, one in enumerate(ranges) if not one.startswith("[") and one != "none"]
    return []


def select(frame: Any, columns: Columns) -> Any:
    """The features of some rows, in the model's order and under its names, as a DataFrame."""
    features = frame[list(columns.names)].copy()
    if columns.model_names is not None:
        features.columns = list(columns.model_names)
    for position, known in columns.categories.items():
        name = features.columns[position]
        features[name] = _as_category(features[name], known)
    for position in columns.text:
        name = features.columns[position]
        features[name] = _as_text(features[name])
    return features


def _whole(series: Any) -> Any:
    """Whole numbers that a missing cell made floats, as integers again."""
    known = series.dropna()
    if series.dtype.kind == "f" and bool((known == known.round()).all()):
        return series.astype("Int64")
    return series


def _as_category(series: Any, known: list[Any] | None) -> Any:
    """Categories of the kind the model knows; a cell it has never seen stays, and the library decides what it means."""
    import pandas as pd

    plain = _whole(series)
    if known is None:
        return plain.astype("category")
    if known and all(isinstance(one, str) for one in known):
        plain = plain.astype(object).where(plain.isna(), plain.astype(str))
    unseen = [cell for cell in plain.dropna().unique() if cell not in set(known)]
    return pd.Series(pd.Categorical(plain, categories=[*known, *unseen]), index=series.index)


def _as_text(series: Any) -> Any:
    """CatBoost's categories: text, with "nan" for a missing cell, which is what `astype(str)` writes."""
    plain = _whole(series)
    return plain.astype(object).where(plain.notna(), "nan").map(str)
