"""Files and words that are typed wrongly at the command line: a code, one line, and no traceback."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd

MODEL, DATA = "model.json", "data.csv"


def explain_text(w, name, content, *arguments):
    """`explain` of data in a file of this content."""
    w.write(name, content)
    w.cli("explain", MODEL, name, *arguments)


def explain_model(w, name, content):
    """`explain` with a model in a file of this content."""
    w.write(name, content)
    w.cli("explain", name, DATA)


def broken_pickle(w):
    w.write("half.pkl", pickle.dumps(np.arange(100))[:40])
    w.cli("explain", "half.pkl", DATA, "--trust")


def pickled(w, thing):
    w.write("thing.pkl", pickle.dumps(thing))
    w.cli("explain", "thing.pkl", DATA, "--trust")


def arrays(w, name, **parts):
    np.savez(w.folder / name, **parts)
    w.cli("explain", MODEL, name)


def array(w, name, content):
    np.save(w.folder / name, content, allow_pickle=True)
    w.cli("explain", MODEL, name)


CASES = {
    "no command that is one": (
        lambda w: w.cli("explian"),
        SystemExit,
        "2: error: No such command 'explian'. Did you mean 'explain'? (see taylorpoda --help)",
    ),
    "no model": (
        lambda w: w.cli("explain"),
        SystemExit,
        "2: error: Missing argument 'MODEL'. (see taylorpoda explain --help)",
    ),
    "no data": (
        lambda w: w.cli("explain", MODEL),
        SystemExit,
        "2: error: Missing argument 'DATA'. (see taylorpoda explain --help)",
    ),
    "too many words": (
        lambda w: w.cli("explain", MODEL, DATA, DATA),
        SystemExit,
        "2: error: Got unexpected extra argument(s) (data.csv) (see taylorpoda explain --help)",
    ),
    "an option nobody knows": (
        lambda w: w.bad_explain("--colour"),
        SystemExit,
        "2: error: No such option: --colour",
    ),
    "an option without its value": (
        lambda w: w.bad_explain("--rows"),
        SystemExit,
        "2: error: Option '--rows' requires an argument. (see taylorpoda --help)",
    ),
    "a flag with a value": (
        lambda w: w.bad_explain("--json=yes"),
        SystemExit,
        "2: error: Option '--json' does not take a value. (see taylorpoda --help)",
    ),
    "model: not there": (
        lambda w: w.cli("explain", "nothing.json", DATA),
        SystemExit,
        "2: error: MODEL='nothing.json' does not exist; allowed: a file of XGBoost (.json, .ubj),",
    ),
    "model: a folder": (
        lambda w: w.cli("explain", ".", DATA),
        SystemExit,
        "2: error: MODEL='.' is a directory; allowed: a file of XGBoost (.json, .ubj), LightGBM",
    ),
    "model: the data": (
        lambda w: w.cli("explain", DATA, DATA),
        SystemExit,
        "2: error: MODEL='data.csv' is of no known kind; allowed: XGBoost (.json, .ubj), LightGBM",
    ),
    "model: empty": (
        lambda w: explain_model(w, "void.json", ""),
        SystemExit,
        "2: error: MODEL='void.json' is of no known kind; allowed: XGBoost (.json, .ubj), LightGBM",
    ),
    "model: half a JSON text": (
        lambda w: explain_model(w, "half.json", '{"learner": '),
        SystemExit,
        "2: error: MODEL='half.json' starts like JSON but is none ",
    ),
    "model: JSON of something else": (
        lambda w: explain_model(w, "else.json", '{"a": 1}'),
        SystemExit,
        "2: error: MODEL='else.json' is of no known kind; allowed: XGBoost (.json, .ubj), LightGBM",
    ),
    "model: a deep JSON text": (
        lambda w: explain_model(w, "deep.json", '{"a":' + "[" * 50_000),
        SystemExit,
        "2: error: MODEL='deep.json' starts like JSON but is none ",
    ),
    "model: a broken tree": (
        lambda w: explain_model(w, "broken.txt", "tree\nversion=v9\n"),
        SystemExit,
        "2: error: MODEL='broken.txt' looks like a model of lightgbm but cannot be read:",
    ),
    "model: a broken CatBoost file": (
        lambda w: explain_model(w, "broken.cbm", b"CBM1\0\0"),
        SystemExit,
        "2: error: MODEL='broken.cbm' looks like a model of catboost but cannot be read:",
    ),
    "model: a graph that is none": (
        lambda w: explain_model(w, "broken.onnx", b"\x08\x01\x02"),
        SystemExit,
        "2: error: MODEL='broken.onnx' looks like a model of onnx but cannot be read:",
    ),
    "model: a broken skops file": (
        lambda w: explain_model(w, "broken.skops", b"PK\x03\x04"),
        SystemExit,
        "2: error: MODEL='broken.skops' is of no known kind; allowed: XGBoost (.json, .ubj),",
    ),
    "model: a pickle that is not trusted": (
        lambda w: explain_model(w, "evil.pkl", pickle.dumps(print)),
        SystemExit,
        "2: error: MODEL='evil.pkl' is a pickle (or joblib) file. Loading one runs whatever code is",
    ),
    "model: half a pickle": (
        broken_pickle,
        SystemExit,
        "2: error: MODEL='half.pkl' looks like a model of pickle but cannot be read:",
    ),
    "model: a pickle of a number": (
        lambda w: pickled(w, 3),
        SystemExit,
        "2: error: model has type int; allowed: an object with predict, or a callable rows ->",
    ),
    "model: a pickle of a table": (
        lambda w: pickled(w, pd.DataFrame({"a": [1]})),
        SystemExit,
        "2: error: model has type DataFrame; allowed: an object with predict, or a callable rows ->",
    ),
    "data: not there": (
        lambda w: w.cli("explain", MODEL, "nothing.csv"),
        SystemExit,
        "2: error: DATA='nothing.csv' does not exist; allowed: a file of .csv, .tsv (also .gz),",
    ),
    "data: a folder": (
        lambda w: w.cli("explain", MODEL, "."),
        SystemExit,
        "2: error: DATA='.' is a directory; allowed: a file of .csv, .tsv (also .gz), .parquet,",
    ),
    "data: of no known kind": (
        lambda w: explain_text(w, "data.xls", "a,b"),
        SystemExit,
        "2: error: DATA='data.xls' is of no known kind; allowed: .csv, .tsv (also .gz), .parquet,",
    ),
    "data: empty": (
        lambda w: explain_text(w, "empty.csv", ""),
        SystemExit,
        "2: error: DATA='empty.csv' cannot be read:",
    ),
    "data: names and no rows": (
        lambda w: explain_text(w, "head.csv", "a,b,c\n"),
        SystemExit,
        "2: error: DATA='head.csv' has 0 rows and 3 columns; it needs one of each.",
    ),
    "data: lines of different length": (
        lambda w: explain_text(w, "ragged.csv", "a,b\n1,2\n1,2,3\n"),
        SystemExit,
        "2: error: DATA='ragged.csv' cannot be read:",
    ),
    "data: not text": (
        lambda w: explain_text(w, "bytes.csv", b"\xff\xfe\x00\x01"),
        SystemExit,
        "2: error: DATA='bytes.csv' is not written in UTF-8",
    ),
    "data: lines that end in a separator": (
        lambda w: explain_text(w, "trailing.csv", "a,b,c\n1,2,3,\n4,5,6,\n"),
        SystemExit,
        "2: error: the lines of 'trailing.csv' have more cells than its header has names; remove the separators at",
    ),
    "data: cells of no column": (
        lambda w: explain_text(w, "long.csv", "a,b\n1,2,3,4\n5,6,7,8\n"),
        SystemExit,
        "2: error: the lines of 'long.csv' have more cells than its header has names",
    ),
    "data: a parquet file that is none": (
        lambda w: explain_text(w, "bad.parquet", "hello"),
        SystemExit,
        "2: error: DATA='bad.parquet' cannot be read:",
    ),
    "data: JSON that is none": (
        lambda w: explain_text(w, "bad.json", "{"),
        SystemExit,
        "2: error: DATA='bad.json' cannot be read:",
    ),
    "data: a gzip file that is none": (
        lambda w: explain_text(w, "bad.csv.gz", "hello"),
        SystemExit,
        "2: error: DATA='bad.csv.gz' cannot be read:",
    ),
    "data: an array of one axis": (
        lambda w: array(w, "line.npy", np.arange(3.0)),
        SystemExit,
        "2: error: 'line.npy' holds an array of shape (3,); expected (rows, columns).",
    ),
    "data: an array of objects": (
        lambda w: array(w, "objects.npy", np.array([[None]])),
        SystemExit,
        "2: error: 'objects.npy' is no array of numbers that numpy wrote; save one with numpy.save,",
    ),
    "data: several arrays": (
        lambda w: arrays(w, "two.npz", a=np.ones((2, 3)), b=np.ones((2, 3))),
        SystemExit,
        "2: error: 'two.npz' holds the arrays ['a', 'b']; allowed: one array, or one called X.",
    ),
    "data: columns of others": (
        lambda w: explain_text(w, "other.csv", "x,y,z\n1,2,3\n"),
        SystemExit,
        "2: error: DATA has no column for the model's features ['a', 'b', 'c']; its columns are",
    ),
    "data: a column twice": (
        lambda w: explain_text(w, "twice.csv", "a,a,b,c\n1,2,3,4\n"),
        SystemExit,
        "2: error: 'twice.csv' has several columns named ['a']; column names must be unique.",
    ),
    "data: texts for numbers": (
        lambda w: explain_text(w, "texts.csv", "a,b,c\nx,2,3\ny,4,5\n"),
        SystemExit,
        "1: error: the model XGBClassifier.predict_proba raised ValueError on explained row 0 (coalition of all",
    ),
    "background: not there": (
        lambda w: w.bad_explain("--background", "nothing.csv"),
        SystemExit,
        "2: error: --background='nothing.csv' does not exist; allowed: a file of .csv, .tsv (also",
    ),
    "background: columns of others": (
        lambda w: (w.write("bg.csv", "a,b\n1,2\n"), w.bad_explain("--background", "bg.csv")),
        SystemExit,
        "2: error: --background='bg.csv' has no columns ['c']; it has ['a', 'b'].",
    ),
    "background rows: none": (
        lambda w: w.bad_explain("--background-rows", "0"),
        SystemExit,
        "2: error: Invalid value for '--background-rows'",
    ),
    "background rows: text": (
        lambda w: w.bad_explain("--background-rows", "all"),
        SystemExit,
        "2: error: Invalid value for '--background-rows'",
    ),
}
