"""Every family on the same shapes: tiny, one row at a time, wide, tall, badly scaled, float32, Fortran order, pandas,
many classes or levels."""

from dataclasses import dataclass, field
from typing import Callable

from . import family_data  # noqa: F401, its tables are found by name
from .shapes import ALL, as_frame, by_columns, changed, itself, levels_found, single
from .workloads import (
    BOTH,
    PACKAGES,
    Workload,
    all_threads,
    centres,
    components,
    estimators,
    explained_variance,
    inertia,
    poisson_deviance,
    predictions,
    r_squared,
    train_accuracy,
)


@dataclass
class Family:
    """A class, its settings, the kind of its table and how much worse its quality may be."""

    name: str
    path: str
    parameters: dict
    kind: str
    tolerance: float
    # Shapes that it cannot do, that take minutes, or that have a row of their own elsewhere.
    without: tuple = ()


@dataclass
class Kind:
    """Recipes with their shapes, how well a model does on them, and what it answers."""

    recipes: dict
    score: Callable
    metric: str
    answer: Callable
    higher: bool = True
    relative: bool = False
    # Further shapes of this kind.
    more: dict = field(default_factory=dict)


def spread_error(data, model):
    """The largest relative error of a column's standard deviation."""
    import numpy

    return float(numpy.abs(numpy.asarray(model.scale_) / data["X"].std(axis=0) - 1).max())


def fill_error(data, model):
    """The largest error of what an imputer fills in, beside the column's mean or median."""
    import numpy

    expected = getattr(numpy, f"nan{model.strategy}")(data["X"], axis=0)
    return float(numpy.abs(numpy.asarray(model.statistics_) - expected).max())


def likelihood(data, model):
    """Mean log-density of some training rows."""
    return float(model.score_samples(data["X"][:5000]).mean())


def groups_found(_data, model):
    """The number of clusters, with the noise as one."""
    return float(len(set(model.labels_.tolist())))


def badly_scaled(data):
    """Columns from a thousandth to a thousand."""
    import numpy

    table = data["X"]
    return {**data, "X": table * numpy.logspace(-3, 3, table.shape[1])}


