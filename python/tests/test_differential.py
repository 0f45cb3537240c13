"""Random small tables with random parameters, seeded: what scikit-learn says, learnt says."""

import numpy as np
import pytest
import sklearn.linear_model as sk_linear
import sklearn.preprocessing as sk_prepare
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import learnt
import learnt.decomposition
import learnt.discriminant_analysis
import learnt.impute
import learnt.linear_model
import learnt.naive_bayes
import learnt.neighbors
import learnt.preprocessing

ROUNDS = 25


def table(rng, holes=False):
    """A table of odd shape: scales that differ, columns that repeat or are constant."""
    n, p = int(rng.integers(12, 60)), int(rng.integers(1, 7))
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-3, 4, size=p) + rng.normal(size=p)
    if p > 2 and rng.random() < 0.2:
        X[:, 0] = np.round(X[:, 0])
    if holes:
        X[rng.random(X.shape) < 0.15] = np.nan
        X[0] = rng.normal(size=p)
    return X


def weights(rng, n):
    """None, counts, or shares."""
    return [None, rng.integers(0, 4, size=n) + (np.arange(n) == 0), rng.random(n) + 0.1][
        rng.integers(3)
    ]


REGRESSORS = {
    "LinearRegression": lambda rng: {"fit_intercept": bool(rng.integers(2))},
    "Ridge": lambda rng: {
        "alpha": float(10.0 ** rng.integers(-3, 4)),
        "fit_intercept": bool(rng.integers(2)),
    },
    "Lasso": lambda rng: {
        "alpha": float(10.0 ** rng.integers(-3, 1)),
        "tol": 1e-12,
        "max_iter": 100_000,
    },
}


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_predict_the_same(name):
    rng = np.random.default_rng(sum(map(ord, name)))
    for _ in range(ROUNDS):
        X = table(rng)
        X = (X - X.mean(0)) / X.std(0)
        y = X @ rng.normal(size=X.shape[1]) + rng.normal(size=len(X))
        w, params = weights(rng, len(X)), REGRESSORS[name](rng)
        theirs = getattr(sk_linear, name)(**params).fit(X, y, sample_weight=w)
        ours = getattr(learnt.linear_model, name)(**params).fit(X, y, sample_weight=w)
        np.testing.assert_allclose(
            ours.predict(X), theirs.predict(X), rtol=1e-5, atol=1e-6, err_msg=str(params)
        )


CLASSIFIERS = {
    "naive_bayes.GaussianNB": (GaussianNB, lambda rng: {"var_smoothing": 1e-9}),
    "neighbors.KNeighborsClassifier": (
        KNeighborsClassifier,
        lambda rng: {
            "n_neighbors": int(rng.integers(1, 8)),
            "weights": ["uniform", "distance"][rng.integers(2)],
        },
    ),
}


@pytest.mark.parametrize("path", CLASSIFIERS)
def test_classifiers_give_the_same_probabilities(path):
    theirs, draw = CLASSIFIERS[path]
    module, name = path.split(".")
    ours = getattr(getattr(learnt, module), name)
    rng = np.random.default_rng(sum(map(ord, path)))
    for _ in range(ROUNDS):
        X = rng.normal(size=(int(rng.integers(30, 60)), int(rng.integers(2, 5))))
        y = np.array(["a", "b", "c"])[np.arange(len(X)) % int(rng.integers(2, 4))]
        X[y == "b"] += 1.0
        params = draw(rng)
        expected = theirs(**params).fit(X, y).predict_proba(X)
        found = ours(**params).fit(X, y).predict_proba(X)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9, err_msg=str(params))


def test_nearest_neighbours_give_the_same_means():
    rng = np.random.default_rng(5)
    for _ in range(ROUNDS):
        X = table(rng)
        y, k = rng.normal(size=len(X)), int(rng.integers(1, 9))
        theirs = KNeighborsRegressor(n_neighbors=k).fit(X, y).predict(X)
        ours = learnt.neighbors.KNeighborsRegressor(n_neighbors=k).fit(X, y).predict(X)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


TRANSFORMERS = {
    "preprocessing.StandardScaler": (
        sk_prepare.StandardScaler,
        lambda rng: {"with_mean": bool(rng.integers(2)), "with_std": bool(rng.integers(2))},
        True,
    ),
    "preprocessing.MinMaxScaler": (sk_prepare.MinMaxScaler, lambda rng: {}, True),
    "preprocessing.MaxAbsScaler": (sk_prepare.MaxAbsScaler, lambda rng: {}, True),
    "preprocessing.RobustScaler": (
        sk_prepare.RobustScaler,
        lambda rng: {"with_centering": bool(rng.integers(2))},
        False,
    ),
    "preprocessing.PolynomialFeatures": (
        sk_prepare.PolynomialFeatures,
        lambda rng: {
            "degree": int(rng.integers(1, 4)),
            "interaction_only": bool(rng.integers(2)),
            "include_bias": bool(rng.integers(2)),
        },
        False,
    ),
    "impute.SimpleImputer": (
        SimpleImputer,
        lambda rng: {"strategy": ["mean", "median", "most_frequent"][rng.integers(3)]},
        True,
    ),
}


