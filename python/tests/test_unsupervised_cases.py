"""Reference cases of neighbours, reduction, clustering, preparation, metrics, trees and ensembles through Python."""

import numpy as np
import pytest
from fixtures import arrays, cases, close, inside, rows_of

import learnt.metrics as metrics
from learnt.cluster import DBSCAN, AgglomerativeClustering, KMeans, KMedoids
from learnt.decomposition import PCA
from learnt.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from learnt.mixture import GaussianMixture
from learnt.neighbors import (
    InstanceBasedClassifier,
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestCentroid,
)
from learnt.preprocessing import KBinsDiscretizer, MinMaxScaler, OneHotEncoder, PolynomialFeatures, StandardScaler
from learnt.tree import DecisionTreeClassifier, DecisionTreeRegressor

FAMILIES = {name: cases(name) for name in ("neighbors", "pca", "cluster", "metrics", "data", "ensemble", "tree")}


def of(family, name):
    case = FAMILIES[family][name]
    return case["input"], case["params"], case["expect"], case["tol"]


def leave_one_out(X, y, k):
    """Errors of the k nearest of the other rows; the row itself is the nearest, before equals."""
    rows = np.arange(len(y))
    errors = 0
    for i in rows:
        others = rows != i
        errors += KNeighborsClassifier(k).fit(X[others], y[others]).predict(X[i : i + 1])[0] != y[i]
    return errors


def test_neighbours_at_both_ends():
    given, params, expect, _ = of("neighbors", "knn-extremes")
    X, y = np.array(given["X"]), np.array(given["y"])
    one, five = (KNeighborsClassifier(k).fit(X, y) for k in params["k"])
    assert (one.predict(X) != y).sum() == expect["training_errors_k1"]
    assert list(five.predict(given["query"])) == expect["predictions_k5"]


def test_a_vote_by_distance():
    given, params, expect, _ = of("neighbors", "distance-weighted-vote")
    X, y, query = np.array(given["X"]), np.array(given["y"]), np.array(given["query"])
    assert KNeighborsClassifier(params["k"], weights="distance").fit(X, y).predict(query)[0] == expect["weighted"]
    assert KNeighborsClassifier(params["k"]).fit(X, y).predict(query)[0] == expect["unweighted"]


def test_neighbours_of_a_mixture():
    given, params, expect, _ = of("neighbors", "knn-mixture-errors")
    X, y = arrays(given)
    found = [(KNeighborsClassifier(k).fit(X, y).predict(X) != y).sum() for k in params["k"]]
    assert found == expect["training_errors"]
    assert [leave_one_out(X, y, k) for k in params["k"][:2]] == expect["loo_errors"][:2]


def test_neighbours_of_iris():
    given, params, expect, tol = of("neighbors", "knn-loo-iris")
    X, y = arrays(given)
    for k, errors in list(zip(params["k"], expect["errors"]))[:3]:
        assert abs(leave_one_out(X, y, k) - errors) <= tol["abs"]


def test_regression_by_neighbours():
    given, params, expect, tol = of("neighbors", "knn-regression-diabetes")
    X, y = arrays(given)
    for k in params["k"]:
        found = KNeighborsRegressor(k).fit(X, y).predict(X[given["query_rows"]])
        close(found, expect["prediction"][str(k)], tol)


def test_nearest_centroids():
    given, _, expect, tol = of("neighbors", "nearest-centroid-small")
    model = NearestCentroid().fit(np.array(given["X"]), given["y"])
    close(model.centroids_, expect["centroids"], tol)
    assert list(model.predict(np.array(given["query"]))) == expect["predictions"]
    given, _, expect, tol = of("neighbors", "nearest-centroid-wine")
    X, y = arrays(given)
    model = NearestCentroid().fit(X, y)
    close(model.centroids_[:, :3], expect["centroids_first3"], tol)
    assert (model.predict(X) != y).sum() == expect["training_errors"]


