"""Reference cases of trees and of counts through the functions and classes of the package."""

import json
import pathlib

import numpy as np
import pandas as pd
import pytest

from learnt.cluster import dbscan_cost, number_of_dendrograms, number_of_partitions
from learnt.datasets import gaussians_bayes_rule, load_cpu, load_labor, load_weather_nominal
from learnt.ensemble import GradientBoostingRegressor
from learnt.tree import (
    C45Classifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ID3Classifier,
    M5Regressor,
    categorical_partitions,
    class_change_cuts,
    cost_complexity,
    cost_sensitive_gain,
    gain_ratio,
    impurity,
    information_gain,
    split_deviation,
    two_class_splits,
)

FOLDER = pathlib.Path(__file__).parents[2] / "tests" / "golden"


def case(file, name):
    cases = json.loads((FOLDER / f"{file}.json").read_text())
    found = next(case for case in cases if case["id"] == name)
    return found["input"], found["expect"]


def test_partitions_and_trees_of_points_are_counted():
    given, expected = case("theory", "stirling-second-kind")
    assert [number_of_partitions(n, k) for n, k in given["n_k"]] == expected["count"]
    given, expected = case("theory", "dendrogram-count")
    assert [number_of_dendrograms(n).shapes for n in given["n"]] == expected["shapes"]
    for n, orders in expected["merge_orders"].items():
        assert number_of_dendrograms(int(n)).orders == orders


def test_the_cost_of_dbscan_by_dimension():
    given, expected = case("theory", "exact-dbscan-exponent")
    assert [dbscan_cost(d) for d in given["d"]] == pytest.approx(expected["exponent"], rel=1e-9)


def test_the_error_of_two_clouds():
    given, expected = case("theory", "bayes-rate-scenario-1")
    (low, high) = given["mean"]
    found = gaussians_bayes_rule(np.zeros((1, 2)), shift=high[0] - low[0])
    assert found.error == pytest.approx(expected["bayes_error"], abs=1e-9)


def test_cuts_lie_where_the_class_changes():
    given, expected = case("tree", "class-change-thresholds")
    assert class_change_cuts(given["x"], given["y"]) == pytest.approx(expected["cuts"], abs=1e-9)


def test_gains_of_the_days_of_tennis_and_their_tree():
    given, expected = case("tree", "id3-play-tennis")
    bundle = load_weather_nominal(as_frame=True)
    weather = bundle.frame
    play = np.array(bundle.target_names)[weather[given["target"]]]
    days = {name: weather[name].astype(str).to_numpy() for name in given["features"]}
    counts = np.unique(play, return_counts=True)[1]
    assert impurity(counts, "entropy") == pytest.approx(expected["entropy"], rel=1e-9)
    sunny = days["outlook"] == "sunny"
    for name, column in days.items():
        assert information_gain(column, play) == pytest.approx(expected["gain"][name], rel=1e-9)
        assert gain_ratio(column, play).gain_ratio == pytest.approx(expected["gain_ratio"][name], rel=1e-9)
        if name in expected["sunny_gain"]:
            inside = information_gain(column[sunny], play[sunny])
            assert inside == pytest.approx(expected["sunny_gain"][name], rel=1e-9)
    model = ID3Classifier().fit(weather[given["features"]], play)

    def walk(tree, day):
        while isinstance(tree, dict):
            (name, branches) = next(iter(tree.items()))
            tree = branches[day[name]]
        return tree

    wanted = [walk(expected["tree"], {name: column[i] for name, column in days.items()}) for i in range(len(play))]
    assert list(model.predict(weather[given["features"]])) == wanted


def test_labour_contracts_have_the_size_of_weka():
    given, expected = case("tree", "j48-labor-unpruned")
    frame = load_labor(as_frame=True).frame
    table, target = frame.drop(columns=given["target"]), frame[given["target"]].astype(str)
    model = C45Classifier(pruning=None).fit(table, target)
    assert abs(model.n_leaves_ - expected["n_leaves"]) <= 3
    wrong = int((model.predict(table) != target.to_numpy()).sum())
    assert abs(wrong - expected["training_errors"]) <= 1


def test_a_leaf_has_the_label_of_least_expected_cost():
    given, expected = case("tree", "loss-matrix-node")
    target = np.repeat([0, 1], [3, 7])
    costs = np.array(given["p"]) @ np.array(given["L"])
    assert costs == pytest.approx(expected["expected_cost"])
    model = C45Classifier(loss=given["L"]).fit(np.zeros((10, 1)), target)
    assert model.predict([[0.0]])[0] == expected["label"] == int(np.argmin(costs))
    assert C45Classifier().fit(np.zeros((10, 1)), target).predict([[0.0]])[0] == 1


