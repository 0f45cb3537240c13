"""Learners work inside scikit-learn, and scikit-learn's conventions hold."""

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn import config_context, linear_model
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.tree import DecisionTreeClassifier as TheirTree

import learnt
from learners import make, paths
from learnt.dummy import DummyClassifier, DummyRegressor
from learnt.impute import SimpleImputer
from learnt.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from learnt.tree import DecisionTreeClassifier, DecisionTreeRegressor

X, Y = load_iris(return_X_y=True)


def test_a_pipeline_of_theirs_takes_ours():
    pipe = make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0)).fit(X, Y)
    assert pipe.score(X, Y) == 1.0
    assert pipe[:-1].get_feature_names_out().tolist() == ["x0", "x1", "x2", "x3"]


def test_a_pipeline_of_ours_says_what_theirs_says():
    steps = [("scale", StandardScaler()), ("tree", DecisionTreeClassifier(random_state=0))]
    ours = learnt.pipeline.Pipeline(steps, random_state=0).fit(X, Y)
    theirs = Pipeline(steps).fit(X, Y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert is_classifier(ours) and not is_regressor(ours)
    assert not hasattr(ours, "transform")


def test_a_column_transformer_of_theirs_takes_ours():
    frame = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": ["u", "v", "u"]}, index=[5, 6, 7])
    prepare = ColumnTransformer([("n", SimpleImputer(), ["a"]), ("w", OneHotEncoder(), ["b"])])
    out = prepare.set_output(transform="pandas").fit_transform(frame)
    assert out.columns.tolist() == ["n__a", "w__b_u", "w__b_v"]
    assert out.index.tolist() == [5, 6, 7]
    assert out.to_numpy().tolist() == [[1, 1, 0], [2, 0, 1], [3, 1, 0]]


@pytest.mark.parametrize("jobs", [1, 2])
def test_grid_search(jobs):
    pipe = Pipeline([("scale", StandardScaler()), ("tree", DecisionTreeClassifier(random_state=0))])
    grid = {"tree__max_depth": [1, 2, 3], "scale": [StandardScaler(), MinMaxScaler()]}
    search = GridSearchCV(pipe, grid, cv=3, n_jobs=jobs).fit(X, Y)
    assert search.best_params_["tree__max_depth"] > 1
    assert search.best_score_ > 0.9


def test_trees_score_as_theirs():
    ours = cross_val_score(DecisionTreeClassifier(max_depth=3, random_state=0), X, Y, cv=5)
    theirs = cross_val_score(TheirTree(max_depth=3, random_state=0), X, Y, cv=5)
    assert abs(ours.mean() - theirs.mean()) < 0.03


def test_threads_of_joblib():
    fits = joblib.Parallel(n_jobs=2, backend="threading")(
        joblib.delayed(DecisionTreeClassifier(random_state=0).fit)(X, Y) for _ in range(4)
    )
    assert len({fit.to_bytes() for fit in fits}) == 1


@pytest.mark.parametrize("path", paths())
def test_clones_are_equal_and_not_fitted(path):
    learner = make(path)
    copy = clone(learner)
    assert repr(copy) == repr(learner)
    with pytest.raises(NotFittedError):
        copy.to_bytes()


@pytest.mark.parametrize("path", paths())
def test_the_page_is_small_and_holds_no_script(path):
    page = make(path)._repr_html_()
    assert len(page) < 12_000 and "<script" not in page


def test_weights_are_routed():
    weights = np.ones(len(Y))
    weights[Y == 0] = 0
    with config_context(enable_metadata_routing=True):
        tree = DecisionTreeClassifier(random_state=0).set_fit_request(sample_weight=True)
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), tree)
        pipe.fit(X, Y, sample_weight=weights)
    assert set(pipe.predict(X)) == {1, 2}


def test_output_follows_the_configuration():
    with config_context(transform_output="polars"):
        out = StandardScaler().fit_transform(pd.DataFrame(X, columns=list("abcd")))
    assert type(out).__module__.startswith("polars") and out.columns == list("abcd")
    arrow = StandardScaler().set_output(transform="arrow").fit_transform(X)
    assert arrow.column_names == ["x0", "x1", "x2", "x3"]


