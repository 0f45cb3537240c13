"""What programs written for scikit-learn find in classes of the same name."""

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
import sklearn.inspection
import sklearn.linear_model
import sklearn.neighbors
import sklearn.tree
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, make_blobs
from sklearn.linear_model import LinearRegression as TheirLinearRegression
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression
from sklearn.neighbors import RadiusNeighborsClassifier as TheirRadius
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier as TheirTree
from sklearn.tree import DecisionTreeRegressor as TheirRegressionTree

import learnt
from learnt import cluster, compose, ensemble, inspection, linear_model, neighbors, pipeline, tree
from learnt.errors import ParameterError
from learnt.neighbors import RadiusNeighborsClassifier
from learnt.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from learnt.random_projection import GaussianRandomProjection

X, Y = load_iris(return_X_y=True)
XD, YD = load_diabetes(return_X_y=True)
TWO = Y < 2


@pytest.mark.parametrize(
    ("learner", "given"),
    [
        (linear_model.LogisticRegression, {"random_state": 0, "verbose": 1, "warm_start": True}),
        (linear_model.Ridge, {"random_state": np.random.RandomState(0), "copy_X": False}),
        (linear_model.Lasso, {"precompute": True, "copy_X": False}),
        (StandardScaler, {"copy": False}),
        (cluster.KMeans, {"copy_x": False, "verbose": 0, "random_state": 0}),
    ],
)
def test_parameters_that_change_nothing_are_taken_kept_and_cloned(learner, given):
    made = clone(learner(**given))
    kept = made.get_params()
    for name, value in given.items():
        assert kept[name] is value or name == "random_state"
    without = learner(**{k: v for k, v in given.items() if learner is cluster.KMeans and k == "random_state"})
    y = Y if learner is linear_model.LogisticRegression else X[:, 0]
    given_rows = X.copy()
    answer = "transform" if hasattr(made, "transform") else "predict"
    first = getattr(made.fit(X, y), answer)(X)
    # A second fit begins anew.
    second = getattr(made.fit(X, y), answer)(X)
    plain = getattr(without.fit(X, y), answer)(X)
    np.testing.assert_array_equal(first, plain)
    np.testing.assert_array_equal(second, plain)
    np.testing.assert_array_equal(X, given_rows)


def test_values_that_scikit_learn_refuses_of_such_parameters_are_refused():
    with pytest.raises(ParameterError, match="'copy' parameter of StandardScaler"):
        StandardScaler(copy="no").fit(X)
    with pytest.raises(ParameterError, match="'sparse_output' parameter of OneHotEncoder"):
        pipeline.make_pipeline(OneHotEncoder(sparse_output=True), linear_model.Ridge()).fit(X, Y)
    # scikit-learn's InvalidParameterError is both.
    assert issubclass(ParameterError, TypeError) and issubclass(ParameterError, ValueError)


def test_carried_parameters_have_the_defaults_of_scikit_learn():
    differ = []
    for path in learnt.registry():
        module, _, name = path.rpartition(".")
        try:
            theirs = getattr(__import__(f"sklearn.{module}", fromlist=[name]), name)
        except (ImportError, AttributeError):
            continue
        ours = getattr(__import__(f"learnt.{module}", fromlist=[name]), name)
        known = inspect.signature(theirs.__init__).parameters
        for parameter in ours._carried:
            default = ours._defaults()[parameter]
            wanted = known[parameter].default if parameter in known else inspect
            if wanted != default and repr(wanted) != repr(default):
                differ.append((name, parameter))
    # Sparse tables are not made, and copies cost nothing.
    assert set(differ) <= {("OneHotEncoder", "sparse_output"), ("HDBSCAN", "copy"), ("IterativeImputer", "verbose")}