# Methods that draw at random may differ a little in what they find.
FAMILIES = (
    Family("least squares", "linear_model.LinearRegression", {}, "numbers", 1e-5, ("wide",)),
    Family("ridge", "linear_model.Ridge", {}, "numbers", 1e-5, ("wide", "badly scaled")),
    Family("lasso", "linear_model.Lasso", {"alpha": 0.1}, "numbers", 1e-4, ("badly scaled",)),
    Family("elastic net", "linear_model.ElasticNet", {"alpha": 0.1}, "numbers", 1e-4, ("badly scaled",)),
    Family("poisson", "linear_model.PoissonRegressor", {"alpha": 0.1}, "counts", 1e-3),
    Family("logistic", "linear_model.LogisticRegression", {}, "classes", 2e-3, ("wide", "badly scaled")),
    Family(
        "stochastic gradient",
        "linear_model.SGDClassifier",
        {"max_iter": 5, "tol": None, "random_state": 0},
        "classes",
        2e-2,
        ("badly scaled",),
    ),
    Family("naive Bayes", "naive_bayes.GaussianNB", {}, "classes", 1e-3),
    Family(
        "linear discriminant",
        "discriminant_analysis.LinearDiscriminantAnalysis",
        {},
        "classes",
        1e-3,
        ("wide",),
    ),
    Family(
        "quadratic discriminant",
        "discriminant_analysis.QuadraticDiscriminantAnalysis",
        {"reg_param": 0.01},
        "classes",
        1e-3,
        ("wide",),
    ),
    Family(
        "neighbours", "neighbors.KNeighborsClassifier", {"n_jobs": all_threads}, "classes", 1e-3, ("tall",)
    ),
    Family("tree", "tree.DecisionTreeClassifier", {"max_depth": 8, "random_state": 0}, "classes", 5e-3),
    Family(
        "forest",
        "ensemble.RandomForestClassifier",
        {"n_estimators": 50, "random_state": 0, "n_jobs": all_threads},
        "classes",
        5e-3,
        ("tall",),
    ),
    Family(
        "extra trees",
        "ensemble.ExtraTreesClassifier",
        {"n_estimators": 20, "random_state": 0, "n_jobs": all_threads},
        "classes",
        5e-3,
        ("tall",),
    ),
    Family("AdaBoost", "ensemble.AdaBoostClassifier", {"n_estimators": 10, "random_state": 0}, "classes", 5e-3),
    Family(
        "exact boosting",
        "ensemble.GradientBoostingClassifier",
        {"n_estimators": 10, "random_state": 0},
        "classes",
        5e-3,
        ("tall", "many classes"),
    ),
    Family("boosting", "ensemble.HistGradientBoostingClassifier", {"max_iter": 50, "random_state": 0}, "classes", 1e-2),
    Family("k-means", "cluster.KMeans", {"n_clusters": 8, "n_init": 3, "random_state": 0}, "clusters", 2e-2),
    Family(
        "Gaussian mixture",
        "mixture.GaussianMixture",
        {"n_components": 8, "max_iter": 10, "random_state": 0},
        "densities",
        2e-2,
        ("wide",),
    ),
    Family("DBSCAN", "cluster.DBSCAN", {"eps": 0.3, "n_jobs": all_threads}, "points", 0.0, ("one row",)),
    Family("principal components", "decomposition.PCA", {"n_components": 5}, "factors", 1e-3, ("wide",)),
    Family("scaler", "preprocessing.StandardScaler", {}, "scale", 1e-6),
    Family("one-hot", "preprocessing.OneHotEncoder", {"handle_unknown": "ignore"}, "levels", 0.0),
    Family("ordinal", "preprocessing.OrdinalEncoder", {}, "levels", 0.0, ("one row",)),
    Family("imputer", "impute.SimpleImputer", {"strategy": "mean"}, "missing", 1e-5),
    Family("imputer of medians", "impute.SimpleImputer", {"strategy": "median"}, "missing", 1e-5),
)


def recipes(tiny, some, wide=None, tall=None):
    """The recipes of a kind by shape, with the words for their sizes; most kinds have the same sizes."""
    found = {"tiny": (tiny, "1k x 10"), "some": (some, "50k x 20")}
    return found | ({"wide": wide} if wide else {}) | ({"tall": tall} if tall else {})


ROWS = recipes("tiny_blobs", "rows_50k", ("wide_rows", "1k x 2k"), ("tall_rows", "500k x 5"))
KINDS = {
    "numbers": Kind(
        recipes("tiny_regression", "numbers_50k", ("wide_regression", "2k x 3k"), ("tall_numbers", "500k x 5")),
        r_squared,
        "R2",
        predictions,
        more={"badly scaled": badly_scaled},
    ),
    "counts": Kind(
        recipes("tiny_counts", "counts_50k", ("wide_counts", "500 x 1k"), ("tall_counts", "500k x 5")),
        poisson_deviance,
        "mean deviance",
        predictions,
        higher=False,
        relative=True,
        more={"badly scaled": badly_scaled},
    ),
    "classes": Kind(
        recipes("tiny_binary", "classes_50k", ("wide_binary", "200 x 5k"), ("tall_classes", "500k x 5")),
        train_accuracy,
        "train accuracy",
        predictions,
        more={"badly scaled": badly_scaled},
    ),
    "clusters": Kind(ROWS, inertia, "inertia a row", centres, higher=False, relative=True),
    "densities": Kind(ROWS, likelihood, "log-density", itself, relative=True),
    "points": Kind(
        {"tiny": ("tiny_points", "1k x 3"), "some": ("points_20k", "20k x 3"), "tall": ("points_200k", "200k x 2")},
        groups_found,
        "clusters",
        itself,
    ),
    "factors": Kind(ROWS, explained_variance, "explained variance", components),
    "scale": Kind(ROWS, spread_error, "relative error", itself, higher=False),
    "levels": Kind(
        recipes("tiny_levels", "levels_50k", ("wide_levels", "1k x 2k"), ("tall_levels", "500k x 5")),
        levels_found,
        "levels",
        itself,
    ),
    "missing": Kind(
        recipes("tiny_missing", "missing_50k", ("wide_missing", "1k x 2k"), ("tall_missing", "500k x 5")),
        fill_error,
        "error",
        itself,
        higher=False,
    ),
}
ORDERS = {"float32": single, "Fortran order": by_columns, "pandas": as_frame}
# Modules that scikit-learn-intelex has.
ACCELERATED = ("linear_model", "neighbors", "ensemble", "cluster", "decomposition")
# Calls of a turn of predictions of one row.
CALLS = 200


