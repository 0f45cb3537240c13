"""Every family on the same few shapes: tiny, one row at a time, float32, Fortran order, pandas, many classes or levels."""

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
    predictions,
    r_squared,
    train_accuracy,
)

# What is measured for each family: its class, its settings, and how well it does. Recipes are those of a tiny table and
# of one of some size. Methods that draw at random may differ a little in what they find.
FAMILIES = (
    ("least squares", "linear_model.LinearRegression", {}, "numbers", 1e-5),
    ("ridge", "linear_model.Ridge", {}, "numbers", 1e-5),
    ("logistic", "linear_model.LogisticRegression", {}, "classes", 2e-3),
    ("naive Bayes", "naive_bayes.GaussianNB", {}, "classes", 1e-3),
    ("linear discriminant", "discriminant_analysis.LinearDiscriminantAnalysis", {}, "classes", 1e-3),
    ("neighbours", "neighbors.KNeighborsClassifier", {"n_jobs": all_threads}, "classes", 1e-3),
    ("tree", "tree.DecisionTreeClassifier", {"max_depth": 8, "random_state": 0}, "classes", 5e-3),
    (
        "forest",
        "ensemble.RandomForestClassifier",
        {"n_estimators": 50, "random_state": 0, "n_jobs": all_threads},
        "classes",
        5e-3,
    ),
    ("boosting", "ensemble.HistGradientBoostingClassifier", {"max_iter": 50, "random_state": 0}, "classes", 1e-2),
    ("k-means", "cluster.KMeans", {"n_clusters": 8, "n_init": 3, "random_state": 0}, "clusters", 2e-2),
    ("principal components", "decomposition.PCA", {"n_components": 5}, "factors", 1e-3),
    ("scaler", "preprocessing.StandardScaler", {}, "scale", 1e-6),
)
# The recipes of each kind of target, the score, its name, and what a model answers.
KINDS = {
    "numbers": ("tiny_regression", "numbers_50k", r_squared, "R2", predictions),
    "classes": ("tiny_binary", "classes_50k", train_accuracy, "train accuracy", predictions),
    "clusters": ("tiny_blobs", "rows_50k", inertia, "inertia a row", centres),
    "factors": ("tiny_blobs", "rows_50k", explained_variance, "explained variance", components),
    "scale": ("tiny_blobs", "rows_50k", None, "relative error", itself),
}
ORDERS = (("float32", single), ("Fortran order", by_columns), ("pandas", as_frame))
# Modules that scikit-learn-intelex has.
ACCELERATED = ("linear_model", "neighbors", "ensemble", "cluster", "decomposition")
# Calls of a turn of predictions of one row.
CALLS = 200


def libraries_for(path):
    """The libraries that have a class."""
    hist = path.endswith("HistGradientBoostingClassifier")
    return ALL if path.split(".")[0] in ACCELERATED and not hist else BOTH


def spread_error(data, model):
    """The largest relative error of a column's standard deviation."""
    import numpy

    return float(numpy.abs(numpy.asarray(model.scale_) / data["X"].std(axis=0) - 1).max())


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


def row(name, family, recipe, shape, sides, answer_is_model=False):
    """One row of the table for a family."""
    _, _, _, kind, tolerance = family
    _, _, score, metric, answer = KINDS[kind]
    score = score or spread_error
    scored = (lambda data, model: score(data, answer(model, data))) if answer_is_model else score
    lower = kind in ("clusters", "scale")
    return Workload(
        name, recipe, shape, scored, metric, tolerance, sides, higher=not lower, relative=kind == "clusters"
    )


def rows_of(family):
    """All shapes of a family."""
    name, path, parameters, kind, _ = family
    tiny, some, _, _, answer = KINDS[kind]
    everybody = libraries_for(path)
    sides = estimators(path, answer, libraries=everybody, **parameters)
    yield row(f"{name}: tiny", family, tiny, "1k x 10", sides)
    single_rows = {library: one_row(library, path, parameters) for library in everybody}
    yield row(f"{name}: one row", family, tiny, f"1k x 10, {CALLS} calls", single_rows, answer_is_model=True)
    for order, change in ORDERS:
        libraries = BOTH if order == "pandas" else everybody
        sides = changed(estimators(path, answer, libraries=libraries, **parameters), change)
        yield row(f"{name}: {order}", family, some, "50k x 20", sides)
    if kind == "classes":
        sides = estimators(path, answer, libraries=everybody, **parameters)
        yield row(f"{name}: many classes", family, "hundred_classes", "20k x 20, 100 classes", sides)


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
