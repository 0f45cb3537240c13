"""Cross-validation and comparison, beside scikit-learn's numbers and the command's table."""

import numpy as np
import pytest
import sklearn.linear_model
import sklearn.model_selection as theirs
import sklearn.naive_bayes
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.svm import SVC

import learnt
from learnt import model_selection as ours
from learnt.errors import ParameterError
from learnt.linear_model import LinearRegression, Perceptron, Ridge
from learnt.naive_bayes import GaussianNB
from learnt.tree import DecisionTreeClassifier

IRIS = load_iris(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


@pytest.mark.parametrize("scoring", [
    None, "accuracy", "balanced_accuracy", "f1", "precision", "recall", "f1_macro", "roc_auc",
    "average_precision", "neg_log_loss", "neg_brier_score", "matthews_corrcoef",
])  # fmt: skip
@pytest.mark.parametrize("estimator", [sklearn.naive_bayes.GaussianNB(), GaussianNB()])
def test_scores_of_classifiers_are_scikit_learns(estimator, scoring):
    X, y = CANCER
    found = ours.cross_val_score(estimator, X, y, scoring=scoring, cv=4)
    wanted = theirs.cross_val_score(sklearn.naive_bayes.GaussianNB(), X, y, scoring=scoring, cv=4)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("scoring", [
    None, "r2", "neg_mean_squared_error", "neg_root_mean_squared_error", "neg_mean_absolute_error",
    "neg_median_absolute_error", "explained_variance", "neg_max_error",
    "neg_mean_absolute_percentage_error",
])  # fmt: skip
def test_scores_of_regressors_are_scikit_learns(scoring):
    X, y = DIABETES
    found = ours.cross_val_score(LinearRegression(), X, y, scoring=scoring)
    wanted = theirs.cross_val_score(
        sklearn.linear_model.LinearRegression(), X, y, scoring=scoring
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-8)


def test_several_classes_and_names_of_this_package():
    X, y = IRIS
    given = {"scoring": ["roc_auc_ovr", "f1_weighted", "log-loss", "auc"], "cv": 3}
    found = ours.cross_validate(sklearn.naive_bayes.GaussianNB(), X, y, **given)
    for name, scorer in [("roc_auc_ovr", "roc_auc_ovr"), ("f1_weighted", "f1_weighted"),
                         ("auc", "roc_auc_ovr")]:
        wanted = theirs.cross_val_score(sklearn.naive_bayes.GaussianNB(), X, y, scoring=scorer, cv=3)
        np.testing.assert_allclose(found[f"test_{name}"], wanted, rtol=1e-9)
    wanted = theirs.cross_val_score(
        sklearn.naive_bayes.GaussianNB(), X, y, scoring="neg_log_loss", cv=3
    )
    np.testing.assert_allclose(found["test_log-loss"], -wanted, rtol=1e-9)
    # A name that only scikit-learn has, and a function of one's own.
    jaccard = ours.cross_val_score(GaussianNB(), X, y, scoring="jaccard_macro", cv=3)
    assert jaccard.shape == (3,)
    own = ours.cross_val_score(GaussianNB(), X, y, scoring=lambda model, X, y: len(y), cv=3)
    assert own.tolist() == [50.0, 50.0, 50.0]
    with pytest.raises(ParameterError, match="acuracy"):
        ours.cross_val_score(GaussianNB(), X, y, scoring="acuracy")


def test_what_is_returned_has_scikit_learns_shape():
    X, y = IRIS
    given = {
        "cv": theirs.StratifiedKFold(4, shuffle=True, random_state=0), "return_train_score": True,
        "return_estimator": True, "return_indices": True, "scoring": ("accuracy", "neg_log_loss"),
    }
    found = ours.cross_validate(GaussianNB(), X, y, **given)
    wanted = theirs.cross_validate(sklearn.naive_bayes.GaussianNB(), X, y, **given)
    assert list(found) == list(wanted) or set(found) == set(wanted)
    for name in ["test_accuracy", "train_accuracy", "test_neg_log_loss", "train_neg_log_loss"]:
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-6)
    for part in ["train", "test"]:
        for a, b in zip(found["indices"][part], wanted["indices"][part]):
            np.testing.assert_array_equal(a, b)
    assert all(isinstance(model, GaussianNB) for model in found["estimator"])


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba"])
def test_predictions_of_unseen_rows_are_scikit_learns(method):
    X, y = IRIS
    # Logarithms that underflow as probabilities are theirs to compare.
    estimator = sklearn.naive_bayes.GaussianNB() if "log" in method else GaussianNB()
    found = ours.cross_val_predict(estimator, X, y, cv=5, method=method)
    wanted = theirs.cross_val_predict(sklearn.naive_bayes.GaussianNB(), X, y, cv=5, method=method)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9)
    # Without strata each third of iris lacks a class.
    found = ours.cross_val_predict(GaussianNB(), X, y, cv=ours.KFold(3), method="predict_proba")
    assert found.shape == (150, 3) and (found[:50, 0] == 0).all()
    with pytest.raises(ValueError, match="partitions"):
        ours.cross_val_predict(GaussianNB(), X, y, cv=ours.ShuffleSplit(2, random_state=0))


