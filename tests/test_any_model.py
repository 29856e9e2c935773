"""Whole stories: real tables with text and gaps, the models people have, and no encoding by hand."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import taylorpoda as tp


class Counting:
    """A model that counts the rows it is asked about."""

    def __init__(self, predict):
        self.predict_rows = predict
        self.rows = 0
        self.calls = 0

    def __call__(self, rows):
        self.rows += rows.shape[0]
        self.calls += 1
        return self.predict_rows(rows)


@pytest.fixture(scope="module")
def adult(data_dir):
    """4,000 rows of the census: eight columns, five of text, with their gaps."""
    table = pd.read_csv(data_dir / "adult.csv").sample(4000, random_state=0)
    columns = [
        "age",
        "workclass",
        "education",
        "marital-status",
        "occupation",
        "sex",
        "hours-per-week",
        "native-country",
    ]
    assert table[columns].isna().sum().sum() > 100
    return table[columns].reset_index(drop=True), table["income"].reset_index(drop=True)


@pytest.fixture(scope="module")
def pipeline(adult):
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_column_selector(dtype_include="number")
    text = make_column_selector(dtype_exclude="number")
    encode = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    return make_pipeline(
        make_column_transformer((StandardScaler(), numbers), (encode, text)), LogisticRegression(max_iter=300)
    ).fit(*adult)


@pytest.fixture(scope="module")
def explained(adult, pipeline):
    X, y = adult
    return tp.Explainer(pipeline, X[:15], utility="inclusion_auc", policy="optimal")(X[100:103], y[100:103])


def test_the_census_through_a_column_transformer(adult, pipeline, explained):
    X, _ = adult
    assert explained.values.shape == (3, 8, 2)
    assert explained.output_names == ("<=50K", ">50K")
    assert np.array_equal(explained.predictions, pipeline.predict_proba(X[100:103]))
    assert np.max(np.abs(explained.discrepancy)) < 1e-12
    pd.testing.assert_frame_equal(explained.data, X[100:103])
    assert list(explained.to_frame().index) == [100, 101, 102]


def test_the_census_saved_and_loaded(explained, tmp_path):
    explained.save(tmp_path / "census")
    again = tp.load(tmp_path / "census")
    pd.testing.assert_frame_equal(again.data, explained.data)
    assert np.array_equal(again.scores("exclusion_auc"), explained.scores("exclusion_auc"))
    assert again.to_frame().equals(explained.to_frame())


def test_the_census_in_polars(adult, pipeline):
    pl = pytest.importorskip("polars")
    from sklearn.base import clone

    X, y = adult
    columns = {name: [None if pd.isna(cell) else cell for cell in X[name]] for name in X}
    table = pl.DataFrame(columns)

    def predict(rows):
        assert rows.schema == table.schema
        return pipeline.predict_proba(pd.DataFrame({name: rows[name].to_list() for name in rows.columns}))

    explanation = tp.Explainer(predict, table[:10], policy="shapley")(table[100:102])
    reference = tp.Explainer(pipeline, X[:10], policy="shapley")(X[100:102])
    assert np.max(np.abs(explanation.values - reference.values)) < 1e-12
    assert isinstance(explanation.to_frame(), pl.DataFrame)
    numbers = table.select("age", "hours-per-week")
    model = clone(pipeline[-1]).fit(numbers, y)
    direct = tp.Explainer(model, numbers[:20], policy="optimal", output=">50K")(numbers[100:105])
    assert isinstance(direct.to_frame(), pl.DataFrame)
    assert direct.to_frame().columns == ["age", "hours-per-week"]
    assert np.max(np.abs(direct.discrepancy)) < 1e-12


def test_native_categories_of_the_census(adult):
    lightgbm = pytest.importorskip("lightgbm")
    catboost = pytest.importorskip("catboost")
    X, y = adult
    text = [name for name in X if X[name].dtype.kind not in "iuf"]
    categories = X.astype(dict.fromkeys(text, "category"))
    lgb = lightgbm.LGBMClassifier(n_estimators=15, verbose=-1, n_jobs=1).fit(categories, y)
    filled = X.fillna(dict.fromkeys(text, "missing"))
    cat = catboost.CatBoostClassifier(
        iterations=15, verbose=0, cat_features=text, allow_writing_files=False, thread_count=1
    ).fit(filled, y)
    for model, table in ((lgb, categories), (cat, filled)):
        explanation = tp.Explainer(model, table[:10], policy="optimal", output=">50K")(table[100:102])
        assert np.array_equal(explanation.predictions, model.predict_proba(table[100:102])[:, 1])
        assert np.max(np.abs(explanation.discrepancy)) < 1e-12
        assert np.abs(explanation.values).max(axis=0)[text.index("education")] >= 0
        assert list(explanation.data.dtypes) == list(table.dtypes)


def test_words_of_reviews_with_a_linear_model(data_dir):
    """TF-IDF stays sparse from end to end; a wide one is explained by groups of words."""
    from scipy import sparse
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    reviews = pd.read_csv(data_dir / "rotten_tomatoes_sentiment.csv").sample(1500, random_state=0)
    text, label = reviews.iloc[:, 0], reviews.iloc[:, 1]
    vectorizer = TfidfVectorizer(max_features=2000)
    X = vectorizer.fit_transform(text)
    model = LogisticRegression(max_iter=300).fit(X, label)
    largest = np.argsort(-np.abs(model.coef_[0]))[:7]
    groups = [vectorizer.get_feature_names_out()[j] if j in set(largest) else "other words" for j in range(2000)]
    explanation = tp.Explainer(model, X[:30], groups=groups, policy="optimal", output=1)(X[100:103])
    assert explanation.values.shape == (3, 8)
    assert np.array_equal(explanation.predictions, model.predict_proba(X[100:103])[:, 1])
    assert np.max(np.abs(explanation.discrepancy)) < 1e-12
    assert sparse.issparse(explanation.data)
    assert set(explanation.feature_names) == {*groups}
    with pytest.raises(ValueError, match="groups="):
        tp.Explainer(model, X[:30])


LIBRARIES = ["sklearn", "xgboost", "lightgbm", "torch", "polars", "sparse"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_no_model_is_asked_more_than_provenance_says(library):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (40, 5)).astype(float)
    y = X[:, 0] * X[:, 1] - X[:, 2]
    model, table = counted(library, X, y)
    explainer = tp.Explainer(model, table[:20], policy="optimal")
    explanations = [explainer(table[20:24]), explainer(table[24:30]), explainer(table[:0])]
    assert model.rows == sum(one.provenance["model_rows_evaluated"] for one in explanations)
    asked = model.rows
    for explanation in explanations:
        other = explanation.reallocate(policy="dirichlet", utility="exclusion_mse", random_state=0)
        other.scores("inclusion_aup"), other.reallocate(policy="shapley").bound, other.interactions(2)
    assert model.rows == asked


def counted(library, X, y):
    if library == "sklearn":
        from sklearn.ensemble import RandomForestRegressor

        return Counting(RandomForestRegressor(5, random_state=0).fit(X, y).predict), X
    if library in {"xgboost", "lightgbm"}:
        module = pytest.importorskip(library)
        kind = module.XGBRegressor if library == "xgboost" else module.LGBMRegressor
        quiet = {} if library == "xgboost" else {"verbose": -1}
        return Counting(kind(n_estimators=5, n_jobs=1, **quiet).fit(X, y).predict), X
    if library == "torch":
        torch = pytest.importorskip("torch")
        return Counting(lambda rows: rows[:, 0] * rows[:, 1] - rows[:, 2]), torch.tensor(X)
    if library == "polars":
        polars = pytest.importorskip("polars")
        table = polars.DataFrame(X, schema=list("abcde"))
        return Counting(lambda rows: (rows["a"] * rows["b"] - rows["c"]).to_numpy()), table
    from scipy import sparse

    return Counting(lambda rows: np.asarray(rows.sum(axis=1)).ravel() ** 2), sparse.csr_matrix(X)


def test_hostile_names_stay_text(tmp_path):
    """Column names, classes and cells that look like markup, markdown, escapes or paths are text everywhere."""
    from taylorpoda.report import page

    names = [
        "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "[red]x[/red]", "\x1b[31mred\x1b[0m",
        "../../etc/passwd", "{{7*7}}", "a\nb", "$x^2$", "\u202egnp.exe", "",
    ]  # fmt: skip
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(12, len(names))), columns=names)
    explainer = tp.Explainer(
        lambda rows: np.stack([rows.to_numpy() @ np.arange(10.0), rows.iloc[:, 0]], axis=1),
        frame[:2],
        policy="optimal",
        output_names=["<b>yes</b>", "</td><script>x"],
    )
    explanation = explainer(frame[2:5])
    for html in (explanation._repr_html_(), page(explanation, utilities=["inclusion_aup"])):
        assert "<script" not in html
        assert "<img" not in html
        assert "<b>yes" not in html
        assert "\x1b" not in html
    assert "\x1b" not in repr(explanation)
    explanation.save(tmp_path / "hostile")
    again = tp.load(tmp_path / "hostile")
    assert again.feature_names == tuple(names)
    assert list(again.data.columns) == names
    assert explanation[:, 0].to_frame().columns.tolist() == names


def picklable(library, X, y):
    """A fitted model of a library: one that the trees engine solves where there is one."""
    if library == "sklearn":
        from sklearn.ensemble import RandomForestRegressor

        return RandomForestRegressor(3, random_state=0).fit(X, y)
    if library == "torch":
        return pytest.importorskip("torch").nn.Linear(4, 2)
    module = pytest.importorskip(library.split()[0])
    if library == "xgboost booster":
        return module.train({"nthread": 1}, module.DMatrix(X, y), 3)
    if library == "xgboost":
        return module.XGBClassifier(n_estimators=3, n_jobs=1).fit(X, y > 0)
    if library == "lightgbm":
        return module.train({"verbose": -1, "min_data_in_leaf": 5}, module.Dataset(X, y), 3)
    return module.CatBoostRegressor(iterations=3, verbose=0, allow_writing_files=False, thread_count=1).fit(X, y)


@pytest.mark.parametrize("engine", ["auto", "exact"])
@pytest.mark.parametrize("library", ["sklearn", "xgboost", "xgboost booster", "lightgbm", "catboost", "torch"])
def test_explainers_and_explanations_pickle_if_their_model_does(library, engine):
    """With the trees engine they did not: a function made on the spot came along."""
    X = np.random.default_rng(0).normal(size=(60, 4))
    explainer = tp.Explainer(picklable(library, X, X[:, 0] * X[:, 1]), X[:9], engine=engine, random_state=0)
    explanation = explainer(X[10:13])
    again = pickle.loads(pickle.dumps(explainer))(X[10:13])
    assert np.array_equal(again.values, explanation.values)
    assert again.engine == explanation.engine
    kept = pickle.loads(pickle.dumps(explanation))
    assert np.array_equal(kept.values, explanation.values)
    assert np.array_equal(kept.reallocate("shapley").values, explanation.reallocate("shapley").values)