def test_a_tree_applies_rows_to_leaves_as_scikit_learn_does():
    for ours, theirs, y in (
        (tree.DecisionTreeClassifier(max_depth=4), TheirTree(max_depth=4, random_state=0), Y),
        (tree.DecisionTreeRegressor(max_depth=3), TheirRegressionTree(max_depth=3, random_state=0), X[:, 0] + Y),
    ):
        ours.fit(X[:, 1:], y)
        theirs.fit(X[:, 1:], y)
        leaves = ours.apply(X[:, 1:])
        np.testing.assert_array_equal(ours.tree_.children_left[leaves], -1)
        np.testing.assert_allclose(ours.tree_.value[leaves], theirs.tree_.value[theirs.apply(X[:, 1:])])
        path = ours.decision_path(X[:, 1:])
        assert path.shape == (len(X), ours.tree_.node_count)
        np.testing.assert_array_equal(np.asarray(path[:, [0]].todense()).ravel(), 1)
        assert all(path[i, leaf] == 1 for i, leaf in enumerate(leaves))
        assert (ours.get_depth(), ours.get_n_leaves()) == (theirs.get_depth(), theirs.get_n_leaves())
        found = ours.cost_complexity_pruning_path(X[:, 1:], y)
        wanted = theirs.cost_complexity_pruning_path(X[:, 1:], y)
        np.testing.assert_allclose(found.ccp_alphas, wanted.ccp_alphas, atol=1e-12)
        np.testing.assert_allclose(found.impurities, wanted.impurities, atol=1e-12)


def test_leaves_of_categories_are_told():
    rows = pd.DataFrame({"c": pd.Categorical(["a", "b", "c", "a", "b", "c"] * 4), "x": range(24)})
    model = tree.DecisionTreeRegressor(max_depth=2).fit(rows, [1.0, 5.0, 1.0, 1.0, 5.0, 1.0] * 4)
    leaves = model.apply(rows)
    np.testing.assert_allclose(model.tree_.value[leaves].ravel(), model.predict(rows))


def test_a_forest_applies_rows_to_the_leaves_of_its_trees():
    model = ensemble.RandomForestClassifier(n_estimators=4, max_depth=3, random_state=0).fit(X, Y)
    leaves = model.apply(X)
    assert leaves.shape == (len(X), 4)
    paths, starts = model.decision_path(X)
    assert paths.shape == (len(X), starts[-1])
    for k, member in enumerate(model.estimators_):
        passed = np.asarray(paths[np.arange(len(X)), starts[k] + leaves[:, k]]).ravel()
        np.testing.assert_array_equal(passed, 1)
        np.testing.assert_array_equal(member.apply(X), leaves[:, k])
    assert model.estimator_.max_depth == 3 and model.n_outputs_ == 1 and model.n_classes_ == 3


@pytest.mark.parametrize("kind", ["GradientBoosting", "HistGradientBoosting"])
def test_stages_of_boosting_are_the_models_of_fewer_rounds(kind):
    rounds = "max_iter" if kind.startswith("Hist") else "n_estimators"
    classifier = getattr(ensemble, f"{kind}Classifier")
    for target in (Y, (Y == 1).astype(int)):
        model = classifier(**{rounds: 5}, random_state=0).fit(X, target)
        for k, shares in enumerate(model.staged_predict_proba(X)):
            fewer = classifier(**{rounds: k + 1}, random_state=0).fit(X, target)
            np.testing.assert_allclose(shares, fewer.predict_proba(X), atol=1e-12)
        *_, scores = model.staged_decision_function(X)
        np.testing.assert_array_equal(scores, model.decision_function(X))
        *_, labels = model.staged_predict(X)
        np.testing.assert_array_equal(labels, model.predict(X))
    losses = ("squared_error", "poisson") if kind.startswith("Hist") else ("squared_error", "huber")
    for loss in losses:
        regressor = getattr(ensemble, f"{kind}Regressor")
        model = regressor(**{rounds: 4}, loss=loss, random_state=0).fit(XD, YD)
        stages = list(model.staged_predict(XD))
        fewer = regressor(**{rounds: 2}, loss=loss, random_state=0).fit(XD, YD)
        np.testing.assert_allclose(stages[1], fewer.predict(XD), rtol=1e-10)
        np.testing.assert_allclose(stages[-1], model.predict(XD), rtol=1e-12)


