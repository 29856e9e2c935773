"""The methods that are known by name; a new one is one new file plus one entry here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from taylorpoda._support.choices import Registry
from taylorpoda.allocation import allocate
from taylorpoda.methods.linear import occlusion, shapley, taylorpoda
from taylorpoda.methods.prediction_difference import prediction_difference
from taylorpoda.methods.weighted_shap import weighted_shap, weighted_shap_family

if TYPE_CHECKING:
    from collections.abc import Callable

    from taylorpoda.utilities import Utility


@dataclass(frozen=True)
class Method:
    """A method that is known by name.

    Attributes:
        name: The name.
        title: How tables and figures print it.
        attribute: f(values, utility, target, random_state, threshold=, labels=) -> attributions of shape (..., n), or
            None for a method that needs more than the table of a game.
        family: The linear methods it is or chooses from, or None if it cannot be listed.
        shared: f(values, shares=) -> attributions, for a method whose family is all shares.
        outside: Why the postulates do not apply, or "".
    """

    name: str
    title: str
    attribute: Callable[..., Any] | None
    family: Callable[[], tuple[Callable[[Any], Any], ...]] | None = None
    shared: Callable[..., Any] | None = None
    outside: str = ""


def _of_values(
    method: Callable[[Any], Any], values: Any, utility: Utility, target: Any, seed: int, **reading: Any
) -> Any:
    del utility, target, seed, reading  # a fixed method looks at nothing but the game
    return method(values)


def _weighted_shap(values: Any, utility: Utility, target: Any, seed: int, **reading: Any) -> Any:
    del seed
    return weighted_shap(values, utility, target, **reading)


def _policy(policy: str, values: Any, utility: Utility, target: Any, seed: int, **reading: Any) -> Any:
    return allocate(values, utility, policy, target, random_state=seed, **reading).attributions


_LIME_OUTSIDE = (
    "LIME fits a surrogate model around the row; its weights are no allocation of the game's dividends, "
    "so the postulates do not apply."
)

METHODS: Registry[Method] = Registry(
    "method",
    {
        method.name: method
        for method in (
            Method("occlusion", "OCC-1", partial(_of_values, occlusion), family=lambda: (occlusion,)),
            Method(
                "prediction_difference",
                "Prediction difference",
                partial(_of_values, prediction_difference),
                family=lambda: (prediction_difference,),
            ),
            Method("lime", "LIME", None, outside=_LIME_OUTSIDE),
            Method("shapley", "SHAP", partial(_of_values, shapley), family=lambda: (shapley,)),
            Method("weighted_shap", "WeightedSHAP", _weighted_shap, family=weighted_shap_family),
            Method("taylorpoda", "TaylorPODA", partial(_policy, "dirichlet"), shared=taylorpoda),
            Method(
                "taylorpoda_optimal",
                "TaylorPODA-optimal",
                partial(_policy, "optimal"),
                shared=taylorpoda,
            ),
        )
    },
)
