"""Trees in Python: arrays that scikit-learn reads, rules, exports, C4.5, M5."""

import json

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_diabetes, load_iris
from sklearn.tree import export_text

from learnt.ensemble import GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from learnt.tree import C45Classifier, DecisionTreeClassifier, DecisionTreeRegressor, M5Regressor


@pytest.fixture
def iris():
    return load_iris(return_X_y=True)


def predict(tree, row):
    node = 0
    while tree.children_left[node] != -1:
        left = row[tree.feature[node]] <= tree.threshold[node]
        node = (tree.children_left if left else tree.children_right)[node]
    return tree.value[node]


def test_arrays_of_a_tree_predict_what_the_tree_predicts(iris):
    X, y = iris
    model = DecisionTreeClassifier(max_depth=3).fit(X, y)
    tree = model.tree_
    found = np.array([predict(tree, row)[0] for row in X])
    np.testing.assert_array_equal(found, model.predict_proba(X))
    assert tree.n_node_samples[0] == 150 and tree.weighted_n_node_samples[0] == 150
    assert (tree.node_count, tree.max_depth, tree.n_leaves) == (len(tree.feature), 3, model.n_leaves_)
    assert np.all((tree.feature == -2) == (tree.children_left == -1))
    X, y = load_diabetes(return_X_y=True)
    model = DecisionTreeRegressor(max_leaf_nodes=8).fit(X, np.column_stack([y, -y]))
    found = np.array([predict(model.tree_, row)[:, 0] for row in X])
    np.testing.assert_array_equal(found, model.predict(X))


def test_scikit_learn_writes_our_trees_like_its_own(iris):
    X, y = iris
    ours = DecisionTreeClassifier(max_depth=2).fit(X, y)
    theirs = sklearn.tree.DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    with sklearn.config_context(skip_parameter_validation=True):
        found, expected = export_text(ours), export_text(theirs)
    # The first cut of iris ties between two columns, so lines are compared without their columns.
    found, expected = found.splitlines(), expected.splitlines()
    assert len(found) == len(expected)
    for ours_line, theirs_line in zip(found, expected):
        if "feature" in theirs_line:
            assert ours_line.split("feature")[0] == theirs_line.split("feature")[0]
        else:  # Leaves of classes it does not know as its own say their shares.
            shares = json.loads(ours_line.split("value: ")[1])
            assert int(np.argmax(shares)) == int(theirs_line.split("class: ")[1])


def test_plot_tree_draws_every_node(iris):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    X, y = iris
    model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    with sklearn.config_context(skip_parameter_validation=True):
        drawn = sklearn.tree.plot_tree(model)
    assert len(drawn) >= model.tree_.node_count


def test_trees_are_written_as_graphviz_json_and_rules(iris):
    X, y = iris
    for model in (C45Classifier().fit(X, y), DecisionTreeClassifier(max_depth=2).fit(X, y)):
        nodes = json.loads(model.export(form="json")["text"])["nodes"]
        assert sum(node["leaf"] for node in nodes) == model.n_leaves_
        dot = model.export(form="graphviz")["text"]
        assert dot.startswith("digraph") and dot.count("->") == len(nodes) - 1
        assert len(model.rules()["rule"]) == model.n_leaves_
        pruned = model.pruned_rules(X, y)
        assert pruned["accuracy of the list"] > 0.9


def test_c45_takes_holes_and_costs(iris):
    X, y = iris
    X = X.copy()
    X[::7, 2] = np.nan
    model = C45Classifier().fit(X, y)
    assert model.score(X, y) > 0.9
    cheap = C45Classifier(costs=[100, 100, 100, 1]).fit(X, y)
    assert "x3" in cheap.export()["text"].splitlines()[1]


def test_a_model_tree_is_better_than_a_line():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    y = np.where(X[:, 0] < 0.5, 3 * X[:, 1], 10 - 4 * X[:, 1])
    model = M5Regressor(smoothing=False).fit(X, y)
    assert model.score(X, y) > 0.999


def test_proximities_are_shares_of_trees(iris):
    X, y = iris
    model = RandomForestRegressor(n_estimators=10, random_state=0).fit(X, y)
    found = np.asarray(model.proximities(X[:20])["proximities"])
    assert found.shape == (20, 20)
    np.testing.assert_array_equal(np.diag(found), 1.0)
    np.testing.assert_array_equal(found, found.T)


def test_trees_of_forests_and_of_boosting_are_learners(iris):
    X, y = iris
    forest = RandomForestClassifier(n_estimators=5, random_state=0).fit(X, y)
    shares = np.mean([tree.predict_proba(X) for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(shares, forest.predict_proba(X), atol=1e-12)
    assert forest.estimators_[0].tree_.n_node_samples[0] <= 150
    boosted = GradientBoostingClassifier(n_estimators=4).fit(X, y)
    assert boosted.estimators_.shape == (4, 3)
    first = [tree.predict(X) for tree in boosted.estimators_[:, 0]]
    score = boosted.decision_function(X)[:, 0]
    assert np.ptp(score - np.sum(first, axis=0)) < 1e-9