def test_distances_of_pairs():
    given, params, expect, tol = of("neighbors", "distances-3-4")
    rows = np.array([given["a"], given["b"]], float)
    for name in ("euclidean", "manhattan", "chebyshev"):
        close(metrics.pairwise_distances(rows, metric=name)[0, 1], expect[name], tol)


@pytest.mark.parametrize("noise", ["0", "0.1", "0.2"])
def test_memories_of_cases_with_noise(noise):
    _, _, expect, _ = of("neighbors", "ibl-noise")
    rules = {
        "IB1": {"algorithm": "ib1"},
        "IB2": {"algorithm": "ib2"},
        "IB3_wald": {"algorithm": "ib3", "interval": "wald"},
        "IB3_wilson": {"algorithm": "ib3", "interval": "wilson"},
    }
    for name, params in rules.items():
        right, stored = [], []
        for seed in range(20):
            rng = np.random.default_rng(seed)
            X, test = rng.random((400, 2)), rng.random((300, 2))
            y = (X.sum(axis=1) > 1) ^ (rng.random(400) < float(noise))
            model = InstanceBasedClassifier(random_state=seed, **params).fit(X, y)
            right.append((model.predict(test) == (test.sum(axis=1) > 1)).mean())
            decide = np.asarray(model.acceptable_, bool)
            stored.append(decide.sum() if name.startswith("IB3") else len(model.cases_))
        inside(np.mean(right), expect[noise][name]["accuracy"])
        inside(np.mean(stored), expect[noise][name]["stored"])


@pytest.mark.parametrize("name", ["pca-ten-points", "pca-iris"])
def test_principal_components(name):
    given, _, expect, tol = of("pca", name)
    X = np.array(given["X"]) if "X" in given else arrays(given)[0]
    model = PCA().fit(X)
    close(model.explained_variance_, expect.get("eigenvalues", expect.get("variances")), tol)
    first = np.array(expect["first_axis"] if "first_axis" in expect else expect["axes"][0])
    close(np.abs(model.components_[0]), np.abs(first), tol)
    share = expect["share"] if "share" in expect else expect["shares"][0]
    close(model.explained_variance_ratio_[0], share, tol)


@pytest.mark.parametrize("name", ["prcomp-usarrests", "pca-heptathlon"])
def test_principal_components_of_standardised_columns(name):
    given, _, expect, tol = of("pca", name)
    X, _ = arrays(given)
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    model = PCA().fit(X)
    variances = expect["variances"] if "variances" in expect else np.square(expect["sdev"])
    close(model.explained_variance_, variances, tol)
    if "loadings" in expect:
        close(np.abs(model.components_), np.abs(expect["loadings"]), tol)


def test_more_columns_than_rows():
    given, _, expect, tol = of("pca", "pca-dual-digits")
    X, _ = arrays(given)
    model = PCA().fit(X)
    found = model.explained_variance_ * (len(X) - 1) / len(X)
    close(found[: expect["nonzero"]], expect["eigenvalues"], tol)
    assert (found > 1e-9 * found[0]).sum() == expect["nonzero"]


@pytest.mark.parametrize("name", ["kmeans-iris", "kmeans-ruspini"])
def test_centres_from_given_rows(name):
    given, params, expect, tol = of("cluster", name)
    X, _ = arrays(given)
    model = KMeans(params["k"], init=X[given["start_rows"]], n_init=1, tol=0).fit(X)
    close(model.inertia_, expect["sse"], tol)
    close(model.cluster_centers_, expect["centres"], tol)
    assert np.bincount(model.labels_).tolist() == expect["sizes"]


def test_centres_of_nine_values():
    given, _, expect, tol = of("cluster", "kmeans-nine-values")
    X = np.array(given["X"])
    model = KMeans(2, init=np.array(given["start"], float), n_init=1, tol=0).fit(X)
    assert model.labels_.tolist() == expect["labels"]
    close(model.inertia_, expect["final_sse"], tol)


