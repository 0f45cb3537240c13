"""Reference cases of trees and of counts through the functions and classes of the package."""

import json
import pathlib

import numpy as np
import pytest

from learnt.cluster import dbscan_cost, number_of_dendrograms, number_of_partitions
from learnt.datasets import gaussians_bayes_rule, load_labor, load_weather_nominal
from learnt.tree import C45Classifier, ID3Classifier, class_change_cuts, gain_ratio, impurity, information_gain

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