def read(name):
    return pd.read_csv(FOLDER / "data" / f"{name}.csv")


def test_levels_are_parted_in_so_many_ways():
    given, expected = case("tree", "categorical-partitions")
    assert [categorical_partitions(q) for q in given["q"]] == expected["count"]


def test_equal_errors_hide_the_better_split():
    _, expected = case("tree", "split-400-400")
    found = two_class_splits()
    for k, name in enumerate(["split1", "split2"]):
        assert found.error[k] == pytest.approx(expected[name]["misclassification"])
        assert found.gini[k] == pytest.approx(expected[name]["gini"])
        assert found.entropy[k] == pytest.approx(expected[name]["entropy"])


def test_surrogates_of_eight_points():
    given, expected = case("tree", "surrogate-splits")
    y = case("tree", "regression-tree-pruning")[0]["y"]
    X = pd.DataFrame({name: np.array(given[name], float) for name in ("x1", "x2", "x3")})
    model = DecisionTreeRegressor(max_depth=1, max_surrogates=2).fit(X, y)
    assert model.tree_.threshold[0] == given["primary"]["cut"]
    found = model.surrogates()
    assert list(found["surrogate"]) == ["x2", "x3"]
    assert [8 * share for share in found["agreement"]] == pytest.approx(
        [expected["x2"]["agree"], expected["x3"]["agree"]]
    )
    assert f"<= {expected['x2']['cut']}" == found["goes left if"][0]
    X.loc[0, "x1"] = np.nan
    assert model.predict(X)[0] == model.predict(X.iloc[[1]])[0]


@pytest.mark.parametrize(
    "name, how",
    [
        ("rpart-kyphosis", {}),
        ("rpart-kyphosis-entropy", {"criterion": "entropy"}),
        ("rpart-kyphosis-loss", {"loss": [[0, 1], [4, 0]]}),
        ("rpart-iris", {}),
        ("rpart-mtcars", {}),
        ("rpart-warpbreaks", {}),
    ],
)
def test_surrogates_of_the_root_are_those_of_rpart(name, how):
    cases = json.loads((FOLDER / "tree.json").read_text())
    found = next(case for case in cases if case["id"] == name)
    given, params, expected = found["input"], found["params"], found["expect"]["root_surrogates"]
    frame = read(given["dataset"])
    target = frame[given["target"]]
    features = given.get("features", [column for column in frame if column != given["target"]])
    X = frame[features].copy()
    for column in given.get("categorical", []):
        X[column] = X[column].astype("category")
    kind = DecisionTreeRegressor if name in ("rpart-mtcars", "rpart-warpbreaks") else DecisionTreeClassifier
    limits = {"min_samples_split": params["minsplit"], "min_samples_leaf": params["minbucket"]}
    told = kind(max_surrogates=5, **limits, **how).fit(X, target).surrogates()
    root = [k for k, node in enumerate(told["node"]) if node == 0]
    ours = sorted((told["surrogate"][k], told["agreement"][k], told["over majority"][k]) for k in root)
    theirs = sorted((one["var"], one["agree"], one["adj"]) for one in expected)
    assert [one[0] for one in ours] == [one[0] for one in theirs]
    for one, other in zip(ours, theirs):
        assert one[1:] == pytest.approx(other[1:], rel=1e-6)


def test_losses_of_a_node_in_splits_and_labels():
    given, expected = case("tree", "loss-matrix-node")
    target = np.repeat([0, 1], [3, 7])
    model = DecisionTreeClassifier(loss=given["L"]).fit(np.zeros((10, 1)), target)
    assert model.predict([[0.0]])[0] == expected["label"]
    assert model.predict_proba([[0.0]])[0] == pytest.approx(given["p"])
    # Three classes, the third without rows: the index of the node is the one of the case.
    losses = np.zeros((3, 3))
    losses[:2, :2] = given["L"]
    X = np.zeros((11, 1))
    weights = np.r_[np.ones(10), 1e-12]
    three = DecisionTreeClassifier(loss=losses.tolist()).fit(X, np.r_[target, 2], sample_weight=weights)
    assert three.tree_.impurity[0] == pytest.approx(expected["loss_gini"], rel=1e-9)