def test_weights_are_split_with_the_rows_and_failures_are_scores():
    X, y = DIABETES
    weights = np.linspace(0.5, 2, len(y))
    found = ours.cross_val_score(Ridge(), X, y, params={"sample_weight": weights})
    wanted = theirs.cross_val_score(
        sklearn.linear_model.Ridge(), X, y, params={"sample_weight": weights}
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-6)

    class Moody(sklearn.linear_model.LinearRegression):
        def fit(self, X, y):
            if X[0, 0] == DIABETES[0][0, 0]:
                raise RuntimeError("no rows like this")
            return super().fit(X, y)

    with pytest.warns(UserWarning, match="no rows like this"):
        scores = ours.cross_val_score(Moody(), X, y)
    assert np.isnan(scores[1:]).all() and np.isfinite(scores[0])
    with pytest.raises(RuntimeError):
        ours.cross_val_score(Moody(), X, y, error_score="raise")


def test_a_comparison_is_an_answer_with_the_columns_of_the_command():
    X, y = IRIS
    answer = learnt.compare(X, y, ["gaussian-nb", DecisionTreeClassifier()], cv=5)
    frame = answer.to_pandas()
    assert list(frame.columns)[:3] == ["model", "auc", "auc_se"]
    assert frame["model"].tolist() == ["gaussian-nb", "decision-tree-classifier", "baseline"]
    assert np.isnan(frame["p_value"][0]) and frame["p_value"][1] <= 1
    assert answer.charts()[0].svg.startswith("<svg") and "±" in repr(answer)
    again = learnt.compare(X, y, ["gaussian-nb", DecisionTreeClassifier()], cv=5, n_jobs=1)
    assert again["auc"].tolist() == answer["auc"].tolist()
    everything = learnt.compare(X, y, cv=3, skip=["perceptron"])
    names = everything["model"].tolist()
    assert "logistic-regression" in names and "perceptron" not in names and len(names) > 8


def test_estimators_of_other_packages_stand_beside_ours_on_the_same_folds():
    X, y = CANCER
    learners = {"ours": GaussianNB(), "theirs": sklearn.naive_bayes.GaussianNB()}
    answer = learnt.compare(X, y, learners, cv=5, scoring=["accuracy", "log-loss"])
    rows = answer.to_pandas().set_index("model")
    assert rows.loc["ours", "accuracy"] == pytest.approx(rows.loc["theirs", "accuracy"])
    assert rows.loc["ours", "log_loss"] == pytest.approx(rows.loc["theirs", "log_loss"], rel=1e-6)
    assert {"best", "≈"} <= {note.split()[0] for note in rows["note"] if note}
    splitter = ours.StratifiedKFold(4)
    found = learnt.compare(X, y, [GaussianNB()], cv=splitter, scoring="accuracy").to_pandas()
    wanted = theirs.cross_val_score(sklearn.naive_bayes.GaussianNB(), X, y, cv=4)
    assert found.set_index("model").loc["gaussian-nb", "accuracy"] == pytest.approx(wanted.mean())


def test_regression_and_learners_without_probabilities():
    X, y = DIABETES
    frame = learnt.compare(X, y, [LinearRegression(), Ridge(alpha=1e-9)], cv=3).to_pandas()
    assert list(frame.columns)[1] == "rmse" and len(frame) == 3
    X, y = CANCER
    frame = learnt.compare(X, y, [Perceptron()], cv=3).to_pandas().set_index("model")
    assert np.isnan(frame.loc["perceptron", "log_loss"]) and frame.loc["perceptron", "accuracy"] > 0.5
    with pytest.raises(ParameterError, match="metric"):
        learnt.compare(X, y, [Perceptron()], scoring="nothing")
    with pytest.raises(ValueError, match="rmse|regression"):
        learnt.compare(X, y, [Perceptron()], scoring="rmse", cv=3)