def test_stages_and_importances_of_ada_boost_are_those_of_scikit_learn():
    for target in (Y, (Y == 1).astype(int)):
        ours = ensemble.AdaBoostClassifier(n_estimators=6, random_state=0).fit(X, target)
        theirs = sklearn.ensemble.AdaBoostClassifier(n_estimators=6, random_state=0).fit(X, target)
        for method in ("staged_decision_function", "staged_predict_proba", "staged_predict"):
            for found, wanted in zip(getattr(ours, method)(X), getattr(theirs, method)(X), strict=True):
                np.testing.assert_allclose(found, wanted, atol=1e-9)
        *_, last = ours.staged_score(X, target)
        assert last == ours.score(X, target)
    # No two columns here split rows the same way.
    found, wanted = (
        kind(n_estimators=6, random_state=0).fit(XD[:, [2, 8]], YD > 140).feature_importances_
        for kind in (ensemble.AdaBoostClassifier, sklearn.ensemble.AdaBoostClassifier)
    )
    np.testing.assert_allclose(found, wanted, atol=1e-9)
    model = ensemble.AdaBoostRegressor(n_estimators=5, random_state=0).fit(XD, YD)
    *_, last = model.staged_predict(XD)
    np.testing.assert_allclose(last, model.predict(XD))


def _classifiers(own):
    """Three classifiers: of this package, or two of them another package's."""
    first = ("lr", linear_model.LogisticRegression(max_iter=2000))
    return [first, ("tree", tree.DecisionTreeClassifier(max_depth=2) if own else TheirTree(max_depth=2))]


@pytest.mark.parametrize("own", [True, False])
def test_voters_tell_their_members_and_what_they_say(own):
    model = ensemble.VotingClassifier(_classifiers(own), voting="soft", weights=[1, 2]).fit(X, Y)
    assert list(model.named_estimators_) == ["lr", "tree"] and len(model.estimators_) == 2
    said = model.transform(X)
    assert said.shape == (len(X), 6)
    np.testing.assert_allclose((said[:, :3] + 2 * said[:, 3:]) / 3, model.predict_proba(X), atol=1e-12)
    assert model.get_feature_names_out()[0] == "votingclassifier_lr0"
    frame = model.set_output(transform="pandas").transform(X)
    assert list(frame.columns) == list(model.get_feature_names_out())
    hard = ensemble.VotingClassifier(_classifiers(own)).fit(X, Y)
    assert hard.transform(X).shape == (len(X), 2)
    np.testing.assert_array_equal(hard.transform(X)[:, 0], hard.estimators_[0].predict(X))
    dropped = ensemble.VotingClassifier(_classifiers(own), weights=[1, 2]).set_params(lr="drop").fit(X, Y)
    np.testing.assert_array_equal(dropped.predict(X), dropped.named_estimators_.tree.predict(X))
    assert dropped.named_estimators_.lr == "drop"
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_voters_with_members_of_another_package_vote_as_those_of_this_one():
    for voting in ("hard", "soft"):
        pair = [
            ensemble.VotingClassifier(
                [("a", kind(max_iter=5000, tol=1e-10)), ("b", linear_model.LogisticRegression(C=0.01))], voting=voting
            ).fit(X, Y)
            for kind in (linear_model.LogisticRegression, TheirLogisticRegression)
        ]
        np.testing.assert_allclose(pair[0].predict_proba(X), pair[1].predict_proba(X), atol=1e-4)
    numbers = [
        ensemble.VotingRegressor([("a", kind()), ("b", linear_model.Ridge())], weights=[3, 1]).fit(XD, YD)
        for kind in (linear_model.LinearRegression, TheirLinearRegression)
    ]
    np.testing.assert_allclose(numbers[0].predict(XD), numbers[1].predict(XD), rtol=1e-9)


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("passthrough", [True, False])
def test_a_stack_tells_its_members_and_its_last_learner(own, passthrough):
    for target in (Y, (Y == 2).astype(int)):
        model = ensemble.StackingClassifier(_classifiers(own), passthrough=passthrough).fit(X, target)
        assert len(model.estimators_) == 2 and model.stack_method_ == ["predict_proba"] * 2
        said = model.transform(X)
        each = 1 if target is not Y else 3
        assert said.shape == (len(X), 2 * each + 4 * passthrough)
        assert len(model.get_feature_names_out()) == said.shape[1]
        np.testing.assert_allclose(model.final_estimator_.predict_proba(said), model.predict_proba(X), atol=1e-9)


