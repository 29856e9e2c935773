"""Rules for absent features that cannot be had, or not on these data."""

from __future__ import annotations

import numpy as np

import taylorpoda as tp


def count(rows):
    """Any container: one number a row."""
    return np.zeros(rows.shape[0] if hasattr(rows, "shape") else rows.num_rows)


def explain(background, X, **options):
    return tp.Explainer(count, background, policy="shapley", **options)(X)


CASES = {
    "gaussian: texts": (
        lambda w: explain(w.mixed, w.mixed[:1], masking="gaussian"),
        (TypeError, ValueError),
        "masking='gaussian' reads numbers, but column 'c' of the background holds the categories",
    ),
    "baseline: several rows": (
        lambda w: explain(w.X, w.X, masking="baseline"),
        ValueError,
        'masking="baseline" needs a background of exactly one row, got 8; pass that row, or use',
    ),
    "neighbours: none of them": (
        lambda w: tp.masking.Neighbours(neighbours=0),
        ValueError,
        "neighbours=0 is not allowed; allowed: an integer >= 1.",
    ),
    "neighbours: half of one": (
        lambda w: tp.masking.Neighbours(neighbours=0.5),
        TypeError,
        "neighbours=0.5 has type float; allowed: an integer >= 1.",
    ),
    "neighbours: no width": (
        lambda w: tp.masking.Neighbours(bandwidth=0),
        ValueError,
        "bandwidth=0 is not allowed; allowed: a number above 0.",
    ),
    "neighbours: a width of text": (
        lambda w: tp.masking.Neighbours(bandwidth="wide"),
        (TypeError, ValueError),
        "bandwidth='wide' is not allowed; allowed: a number above 0.",
    ),
    "gaussian: an odd number of draws": (
        lambda w: tp.masking.Gaussian(draws=3),
        ValueError,
        "draws=3 is not allowed; allowed: an even integer >= 2, because draws come in opposite pairs.",
    ),
    "gaussian: a seed of text": (
        lambda w: tp.masking.Gaussian(seed="x"),
        TypeError,
        "seed='x' has type str; allowed: None, an integer >= 0, numpy.random.Generator,",
    ),
    "conditional: an unknown surrogate": (
        lambda w: tp.masking.Conditional("theirs"),
        ValueError,
        "surrogate='theirs' is not known. Allowed: 'ours', 'paper'.",
    ),
    "conditional: an unknown backend": (
        lambda w: tp.masking.Conditional(backend="jax"),
        ValueError,
        "backend='jax' is not known. Allowed: 'auto', 'numpy', 'torch'.",
    ),
    "conditional: no steps": (
        lambda w: tp.masking.Conditional(steps=0),
        ValueError,
        "steps=0 is not allowed; allowed: None or an integer >= 1.",
    ),
    "conditional: a surrogate that is not there": (
        lambda w: tp.masking.load_surrogate(w.folder / "nothing"),
        (ValueError, FileNotFoundError),
        "path=... does not exist; allowed: a file written by Surrogate.save.",
    ),
    "conditional: a surrogate that is none": (
        lambda w: tp.masking.load_surrogate(w.write("no_surrogate", b"hello")),
        ValueError,
        "holds no surrogate written by Surrogate.save.",
    ),
}
