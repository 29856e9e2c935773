"""The public contract: these names exist, and nothing else is promised by accident."""

from __future__ import annotations

import taylorpoda as tp


def test_everything_promised_is_there():
    promised = {
        "Explainer", "Explanation", "Allocation", "Utility", "allocate", "audit", "background", "datasets", "harsanyi",
        "load", "methods", "project", "score", "tabulate", "value_function_report", "values_from",
    }  # fmt: skip
    assert promised <= set(tp.__all__)
    assert all(hasattr(tp, name) for name in tp.__all__)


def test_importing_it_loads_no_optional_dependency():
    import subprocess
    import sys

    heavy = "{'matplotlib', 'pandas', 'torch', 'numba', 'sklearn', 'xgboost', 'lightgbm', 'treelite', 'shap'}"
    code = f"import sys, taylorpoda; print(sorted({heavy} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