def test_medoids():
    given, params, expect, tol = of("cluster", "pam-ruspini")
    X, _ = arrays(given)
    model = KMedoids(params["k"]).fit(X)
    assert sorted(model.medoid_indices_.tolist()) == expect["medoid_rows"]
    assert sorted(np.bincount(model.labels_).tolist()) == sorted(expect["sizes"])
    close(metrics.silhouette_score(X, model.labels_), expect["avg_silhouette"], tol)


@pytest.mark.parametrize("name", ["linkage-six-points", "linkage-1d-six"])
def test_heights_of_linkages(name):
    given, _, expect, tol = of("cluster", name)
    X = np.array(given["X"])
    for linkage in ("single", "complete", "average"):
        model = AgglomerativeClustering(linkage=linkage).fit(X)
        close(model.distances_, expect[linkage], tol)


def test_linkages_of_a_matrix_of_distances():
    given, _, expect, tol = of("cluster", "linkage-five-objects")
    for linkage in ("single", "complete", "average"):
        model = AgglomerativeClustering(linkage=linkage, metric="precomputed")
        close(model.fit(np.array(given["D"])).distances_, expect[linkage], tol)


def test_linkages_that_disagree_about_the_next_pair():
    given, _, expect, _ = of("cluster", "linkage-single-vs-complete")
    groups = given["groups"]
    X = np.concatenate(groups)[:, None]
    distances = metrics.pairwise_distances(X)
    rows = np.split(np.arange(len(X)), np.cumsum([len(group) for group in groups])[:-1])
    for i, j in ((0, 1), (1, 2)):
        between = distances[np.ix_(rows[i], rows[j])]
        assert between.max() == expect[f"max_{i + 1}{j + 1}"]
        assert between.min() == expect[f"min_{i + 1}{j + 1}"]


def sizes(labels):
    return sorted(np.bincount(labels[labels >= 0]).tolist())


def test_dense_clusters_of_ten_points():
    given, _, expect, _ = of("cluster", "dbscan-ten-points")
    X = np.array(given["X"])
    for name, wanted in expect.items():
        if not isinstance(wanted, dict) or "labels" not in wanted:
            continue
        eps, least = name.split(",")
        model = DBSCAN(eps=float(eps), min_samples=int(least)).fit(X)
        assert sizes(model.labels_) == sizes(np.array(wanted["labels"])), name
        assert (model.labels_ == -1).tolist() == [label == -1 for label in wanted["labels"]], name
        assert sorted(model.core_sample_indices_.tolist()) == wanted["core"], name


def test_dense_clusters_with_exactly_enough_neighbours():
    given, params, expect, _ = of("cluster", "dbscan-exactly-minpts")
    model = DBSCAN(eps=params["eps"], min_samples=params["minpts"]).fit(np.array(given["X"]))
    assert model.labels_.tolist() == expect["labels"]
    assert model.core_sample_indices_.tolist() == expect["core"]


@pytest.mark.parametrize("name", ["dbscan-moons", "dbscan-iris"])
def test_dense_clusters_of_tables(name):
    given, params, expect, _ = of("cluster", name)
    X, _ = arrays(given)
    for eps in np.ravel(params["eps"]):
        wanted = expect[str(eps)] if str(eps) in expect else expect
        labels = DBSCAN(eps=eps, min_samples=params["minpts"]).fit_predict(X)
        assert np.abs(np.subtract(sizes(labels), sorted(wanted["sizes"]))).max() <= (name == "dbscan-iris")
        assert (labels == -1).sum() == wanted["noise"]


def test_a_mixture_from_a_given_start():
    given, _, expect, tol = of("cluster", "gmm-faithful")
    X, _ = arrays(given)
    precisions = np.linalg.inv(np.array(given["covariance"]))
    start = {"weights_init": given["weight"], "means_init": np.array(given["mean"]), "precisions_init": precisions}
    model = GaussianMixture(2, reg_covar=0, tol=1e-10, max_iter=500, **start).fit(X)
    assert model.score(X) * len(X) == pytest.approx(-1130.26396, abs=1e-4)
    assert expect["loglik_trace"][-1] <= model.score(X) * len(X) + tol["abs"]