def test_a_stack_takes_splitters_margins_and_fitted_members():
    from sklearn.model_selection import KFold, StratifiedKFold

    ours = ensemble.StackingClassifier(
        [("svc", LinearSVC(random_state=0)), ("lr", linear_model.LogisticRegression(max_iter=2000))],
        cv=StratifiedKFold(4),
    ).fit(X, Y)
    assert ours.stack_method_ == ["decision_function", "predict_proba"] and ours.score(X, Y) > 0.9
    fitted = [("tree", TheirTree(max_depth=2).fit(X, Y))]
    prefit = ensemble.StackingClassifier(fitted, cv="prefit").fit(X, Y)
    assert prefit.estimators_[0] is fitted[0][1]
    numbers = ensemble.StackingRegressor([("a", linear_model.Ridge())], cv=KFold(3)).fit(XD, YD)
    assert numbers.transform(XD).shape == (len(XD), 1)


def test_bags_and_boosting_take_classifiers_of_another_package():
    bag = ensemble.BaggingClassifier(
        SVC(), n_estimators=8, max_features=3, oob_score=True, random_state=0
    ).fit(X, Y)
    assert bag.score(X, Y) > 0.9 and bag.oob_score_ > 0.9 and len(bag.estimators_) == 8
    assert [len(columns) for columns in bag.estimators_features_] == [3] * 8
    again = ensemble.BaggingClassifier(SVC(), n_estimators=8, max_features=3, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(bag.predict(X), again.predict(X))
    theirs = sklearn.ensemble.AdaBoostClassifier(TheirTree(max_depth=1), n_estimators=5, random_state=0)
    ours = ensemble.AdaBoostClassifier(TheirTree(max_depth=1), n_estimators=5, random_state=0).fit(X, Y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.fit(X, Y).decision_function(X), atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    numbers = ensemble.AdaBoostRegressor(TheirRegressionTree(max_depth=3), n_estimators=5, random_state=0)
    assert numbers.fit(XD, YD).score(XD, YD) > 0.4
    means = ensemble.BaggingRegressor(TheirRegressionTree(max_depth=3), random_state=0).fit(XD, YD)
    assert means.score(XD, YD) > 0.4


def test_lists_of_members_that_say_nothing_are_refused_in_scikit_learns_words():
    for estimators, words in (
        ([], "Invalid 'estimators' attribute"),
        ([("a", tree.DecisionTreeClassifier()), ("a", tree.DecisionTreeClassifier())], "not unique"),
        ([("voting", tree.DecisionTreeClassifier())], "conflict with constructor arguments"),
        ([("a__b", tree.DecisionTreeClassifier())], "must not contain __"),
        ([("a", "drop")], "All estimators are dropped"),
    ):
        with pytest.raises(ValueError, match=words):
            ensemble.VotingClassifier(estimators).fit(X, Y)
    with pytest.raises(ValueError, match="Number of `estimators` and weights must be equal"):
        ensemble.VotingClassifier(_classifiers(True), weights=[1.0]).fit(X, Y)
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        linear_model.Ridge().fit(XD, YD, sample_weight=np.full(len(YD), -1.0))


def test_core_rows_are_kept_and_distances_may_be_functions():
    rows, _ = make_blobs(60, random_state=0)
    by_name = cluster.DBSCAN(eps=1.0).fit(rows)
    np.testing.assert_array_equal(by_name.components_, rows[by_name.core_sample_indices_])
    by_function = cluster.DBSCAN(eps=1.0, metric=lambda a, b: np.sqrt(((a - b) ** 2).sum())).fit(rows)
    np.testing.assert_array_equal(by_name.labels_, by_function.labels_)
    assert by_function.n_features_in_ == 2


def test_a_hierarchy_is_cut_and_has_centres():
    rows, _ = make_blobs(120, centers=[[0, 0], [9, 9], [0, 9]], cluster_std=0.5, random_state=1)
    ours = cluster.HDBSCAN(min_cluster_size=10, store_centers="both", copy=True).fit(rows)
    from sklearn.cluster import HDBSCAN

    theirs = HDBSCAN(min_cluster_size=10, store_centers="both", copy=True).fit(rows)
    order = [int(np.flatnonzero(theirs.labels_ == k)[0]) for k in range(3)]
    same = ours.labels_[order]
    np.testing.assert_allclose(ours.centroids_[same], theirs.centroids_, rtol=1e-6)
    np.testing.assert_allclose(ours.medoids_[same], theirs.medoids_)
    found, wanted = ours.dbscan_clustering(0.6), theirs.dbscan_clustering(0.6)
    np.testing.assert_array_equal(found == -1, wanted == -1)
    for k in np.unique(wanted[wanted >= 0]):
        assert len(np.unique(found[wanted == k])) == 1


def test_shares_of_rows_are_counts_in_optics():
    rows, _ = make_blobs(100, random_state=0)
    share = cluster.OPTICS(min_samples=0.1, min_cluster_size=0.1).fit(rows)
    count = cluster.OPTICS(min_samples=10, min_cluster_size=10).fit(rows)
    np.testing.assert_array_equal(share.labels_, count.labels_)


def test_clusters_score_rows_by_their_distance_to_centres():
    for learner in (cluster.KMeans(3, random_state=0), cluster.BisectingKMeans(3, random_state=0)):
        learner.fit(X)
        assert learner.score(X) == pytest.approx(-learner.inertia_, rel=1e-9)
        assert learner.score(X, sample_weight=np.full(len(X), 2.0)) == pytest.approx(-2 * learner.inertia_)
    distances = cluster.BisectingKMeans(3, random_state=0).fit_transform(X)
    assert distances.shape == (len(X), 3) and (distances >= 0).all()


def test_rows_within_a_radius_are_those_of_scikit_learn():
    for metric in ("euclidean", "manhattan", "minkowski"):
        ours = RadiusNeighborsClassifier(0.8, metric=metric, p=3).fit(X, Y)
        theirs = TheirRadius(0.8, metric=metric, p=3).fit(X, Y)
        for given in (None, X[:7] + 0.01):
            distances, rows = ours.radius_neighbors(given, sort_results=True)
            wanted, _ = theirs.radius_neighbors(given, sort_results=True)
            for found, other in zip(distances, wanted, strict=True):
                np.testing.assert_allclose(found, other, atol=1e-9)
            graph = ours.radius_neighbors_graph(given, mode="distance")
            difference = graph - theirs.radius_neighbors_graph(given, mode="distance")
            assert abs(difference).max() < 1e-9
        again = pickle.loads(pickle.dumps(ours)).radius_neighbors(X[:7], return_distance=False)
        for found, row in zip(again, ours.radius_neighbors(X[:7], return_distance=False), strict=True):
            np.testing.assert_array_equal(found, row)
    counts = ours.within(X[:7], radius=0.8).tables()[0]["neighbors"]
    assert counts.tolist() == [len(row) for row in again]


@pytest.mark.parametrize("metric", ["minkowski", "manhattan"])
def test_nearest_rows_need_no_target(metric):
    ours = neighbors.NearestNeighbors(n_neighbors=4, radius=0.7, metric=metric).fit(X)
    theirs = sklearn.neighbors.NearestNeighbors(n_neighbors=4, radius=0.7, metric=metric).fit(X)
    for given in (None, X[:9] + 0.013):
        distances, rows = ours.kneighbors(given)
        wanted, _ = theirs.kneighbors(given)
        np.testing.assert_allclose(distances, wanted, atol=1e-12)
        assert rows.shape == wanted.shape
        difference = ours.radius_neighbors_graph(given) - theirs.radius_neighbors_graph(given)
        assert abs(difference).max() == 0
    assert ours.kneighbors_graph(mode="distance").shape == (len(X), len(X))
    assert clone(ours).get_params()["n_neighbors"] == 4
    with pytest.raises(sklearn.exceptions.NotFittedError):
        neighbors.NearestNeighbors().kneighbors(X)


def test_projections_are_taken_back():
    wide = np.random.default_rng(0).normal(size=(30, 40))
    made = GaussianRandomProjection(10, compute_inverse_components=True, random_state=0).fit(wide)
    projected = made.transform(wide)
    back = made.inverse_transform(projected)
    assert made.n_components_ == 10 and made.inverse_components_.shape == (40, 10)
    np.testing.assert_allclose(made.transform(back), projected, atol=1e-9)


def test_composites_name_their_parts_by_class():
    made = pipeline.make_pipeline(StandardScaler(), StandardScaler(), linear_model.Ridge())
    assert list(made.named_steps) == ["standardscaler-1", "standardscaler-2", "ridge"]
    frame = pd.DataFrame({"a": [0.0, 1.0], "b": ["x", "y"], "ab": [1.0, 3.0]})
    columns = compose.make_column_transformer(
        (MinMaxScaler(), compose.make_column_selector(dtype_include=np.number)),
        (OneHotEncoder(), compose.make_column_selector("^b$")),
    )
    assert columns.fit_transform(frame).shape == (2, 4)


def test_inspection_of_any_estimator_is_that_of_scikit_learn():
    model = TheirLogisticRegression(max_iter=1000).fit(X, Y)
    for features in ([0], [0, 2]):
        given = {"kind": "both", "grid_resolution": 10}
        ours = inspection.partial_dependence(model, X, features, **given)
        theirs = sklearn.inspection.partial_dependence(model, X, features, method="brute", **given)
        for name in ("average", "individual"):
            np.testing.assert_allclose(ours[name], theirs[name])
        for found, wanted in zip(ours["grid_values"], theirs["grid_values"], strict=True):
            np.testing.assert_allclose(found, wanted)
    found = inspection.permutation_importance(model, X, Y, random_state=0, n_repeats=8)
    assert found.importances.shape == (4, 8)
    assert found.importances_mean.argmax() == 2
    frame = pd.DataFrame(X, columns=list("abcd"))
    ours = linear_model.LogisticRegression(max_iter=1000).fit(frame, Y)
    several = inspection.permutation_importance(ours, frame, Y, scoring=["accuracy", "neg_log_loss"], random_state=0)
    assert set(several) == {"accuracy", "neg_log_loss"}
    assert list(frame.columns) == list("abcd") and np.array_equal(frame.to_numpy(), X)


def test_a_target_is_changed_by_functions_or_a_transformer():
    positive = YD + 1.0
    by_text = compose.TransformedTargetRegressor(linear_model.Ridge(), func="log(y)").fit(XD, positive)
    for regressor in (linear_model.Ridge(), sklearn.linear_model.Ridge()):
        by_function = compose.TransformedTargetRegressor(regressor, func=np.log, inverse_func=np.exp)
        np.testing.assert_allclose(by_function.fit(XD, positive).predict(XD), by_text.predict(XD), rtol=1e-6)
        assert by_function.regressor_.coef_.shape == (10,)
    scaled = compose.TransformedTargetRegressor(linear_model.LinearRegression(), transformer=MinMaxScaler())
    plain = linear_model.LinearRegression().fit(XD, YD)
    np.testing.assert_allclose(scaled.fit(XD, YD).predict(XD), plain.predict(XD), rtol=1e-9)
    with pytest.raises(ValueError, match="'inverse_func' must also be provided"):
        compose.TransformedTargetRegressor(func=np.log).fit(XD, positive)
    with pytest.warns(UserWarning, match="not strictly inverse"):
        compose.TransformedTargetRegressor(func=np.log, inverse_func=np.sqrt).fit(XD, positive)


def test_scikit_learn_shows_trees():
    ours = tree.DecisionTreeClassifier(max_depth=2).fit(X[:, 2:3], Y)
    theirs = TheirTree(max_depth=2).fit(X[:, 2:3], Y)
    assert tree.export_text(ours) == sklearn.tree.export_text(theirs)
    assert tree.export_graphviz(ours) == sklearn.tree.export_graphviz(theirs)


def test_a_pipeline_scores_as_its_last_step_does():
    counts = np.round(YD / 50)
    steps = pipeline.make_pipeline(StandardScaler(), linear_model.PoissonRegressor()).fit(XD, counts)
    last = linear_model.PoissonRegressor().fit(StandardScaler().fit_transform(XD), counts)
    assert steps.score(XD, counts) == pytest.approx(last.score(StandardScaler().fit_transform(XD), counts))
    rows = StandardScaler().fit_transform(X)
    for last in (learnt.neighbors.KernelDensity(), learnt.mixture.GaussianMixture(2, random_state=0)):
        steps = pipeline.make_pipeline(StandardScaler(), last).fit(X)
        assert steps.score(X) == pytest.approx(clone(last).fit(rows).score(rows), rel=1e-6)


def test_columns_of_numbers_may_be_categories_of_boosting():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 6, 300), rng.normal(size=300)]).astype(float)
    y = np.isin(rows[:, 0], [1, 4]) * 2.0
    texts = pd.DataFrame({"a": pd.Categorical(rows[:, 0].astype(int)), "b": rows[:, 1]})
    given = {"max_iter": 3, "max_leaf_nodes": 2, "random_state": 0}
    wanted = ensemble.HistGradientBoostingRegressor(**given).fit(texts, y).predict(texts)
    for places in ([0], [True, False], np.array([0])):
        model = ensemble.HistGradientBoostingRegressor(categorical_features=places, **given).fit(rows, y)
        np.testing.assert_allclose(model.predict(rows), wanted)
        assert model.is_categorical_.tolist() == [True, False]
    with pytest.raises(ValueError, match="boolean mask must have shape"):
        ensemble.HistGradientBoostingRegressor(categorical_features=[True]).fit(rows, y)


