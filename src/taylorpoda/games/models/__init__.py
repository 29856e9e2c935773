"""Models behind one seam: a new library is one file here plus one line in `_ADAPTERS`."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from taylorpoda._support.choices import check_choice
from taylorpoda.games.models.base import BoundModel
from taylorpoda.games.models.call_cost import has_dear_calls
from taylorpoda.games.models.callables import CallableAdapter
from taylorpoda.games.models.catboost_models import CatBoostAdapter
from taylorpoda.games.models.fitted import check_fitted
from taylorpoda.games.models.lightgbm_models import LightGBMBoosterAdapter, LightGBMSklearnAdapter
from taylorpoda.games.models.onnx_models import OnnxAdapter
from taylorpoda.games.models.selection import check_names
from taylorpoda.games.models.sklearn_models import SklearnAdapter
from taylorpoda.games.models.torch_models import TorchAdapter
from taylorpoda.games.models.xgboost_models import XGBoostBoosterAdapter, XGBoostSklearnAdapter

if TYPE_CHECKING:
    from taylorpoda.games.models.base import ModelAdapter

# The first that matches reads the model, so the particular stand before the general.
_ADAPTERS: list[ModelAdapter] = [
    XGBoostSklearnAdapter(),
    XGBoostBoosterAdapter(),
    LightGBMSklearnAdapter(),
    LightGBMBoosterAdapter(),
    CatBoostAdapter(),
    TorchAdapter(),
    OnnxAdapter(),
    SklearnAdapter(),
    CallableAdapter(),
]


def bind_model(model: Any, *, output: Any = None, link: str | None = None, output_names: Any = None) -> BoundModel:
    """Bind a model to what is explained.

    Args:
        model: An estimator, a booster, or any callable rows -> numbers.
        output: None for all outputs; a class, output name or index; or "raw" for the margin of a boosted
            ensemble.
        link: None, or "logit" to explain logit(model).
        output_names: Names for the outputs, or other names for the classes; None for the model's own.

    Returns:
        The bound model.

    Raises:
        TypeError: If no adapter reads the model.
        ValueError: If `output` or `link` is not known, or the model is not fitted.
    """
    if link is not None:
        check_choice("link", link, ("logit",))
    raw = isinstance(output, str) and output == "raw"
    for adapter in _ADAPTERS:
        if adapter.matches(model):
            check_fitted(model)
            quantity = adapter.quantity(model, raw=raw)
            if has_dear_calls(model):
                quantity = replace(quantity, dear_calls=True)
            if output_names is not None:
                quantity = replace(quantity, output_names=check_names(output_names))
            if link is not None and quantity.kind == "margin":
                msg = (
                    f"link={link!r} explains the logit of a probability, but {quantity.name} gives a margin, which is "
                    "one already; use link=None."
                )
                raise ValueError(msg)
            return BoundModel(quantity, output=None if raw else output, link=link)
    hint = ""
    if isinstance(model, type):
        hint = " Pass an instance, not the class."
    elif isinstance(model, str | PathLike):
        hint = " Of files only .onnx is opened here: load the model first, or use the command line."
    msg = (
        f"model has type {type(model).__name__}; allowed: an object with predict, or a callable rows -> numbers.{hint}"
    )
    raise TypeError(msg)