def libraries_for(path):
    """The libraries that have a class."""
    hist = path.endswith("HistGradientBoostingClassifier")
    return ALL if path.split(".")[0] in ACCELERATED and not hist else BOTH


def one_row(library, path, parameters):
    """Predictions of one row after another, as a service makes them."""

    def side(data, threads):
        import importlib

        module, name = path.rsplit(".", 1)
        constructor = getattr(importlib.import_module(f"{PACKAGES[library]}.{module}"), name)
        settled = {key: value(data, threads) if callable(value) else value for key, value in parameters.items()}
        # One thread where there is a choice: others cost more than a row.
        settled.update({key: 1 for key in settled if key == "n_jobs"})
        model = constructor(**settled).fit(*((data["X"], data["y"]) if "y" in data else (data["X"],)))
        call = getattr(model, "predict", None) or model.transform
        rows = [data["X"][i : i + 1] for i in range(CALLS)]

        def run():
            for row in rows:
                call(row)
            return model

        return run, lambda fitted: fitted

    return side


def row(shape, family, table, sides, answer_is_model=False):
    """One row of the table for a family."""
    kind = KINDS[family.kind]
    score = (lambda data, model: kind.score(data, kind.answer(model, data))) if answer_is_model else kind.score
    recipe, size = table
    return Workload(
        f"{family.name}: {shape}",
        recipe,
        size,
        score,
        kind.metric,
        family.tolerance,
        sides,
        higher=kind.higher,
        relative=kind.relative,
    )


def rows_of(family):
    """All shapes of a family."""
    kind, everybody = KINDS[family.kind], libraries_for(family.path)

    def sides(change=None, libraries=everybody):
        found = estimators(family.path, kind.answer, libraries=libraries, **family.parameters)
        return changed(found, change) if change else found

    tiny, some = kind.recipes["tiny"], kind.recipes["some"]
    yield row("tiny", family, tiny, sides())
    if "one row" not in family.without:
        single_rows = {library: one_row(library, family.path, family.parameters) for library in everybody}
        yield row("one row", family, (tiny[0], f"{tiny[1]}, {CALLS} calls"), single_rows, answer_is_model=True)
    for shape, change in (ORDERS | kind.more).items():
        if shape not in family.without:
            yield row(shape, family, some, sides(change, BOTH if shape == "pandas" else everybody))
    for shape in ("wide", "tall"):
        if shape in kind.recipes and shape not in family.without:
            yield row(shape, family, kind.recipes[shape], sides())
    if family.kind == "classes" and "many classes" not in family.without:
        yield row("many classes", family, ("hundred_classes", "20k x 20, 100 classes"), sides())


def many_words(data):
    """Codes as words, some of them in one row only."""
    import numpy

    words = numpy.array([f"level{code:05d}" for code in range(20_000)], dtype=object)
    return {"X": words[data["X"].astype(int)]}


FAMILY_ROWS = [
    *(entry for family in FAMILIES for entry in rows_of(family)),
    *(
        Workload(
            f"{name}: many levels",
            "many_levels",
            "500k x 2 words, 20k levels",
            levels_found,
            "levels",
            0.0,
            changed(estimators(path, itself, libraries=BOTH), many_words),
        )
        for name, path in (
            ("one-hot", "preprocessing.OneHotEncoder"),
            ("ordinal", "preprocessing.OrdinalEncoder"),
        )
    ),
]
