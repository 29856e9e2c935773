from __future__ import annotations

import csv
import itertools
import os
from pathlib import Path

import numpy as np
import pytest

from taylorpoda.paper import published, summarize
from taylorpoda.paper.cells import Cell, bootstrap_interval, gain_over_shapley, pair_cells, printed
from taylorpoda.paper.layout import arrowed, printed_rows
from taylorpoda.paper.networks import Network
from taylorpoda.paper.settings import DATA, METHODS, MODELS, PRINTED_METHODS, UNITS, UTILITIES, Settings
from taylorpoda.paper.summary import best

SHARED = Path(os.environ.get("TAYLORPODA_DATA", "")) / "../paper/tables.csv"


def cell(method="TaylorPODA", mean=1.0, low=0.5, high=1.5, paper=(1.0, 0.5, 1.5), **place):
    at = {"data": "cancer", "model": "xgboost", "utility": "inclusion_aup", **place}
    printed_paper = (None, None, None) if method == "TaylorPODA-optimal" else paper
    return Cell(
        **at,
        method=method,
        unit=UNITS[at["utility"]],
        mean=mean,
        low=low,
        high=high,
        paper_mean=printed_paper[0],
        paper_low=printed_paper[1],
        paper_high=printed_paper[2],
        ceiling=2.0,
        share_of_ceiling=mean / 2.0,
        retrained=(mean,),
    )


def test_the_papers_288_cells_ship_with_the_package():
    cells = published()
    expected = {
        (data, model, method, utility)
        for data, task in DATA.items()
        for model, method, utility in itertools.product(MODELS, PRINTED_METHODS, UTILITIES[task])
    }
    assert set(cells) == expected
    assert len(cells) == 288
    first = cells["cancer", "mlp_tanh", "OCC-1", "inclusion_aup"]
    assert (first.mean, first.low, first.high, first.bold) == (-61.0, -76.0, -47.8, False)
    for one in cells.values():
        assert one.low <= one.high


@pytest.mark.skipif(not SHARED.is_file(), reason="the paper's tables are not beside the data here")
def test_the_shipped_numbers_are_the_papers():
    lines = list(csv.DictReader(SHARED.read_text().splitlines()))
    assert len(lines) == 288
    for line in lines:
        one = published()[line["data"], line["model"], line["method"], line["utility"]]
        assert (one.mean, one.low, one.high) == tuple(float(line[key]) for key in ("gain", "ci_low", "ci_high"))
        assert one.bold == (line["bold"] == "1")


def test_gains_have_the_printed_sign_and_scale():
    """By hand: one row, four players; a smaller error or a larger accuracy is an improvement."""
    shapley = {f"attributions/{u}/SHAP": np.zeros((1, 4)) for u in UNITS} | {
        f"score/{u}/SHAP": np.array([2.0]) for u in UNITS
    }
    one = np.array([1.0])
    assert gain_over_shapley(shapley, "inclusion_aup", one) == pytest.approx(100.0)
    assert gain_over_shapley(shapley, "exclusion_aup", one) == pytest.approx(-100.0)
    assert gain_over_shapley(shapley, "inclusion_auc", one) == pytest.approx(-25.0)
    assert gain_over_shapley(shapley, "exclusion_auc", one) == pytest.approx(25.0)
    assert gain_over_shapley(shapley, "inclusion_mse", one) == pytest.approx(2500.0)
    assert gain_over_shapley(shapley, "exclusion_mse", one) == pytest.approx(-2500.0)


def test_bootstrap_interval_against_a_loop():
    gains = np.random.default_rng(0).normal(size=(30, 3))
    low, high = bootstrap_interval(gains, resamples=100, seed=5)
    assert np.array_equal(low, bootstrap_interval(gains, resamples=100, seed=5)[0])
    big_low, big_high = bootstrap_interval(gains, resamples=20000, seed=5)
    draw = np.random.default_rng(1)
    means = np.array([draw.choice(gains[:, 0], 30).mean() for _ in range(20000)])
    assert abs(big_low[0] - np.quantile(means, 0.025)) < 0.03
    assert abs(big_high[0] - np.quantile(means, 0.975)) < 0.03
    assert np.all(low < gains.mean(axis=0))
    assert np.all(gains.mean(axis=0) < high)
    draw = np.random.default_rng(5)  # as the research code has it, resample by resample
    drawn = [draw.choice(30, size=30, replace=True) for _ in range(100)]
    tails = np.percentile([gains[one].mean(axis=0) for one in drawn], [2.5, 97.5], axis=0)
    assert np.max(abs(tails - [low, high])) < 1e-12
    alone_low, _ = bootstrap_interval(gains[:, :1], resamples=100, seed=5)
    assert abs(alone_low[0] - low[0]) < 1e-12  # a column's interval does not depend on its neighbors