def test_no_core_row_is_no_missing_attribute():
    alone = cluster.DBSCAN(eps=1e-9).fit(X[:5])
    assert alone.core_sample_indices_.shape == (0,) and alone.components_.shape == (0, 4)


def test_missing_values_may_have_a_mark():
    rows = np.array([[-1.0, 2.0], [4.0, -1.0], [6.0, 8.0]])
    filled = learnt.impute.SimpleImputer(missing_values=-1).fit_transform(rows)
    np.testing.assert_array_equal(filled, [[5.0, 2.0], [4.0, 5.0], [6.0, 8.0]])
    words = pd.DataFrame({"a": ["x", "?", "x", "y"]})
    made = learnt.impute.SimpleImputer(missing_values="?", strategy="most_frequent").fit_transform(words)
    assert made.ravel().tolist() == ["x", "x", "x", "y"]
    with pytest.raises(ValueError, match="contains NaN"):
        learnt.impute.SimpleImputer(missing_values=-1).fit([[np.nan], [1.0]])


def test_steps_take_arguments_of_their_own():
    weights = np.linspace(0.0, 2.0, len(X))
    steps = pipeline.make_pipeline(StandardScaler(), linear_model.Ridge())
    steps.fit(X, Y, ridge__sample_weight=weights)
    rows = StandardScaler().fit_transform(X)
    wanted = linear_model.Ridge().fit(rows, Y, sample_weight=weights)
    np.testing.assert_allclose(steps.predict(X), wanted.predict(rows))
    with pytest.raises(ValueError, match="does not accept the weights parameter"):
        steps.fit(X, Y, weights=weights)


