"""Learners inside learners: fitted parts, nested names, and estimators of other packages."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.linear_model import Ridge as TheirRidge
from sklearn.preprocessing import StandardScaler as TheirScaler

from learnt.cluster import KMeans
from learnt.compose import ColumnTransformer
from learnt.errors import ParameterError, UnsupportedError
from learnt.impute import IterativeImputer
from learnt.linear_model import LogisticRegression, Ridge
from learnt.multiclass import OneVsOneClassifier, OneVsRestClassifier
from learnt.pipeline import Pipeline
from learnt.preprocessing import MinMaxScaler, StandardScaler

IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


def test_fitted_steps_are_reached_by_name_and_place():
    x, y = DIABETES
    pipeline = Pipeline([("scale", StandardScaler()), ("ridge", Ridge(alpha=2.0))]).fit(x, y)
    np.testing.assert_allclose(pipeline.named_steps["scale"].mean_, x.mean(axis=0), atol=1e-12)
    assert pipeline.named_steps.ridge.alpha == 2.0
    scaled = pipeline.named_steps["scale"].transform(x)
    np.testing.assert_array_equal(pipeline[-1].predict(scaled), pipeline.predict(x))
    assert len(pipeline) == 2 and len(pipeline[:1]) == 1


def test_clusters_of_the_training_rows_are_those_of_the_last_step():
    x, _ = IRIS
    pipeline = Pipeline([("scale", StandardScaler()), ("means", KMeans(3))], random_state=0).fit(x)
    assert pipeline.labels_.shape == (150,)
    np.testing.assert_array_equal(pipeline.labels_, pipeline.predict(x))
    assert pipeline.named_steps["means"].cluster_centers_.shape == (3, 4)


def test_fitted_classifiers_and_transformers_are_reached():
    x, y = IRIS
    rest = OneVsRestClassifier(LogisticRegression(C=0.5)).fit(x, y)
    assert [part.C for part in rest.estimators_] == [0.5] * 3
    np.testing.assert_array_equal(rest.estimators_[1].classes_, [False, True])
    assert len(OneVsOneClassifier().fit(x, y).estimators_) == 3
    columns = ColumnTransformer([("z", StandardScaler(), [0]), ("unit", MinMaxScaler(), [1, 2])])
    columns.fit(x)
    assert list(columns.named_transformers_) == ["z", "unit"]
    np.testing.assert_allclose(columns.named_transformers_.unit.data_max_, x[:, 1:3].max(axis=0))
    assert [name for name, *_ in columns.transformers_] == ["z", "unit"]


def test_the_role_of_a_part_is_checked_by_name():
    x, y = IRIS
    for estimator in (Ridge(), TheirRidge()):
        with pytest.raises(ParameterError, match="`estimator` must be a classifier, got Ridge"):
            OneVsRestClassifier(estimator).fit(x, y)


def test_a_foreign_transformer_and_a_foreign_learner_give_what_ours_give():
    x, y = DIABETES
    ours = Pipeline([("scale", StandardScaler()), ("ridge", Ridge(alpha=2.0))]).fit(x, y)
    for scaler, ridge in [
        (TheirScaler(), Ridge(alpha=2.0)),
        (StandardScaler(), TheirRidge(alpha=2.0)),
        (TheirScaler(), TheirRidge(alpha=2.0)),
    ]:
        mixed = Pipeline([("scale", scaler), ("ridge", ridge)])
        mixed.fit(x, y)
        np.testing.assert_allclose(mixed.predict(x), ours.predict(x), rtol=1e-8)
        assert mixed.score(x, y) == pytest.approx(ours.score(x, y))
        assert mixed.named_steps["ridge"].alpha == 2.0
        assert not hasattr(scaler, "mean_"), "the given learner is not changed"


def test_supervised_transformers_get_the_target():
    x, y = IRIS
    best = SelectKBest(k=2)
    pipeline = Pipeline([("best", best), ("model", LogisticRegression())]).fit(x, y)
    assert pipeline.named_steps["best"].get_support().sum() == 2
    assert pipeline.score(x, y) > 0.9
    assert pipeline.predict_proba(x).shape == (150, 3)
    columns = ColumnTransformer([("best", best, [0, 1, 2]), ("z", StandardScaler(), [3])])
    assert columns.fit(x, y).transform(x).shape == (150, 3)


def test_foreign_groups_of_columns_give_what_ours_give():
    x, _ = IRIS
    ours = ColumnTransformer([("z", StandardScaler(), [0, 2]), ("rest", "passthrough", [1])]).fit(x)
    mixed = ColumnTransformer([("z", TheirScaler(), [0, 2]), ("rest", "passthrough", [1])]).fit(x)
    np.testing.assert_allclose(mixed.transform(x), ours.transform(x))
    assert list(mixed.get_feature_names_out()) == list(ours.get_feature_names_out())


@pytest.mark.parametrize("wrapper", [OneVsRestClassifier, OneVsOneClassifier])
def test_foreign_two_class_classifiers_give_what_ours_give(wrapper):
    x, y = IRIS
    names = np.array(["a", "b", "c"])[y]
    ours = wrapper(LogisticRegression(tol=1e-10)).fit(x, names)
    mixed = wrapper(TheirLogistic(tol=1e-10, max_iter=10000)).fit(x, names)
    np.testing.assert_array_equal(mixed.classes_, ours.classes_)
    np.testing.assert_array_equal(mixed.predict(x), ours.predict(x))
    np.testing.assert_allclose(
        mixed.decision_function(x), ours.decision_function(x), rtol=1e-4, atol=1e-4
    )
    if wrapper is OneVsRestClassifier:
        np.testing.assert_allclose(mixed.predict_proba(x), ours.predict_proba(x), atol=1e-4)


def test_a_foreign_imputer_gives_what_ours_gives():
    x, _ = DIABETES
    x = x[:, :4].copy()
    x[::7, 1] = np.nan
    x[3::11, 2] = np.nan
    ours = IterativeImputer(Ridge(alpha=1e-9), max_iter=5).fit(x)
    mixed = IterativeImputer(TheirRidge(alpha=1e-9), max_iter=5).fit(x)
    np.testing.assert_allclose(mixed.transform(x), ours.transform(x), rtol=1e-6, atol=1e-9)


def test_a_foreign_part_is_pickled_and_refused_by_a_model_file(tmp_path):
    x, y = DIABETES
    mixed = Pipeline([("scale", StandardScaler()), ("ridge", TheirRidge())]).fit(x, y)
    again = pickle.loads(pickle.dumps(mixed))
    np.testing.assert_array_equal(again.predict(x), mixed.predict(x))
    with pytest.raises(UnsupportedError, match=r"parts of other packages \(Ridge\); use pickle"):
        mixed.save(tmp_path / "model.learnt")
    inner = Pipeline([("all", mixed)])
    with pytest.raises(UnsupportedError, match="other packages"):
        inner.fit(x, y).save(tmp_path / "model.learnt")


def test_nested_names_reach_every_part_whoever_made_it():
    pipeline = Pipeline([("scale", TheirScaler()), ("model", OneVsRestClassifier(TheirLogistic()))])
    pipeline.set_params(scale__with_mean=False, model__estimator__C=3.0)
    assert pipeline.get_params()["model__estimator__C"] == 3.0
    copy = clone(pipeline)
    assert copy.get_params()["scale__with_mean"] is False
    assert copy.steps[1][1].estimator is not pipeline.steps[1][1].estimator


def test_idle_steps_are_left_out():
    x, y = DIABETES
    idle = Pipeline([("nothing", "passthrough"), ("ridge", Ridge())]).fit(x, y)
    np.testing.assert_array_equal(idle.predict(x), Ridge().fit(x, y).predict(x))
