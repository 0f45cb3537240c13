"""Reference cases of ensembles through the functions and classes of the package."""

import json
import pathlib

import numpy as np
import pandas as pd
import pytest

from learnt.ensemble import (
    AdaBoostClassifier,
    AdaBoostMHClassifier,
    BumpingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    MixtureOfExpertsRegressor,
    StagewiseClassifier,
    boosting_steps,
    exponential_leaf,
    margin_losses,
    multiclass_expansion,
    nested_spheres,
    robust_location,
)
from learnt.linear_model import LinearRegression
from learnt.metrics import multinomial_deviance, regression_loss
from learnt.tree import DecisionTreeClassifier

FOLDER = pathlib.Path(__file__).parents[2] / "tests" / "golden"


def case(name):
    cases = json.loads((FOLDER / "ensemble.json").read_text())
    found = next(case for case in cases if case["id"] == name)
    return found["input"], found["params"], found["expect"]


@pytest.mark.parametrize("loss", ["half_squared", "absolute", "huber"])
def test_negative_gradients_of_regression_losses(loss):
    given, _, expected = case("negative-gradients")
    found = regression_loss(given["residual"], np.zeros(5), loss, delta=given["delta"])
    np.testing.assert_allclose(-np.asarray(found.slope), expected[loss], rtol=1e-9, atol=1e-12)


def test_negative_gradients_of_the_deviance_are_those_of_its_differences():
    given, _, expected = case("negative-gradients")

    def half(scores):
        shares = np.exp(scores) / np.exp(scores).sum()
        return multinomial_deviance([given["true_class"]], [shares], labels=[0, 1, 2]) / 2

    step = 1e-5 * np.eye(3)
    f = np.array(given["f"])
    slopes = [(half(f + step[k]) - half(f - step[k])) / 2e-5 for k in range(3)]
    np.testing.assert_allclose(-np.array(slopes), expected["deviance"], rtol=1e-9)


def test_a_leaf_of_the_exponential_loss():
    given, _, expected = case("exponential-leaf")
    found = exponential_leaf(given["W_plus"], given["W_minus"])
    assert getattr(found, "value", found) == pytest.approx(expected["value"], rel=1e-9)


def test_margins_have_their_losses():
    given, _, expected = case("loss-values")
    found = margin_losses(given["margin"])
    for name in ("exponential", "deviance", "squared", "hinge"):
        assert getattr(found, name) == pytest.approx(expected[name], rel=1e-9)


def test_one_class_of_five_is_one_positive_row():
    given, _, expected = case("multiclass-to-binary")
    found = multiclass_expansion(np.array(given["labels"]))
    assert list(found[given["labels"].index(given["example"])]) == expected["binary"]


def test_weights_after_one_update():
    given, _, expected = case("adaboost-one-update")
    steps = boosting_steps([given["wrong"] / given["m"]])
    assert steps.half_weights[0] == pytest.approx(expected["lam"], rel=1e-9)
    assert steps.normalisers[0] == pytest.approx(expected["total"], rel=1e-9)
    wrong = np.exp(steps.half_weights[0]) / given["m"]
    assert wrong == pytest.approx(expected["wrong_weight"], rel=1e-9)
    assert given["wrong"] * wrong / steps.normalisers[0] == pytest.approx(expected["wrong_mass_normalised"])


def test_bumping_finds_exclusive_or():
    _, _, expected = case("bumping-xor")
    rng = np.random.default_rng(0)

    def draw(rows):
        X = rng.uniform(size=(rows, 2))
        return X, (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)

    test = draw(2000)
    single, bumped = [], []
    for seed in range(30):
        X, y = draw(100)
        single.append(1 - DecisionTreeClassifier(max_depth=2).fit(X, y).score(*test))
        model = BumpingClassifier(n_estimators=20, random_state=seed).fit(X, y)
        bumped.append(1 - model.score(*test))
    assert expected["error_single"]["min"] <= np.mean(single) <= expected["error_single"]["max"]
    assert np.mean(bumped) <= expected["error_bumped"]["max"]


def test_stumps_on_nested_spheres():
    _, params, expected = case("adaboost-nested-spheres")
    found = nested_spheres(rounds=200, rows=2000, test_rows=10000)
    for round_, range_ in zip(params["rounds"], expected["test_error"]):
        if round_ <= 200:
            assert range_["min"] <= found.test_error[round_ - 1] <= range_["max"], round_
    assert found.test_error[-1] < found.tree < found.stump


def test_outliers_and_locations():
    _, _, expected = case("robust-location")
    found = robust_location(repeats=4000)
    for sample in ("gaussian", "contaminated"):
        for name, error in zip(found.location, getattr(found, sample)):
            assert expected[sample][name]["min"] <= error <= expected[sample][name]["max"]


def test_stacked_training_predictions_give_all_to_the_largest_model():
    given, _, expected = case("stacking-training-predictions")
    frame = pd.read_csv(FOLDER / "data" / "swiss.csv")
    y = frame[given["target"]].to_numpy(float)
    X = frame[given["features"]].to_numpy(float)
    said = [LinearRegression().fit(X[:, :k], y).predict(X[:, :k]) for k in range(1, 6)]
    weights = LinearRegression(fit_intercept=False).fit(np.column_stack(said), y).coef_
    assert weights == pytest.approx(expected["weights"], abs=1e-6)


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer"])
def test_out_of_bag_errors_of_forests(name):
    from sklearn import datasets

    _, params, expected = case("forest-oob-error")
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    model = RandomForestClassifier(n_estimators=params["trees"], oob_score=True, random_state=1).fit(X, y)
    assert expected[name]["min"] <= 1 - model.oob_score_ <= expected[name]["max"]


def test_absolute_loss_ties_go_to_the_lower_cut():
    given, _, expected = case("lad-boosting-tie")
    X, y = np.array(given["x"], float)[:, None], np.array(given["y"])
    assert expected["sse_cut_1_5"] == expected["sse_cut_3_5"]
    model = GradientBoostingRegressor(loss="absolute_error", n_estimators=1, max_depth=1, learning_rate=1.0)
    found = model.fit(X, y).predict(X)
    assert found[0] != found[1] and np.all(found[1:] == found[1])


def test_stagewise_exponential_loss_is_adaboost():
    given, _, expected = case("adaboost-m1-ten-points")
    X, y = np.array(given["x"])[:, None], np.array(given["y"]).astype(int)
    ours = StagewiseClassifier(n_estimators=3).fit(X, y)
    theirs = AdaBoostClassifier(n_estimators=3).fit(X, y)
    np.testing.assert_allclose(2 * ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-12)
    np.testing.assert_allclose(ours.estimator_errors_, expected["err"], rtol=1e-9)
    np.testing.assert_allclose(ours.estimator_weights_, expected["half_alpha"], rtol=1e-9)
    assert ours.score(X, y) == 1.0


def test_boosting_of_pairs_has_its_bound():
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    model = AdaBoostMHClassifier(n_estimators=20).fit(X, y)
    bound = 1.5 * np.prod(model.normalisers_)
    assert 1 - model.score(X, y) <= bound
    assert list(np.unique(model.predict(X))) == [0, 1, 2]


def test_experts_part_two_lines_where_they_break():
    x = np.linspace(0, 10, 100)
    y = np.where(x < 5, 2 * x, 20 - 2 * x)
    model = MixtureOfExpertsRegressor().fit(x[:, None], y)
    assert model.score(x[:, None], y) > 0.99
    first = np.asarray(model.gate_shares(x[:, None])["expert 1"])
    assert abs(x[np.argmin(np.abs(first - 0.5))] - 5) < 0.5