def test_subclasses_may_have_parameters_of_their_own():
    class Own(linear_model.Ridge):
        def __init__(self, alpha=1.0, extra=None):
            super().__init__(alpha=alpha)
            self.extra = extra

    model = clone(Own(alpha=2.0, extra=3)).fit(XD, YD)
    np.testing.assert_array_equal(model.coef_, linear_model.Ridge(alpha=2.0).fit(XD, YD).coef_)
    assert model.get_params() == {"alpha": 2.0, "extra": 3}


def test_enumerations_of_polars_are_categories():
    polars = pytest.importorskip("polars")
    column = polars.Series("a", ["b", "a", "c", "b"] * 5, dtype=polars.Enum(["b", "a", "c"]))
    frame = polars.DataFrame({"a": column})
    y = [1.0, 2.0, 3.0, 1.0] * 5
    np.testing.assert_allclose(tree.DecisionTreeRegressor().fit(frame, y).predict(frame), y)


def test_composites_refuse_what_is_no_learner_in_words():
    with pytest.raises(TypeError, match="got estimator class instead \\(StandardScaler\\)"):
        pipeline.Pipeline([("scale", StandardScaler), ("ridge", linear_model.Ridge())]).fit(X, Y)
    with pytest.raises(ValueError, match="The pipeline is empty"):
        pipeline.Pipeline([]).fit(X, Y)
    with pytest.raises(ValueError, match="must not contain __"):
        pipeline.Pipeline([("a__b", StandardScaler()), ("ridge", linear_model.Ridge())]).fit(X, Y)
    with pytest.raises(AttributeError, match="This 'Pipeline' has no attribute 'predict_proba'"):
        pipeline.make_pipeline(linear_model.Ridge()).predict_proba