@pytest.mark.parametrize("path", TRANSFORMERS)
def test_transformers_give_the_same_tables(path):
    theirs, draw, holes = TRANSFORMERS[path]
    module, name = path.split(".")
    ours = getattr(getattr(learnt, module), name)
    rng = np.random.default_rng(sum(map(ord, path)))
    for _ in range(ROUNDS):
        X, params = table(rng, holes=holes), draw(rng)
        expected = theirs(**params).fit_transform(X)
        found = ours(**params).fit_transform(X)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=str(params))


def test_principal_components_span_the_same():
    rng = np.random.default_rng(11)
    for _ in range(ROUNDS):
        X = table(rng)
        k = int(rng.integers(1, min(X.shape) + 1))
        theirs = PCA(n_components=k, svd_solver="full").fit(X)
        ours = learnt.decomposition.PCA(n_components=k).fit(X)
        np.testing.assert_allclose(
            ours.explained_variance_, theirs.explained_variance_, rtol=1e-7, atol=1e-12
        )


def test_missing_values_follow_the_policy_on_this_surface_too():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 3))
    y = (X[:, 0] > 0).astype(int)
    holes = X[:4].copy()
    holes[1, 2] = np.nan
    for model in (
        learnt.linear_model.LogisticRegression().fit(X, y),
        learnt.pipeline.Pipeline(
            [
                ("scale", learnt.preprocessing.StandardScaler()),
                ("model", learnt.linear_model.LogisticRegression()),
            ]
        ).fit(X, y),
        learnt.linear_model.Ridge().fit(X, y),
        learnt.cluster.KMeans(n_clusters=2).fit(X),
    ):
        predict = model.predict
        with pytest.raises(learnt.errors.DataError, match="row 2"):
            predict(holes)
        with learnt.missing("impute"):
            filled = predict(holes)
        with learnt.missing("skip"):
            skipped = predict(holes)
        means = np.where(np.isnan(holes), X.mean(0), holes)
        np.testing.assert_array_equal(filled, predict(means))
        assert len(skipped) == 4
        assert skipped[1] is None or np.isnan(skipped[1])
        kept = [0, 2, 3]
        np.testing.assert_array_equal(np.asarray(skipped)[kept].astype(float), predict(X[:4])[kept])


def test_a_policy_said_at_fit_is_kept_by_the_model():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 3))
    with learnt.missing("impute"):
        model = learnt.linear_model.Ridge().fit(X, X[:, 0])
    holes = X[:3].copy()
    holes[0, 1] = np.nan
    again = learnt.from_bytes(model.to_bytes())
    np.testing.assert_array_equal(again.predict(holes), model.predict(holes))
    assert np.isfinite(model.predict(holes)).all()


def test_unknown_categories_follow_the_encoder_in_a_pipeline():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"c": ["a", "b"] * 20})
    y = np.arange(40) % 2 + 0.0
    new = pd.DataFrame({"c": ["a", "z"]})
    steps = [
        ("encode", learnt.preprocessing.OneHotEncoder(handle_unknown="ignore")),
        ("model", learnt.linear_model.Ridge()),
    ]
    model = learnt.pipeline.Pipeline(steps).fit(X, y)
    assert np.isfinite(model.predict(new)).all()
    encoder = learnt.preprocessing.OneHotEncoder(handle_unknown="ignore").fit(X)
    np.testing.assert_array_equal(encoder.transform(new), [[1, 0], [0, 0]])
    steps[0] = ("encode", learnt.preprocessing.OneHotEncoder())
    with pytest.raises(ValueError, match="'z'"):
        learnt.pipeline.Pipeline(steps).fit(X, y).predict(new)


def test_too_much_memory_is_an_error_and_not_an_abort():
    X = np.random.default_rng(0).normal(size=(20, 3))
    y = X[:, 0]
    for count in (2**31 - 1, 2**62):
        with pytest.raises(MemoryError):
            learnt.linear_model.LassoCV(alphas=count).fit(X, y)
    with pytest.raises(MemoryError):
        learnt.preprocessing.KBinsDiscretizer(n_bins=2**31 - 1).fit(X)


def test_more_threads_than_the_machine_has_are_not_started():
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = learnt.neighbors.KNeighborsRegressor(n_jobs=10**6).fit(X, X[:, 0])
    assert len(model.predict(X)) == 200
