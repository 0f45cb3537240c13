"""Functions that fit a learner again and again, and numbers of learning theory, from Python."""

import json
import pathlib

import numpy as np
import pytest
import sklearn.model_selection as theirs
from sklearn.datasets import load_iris

import learnt.model_selection as ours
import learnt.theory as theory
from learnt.discriminant_analysis import LinearDiscriminantAnalysis
from learnt.linear_model import LogisticRegression, Ridge
from learnt.neighbors import KNeighborsClassifier
from learnt.pipeline import Pipeline
from learnt.preprocessing import StandardScaler

GOLDEN = pathlib.Path(__file__).parents[2] / "tests" / "golden" / "theory.json"
CASES = {case["id"]: case for case in json.loads(GOLDEN.read_text())}


def test_learning_curves_have_scikit_learns_shapes_and_levels():
    X, y = load_iris(return_X_y=True)
    learner = Pipeline([("scale", StandardScaler()), ("lda", LinearDiscriminantAnalysis())])
    sizes, train, test = ours.learning_curve(learner, X, y, train_sizes=[0.2, 0.5, 1.0], cv=5, random_state=0)
    expected = theirs.learning_curve(learner, X, y, train_sizes=[0.2, 0.5, 1.0], cv=5, shuffle=True, random_state=0)
    assert list(sizes) == list(expected[0])
    assert train.shape == expected[1].shape and test.shape == expected[2].shape
    np.testing.assert_allclose(test.mean(axis=1), expected[2].mean(axis=1), atol=0.04)


def test_validation_curves_change_one_parameter_inside_a_pipeline():
    X, y = load_iris(return_X_y=True)
    learner = Pipeline([("scale", StandardScaler()), ("knn", KNeighborsClassifier())])
    train, test = ours.validation_curve(
        learner, X, y, param_name="knn__n_neighbors", param_range=[1, 15, 75], random_state=0
    )
    assert train.shape == test.shape == (3, 5)
    assert (train[0] == 1.0).all() and test[2].mean() < test[1].mean()
    with pytest.raises(ValueError, match="n_neighbors"):
        ours.validation_curve(learner, X, y, param_name="knn__neighbors", param_range=[1])


def test_a_permutation_test_tells_signal_from_noise():
    X, y = load_iris(return_X_y=True)
    score, scores, p = ours.permutation_test_score(LogisticRegression(), X, y, n_permutations=19, random_state=0)
    assert score > 0.9 and len(scores) == 19 and p == pytest.approx(1 / 20)


def test_bootstrap_errors_of_a_regression_lie_between_training_and_no_information():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 5))
    y = X @ np.ones(5) + rng.normal(size=80)
    found = ours.bootstrap_error(Ridge(), X, y, random_state=0)
    assert found.training < found.err_632 < found.leave_one_out < found.no_information
    assert found.err_632 == pytest.approx(0.368 * found.training + 0.632 * found.leave_one_out)


def test_a_learner_for_classes_refuses_to_be_a_regression():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="not a number"):
        ours.stability(Ridge(), X, np.array(["a", "b", "c"])[y])


def test_bounds_of_theory_agree_with_the_fixtures():
    case = CASES["vc-penalty-binomial"]
    for (n, d, delta), omega in zip(case["input"]["N_dvc_delta"], case["expect"]["omega"]):
        assert theory.vc_bound(n, d, delta=delta, growth="binomial_sum").penalty == pytest.approx(omega, rel=1e-9)
    case = CASES["finite-m-gap"]
    for (n, m, delta), gap in zip(case["input"]["N_M_delta"], case["expect"]["gap"]):
        assert theory.hoeffding_bound(n=n, hypotheses=m, delta=delta).eps == pytest.approx(gap, rel=1e-9)
    case = CASES["shatter-half-planes"]
    for name, points in case["input"]["points"].items():
        assert theory.dichotomies(points).count == case["expect"]["dichotomies"][name]
    case = CASES["cover-counting"]
    for (n, d), count, share in zip(case["input"]["N_d"], case["expect"]["count"], case["expect"]["share"]):
        found = theory.cover_count(n, d)
        assert found.count == count and found.probability == pytest.approx(share, rel=1e-9)
    case = CASES["growth-functions"]
    classes = {"positive_rays": ("positive_rays", 1), "positive_intervals": ("positive_intervals", 1)}
    classes |= {f"perceptron_{d}d": ("half_spaces", d) for d in (1, 2, 3)}
    for name, (kind, d) in classes.items():
        found = theory.growth_function(case["input"]["N"], hypotheses=kind, d=d)
        assert list(found.growth) == case["expect"][name]


SELECT = {case["id"]: case for case in json.loads(GOLDEN.with_name("select.json").read_text())}


def test_criteria_agree_with_the_fixtures():
    case = SELECT["information-criteria"]
    given = case["input"]
    found = ours.information_criteria(given["loglik"], given["k"], given["m"])
    assert found.aic == pytest.approx(case["expect"]["aic"], rel=1e-9)
    assert found.aicc == pytest.approx(case["expect"]["aicc"], rel=1e-9)
    assert found.bic == pytest.approx(case["expect"]["bic"], rel=1e-9)
    assert found.description_length == pytest.approx(case["expect"]["mdl"], rel=1e-9)
    assert ours.information_criteria(given["loglik"], given["k"], 6).aicc is None
    case = SELECT["esl-aic-bic"]
    given = case["input"]
    found = ours.squared_error_criteria(given["err"], given["d"], given["N"], given["sigma2"])
    assert found.aic == pytest.approx(case["expect"]["aic"], rel=1e-9)
    assert found.bic == pytest.approx(case["expect"]["bic"], rel=1e-9)