def test_a_single_output_has_one_dimension_less():
    y = X[:, 0]
    one = DummyRegressor().fit(X, y)
    two = DummyRegressor().fit(X, np.column_stack([y, y]))
    assert one.predict(X).shape == (150,)
    assert two.predict(X).shape == (150, 2)
    assert one.score(X, y) == pytest.approx(0.0)
    assert two.score(X, np.column_stack([y, y])) == pytest.approx(0.0)


@pytest.mark.parametrize("name", ["LinearRegression", "Ridge"])
@pytest.mark.parametrize("y", [X[:, 0], X[:, :1], X[:, :2]], ids=["vector", "column", "two"])
def test_coefficients_have_their_shapes_and_values(name, y):
    ours = getattr(learnt.linear_model, name)().fit(X[:, 2:], y)
    theirs = getattr(linear_model, name)().fit(X[:, 2:], y)
    if y.shape[1:] != (1,):  # their Ridge drops the dimension of a single column, their others do not
        assert np.shape(ours.coef_) == np.shape(theirs.coef_)
        assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    np.testing.assert_allclose(np.ravel(ours.coef_), np.ravel(theirs.coef_))
    np.testing.assert_allclose(
        np.ravel(ours.predict(X[:, 2:])), np.ravel(theirs.predict(X[:, 2:]))
    )
    assert ours.score(X[:, 2:], y) == pytest.approx(theirs.score(X[:, 2:], y))


def test_a_summary_is_text_and_tables():
    summary = learnt.linear_model.LinearRegression().fit(X[:, 1:], X[:, 0]).summary()
    assert len(summary.to_pandas()) == len(summary.to_dict()["tables"][0]["columns"]["term"])
    assert summary.to_dict()["title"] in repr(summary)
    with pytest.raises(learnt.errors.UnsupportedError):
        DummyRegressor().fit(X, X[:, 0]).summary()


def test_parameters_are_checked_in_fit_with_a_hint():
    learner = DecisionTreeClassifier(criterion="ginny")
    with pytest.raises(learnt.errors.ParameterError, match="'gini'") as caught:
        learner.fit(X, Y)
    assert caught.value.code == "E002"
    with pytest.raises(ValueError, match="depth"):
        learner.set_params(depth=1)


def test_seeds_may_be_generators():
    def draw(state):
        learner = DummyClassifier(strategy="uniform", random_state=state)
        return learner.fit(X, Y).predict(X).tolist()

    assert draw(1) == draw(np.int64(1))
    assert draw(np.random.RandomState(1)) == draw(np.random.RandomState(1))
    assert draw(np.random.default_rng(1)) == draw(np.random.default_rng(1))
    assert draw(1) != draw(2)
    np.random.seed(3)
    first = draw(None)
    np.random.seed(3)
    assert draw(None) == first
    with pytest.raises(learnt.errors.ParameterError, match="random_state"):
        draw("seed")


def test_parameters_of_running_are_where_they_matter():
    for path, entry in learnt.registry().items():
        learner = make(path)
        # Those that are carried are taken for scikit-learn's sake, and nothing reads them.
        names = set(learner.get_params(deep=False)) - set(learner._carried)
        assert ("random_state" in names) == entry["uses"]["randomness"]
        assert ("n_jobs" in names) == entry["uses"]["threads"]
        assert "verbose" not in names


def test_the_number_of_threads_does_not_matter():
    expected = DecisionTreeRegressor(random_state=0).fit(X, X[:, 0]).to_bytes()
    for count in (1, 2, 4):
        with learnt.threads(count):
            assert DecisionTreeRegressor(random_state=0).fit(X, X[:, 0]).to_bytes() == expected


def test_attributes_appear_after_fit():
    learner = StandardScaler()
    assert not hasattr(learner, "mean_")
    learner.fit(X)
    assert "mean_" in dir(learner)
    np.testing.assert_allclose(learner.mean_, X.mean(axis=0))
    np.testing.assert_allclose(learner.inverse_transform(learner.transform(X)), X)