def test_scores_of_clusterings():
    given, _, expect, tol = of("metrics", "internal-iris-species")
    X, y = arrays(given)
    close(metrics.silhouette_score(X, y), expect["silhouette"], tol)
    close(metrics.calinski_harabasz_score(X, y), expect["calinski_harabasz"], tol)
    close(metrics.davies_bouldin_score(X, y), expect["davies_bouldin_mean"], tol)
    given, _, expect, tol = of("metrics", "silhouette-line")
    for k in "12":
        X = np.array(given[f"X{k}"], float)[:, None]
        close(metrics.silhouette_samples(X, given[f"labels{k}"]), expect[f"s{k}"], tol)
    given, _, expect, tol = of("metrics", "internal-disagree")
    X = np.array(given["X"])
    close(metrics.silhouette_score(X, given["labels3"]), expect["labels3"]["silhouette"], tol)
    close(metrics.silhouette_score(X, given["labels_bad"]), expect["labels_bad"]["silhouette"], tol)


def test_scores_of_three_classes():
    given, _, expect, tol = of("metrics", "multiclass-report")
    y, found = given["actual"], given["predicted"]
    assert metrics.confusion_matrix(y, found).tolist() == expect["confusion"]
    for name, score in (("precision", metrics.precision_score), ("recall", metrics.recall_score), ("f1", metrics.f1_score)):
        close(score(y, found, average=None), expect[name], tol)
        for average in ("macro", "micro", "weighted"):
            if average in expect["averages"]:
                close(score(y, found, average=average), expect["averages"][average][name], tol)


def test_scores_of_probabilities_and_weights():
    given, _, expect, tol = of("metrics", "probability-scores")
    close(metrics.log_loss(given["y"], given["proba"]), expect["log_loss"], tol)
    close(metrics.log_loss(given["y1"], given["p1"]), expect["log_loss_binary"], tol)
    close(metrics.brier_score_loss(given["y1"], given["p1"]), expect["brier_binary"], tol)
    given, params, expect, tol = of("metrics", "weighted-metrics")
    y, score, weights = given["y"], np.array(given["score"]), given["weights"]
    found = (score >= params["threshold"]).astype(int)
    close(metrics.accuracy_score(y, found, sample_weight=weights), expect["accuracy"], tol)
    close(metrics.log_loss(y, score, sample_weight=weights), expect["log_loss"], tol)
    close(metrics.roc_auc_score(y, score, sample_weight=weights), expect["auc"], tol)


def test_a_precision_that_does_not_exist():
    given, _, expect, _ = of("metrics", "undefined-precision")
    assert expect["precision"] == "undefined"
    y, found = given["actual"], given["predicted"]
    with pytest.warns(match="(?i)precision"):
        assert metrics.precision_score(y, found) == 0.0
    assert metrics.recall_score(y, found) == expect["recall"]
    assert metrics.accuracy_score(y, found) == expect["accuracy"]


def test_preparations():
    given, _, expect, tol = of("data", "scaling-houses")
    x = np.array(given["x"])[:, None]
    close(StandardScaler().fit_transform(x)[:, 0], expect["z"], tol)
    close(MinMaxScaler().fit_transform(x)[:, 0], expect["minmax"], tol)
    given, _, expect, _ = of("data", "polynomial-features")
    found = PolynomialFeatures(3, include_bias=False).fit_transform([given["x"]])[0]
    assert found.tolist() == expect["values"]
    given, _, expect, _ = of("data", "polynomial-dimension")
    widths = [PolynomialFeatures(q, include_bias=False).fit_transform(np.ones((2, 2))).shape[1] for q in given["two_inputs_Q"]]
    assert widths == expect["two_inputs"]
    given, _, expect, tol = of("data", "binning-wine")
    alcohol = rows_of(given)["alcohol"][:, None]
    bins = KBinsDiscretizer(4, strategy="uniform", encode="ordinal").fit(alcohol)
    close(bins.bin_edges_[0], expect["uniform_edges"], tol)
    assert np.bincount(bins.transform(alcohol)[:, 0].astype(int)).tolist() == expect["uniform_counts"]
    bins = KBinsDiscretizer(4, strategy="quantile", quantile_method="linear", encode="ordinal").fit(alcohol)
    close(bins.bin_edges_[0], expect["quantile_edges"], tol)
    given, _, expect, _ = of("data", "one-hot-six")
    found = OneHotEncoder().fit_transform(np.array(given["classes"])[:, None])
    assert found.tolist() == expect["matrix"]


