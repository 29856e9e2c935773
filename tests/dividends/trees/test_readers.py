"""What is read from a library predicts as the library does, to the bit, wherever a split could be read wrongly."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from taylorpoda.dividends.trees import read_ensemble


def edge_cells(ensemble):
    """For each feature the cells where a comparison could go wrong: thresholds, their neighbors in both precisions."""
    infinity = np.inf
    result = {}
    for feature in range(ensemble.n_features):
        nodes = np.flatnonzero(np.isin(ensemble.column, np.flatnonzero(ensemble.feature_of_column == feature)))
        at = np.unique(ensemble.threshold[nodes])
        with np.errstate(over="ignore"):
            at = np.concatenate([at, np.nextafter(at, infinity), np.nextafter(at, -infinity)])
            single = at.astype(np.float32)
            near = (single, np.nextafter(single, np.float32(infinity)), np.nextafter(single, np.float32(-infinity)))
        result[feature] = np.unique(np.concatenate([at, *(cells.astype(np.float64) for cells in near)]))
    return result


ODD = (
    0.0,
    -0.0,
    1e-36,
    -1e-36,
    1.0000000180025095e-35,
    1e-300,
    3e38,
    -3e38,
    1e300,
    np.inf,
    -np.inf,
    0.1,
    0.5,
    -0.5,
    -1.0,
    7.0,
    255.0,
    256.0,
)


def altered(case, ensemble):
    """Rows of the table, each with one cell replaced by an edge."""
    changes = [
        (feature, cell)
        for feature, cells in edge_cells(ensemble).items()
        for cell in cells
        if abs(cell) <= case.largest
    ]
    extra = [cell for cell in ODD if abs(cell) <= case.largest] + ([np.nan] if case.missing else [])
    changes += [(feature, cell) for feature in range(ensemble.n_features) for cell in extra]
    if not hasattr(case.table, "iloc"):
        rows = case.table[np.arange(len(changes)) % len(case.table)].copy()
        rows[np.arange(len(changes)), [feature for feature, _ in changes]] = [cell for _, cell in changes]
        return rows
    rows = case.table.iloc[np.arange(len(changes)) % len(case.table)].reset_index(drop=True)
    for place, name in enumerate(rows.columns):
        if rows[name].dtype.kind == "f":
            here = np.array([feature == place for feature, _ in changes])
            rows.loc[here, name] = [cell for feature, cell in changes if feature == place]
    return rows


def test_rebuilt_output_equals_the_library_to_the_bit(case):
    ensemble = read_ensemble(case.model)
    for rows in (case.table, altered(case, ensemble)):
        own, expected = ensemble.own_sum(rows), np.asarray(case.raw(rows))
        assert own.dtype == expected.dtype
        assert np.array_equal(own, expected.reshape(own.shape))


def test_leaves_add_up_to_the_library_but_for_rounding(case):
    ensemble = read_ensemble(case.model)
    columns = ensemble.encoder.encode(case.table)
    leaves = ensemble.leaves(columns)
    total = np.tile(ensemble.base, (len(case.table), 1))
    for tree, slot in enumerate(ensemble.slots):
        total[:, slot : slot + ensemble.width] += ensemble.values[leaves[:, tree]]
    expected = np.asarray(case.exact(case.table)).reshape(total.shape)
    assert np.max(abs(total - expected)) <= 1e-12 * np.max(abs(expected))


def test_one_row_alone_reads_as_in_a_table(case, rows_of):
    ensemble = read_ensemble(case.model)
    together = ensemble.own_sum(case.table)
    for row in (0, 17):
        assert np.array_equal(ensemble.own_sum(rows_of(case.table, np.array([row]))), together[row : row + 1])


NEW_CATEGORIES = {
    "xgboost_categories": False,  # its own predict refuses categories it has not seen
    "lightgbm_categories": True,
    "catboost_categories": True,
    "histogram_categories": True,
    "pipeline_of_columns": True,
}


@pytest.mark.parametrize("name", NEW_CATEGORIES)
def test_categories_unseen_or_in_another_order(name, fitted_case):
    case = fitted_case(name)
    rows = case.table.copy()
    for column in ("x1", "x4"):
        if str(rows[column].dtype) == "category":
            extra = ["unseen" if column == "x1" else 12345] if NEW_CATEGORIES[name] else []
            known = rows[column].cat.categories.tolist()
            dtype = pd.CategoricalDtype(extra + known[::-1])
            rows[column] = rows[column].astype(dtype)
            rows.loc[: 5 * len(extra), column] = extra[0] if extra else known[0]
        else:
            rows.loc[:5, column] = "unseen"
    own = read_ensemble(case.model).own_sum(rows)
    assert np.array_equal(own, np.asarray(case.raw(rows)).reshape(own.shape))


def test_columns_know_their_feature(case):
    """Changing a feature changes no column of another one."""
    ensemble = read_ensemble(case.model)
    rows = case.table.head(60) if hasattr(case.table, "iloc") else case.table[:60]
    before = ensemble.encoder.encode(rows)
    for feature in range(ensemble.n_features):
        changed = rows.copy()
        if isinstance(changed, pd.DataFrame):
            changed[changed.columns[feature]] = changed.iloc[::-1, feature].to_numpy()
            changed = changed.astype(rows.dtypes)
        else:
            changed[:, feature] = changed[::-1, feature]
        after = ensemble.encoder.encode(changed)
        others = ensemble.feature_of_column != feature
        assert np.array_equal(before[others], after[others], equal_nan=True)
