"""save and load: everything comes back, the model is not needed, nothing is asked of it."""

from __future__ import annotations

import copy
import json
import pickle
import re
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest

import taylorpoda as tp
from taylorpoda.explanation import storage
from taylorpoda.explanation.storage import codec

EVERYTHING = (
    "values", "base_values", "predictions", "lower", "upper", "score", "shapley_score", "bound", "ceiling",
    "certified", "nearest_certified", "discrepancy", "rounding",
)  # fmt: skip


def product(rows):
    return rows[:, 0] * rows[:, 1] + np.sin(rows[:, 2] * rows[:, 3])


def two(rows):
    return np.stack([product(rows), rows.sum(axis=1)], axis=1)


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(20, 4))


def same(one, other):
    for name in EVERYTHING:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert one.feature_names == other.feature_names
    assert one.output_names == other.output_names
    assert dict(one.provenance) == dict(other.provenance)
    assert (one.policy, one.engine, one.utility.name) == (other.policy, other.engine, other.utility.name)
    assert repr(one) == repr(other)
    assert one._repr_html_() == other._repr_html_()
    for row in range(len(one)):
        for output in range(1 if one.values.ndim == 2 else one.values.shape[2]):
            ours, theirs = one.shares(row, output), other.shares(row, output)
            assert set(ours) == set(theirs)
            assert all(np.array_equal(ours[coalition], theirs[coalition]) for coalition in ours)
            assert np.array_equal(one.dividends(row, output), other.dividends(row, output))


@pytest.mark.parametrize("policy", ["optimal", "dirichlet", "shapley"])
@pytest.mark.parametrize("function", [product, two])
def test_everything_comes_back(policy, function, rows, tmp_path):
    explanation = tp.Explainer(function, rows[:12], policy=policy, random_state=3)(rows[12:16])
    explanation.save(tmp_path / "explained")
    again = tp.load(tmp_path / "explained")
    same(again, explanation)
    assert np.array_equal(again.data, explanation.data)
    other = {"policy": "dirichlet", "utility": "exclusion_mse"}
    assert np.array_equal(again.reallocate(**other).values, explanation.reallocate(**other).values)
    assert np.array_equal(again.scores("inclusion_mse"), explanation.scores("inclusion_mse"))
    assert again.to_frame().equals(explanation.to_frame())


def test_the_file_has_exactly_the_name_it_was_given(rows, tmp_path):
    explanation = tp.Explainer(product, rows, policy="shapley")(rows[:2])
    for name in ("plain", "with.npz", "a.b.c", "sp ace", "ünïcode", "x" * 200):
        explanation.save(tmp_path / name)
        assert np.array_equal(tp.load(str(tmp_path / name)).values, explanation.values)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["plain", "with.npz", "a.b.c", "sp ace", "ünïcode", "x" * 200]
    )


def test_equal_explanations_are_equal_files_and_numpy_opens_them(rows, tmp_path):
    explanation = tp.Explainer(product, rows, policy="optimal", random_state=0)(rows[:2])
    explanation.save(tmp_path / "a")
    explanation.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    with np.load(tmp_path / "a", allow_pickle=False) as arrays:
        assert np.array_equal(arrays["games/values"], explanation.games.values)


def test_slices_empty_explanations_and_labels(rows, tmp_path):
    from sklearn.datasets import load_iris
    from sklearn.linear_model import LogisticRegression

    X, y = load_iris(return_X_y=True, as_frame=True)
    species = np.array(["setosa", "versicolor", "virginica"])[y]
    model = LogisticRegression(max_iter=500).fit(X, species)
    explanation = tp.Explainer(model, X[::10], utility="inclusion_auc", policy="shapley")(X[::40], species[::40])
    for part in (explanation, explanation[1], explanation[:0], explanation[:, "setosa"], explanation[[2, 0], [2, 1]]):
        part.save(tmp_path / "part")
        again = tp.load(tmp_path / "part")
        same(again, part)
        pd.testing.assert_frame_equal(again.data, part.data)
        assert np.array_equal(again.scores("exclusion_auc"), part.scores("exclusion_auc"))
        assert np.array_equal(again.subject.target, part.subject.target)
    explanation.save(tmp_path / "whole")
    again = tp.load(tmp_path / "whole")
    assert np.array_equal(
        again.scores("inclusion_auc", y=species[::40][::-1]), explanation.scores("inclusion_auc", y=species[::40][::-1])
    )


def test_groups_and_shares_of_the_users_own(rows, tmp_path):
    explainer = tp.Explainer(product, rows, groups=["a", "a", "b", "c"], policy="shapley")
    explanation = explainer(rows[:3])
    given = {3: [0.9, 0.1, 0.0], 5: [1.0, 0.0, 0.0], 6: [0.0, 0.25, 0.75], 7: [0.2, 0.3, 0.5]}
    table = np.full((8, 3), 1 / 3)
    for coalition in range(8):
        members = np.array([coalition >> k & 1 for k in range(3)], dtype=float)
        table[coalition] = given.get(coalition, members / max(members.sum(), 1))
    for shares in (given, table):
        own = explanation.reallocate(policy="shares", shares=shares)
        own.save(tmp_path / "own")
        same(tp.load(tmp_path / "own"), own)
        own[1:].save(tmp_path / "own")
        same(tp.load(tmp_path / "own"), own[1:])