@pytest.mark.parametrize("name", ["tree-path-diabetes", "tree-path-wine-entropy", "tree-path-pima-gini"])
def test_pruned_trees(name):
    given, params, expect, _ = of("tree", name)
    X, y = arrays(given)
    more = {"min_samples_leaf": params["min_samples_leaf"], "random_state": 0}
    if name == "tree-path-diabetes":
        learner = DecisionTreeRegressor(**more)
    else:
        learner = DecisionTreeClassifier(criterion=params.get("criterion", "gini"), **more)
    model = learner.fit(X, y)
    assert (model.n_leaves_, model.depth_) == (expect["leaves"], expect["depth"])
    # Beyond the last penalty of the path only the root is left; just below it, it is split.
    last = expect["ccp_alphas"][-1]
    assert learner.set_params(ccp_alpha=1.001 * last).fit(X, y).n_leaves_ == 1
    assert learner.set_params(ccp_alpha=0.999 * last).fit(X, y).n_leaves_ > 1


def test_boosting_of_least_squares():
    given, params, expect, tol = of("ensemble", "gbm-ls-diabetes")
    X, y = arrays(given)
    more = {"max_depth": 3, "learning_rate": 0.1, "min_samples_leaf": 5, "criterion": "squared_error"}
    for stages, error in zip(params["stages"], expect["mse"]):
        model = GradientBoostingRegressor(n_estimators=stages, **more).fit(X, y)
        close(((y - model.predict(X)) ** 2).mean(), error, tol)
    close(model.predict(X[:5]), expect["prediction_first5"], tol)


def test_boosting_of_the_deviance():
    given, params, expect, tol = of("ensemble", "gbm-deviance-pima")
    X, y = arrays(given)
    more = {"max_depth": 2, "learning_rate": 0.1, "min_samples_leaf": 5, "criterion": "squared_error"}
    for stages, loss in zip(params["stages"], expect["nll"]):
        model = GradientBoostingClassifier(n_estimators=stages, **more).fit(X, y)
        close(metrics.log_loss(y, model.predict_proba(X)), loss, tol)
        if stages == 10:
            close(model.predict_proba(X[:3]), expect["proba_first3_round10"], tol)


@pytest.mark.parametrize(
    "given",
    [{}, {"priors": "empirical"}, {"priors": [0.2, 0.3, 0.5]}, {"shrink_threshold": 0.5}, {"shrink_threshold": 0.5, "metric": "manhattan"}],
)
def test_nearest_centroids_are_those_of_scikit_learn(given):
    theirs = pytest.importorskip("sklearn.neighbors").NearestCentroid(**given)
    rng = np.random.default_rng(0)
    labels = np.repeat(list("abc"), [10, 20, 30])
    X = rng.normal(size=(60, 4)) + np.unique(labels, return_inverse=True)[1][:, None]
    ours = NearestCentroid(**given).fit(X, labels)
    theirs.fit(X, labels)
    for name in ("centroids_", "deviations_", "within_class_std_dev_", "class_prior_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-12, err_msg=name)
    assert (ours.predict(X) == theirs.predict(X)).all()
    assert hasattr(ours, "predict_proba") == ("metric" not in given)
    if "metric" not in given:
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-9)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9, atol=1e-15)
