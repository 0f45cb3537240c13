"""Workloads of ensembles of trees."""

from . import strong
from .workloads import (
    BOTH,
    INTELEX,
    OURS,
    SKLEARN,
    Workload,
    all_threads,
    estimator,
    estimators,
    predictions,
    r_squared,
    test_accuracy,
)

ROUNDS = {"n_estimators": 100, "learning_rate": 0.1}
FOREST = "ensemble.RandomForestClassifier"
HIST = "ensemble.HistGradientBoostingClassifier"


def test_probabilities(model, data):
    """Class probabilities of the test rows."""
    return model.predict_proba(data["queries"])


def test_log_loss(data, probabilities):
    """Mean negative log-likelihood of the test labels."""
    import numpy

    chosen = probabilities[numpy.arange(len(data["truth"])), data["truth"].astype(int)]
    return float(-numpy.log(numpy.clip(chosen, 1e-300, None)).mean())


def test_r_squared(data, values):
    """Share of the variance of the test target explained."""
    return r_squared({"y": data["truth"]}, values)


def boosters(timed="fit", categories=None, **ours):
    """Histogram boosting with 31 leaves, 100 rounds, 255 bins, by the libraries that have it."""
    settings = {"max_iter": 100, "early_stopping": False, **ours}
    if categories:
        settings["categorical_features"] = categories
    # scikit-learn refuses more levels than bins; the others take them.
    libraries = (OURS,) if categories else BOTH
    sides = estimators(HIST, test_probabilities, timed, libraries=libraries, **settings)
    return {
        **sides,
        "LightGBM": booster(lightgbm, timed, categories),
        "XGBoost": booster(xgboost, timed, categories),
    }


def lightgbm(threads):
    """LightGBM's classifier."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(num_leaves=31, max_bin=255, n_jobs=threads, verbose=-1, **ROUNDS)


def xgboost(threads):
    """XGBoost's classifier, leaf by leaf."""
    from xgboost import XGBClassifier

    shape = {"tree_method": "hist", "grow_policy": "lossguide", "max_leaves": 31, "max_depth": 0, "max_bin": 256}
    return XGBClassifier(n_jobs=threads, min_child_weight=1e-3, reg_lambda=0.0, **shape, **ROUNDS)


def booster(make, timed, categories):
    """A side for one of the two libraries above."""

    def side(data, threads):
        tables = [data["X"], data["queries"]]
        if categories:
            import pandas

            tables = [pandas.DataFrame(table).astype(dict.fromkeys(categories, int)) for table in tables]
            levels = {
                j: pandas.CategoricalDtype(sorted(set(tables[0][j]) | set(tables[1][j]))) for j in categories
            }
            tables = [table.astype(levels) for table in tables]

        def fit():
            model = make(threads)
            if categories and hasattr(model, "enable_categorical"):
                model.set_params(enable_categorical=True)
            return model.fit(tables[0], data["y"])

        if timed == "fit":
            return fit, lambda model: model.predict_proba(tables[1])
        model = fit()
        return lambda: model.predict_proba(tables[1]), lambda found: found

    return side


def predicted(path, **parameters):
    """Prediction of probabilities by the same class of several libraries."""

    def of(library):
        def side(data, threads):
            fit, _ = estimator(library, path, None, **parameters)(data, threads)
            model = fit()
            return lambda: model.predict_proba(data["queries"]), lambda found: found

        return side

    return {library: of(library) for library in BOTH}


def in_categories(data, columns):
    """The training and test tables as pandas frames whose first columns are categories."""
    import pandas

    tables = [pandas.DataFrame(data[key]).astype({j: int for j in range(columns)}) for key in ("X", "queries")]
    levels = {j: pandas.CategoricalDtype(sorted(set(data["X"][:, j].astype(int)))) for j in range(columns)}
    return [table.astype(levels) for table in tables]


def tree_of_categories(make, columns=10):
    """One tree of 31 leaves over a table with categories."""

    def side(data, threads):
        tables = in_categories(data, columns)
        return lambda: make(threads).fit(tables[0], data["y"]), lambda model: model.predict(tables[1])

    return side


def single_tree(**parameters):
    """Our tree of 31 leaves."""

    def make(threads):
        from learnt.tree import DecisionTreeClassifier

        return DecisionTreeClassifier(
            max_leaf_nodes=31, min_samples_leaf=20, random_state=0, n_jobs=threads, **parameters
        )

    return make


