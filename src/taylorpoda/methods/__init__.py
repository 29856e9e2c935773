"""The rivals on the same game: occlusion, prediction difference, Shapley, WeightedSHAP, LIME."""

from __future__ import annotations

from taylorpoda.methods.comparison import Comparison, compare
from taylorpoda.methods.counterexamples import without_federation, without_precision, without_zero_discrepancy
from taylorpoda.methods.lime import lime
from taylorpoda.methods.linear import occlusion, shapley, taylorpoda
from taylorpoda.methods.prediction_difference import prediction_difference
from taylorpoda.methods.registry import METHODS, Method
from taylorpoda.methods.semivalues import beta_size_weights, mean_gains, semivalues
from taylorpoda.methods.weighted_shap import (
    WEIGHTED_SHAP_CANDIDATES,
    weighted_shap,
    weighted_shap_candidates,
    weighted_shap_family,
)

__all__ = [
    "METHODS",
    "WEIGHTED_SHAP_CANDIDATES",
    "Comparison",
    "Method",
    "beta_size_weights",
    "compare",
    "lime",
    "mean_gains",
    "occlusion",
    "prediction_difference",
    "semivalues",
    "shapley",
    "taylorpoda",
    "weighted_shap",
    "weighted_shap_candidates",
    "weighted_shap_family",
    "without_federation",
    "without_precision",
    "without_zero_discrepancy",
]