def test_a_utility_of_the_users_own_can_be_handed_back(rows, tmp_path):
    largest = tp.Utility("largest", evaluate=lambda a, _: np.abs(a).max(axis=-1), higher_is_better=False)
    explanation = tp.Explainer(product, rows, utility=largest, policy="dirichlet", random_state=0)(rows[:2])
    explanation.save(tmp_path / "mine")
    blind = tp.load(tmp_path / "mine")
    assert np.array_equal(blind.score, explanation.score)
    assert not blind.utility.higher_is_better
    assert np.array_equal(blind.scores("inclusion_aup"), explanation.scores("inclusion_aup"))
    with pytest.raises(ValueError, match=r"'largest' was made by the user .* taylorpoda\.load\(path, utility="):
        blind.scores()
    seeing = tp.load(tmp_path / "mine", utility=largest)
    assert np.array_equal(seeing.scores(), explanation.score)
    assert set(seeing.shares(1)) == set(explanation.shares(1))
    with pytest.raises(ValueError, match="is not the one the file names, 'largest'"):
        tp.load(tmp_path / "mine", utility=tp.Utility("other", evaluate=lambda a, _: a[..., 0]))


def test_no_model_is_asked_and_none_is_needed(rows, tmp_path):
    calls = []

    def counting(part):
        calls.append(len(part))
        return product(part)

    explanation = tp.Explainer(counting, rows, policy="optimal")(rows[:3])
    before = len(calls)
    explanation.save(tmp_path / "explained")
    again = tp.load(tmp_path / "explained")
    again.reallocate(policy="shapley", utility="exclusion_aup").scores("inclusion_mse")
    explanation.reallocate(policy="dirichlet").scores("exclusion_mse")
    assert len(calls) == before
    assert sum(calls) == explanation.provenance["model_rows_evaluated"]


def test_explanations_pickle_and_copy(rows):
    explanation = tp.Explainer(product, rows, policy="optimal")(rows[:3])
    same(pickle.loads(pickle.dumps(explanation)), explanation)
    assert copy.deepcopy(explanation) is explanation
    assert copy.copy(explanation) is explanation


@pytest.mark.parametrize(
    ("field", "value"), [("format_version", 2), ("written_by", "99.0.1"), ("written_by", "0.2.0rc1")]
)
def test_a_newer_version_is_read_with_a_warning(field, value, rows, tmp_path, monkeypatch):
    explanation = tp.Explainer(product, rows, policy="shapley")(rows[:2])
    monkeypatch.setattr(codec, {"format_version": "FORMAT_VERSION", "written_by": "__version__"}[field], value)
    explanation.save(tmp_path / "newer")
    monkeypatch.undo()
    with pytest.warns(UserWarning, match=f"written by taylorpoda {'99.0.1' if value == '99.0.1' else ''}"):
        again = tp.load(tmp_path / "newer")
    assert np.array_equal(again.values, explanation.values)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        explanation.save(tmp_path / "now")
        tp.load(tmp_path / "now")


def test_an_interrupted_save_leaves_the_old_file(rows, tmp_path, monkeypatch):
    explanation = tp.Explainer(product, rows, policy="shapley")(rows[:2])
    explanation.save(tmp_path / "kept")
    old = (tmp_path / "kept").read_bytes()

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(np.lib.format, "write_array", interrupted)
    with pytest.raises(KeyboardInterrupt):
        explanation[:1].save(tmp_path / "kept")
    assert (tmp_path / "kept").read_bytes() == old
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_rows_that_cannot_be_stored_are_refused_by_column(rows, tmp_path):
    frame = pd.DataFrame({"fine": [1.0, 2.0], "odd": [object(), object()]})
    explanation = tp.Explainer(lambda part: part["fine"].to_numpy(), frame, policy="shapley")(frame)
    with pytest.raises(TypeError, match=r"a cell of type builtins\.object cannot be stored"):
        explanation.save(tmp_path / "odd")
    assert not list(tmp_path.iterdir())
    for path in (3, None, b"bytes"):
        with pytest.raises(TypeError, match=r"path=.* has type"):
            explanation.save(path)
    with pytest.raises(IsADirectoryError, match="is a directory"):
        tp.Explainer(product, rows, policy="shapley")(rows[:1]).save(tmp_path)


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_nothing_in_the_file_is_compressed_or_pickled(rows, tmp_path):
    tp.Explainer(lambda part: part[:, 0].astype(float), rows.astype(object), policy="shapley")(rows[:2]).save(
        tmp_path / "x"
    )
    with zipfile.ZipFile(tmp_path / "x") as archive:
        assert all(info.compress_type == zipfile.ZIP_STORED for info in archive.infolist())
    for name, content in members_of(tmp_path / "x").items():
        if name.endswith(".npy"):
            assert b"'descr': '|O'" not in content
        else:
            assert json.loads(content)["format"] == "taylorpoda.Explanation"


def test_bytes_in_memory_are_the_file(rows, tmp_path):
    explanation = tp.Explainer(product, rows, policy="shapley")(rows[:2])
    explanation.save(tmp_path / "x")
    assert storage.dumps(explanation) == (tmp_path / "x").read_bytes()
    assert re.match(rb"PK", storage.dumps(explanation))