def test_splits_that_are_lists_are_those_of_scikit_learn():
    from sklearn import model_selection as theirs

    from learnt import model_selection as ours

    rows, groups = X[:6], [1, 1, 2, 3, 3, 4]
    for make in (
        lambda m: m.LeavePOut(2),
        lambda m: m.LeavePGroupsOut(2),
        lambda m: m.PredefinedSplit([0, -1, 1, 1, 0, 2]),
        lambda m: m.check_cv([([0, 1], [2]), ([2], [0, 1])]),
    ):
        found, wanted = (list(make(m).split(rows, Y[:6], groups)) for m in (ours, theirs))
        for (train, test), (other_train, other_test) in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(train, other_train)
            np.testing.assert_array_equal(test, other_test)
        assert make(ours).get_n_splits(rows, Y[:6], groups) == len(wanted)
    scores = ours.cross_val_score(linear_model.Ridge(), X, Y, cv=ours.PredefinedSplit(np.arange(150) % 3))
    assert scores.shape == (3,)
    grid = [{"b": [1, 2], "a": ["x", "y"]}, {"c": [3]}]
    assert list(ours.ParameterGrid(grid)) == list(theirs.ParameterGrid(grid))
    assert len(ours.ParameterGrid(grid)) == 5 and ours.ParameterGrid(grid)[4] == {"c": 3}


def test_triangles_of_precisions_are_those_of_scikit_learn():
    from sklearn.mixture import GaussianMixture

    for kind in ("full", "tied", "diag", "spherical"):
        given = {"n_components": 2, "covariance_type": kind, "random_state": 0}
        ours, theirs = learnt.mixture.GaussianMixture(**given).fit(X), GaussianMixture(**given).fit(X)
        found, wanted = ours.precisions_cholesky_, theirs.precisions_cholesky_
        if kind != "tied":
            found, wanted = (a[np.argsort(m.means_[:, 0])] for a, m in ((found, ours), (wanted, theirs)))
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9)
        assert ours.lower_bounds_[-1] == pytest.approx(theirs.lower_bound_, rel=1e-9)
