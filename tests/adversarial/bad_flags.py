"""Flags of the command line whose value cannot be: a code, one line, and no traceback."""

from __future__ import annotations

import os

import pandas as pd

MODEL, DATA = "model.json", "data.csv"


def with_gap(w):
    """A row whose label is missing."""
    data = pd.read_csv(w.folder / DATA).astype({"label": "float"})
    data.loc[0, "label"] = None
    data.to_csv(w.folder / "gap.csv", index=False)
    w.cli("explain", MODEL, "gap.csv", "--target", "label", "--utility", "inclusion_auc")


def read_only(w):
    """A folder nobody may write to, or under root a file that is a device's child."""
    folder = w.folder / "sealed"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o500)
    try:
        target = "sealed/out.csv" if os.geteuid() else "/proc/out.csv"
        w.bad_explain("--rows", "0", "--out", target)
    finally:
        folder.chmod(0o700)


CASES = {
    "rows: too far": (
        lambda w: w.bad_explain("--rows", "30"),
        SystemExit,
        "2: error: --rows='30' names row 30, but there are 30 rows, 0 to 29.",
    ),
    "rows: too far back": (
        lambda w: w.bad_explain("--rows=-31"),
        SystemExit,
        "2: error: --rows='-31' names row -31, but there are 30 rows, 0 to 29.",
    ),
    "rows: none of them": (
        lambda w: w.bad_explain("--rows", "5:2"),
        SystemExit,
        "2: error: --rows='5:2' names no row; there are 30, 0 to 29.",
    ),
    "rows: words": (
        lambda w: w.bad_explain("--rows", "first"),
        SystemExit,
        "2: error: --rows='first' is not understood; allowed: numbers and ranges such as 0:5, 3 or",
    ),
    "rows: nothing": (
        lambda w: w.bad_explain("--rows", ""),
        SystemExit,
        "2: error: --rows='' is not understood; allowed: numbers and ranges such as 0:5, 3 or",
    ),
    "rows: a comma too many": (
        lambda w: w.bad_explain("--rows", "1,,2"),
        SystemExit,
        "2: error: --rows='1,,2' is not understood; allowed: numbers and ranges such as 0:5, 3 or",
    ),
    "rows: half a row": (
        lambda w: w.bad_explain("--rows", "0.5"),
        SystemExit,
        "2: error: --rows='0.5' is not understood; allowed: numbers and ranges such as 0:5, 3 or",
    ),
    "rows: a step": (
        lambda w: w.bad_explain("--rows", "0:9:2"),
        SystemExit,
        "2: error: --rows='0:9:2' is not understood; allowed: numbers and ranges such as 0:5, 3 or",
    ),
    "rows: beyond any number": (
        lambda w: w.bad_explain("--rows", "9" * 30),
        SystemExit,
        "2: error: --rows='999999999999999999999999999999' names row 999999999999999999999999999999,",
    ),
    "target: no column": (
        lambda w: w.bad_explain("--target", "outcome"),
        SystemExit,
        "2: error: --target='outcome' is no column of data.csv; its columns are ['a', 'b', 'c',",
    ),
    "target: a feature": (
        lambda w: w.bad_explain("--target", "a"),
        SystemExit,
        "2: error: --target or --drop names ['a'], which the model reads as features; name other",
    ),
    "target: missing for the purpose": (
        lambda w: w.bad_explain("--utility", "exclusion_auc"),
        SystemExit,
        "2: error: utility='exclusion_auc' compares with the labels: name their column with --target.",
    ),
    "target: no class of the model": (
        lambda w: w.bad_explain("--target", "id", "--utility", "exclusion_auc", "--rows", "20"),
        SystemExit,
        "--target id holds 20, which is none of the model's classes [0, 1, 2].",
    ),
    "target: a missing label": (
        with_gap,
        SystemExit,
        "--target label holds nan, which is none of the model's classes [0, 1, 2].",
    ),
    "drop: no column": (
        lambda w: w.bad_explain("--drop", "zip code"),
        SystemExit,
        "2: error: --drop='zip code' is no column of data.csv; its columns are ['a', 'b', 'c',",
    ),
    "drop: a feature": (
        lambda w: w.bad_explain("--drop", "b"),
        SystemExit,
        "2: error: --target or --drop names ['b'], which the model reads as features; name other",
    ),
    "output: no class": (
        lambda w: w.bad_explain("--output", "setosa"),
        SystemExit,
        "error: output='setosa' is not known. Allowed: '0', '1', '2'.",
    ),
    "output: too far": (
        lambda w: w.bad_explain("--output", "7"),
        SystemExit,
        "error: output=7 is not known. Allowed: '0', '1', '2'.",
    ),
    "output names: too few": (
        lambda w: w.bad_explain("--output-names", "x,y"),
        SystemExit,
        "error: the model XGBClassifier.predict_proba gave 3 outputs but has 2 output_names: ('x',",
    ),
    "output names: twice the same": (
        lambda w: w.bad_explain("--output-names", "x,x,y"),
        SystemExit,
        "error: output_names=['x', 'x', 'y'] is not allowed; allowed: one name per output, all",
    ),
    "link: unknown": (
        lambda w: w.bad_explain("--link", "log"),
        SystemExit,
        "2: error: link='log' is not known. Did you mean 'logit'? Allowed: 'logit'.",
    ),
    "link: on top of raw": (
        lambda w: w.bad_explain("--output", "raw", "--link", "logit"),
        SystemExit,
        "error: link='logit' explains the logit of a probability, but",
    ),
    "group: no sign": (
        lambda w: w.bad_explain("--group", "a,b"),
        SystemExit,
        "2: error: --group='a,b' is not understood; allowed: name=column,column with each name once.",
    ),
    "group: no columns": (
        lambda w: w.bad_explain("--group", "ab="),
        SystemExit,
        "2: error: --group='ab=' is not understood; allowed: name=column,column with each name once.",
    ),
    "group: an unknown column": (
        lambda w: w.bad_explain("--group", "ab=a,z"),
        SystemExit,
        "error: groups: player 'ab' names the column 'z'; known columns: ['a', 'b', 'c'].",
    ),
    "group: twice": (
        lambda w: w.bad_explain("--group", "g=a", "--group", "g=b"),
        SystemExit,
        "2: error: --group='g=b' is not understood; allowed: name=column,column with each name once.",
    ),
    "utility: unknown": (
        lambda w: w.bad_explain("--utility", "accuracy"),
        SystemExit,
        "2: error: utility='accuracy' is not known. Allowed: 'exclusion_auc', 'exclusion_aup',",
    ),
    "policy: unknown": (
        lambda w: w.bad_explain("--policy", "best"),
        SystemExit,
        "2: error: policy='best' is not known. Allowed: 'dirichlet', 'optimal', 'shapley'.",
    ),
    "policy: for Python alone": (
        lambda w: w.bad_explain("--policy", "shares"),
        SystemExit,
        "2: error: policy='shares' is not known. Did you mean 'shapley'? Allowed: 'dirichlet',",
    ),
    "masking: unknown": (
        lambda w: w.bad_explain("--masking", "mean"),
        SystemExit,
        "2: error: masking='mean' is not known. Did you mean 'marginal'? Allowed: 'baseline',",
    ),
    "masking: baseline of many rows": (
        lambda w: w.bad_explain("--masking", "baseline"),
        SystemExit,
        'error: masking="baseline" needs a background of exactly one row, got 30; pass that row, or',
    ),
    "engine: unknown": (
        lambda w: w.bad_explain("--engine", "turbo"),
        SystemExit,
        "2: error: engine='turbo' is not known. Allowed: 'auto', 'exact', 'trees'.",
    ),
    "budget: none": (
        lambda w: w.bad_explain("--budget", "0"),
        SystemExit,
        "error: budget=0 is not allowed; allowed: None or an integer >= 1.",
    ),
    "order: none": (
        lambda w: w.bad_explain("--order", "0"),
        SystemExit,
        "error: order=0 is not allowed; allowed: an integer >= 1.",
    ),
    "seed: negative": (
        lambda w: w.bad_explain("--seed=-1"),
        SystemExit,
        "2: error: Invalid value for '--seed'",
    ),
    "seed: text": (
        lambda w: w.bad_explain("--seed", "lucky"),
        SystemExit,
        "2: error: Invalid value for '--seed'",
    ),
    "time limit: negative": (
        lambda w: w.bad_explain("--time-limit=-1"),
        SystemExit,
        "error: time_limit=-1.0 is not allowed; allowed: a finite number >= 0.",
    ),
    "time limit: NaN": (
        lambda w: w.bad_explain("--time-limit", "nan"),
        SystemExit,
        "error: time_limit=nan is not allowed; allowed: a finite number >= 0.",
    ),
    "jobs: none": (
        lambda w: w.bad_explain("--jobs", "0"),
        SystemExit,
        "2: error: Invalid value for '--jobs'",
    ),
    "memory: no unit": (
        lambda w: w.bad_explain("--max-memory", "2 big"),
        SystemExit,
        'error: max_memory=\'2 big\' is not understood; allowed: bytes or text such as "2GiB", "500MB".',
    ),
    "memory: a drop": (
        lambda w: w.bad_explain("--max-memory", "8"),
        SystemExit,
        "error: engine='auto': exact enumeration of 3 players needs 240 model rows and a table of 64",
    ),
    "out: no ending": (
        lambda w: w.bad_explain("--out", "explained"),
        SystemExit,
        "2: error: --out='explained' has no known ending; allowed: a .csv, .parquet, .json, .html,",
    ),
    "out: of no known kind": (
        lambda w: w.bad_explain("--out", "x.docx"),
        SystemExit,
        "2: error: --out='x.docx' has no known ending; allowed: a .csv, .parquet, .json, .html, .npz",
    ),
    "out: no such folder": (
        lambda w: w.bad_explain("--out", "no/where/x.csv"),
        SystemExit,
        "2: error: --out='no/where/x.csv' is in a folder that does not exist; allowed: a .csv,",
    ),
    "out: a folder": (
        lambda w: ((w.folder / "dir.csv").mkdir(exist_ok=True), w.bad_explain("--out", "dir.csv")),
        SystemExit,
        "2: error: --out='dir.csv' is a directory; allowed: a .csv, .parquet, .json, .html, .npz",
    ),
    "out: a folder nobody may write to": (
        read_only,
        SystemExit,
        "error: path='/proc/out.csv' cannot be written: No such file or directory.",
    ),
    "compare: no data": (
        lambda w: w.cli("compare", MODEL),
        SystemExit,
        "2: error: Missing argument 'DATA'. (see taylorpoda compare --help)",
    ),
    "compare: an unknown purpose": (
        lambda w: w.cli("compare", MODEL, DATA, "--utility", "best"),
        SystemExit,
        "2: error: utility='best' is not known. Allowed: 'exclusion_auc', 'exclusion_aup',",
    ),
    "compare: labels missing": (
        lambda w: w.cli("compare", MODEL, DATA, "--utility", "inclusion_auc"),
        SystemExit,
        "2: error: utility='inclusion_auc' compares with the labels: name their column with --target.",
    ),
    "compare: a page": (
        lambda w: w.cli("compare", MODEL, DATA, "--out", "x.html"),
        SystemExit,
        "2: error: --out='x.html' has no known ending; allowed: a .csv, .json file in a folder that",
    ),
    "compare: a folder": (
        lambda w: ((w.folder / "dir.json").mkdir(exist_ok=True), w.cli("compare", MODEL, DATA, "--out", "dir.json")),
        SystemExit,
        "2: error: --out='dir.json' is a directory; allowed: a .csv, .json file in a folder that",
    ),
    "compare: rows too far": (
        lambda w: w.cli("compare", MODEL, DATA, "--rows", "99"),
        SystemExit,
        "2: error: --rows='99' names row 99, but there are 30 rows, 0 to 29.",
    ),
    "demo: a file for a folder": (
        lambda w: w.cli("demo", "--out", DATA, "--quiet"),
        SystemExit,
        "2: error: --out='data.csv' is a file; allowed: a folder, which is made if it is not there.",
    ),
    "demo: a word too many": (
        lambda w: w.cli("demo", "now"),
        SystemExit,
        "2: error: Got unexpected extra argument(s) (now) (see taylorpoda demo --help)",
    ),
    "reproduce: no such table": (
        lambda w: w.cli("reproduce", "figures"),
        SystemExit,
        "2: error: No such command 'figures'. (see taylorpoda reproduce --help)",
    ),
    "reproduce: an unknown data set": (
        lambda w: w.cli("reproduce", "tables", "--data", "mars"),
        SystemExit,
        "2: error: data='mars' is not known. Allowed: 'abalone', 'california', 'cancer', 'concrete',",
    ),
    "reproduce: an unknown model": (
        lambda w: w.cli("reproduce", "tables", "--models", "oracle"),
        SystemExit,
        "2: error: models='oracle' is not known. Allowed: 'mlp_relu', 'mlp_tanh', 'xgboost'.",
    ),
    "reproduce: no rows": (
        lambda w: w.cli("reproduce", "tables", "--rows", "0"),
        SystemExit,
        "2: error: rows=0; it must be at least 1.",
    ),
    "reproduce: layers of text": (
        lambda w: w.cli("reproduce", "tables", "--hidden", "wide"),
        SystemExit,
        "2: error: hidden='wide' is not understood; allowed: layer sizes such as 64,64,32,16.",
    ),
    "reproduce: an unknown label": (
        lambda w: w.cli("reproduce", "tables", "--label", "z"),
        SystemExit,
        "2: error: label='z' is not known. Allowed: 'model', 'y'.",
    ),
    "reproduce: an unknown surrogate": (
        lambda w: w.cli("reproduce", "tables", "--surrogate", "tree"),
        SystemExit,
        "2: error: surrogate='tree' is not known. Allowed: 'ours', 'paper'.",
    ),
    "reproduce: one player": (
        lambda w: w.cli("reproduce", "postulates", "--players", "1"),
        SystemExit,
        "2: error: n_players=1; allowed: 2 to 10 (one player has no interactions to share).",
    ),
    "reproduce: twenty players": (
        lambda w: w.cli("reproduce", "postulates", "--players", "20"),
        SystemExit,
        "2: error: n_players=20; allowed: 2 to 10 (one player has no interactions to share).",
    ),
}