def test_printed_text():
    assert arrowed(7.649) == "↑7.6"
    assert arrowed(-0.04) == "↑0.0"
    assert arrowed(-0.06) == "↓0.1"
    assert arrowed(-122.2) == "↓122.2"
    assert str(printed(-0.01)) == "0.0"


@pytest.mark.parametrize(
    ("low", "high", "overlaps"),
    [(1.5, 2.0, True), (1.54, 2.0, True), (1.56, 2.0, False), (0.0, 0.46, True), (0.0, 0.44, False), (0.0, 9.0, True)],
)
def test_overlap_is_judged_as_printed(low, high, overlaps):
    assert cell(low=low, high=high).overlaps is overlaps
    assert cell(method="TaylorPODA-optimal", low=low, high=high).overlaps is None
    assert cell(method="TaylorPODA-optimal", low=low, high=high).overlaps_unrounded is None


@pytest.mark.parametrize(
    ("low", "high", "overlaps"),
    [(1.5, 2.0, True), (1.51, 2.0, False), (0.0, 0.5, True), (0.0, 0.49, False), (0.0, 9.0, True)],
)
def test_overlap_with_our_ends_as_computed(low, high, overlaps):
    assert cell(low=low, high=high).overlaps_unrounded is overlaps


def place(means, papers, **at):
    made = {
        method: cell(method, mean=mean, low=mean - 0.1, high=mean + 0.1, paper=(paper, paper - 0.1, paper + 0.1), **at)
        for method, mean, paper in zip(PRINTED_METHODS, means, papers, strict=True)
    }
    return made | {"TaylorPODA-optimal": cell("TaylorPODA-optimal", mean=max(means), **at)}


def test_summary_by_hand():
    first = place((-1.0, 0.0, 2.0, 1.0), (-1.0, 0.0, 2.0, 1.0))
    second = place((3.0, 0.0, 2.0, 1.0), (-1.0, 0.0, 2.0, 1.0), data="titanic")
    found = summarize([*first.values(), *second.values()])
    assert (found.overlap["all"].count, found.overlap["all"].total) == (7, 8)
    assert (found.overlap["OCC-1"].count, found.overlap["OCC-1"].total) == (1, 2)
    assert (found.overlap_unrounded.count, found.overlap_unrounded.total) == (7, 8)
    assert (found.same_best.count, found.same_best.total) == (1, 2)
    assert (found.same_order.count, found.same_order.total) == (9, 12)
    assert found.mean_rank["OCC-1"] == (2.5, 4.0)
    assert found.mean_rank["WeightedSHAP"] == (1.5, 1.0)
    assert all(share.count == 2 for share in found.optimal_ahead.values())
    assert found.least_share == {"inclusion_aup": 1.0}
    assert str(found.same_best) == "1 of 2 (50.0%)"


def test_ties_as_printed_are_both_best():
    tied = place((-1.0, 0.0, 4.24, 4.16), (-1.0, 0.0, 4.2, 4.2))
    assert best(tied, paper=False) == best(tied, paper=True) == {"WeightedSHAP", "TaylorPODA"}
    rows = printed_rows(
        [
            one
            for utility in UTILITIES["classification"]
            for one in place((-1.0, 0.0, 4.24, 4.16), (-1.0, 0.0, 4.2, 4.2), utility=utility).values()
        ],
        "classification",
    )
    assert [row.method for row in rows] == list(METHODS)
    assert [row.cells[0].bold for row in rows] == [False, False, True, True, True]
    assert rows[2].cells[0].paper == "↑4.2 (↑4.1, ↑4.3)"
    assert rows[4].cells[0].paper == ""


def test_the_papers_numbers_are_bold_where_it_prints_them_so():
    """It was worked out from the means: a tie made two bold, and once the paper's bold is not on its best mean."""
    cells = []
    for (data, model, method, utility), one in published().items():
        at = {"data": data, "model": model, "utility": utility}
        cells.append(cell(method, paper=(one.mean, one.low, one.high), **at))
        cells.append(cell("TaylorPODA-optimal", **at))
    bold = {
        (row.data, row.model, row.method, utility)
        for task in UTILITIES
        for row in printed_rows(cells, task)
        for utility, one in zip(UTILITIES[task], row.cells, strict=True)
        if one.paper_bold
    }
    assert bold == {key for key, one in published().items() if one.bold}
    assert ("titanic", "xgboost", "WeightedSHAP", "inclusion_auc") in bold
    assert ("titanic", "xgboost", "OCC-1", "inclusion_auc") not in bold
    assert ("california", "mlp_tanh", "TaylorPODA", "inclusion_mse") in bold
    assert ("california", "mlp_tanh", "WeightedSHAP", "inclusion_mse") not in bold