def test_classes_are_decided_by_a_threshold_or_by_costs():
    from learnt.linear_model import LogisticRegression
    from learnt.model_selection import decide

    X, y = CANCER
    model = LogisticRegression(max_iter=1000).fit(X, y)
    p = model.predict_proba(X)
    assert np.array_equal(decide(model, X, threshold=0.9), (p[:, 1] >= 0.9).astype(int))
    # Calling a 0 a 1 costs nine times as much as the other mistake: the threshold is 9 / (1 + 9).
    assert np.array_equal(decide(model, X, costs={0: 9}), decide(model, X, threshold=0.9))
    same = decide(model, X, costs=[[0, 9], [1, 0]])
    assert np.array_equal(same, decide(model, X, costs={(0, 1): 9}))
    first = decide(model, X, threshold=0.2, pos_label=0)
    assert np.array_equal(first == 0, p[:, 0] >= 0.2)
    for wrong in ({}, {"threshold": 0.1, "costs": {0: 2}}, {"threshold": 2.0}, {"costs": {7: 1}}):
        with pytest.raises(ValueError):
            decide(model, X, **wrong)


def test_comparisons_take_a_positive_class_thresholds_and_costs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.where(X[:, 0] + rng.normal(size=300) > 1.9, "yes", "no")
    names = ["logistic-regression", "gaussian-nb"]
    plain = learnt.compare(X, y, names, cv=4, by_class=True)
    # One class is rare: scores that a guess of the commonest does not win.
    assert {"average_precision", "balanced_accuracy"} <= set(plain.tables()[0])
    assert "recall" in plain.tables()[1] and "actual" in plain.tables()[2]
    costly = learnt.compare(X, y, names, cv=4, costs={"yes": 9})
    assert costly.values()["sorted_by"] == "cost" and len(costly.tables()) == 1
    by = {"cv": 4, "scoring": "recall"}
    own = [name in ("logistic-regression", "gaussian-nb") for name in costly["model"]]
    assert sum(own) == 2

    def recalls(**more):
        found = learnt.compare(X, y, names, **by, **more)
        return [r for r, name in zip(found["recall"], found["model"]) if name in names]

    assert min(recalls(threshold=0.05)) > max(recalls())
    assert min(recalls(pos_label="no")) > 0.9
    with pytest.raises(ValueError):
        learnt.compare(X, X[:, 1], ["ridge"], cv=3, threshold=0.5)
    with pytest.raises(ValueError):
        learnt.compare(X, y, names, cv=3, pos_label="maybe")


def test_a_function_may_give_several_scores_by_name():
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2

    def scores(model, X, y):
        right = model.score(X, y)
        return {"right": right, "wrong": 1 - right}

    found = ours.cross_validate(GaussianNB(), X, y, scoring=scores, cv=3, return_train_score=True)
    right = ours.cross_validate(GaussianNB(), X, y, cv=3, return_train_score=True)
    np.testing.assert_array_equal(found["test_right"], right["test_score"])
    np.testing.assert_allclose(found["train_wrong"], 1 - right["train_score"])
    with pytest.raises(ValueError, match="must give one score"):
        ours.cross_val_score(GaussianNB(), X, y, scoring=scores, cv=3)


def test_tables_of_kernels_are_cut_in_both_directions():
    X, y = IRIS
    kernel = X @ X.T
    rows = ours.cross_val_score(SVC(kernel="linear"), X, y, cv=4)
    table = ours.cross_val_score(SVC(kernel="precomputed"), kernel, y, cv=4)
    np.testing.assert_array_equal(rows, table)
    search = ours.GridSearchCV(SVC(kernel="precomputed"), {"C": [0.1, 1.0]}, cv=4).fit(kernel, y)
    assert search.best_score_ == ours.GridSearchCV(SVC(kernel="linear"), {"C": [0.1, 1.0]}, cv=4).fit(X, y).best_score_


def test_targets_of_several_classes_a_row_are_refused_in_words():
    with pytest.raises(ValueError, match="takes one class a row"):
        learnt.metrics.accuracy_score(np.eye(2), np.eye(2))