def test_mallows_cp_of_polynomials_is_rs():
    case = SELECT["polynomial-degree-cars"]
    cars = np.genfromtxt(GOLDEN.parent / "data" / "cars.csv", delimiter=",", names=True)
    x, y = (cars["speed"] - cars["speed"].mean()) / cars["speed"].std(), cars["dist"]
    n, degrees = len(y), case["params"]["degree"]
    rss = [np.sum((y - np.polynomial.Polynomial.fit(x, y, d)(x)) ** 2) for d in degrees]
    noise = rss[-1] / (n - degrees[-1] - 1)
    found = [ours.squared_error_criteria(r / n, d + 1, n, noise).aic for r, d in zip(rss, degrees)]
    np.testing.assert_allclose(np.array(found) * n / noise - n, case["expect"]["cp"], rtol=1e-6)


def test_the_effective_parameters_of_a_normal_mean_are_one():
    case = SELECT["dic-normal-mean"]
    x = np.array(case["input"]["x"], dtype=float)
    draws = x.mean() + np.random.default_rng(0).normal(size=200_000) / np.sqrt(3)

    def deviance(mean):
        return len(x) * np.log(2 * np.pi) + ((x[:, None] - mean) ** 2).sum(axis=0)

    found = ours.deviance_information(deviance(draws), deviance(np.array([x.mean()]))[0])
    assert found.effective_parameters == pytest.approx(case["expect"]["p_D"], abs=0.05)
    assert found.dic == pytest.approx(case["expect"]["dic"], abs=0.05)


def test_the_weights_of_the_632_estimate():
    case = SELECT["point632-weights"]
    found = ours.bootstrap_error(Ridge(), np.arange(20.0)[:, None], np.arange(20.0) % 3, random_state=1)
    one, two = case["params"]["weights"]
    assert found.err_632 == pytest.approx(one * found.training + two * found.leave_one_out, rel=1e-12)
    assert one * case["input"]["err"] + two * case["input"]["err1"] == pytest.approx(case["expect"]["err632"])


def test_bootstrap_errors_of_given_resamples():
    case = SELECT["bootstrap-632-lda"]
    X, y = load_iris(return_X_y=True)
    how, state, drawn = case["input"]["resamples"], case["input"]["resamples"]["seed"], []
    for _ in range(how["B"] * how["n"]):
        state = (1103515245 * state + 12345) % 2**31
        drawn.append(state // 65536 % how["n"])
    assert drawn[:5] == [81, 33, 69, 61, 56]
    resamples = np.array(drawn).reshape(how["B"], how["n"])
    found = ours.bootstrap_error(LinearDiscriminantAnalysis(), X[50:], y[50:], resamples=resamples)
    names = {"training_error": "training", "err632": "err_632", "gamma": "no_information"}
    names |= {"never_left_out": "rows_without", "err632_plus": "err_632_plus"}
    for name, value in case["expect"].items():
        assert getattr(found, names.get(name, name)) == pytest.approx(value, abs=case["tol"]["abs"]), name
    with pytest.raises(ValueError, match="row numbers from 0 to 99"):
        ours.bootstrap_error(LinearDiscriminantAnalysis(), X[50:], y[50:], resamples=[[0, 100]])


def test_a_choice_by_validation_is_judged_on_other_rows():
    X, y = load_iris(return_X_y=True)
    candidates = [("one", KNeighborsClassifier(n_neighbors=1)), ("lda", LinearDiscriminantAnalysis())]
    found = ours.select_by_validation(candidates, X, y, random_state=3)
    assert found.names == ["one", "lda"] and found.chosen in found.names
    assert found.train_errors[0] == 0 and 0 <= found.test_error < 0.2


def test_bootstrap_errors_of_one_neighbour_where_nothing_can_be_learnt():
    expect = SELECT["bootstrap-error-1nn"]["expect"]
    rng = np.random.default_rng(7)
    found = []
    for seed in range(40):
        X, y = rng.random((50, 2)), rng.integers(0, 2, 50)
        found.append(ours.bootstrap_error(KNeighborsClassifier(n_neighbors=1), X, y, random_state=seed))
    for ours_name, name in (("naive", "naive"), ("leave_one_out", "leave_one_out"), ("err_632", "err632")):
        mean = np.mean([getattr(one, ours_name) for one in found])
        assert expect[name]["min"] <= mean <= expect[name]["max"]


def test_curves_keep_groups_whole_and_split_as_named():
    groups = np.repeat(np.arange(20), 2)
    X, y = groups[:, None].astype(float), groups % 2
    nearest = KNeighborsClassifier(1)
    *_, alone = ours.learning_curve(nearest, X, y, train_sizes=[1.0], random_state=0)
    *_, whole = ours.learning_curve(nearest, X, y, groups=groups, train_sizes=[1.0], random_state=0)
    assert alone.mean() > 0.6 and whole.mean() == 0.0
    _, test = ours.validation_curve(
        nearest, X, y, groups=groups, split="group", param_name="n_neighbors", param_range=[1], random_state=0
    )
    assert test.mean() == 0.0
    sizes, *_ = ours.learning_curve(nearest, X, y, split="time", cv=3, train_sizes=[1.0], random_state=0)
    assert list(sizes) == [10]
    with pytest.raises(ValueError, match="stratified"):
        ours.learning_curve(nearest, X, y, split="stratifed")