def lightgbm_tree(threads):
    """One tree of LightGBM, without shrinkage and without its smoothing of categories."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        n_estimators=1, learning_rate=1.0, num_leaves=31, min_child_samples=20, max_bin=255, n_jobs=threads,
        verbose=-1, cat_smooth=0.0, cat_l2=0.0, max_cat_to_onehot=2, max_cat_threshold=1000,
    )


def forest(name, recipe, shape, path, libraries=(OURS, SKLEARN, INTELEX)):
    """A forest of a hundred trees."""
    sides = estimators(
        path, predictions, libraries=libraries, n_estimators=100, random_state=0, n_jobs=all_threads
    )
    if path == FOREST:
        sides |= {"snapml": strong.snap_forest, "ydf": strong.ydf_forest}
    return Workload(name, recipe, shape, test_accuracy, "test accuracy", 0.005, sides)


def boosting(name, recipe, shape, sides, tolerance=0.01):
    """A race for the log-loss of test rows."""
    return Workload(
        name, recipe, shape, test_log_loss, "test log-loss", tolerance, sides, higher=False, relative=True
    )


def rows_one_by_one(sides, count=200):
    """Prediction of single rows, one call each."""

    def wrapped(side):
        def one(data, threads):
            fit, _ = side(data, threads)
            model = fit()
            rows = [data["queries"][i : i + 1] for i in range(count)]

            def run():
                for row in rows:
                    model.predict(row)

            return run, lambda _none: model.predict(data["queries"])

        return one

    return {name: wrapped(side) for name, side in sides.items()}


ENSEMBLES = [
    boosting(
        "histogram boosting fit",
        "boosting",
        "1M x 28, 100 rounds, 31 leaves",
        {
            **boosters(),
            "CatBoost": strong.catboost,
            "ydf": strong.ydf_boosting,
            "snapml": strong.snap_boosting,
        },
    ),
    boosting(
        "histogram boosting predict",
        "boosting",
        "100k x 28, 100 trees",
        {
            **predicted(HIST, max_iter=100, early_stopping=False),
            "LightGBM": booster(lightgbm, "predict", None),
            "XGBoost": booster(xgboost, "predict", None),
        },
    ),
    boosting(
        "histogram boosting with categories",
        "boosting_levels",
        "500k x 28, 20 categories of 10 to 1,000 levels",
        boosters(categories=list(range(20))),
        tolerance=0.02,
    ),
    boosting("histogram boosting multiclass", "boosting_classes", "200k x 50, 10 classes", boosters()),
    Workload(
        "decision tree with categories",
        "tree_levels",
        "200k x 20, 10 categories of 5 to 200 levels, 31 leaves",
        test_accuracy,
        "test accuracy",
        0.005,
        {
            OURS: tree_of_categories(single_tree()),
            "learnt histogram": tree_of_categories(single_tree(method="histogram")),
            "LightGBM": tree_of_categories(lightgbm_tree),
        },
        informative=("learnt histogram",),
    ),
    forest("random forest", "tree_half", "50k x 20, 100 trees", FOREST),
    forest("random forest, many rows", "tree_many", "500k x 20, 100 trees", FOREST),
    forest("extra trees", "tree_half", "50k x 20, 100 trees", "ensemble.ExtraTreesClassifier"),
    Workload(
        "random forest predict",
        "tree_half",
        "20k rows, 100 trees",
        test_accuracy,
        "test accuracy",
        0.005,
        estimators(FOREST, None, "predict", n_estimators=100, random_state=0, n_jobs=all_threads),
    ),
    Workload(
        "random forest, one row",
        "tree_half",
        "200 calls, 100 trees",
        test_accuracy,
        "test accuracy",
        0.005,
        rows_one_by_one(estimators(FOREST, None, n_estimators=100, random_state=0)),
    ),
    Workload(
        "AdaBoost",
        "tree_half",
        "50k x 20, 100 stumps",
        test_accuracy,
        "test accuracy",
        0.005,
        estimators("ensemble.AdaBoostClassifier", predictions, libraries=BOTH, n_estimators=100, random_state=0),
    ),
    Workload(
        "exact gradient boosting",
        "smooth",
        "20k x 10, 100 trees of depth 3",
        test_r_squared,
        "test R2",
        0.01,
        estimators("ensemble.GradientBoostingRegressor", predictions, libraries=BOTH, random_state=0),
    ),
]
