"""`taylorpoda demo`: a model, 100 explained predictions, the table of utilities and a page, without a download."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from taylorpoda._support.optional import require
from taylorpoda.cli import parameters as p  # noqa: TC001 - typer reads the annotations
from taylorpoda.cli.compare_command import comparison_record
from taylorpoda.cli.comparison import method_table
from taylorpoda.cli.console import Screen, plain
from taylorpoda.cli.errors import InputError
from taylorpoda.cli.screens import comparison_screen, explanation_screen
from taylorpoda.explainer import Explainer

if TYPE_CHECKING:
    from taylorpoda.explanation import Explanation

DEMO_EXAMPLES = ("taylorpoda demo --out demo-output",)
DEMO_HELP = (
    "Train XGBoost on data that ships with scikit-learn and explain 100 hold-out predictions with every policy.\n\n"
    "Prints which method serves which purpose, and writes a page with pictures. Nothing is downloaded."
)
_ROWS = 100
_BACKGROUND = 100
_SEED = 0
_FEATURES = (
    "radius",
    "texture",
    "smoothness",
    "compactness",
    "concavity",
    "concave points",
    "symmetry",
    "fractal dimension",
)
_DESCRIPTION = (
    "Breast cancer data that ships with scikit-learn: eight measurements of cell nuclei, the largest values seen in "
    "each image. XGBoost predicts the probability of a malignant tumor; 100 hold-out predictions are explained against "
    "100 training rows. Every policy splits the same dividends, so all of them add up to the prediction."
)


def demo(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where index.html goes.")] = Path("demo-output"),
    as_json: p.AsJson = False,
    quiet: p.Quiet = False,
) -> None:
    """Train XGBoost on data that ships with scikit-learn and explain 100 predictions with every policy."""
    from taylorpoda.report import utility_table, write_html

    screen = Screen(quiet=quiet, as_json=as_json)
    if out.exists() and not out.is_dir():
        msg = f"--out={str(out)!r} is a file; allowed: a folder, which is made if it is not there."
        raise InputError(msg)
    started = time.perf_counter()
    screen.remark("training XGBoost on the breast cancer data of scikit-learn")
    explanation = demo_explanation()
    screen.remark(f"explained {len(explanation)} predictions; comparing methods and policies")
    policies = {
        "Shapley": explanation.reallocate(policy="shapley"),
        "Dirichlet (the paper)": explanation.reallocate(policy="dirichlet"),
        "optimal": explanation,
    }
    table = method_table(explanation)
    seconds = time.perf_counter() - started
    screen.show(*explanation_screen(explanation[:5], np.arange(5), seconds)[:3])
    screen.show(plain("Which method serves which purpose (means over 100 predictions)", 100, "bold"))
    screen.show(*comparison_screen(table, screen.width))
    out.mkdir(parents=True, exist_ok=True)
    page = write_html(
        out / "index.html",
        policies,
        title="taylorpoda demo",
        description=_DESCRIPTION,
        table=utility_table(policies),
    )
    screen.remark(f"wrote {page} in {time.perf_counter() - started:.0f} s")
    screen.document(comparison_record(table))


def demo_explanation() -> Explanation:
    """The demo's model, explained: 100 hold-out rows, policy "optimal"."""
    datasets = require("sklearn.datasets", "demo", "taylorpoda demo")
    selection = require("sklearn.model_selection", "demo", "taylorpoda demo")
    xgboost = require("xgboost", "demo", "taylorpoda demo")
    require("pandas", "demo", "taylorpoda demo")
    cancer: Any = datasets.load_breast_cancer(as_frame=True)
    features = cancer.data[[f"worst {name}" for name in _FEATURES]].set_axis(list(_FEATURES), axis=1)
    malignant = (cancer.target == 0).astype(int)
    train, rest, y_train, y_rest = selection.train_test_split(
        features, malignant, test_size=0.3, stratify=malignant, random_state=_SEED
    )
    model = xgboost.XGBClassifier(n_estimators=60, max_depth=4, learning_rate=0.15, random_state=_SEED)
    model.fit(train, y_train)
    explainer = Explainer(
        model, train[:_BACKGROUND], output="malignant", output_names=["benign", "malignant"], random_state=_SEED
    )
    return explainer(rest[:_ROWS], y_rest[:_ROWS])
