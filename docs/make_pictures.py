"""Draws the pictures of the README: `python docs/make_pictures.py` writes docs/images/*.png, no download."""  # noqa: INP001 - a script

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_diabetes
from xgboost import XGBRegressor

import taylorpoda as tp
import taylorpoda.plots

IMAGES = Path(__file__).parent / "images"
NAMES = {
    "bp": "blood pressure",
    "s1": "cholesterol",
    "s2": "LDL",
    "s3": "HDL",
    "s4": "cholesterol / HDL",
    "s5": "log triglycerides",
    "s6": "glucose",
}


def explain() -> tp.Explanation:
    """The progression of diabetes, predicted by boosted trees for 42 patients the model has not seen."""
    table, target = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    table = table.rename(columns=NAMES)
    model = XGBRegressor(n_estimators=60, max_depth=3, learning_rate=0.08, n_jobs=1, random_state=0)
    model.fit(table[:400], target[:400])
    return tp.Explainer(model, table[:100], random_state=0)(table[400:], target[400:])


def row_to_show(explanation: tp.Explanation) -> int:
    """The row with the most certain signs: it shows best what an interval says."""
    return int(np.argmax(((explanation.lower > 0) | (explanation.upper < 0)).sum(axis=1)))


def save(figure: Figure, name: str) -> None:
    """Write a picture that fits a page on a screen of high resolution."""
    IMAGES.mkdir(exist_ok=True)
    figure.savefig(IMAGES / f"{name}.png", dpi=120, facecolor="white")


def main() -> None:
    """Draw them all."""
    explanation = explain()
    row = row_to_show(explanation)
    both = Figure(figsize=(13.5, 5.2), layout="constrained")
    left, right = both.subplots(1, 2)
    explanation.plot.waterfall(row, ax=left)
    explanation.plot.intervals(row, ax=right)
    save(both, "row")
    for name in ("scores", "beeswarm"):
        figure = Figure(figsize=(7.5, 4.6), layout="constrained")
        explanation.plot(name, ax=figure.subplots())
        save(figure, name)


if __name__ == "__main__":
    main()