def test_pair_cells_from_scores():
    draw = np.random.default_rng(0)
    explained = {}
    for utility in UTILITIES["regression"]:
        explained[f"ceiling/{utility}"] = np.zeros(20) if utility.startswith("inclusion") else np.full(20, 9.0)
        for method in ("SHAP", *METHODS):
            explained[f"attributions/{utility}/{method}"] = draw.normal(size=(20, 8))
            explained[f"score/{utility}/{method}"] = draw.uniform(1, 5, size=20)
    cells = pair_cells("concrete", "mlp_relu", "regression", [explained, explained], resamples=50, seed=1)
    assert len(cells) == 20
    one = next(cell for cell in cells if (cell.method, cell.utility) == ("LIME", "exclusion_mse"))
    gains = (explained["score/exclusion_mse/LIME"] - explained["score/exclusion_mse/SHAP"]) / 8 / 1e-4
    assert abs(one.mean - gains.mean()) < 1e-9 * np.abs(gains).max()
    assert one.low < one.mean < one.high
    assert one.paper_mean == -21.6
    top = (9.0 - explained["score/exclusion_mse/SHAP"]).mean() / 8 / 1e-4
    assert abs(one.ceiling - top) < 1e-9 * top
    assert abs(one.share_of_ceiling - one.mean / top) < 1e-12
    assert one.retrained == (one.mean, one.mean)
    assert next(cell for cell in cells if cell.method == "TaylorPODA-optimal").paper_mean is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data": ("cancr",)}, "Did you mean 'cancer'"),
        ({"models": ("mlp",)}, "Allowed: 'mlp_relu', 'mlp_tanh', 'xgboost'"),
        ({"data": ()}, "data is empty"),
        ({"data": ("cancer", "cancer")}, "twice"),
        ({"surrogate": "mine"}, "'ours', 'paper'"),
        ({"label": "z"}, "'model', 'y'"),
        ({"rows": 0}, "rows=0"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 2**32}, "below"),
        ({"hidden": ()}, "hidden"),
        ({"hidden": (64, 0)}, "hidden"),
        ({"retrain": 0}, "retrain=0"),
        ({"networks": "codes"}, "Did you mean 'code'"),
        ({"networks": "code", "hidden": (8,)}, "leave it out"),
    ],
)
def test_bad_settings_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Settings(**options)


def test_the_networks_are_those_of_the_paper_or_of_its_code():
    """The paper names tanh, logistic and ReLU; the code has logistic for one data set, and no ReLU for regressions."""
    papers, code = Settings(), Settings(networks="code")
    assert {papers.network(data, "mlp_relu") for data in DATA} == {Network("relu", (64, 64, 32, 16))}
    assert {papers.network(data, "mlp_tanh").hidden for data in DATA} == {(64, 64, 32, 16)}
    assert [data for data in DATA if papers.network(data, "mlp_tanh").activation != "tanh"] == ["cancer"]
    assert papers.network("cancer", "mlp_tanh").activation == "logistic"
    assert code.network("cancer", "mlp_tanh") == Network("logistic", (32, 32, 16))
    assert code.network("cancer", "mlp_relu") == Network("relu", (32, 32, 16))
    assert code.network("abalone", "mlp_relu") == code.network("abalone", "mlp_tanh")
    assert code.network("concrete", "mlp_relu") == papers.network("concrete", "mlp_tanh")
    assert Settings(hidden=(8,)).network("rice", "mlp_tanh") == Network("tanh", (8,))
    assert {one.network(data, "xgboost") for one in (papers, code) for data in DATA} == {None}


def test_the_default_explains_with_the_seed_of_the_research_code():
    assert Settings().explaining_seed == 2026
    assert Settings(seed=2**32 - 1).explaining_seed == 1


def test_pairs_are_in_the_order_of_the_tables_whatever_was_asked():
    assert Settings(data=("titanic", "cancer"), models=("xgboost", "mlp_tanh")).pairs() == [
        ("cancer", "mlp_tanh"),
        ("cancer", "xgboost"),
        ("titanic", "mlp_tanh"),
        ("titanic", "xgboost"),
    ]
    assert len(Settings().pairs()) == 18