def test_dependence_by_rows_and_by_the_tree():
    given, expected = case("tree", "partial-dependence-two-ways")
    X = np.array(given["X"], float)
    y = np.where(X[:, 0] <= 2.5, 1.0, np.where(X[:, 1] <= 1.5, 5.0, 9.0))
    model = GradientBoostingRegressor(n_estimators=1, learning_rate=1.0).fit(X, y)
    by_tree = model.tree_dependence(X, columns=["x0"])
    place = list(np.asarray(by_tree["value"])).index(3.0)
    assert by_tree["mean score"][place] == pytest.approx(expected["by_traversal"], rel=1e-6)
    by_rows = model.partial_dependence(X, columns=["x0"])
    place = list(np.asarray(by_rows["value"])).index(3.0)
    assert by_rows["mean prediction"][place] == pytest.approx(expected["by_rows"], rel=1e-6)


def test_a_model_tree_of_processors():
    given, expected = case("tree", "m5p-cpu")
    X, y = load_cpu(return_X_y=True)
    said = M5Regressor().fit(X, y).predict(X)
    assert given["dataset"] == "cpu"
    assert np.corrcoef(said, y)[0, 1] >= expected["training_correlation"]["min"]
    assert np.sqrt(np.mean((said - y) ** 2)) <= expected["training_rmse"]["max"]


def test_the_pruning_sequence_of_eight_points_and_its_choice():
    given, expected = case("tree", "regression-tree-pruning")
    X, y = np.array(given["X"]), np.array(given["y"])
    found = cost_complexity(X, y, "regression", cv=4)
    sequence = np.array(expected["sequence"])
    assert np.asarray(found.ccp_alphas) * 8 == pytest.approx(sequence[:, 0], abs=1e-6)
    assert np.asarray(found.splits) + 1 == pytest.approx(sequence[:, 1])
    assert found.best_alpha in list(found.ccp_alphas)


def test_impurities_by_share():
    given, expected = case("tree", "impurity-curves")
    names = {"misclassification": "error", "gini": "gini", "entropy": "entropy"}
    for name, criterion in names.items():
        scale = np.log(2) if name == "entropy" else 1.0
        for p, number in zip(given["p"], expected[name]):
            assert scale * impurity([p, 1 - p], criterion) == pytest.approx(number, rel=1e-9)
        three = scale * impurity(given["counts"], criterion)
        assert three == pytest.approx(expected["three_class"][name], rel=1e-9)
    scaled = [impurity([p, 1 - p], "entropy") / 2 for p in given["p"]]
    assert scaled == pytest.approx(expected["entropy_scaled"], rel=1e-9)


def test_gains_with_costs():
    _, expected = case("tree", "cost-sensitive-gains")
    gains = case("tree", "id3-play-tennis")[1]["gain"]
    for k, name in enumerate(["outlook", "temperature", "humidity", "windy"]):
        found = cost_sensitive_gain(gains[name], k + 1.0)
        assert found.gain_over_cost == pytest.approx(expected["gain_over_cost"][k], rel=1e-8)
        assert found.squared_gain_over_cost == pytest.approx(expected["gain2_over_cost"][k], rel=1e-8)
        assert found.information_over_cost == pytest.approx(expected["nunez_w1"][k], rel=1e-8)
        half = cost_sensitive_gain(gains[name], k + 1.0, w=0.5).information_over_cost
        assert half == pytest.approx(expected["nunez_w_half"][k], rel=1e-8)


def test_gains_of_two_splits():
    given, expected = case("tree", "gain-29-35")
    assert impurity(given["root"], "entropy") == pytest.approx(expected["entropy"], rel=1e-9)
    for name in ("A1", "A2"):
        (a, b), (c, d) = given[name]
        column = np.repeat(["l", "l", "r", "r"], [a, b, c, d])
        target = np.repeat(["+", "-", "+", "-"], [a, b, c, d])
        assert information_gain(column, target) == pytest.approx(expected[name]["gain"], rel=1e-9)
        ratio = gain_ratio(column, target).gain_ratio
        assert ratio == pytest.approx(expected[name]["gain_ratio"], rel=1e-9)


def test_prices_by_their_attributes():
    given, expected = case("tree", "regression-tree-prices")
    frame = pd.DataFrame(given["rows"], columns=given["columns"])
    for name in ("Model", "Condition", "Leslie"):
        found = split_deviation(frame[name].to_numpy(str), frame["price"].to_numpy(float))
        assert found.weighted_variance == pytest.approx(expected["weighted_mse"][name], rel=1e-9)
        reduction = found.standard_deviation_reduction
        assert reduction == pytest.approx(expected["sdr"][name], rel=1e-9)
