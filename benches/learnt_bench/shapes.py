"""Workloads by shape: wide, tiny, badly scaled, other orders and precisions of memory, many levels."""

from .strong import sparse_models
from .workloads import (
    BOTH,
    INTELEX,
    OURS,
    PACKAGES,
    SKLEARN,
    Workload,
    centres,
    components,
    estimators,
    explained_variance,
    inertia,
    log_loss,
    predictions,
    probabilities,
    r_squared,
    slopes,
    train_accuracy,
)

ALL = (OURS, SKLEARN, INTELEX)


def net_objective(alpha, ratio):
    """Half the mean square of the residuals plus the penalties of an elastic net."""

    def score(data, fitted):
        import numpy

        slope, level = fitted
        residual = data["y"] - data["X"] @ slope - level
        sizes = ratio * numpy.abs(slope).sum() + (1 - ratio) / 2 * (slope @ slope)
        return float(residual @ residual / (2 * len(residual)) + alpha * sizes)

    return score


def edge_error(data, edges):
    """The largest distance of a column's inner edges from its quantiles, in ranks."""
    import numpy

    worst = 0.0
    for column, cuts in enumerate(edges):
        shares = numpy.searchsorted(numpy.sort(data["X"][:, column]), cuts[1:-1]) / len(data["X"])
        worst = max(worst, float(numpy.abs(shares - numpy.arange(1, len(cuts) - 1) / (len(cuts) - 1)).max()))
    return worst


def scale_error(data, model):
    """The largest relative error of a column's distance between quartiles."""
    import numpy

    low, high = numpy.quantile(data["X"], [0.25, 0.75], axis=0)
    return float(numpy.abs(numpy.asarray(model.scale_) / (high - low) - 1).max())


def levels_found(data, model):
    """The number of levels over all columns."""
    return float(sum(len(levels) for levels in model.categories_))


def changed(sides, change):
    """The same sides on arrays that are changed before the clock starts."""

    def wrapped(side):
        return lambda data, threads: side(change(data), threads)

    return {name: wrapped(side) for name, side in sides.items()}


def single(data):
    """Tables in single precision."""
    return {key: value.astype("float32") if value.dtype == float else value for key, value in data.items()}


def by_columns(data):
    """Tables in Fortran's memory order."""
    import numpy

    return {key: numpy.asfortranarray(value) for key, value in data.items()}


def as_frame(data):
    """Tables as pandas frames, one block a column."""
    import pandas

    frame = {key: pandas.DataFrame(value) if value.ndim == 2 else value for key, value in data.items()}
    return frame


def text(data):
    """Codes as words in an array of objects."""
    import numpy

    words = numpy.array([f"level{code:03d}" for code in range(50)], dtype=object)
    return {"X": words[data["X"].astype(int)]}


def itself(model, _data):
    """The model is the answer."""
    return model


def scaled_logistic(library):
    """A pipeline of a scaler and logistic regression; scikit-learn-intelex has the second of them."""

    def side(data, _threads):
        import importlib

        package = "sklearn" if library == INTELEX else PACKAGES[library]
        pipeline = importlib.import_module(f"{package}.pipeline").make_pipeline
        scaler = importlib.import_module(f"{package}.preprocessing").StandardScaler
        learner = importlib.import_module(f"{PACKAGES[library]}.linear_model").LogisticRegression
        fit = lambda: pipeline(scaler(), learner()).fit(data["X"], data["y"])
        return fit, lambda model: probabilities(model, data)

    return side


LOGISTIC = "linear_model.LogisticRegression"
REGRESSIONS = (("least squares", "linear_model.LinearRegression"), ("ridge", "linear_model.Ridge"))


def logistic(name, recipe, shape, libraries=ALL, change=None, **parameters):
    """Logistic regression with scikit-learn's default solver."""
    sides = estimators(LOGISTIC, probabilities, libraries=libraries, **parameters)
    sides = changed(sides, change) if change else sides
    return Workload(name, recipe, shape, log_loss, "train log-loss", 1e-3, sides, higher=False, relative=True)


def net(name, recipe, shape, path, alpha, ratio):
    """One fit with an L1 penalty."""
    extra = {} if ratio == 1.0 else {"l1_ratio": ratio}
    sides = estimators(path, slopes, libraries=BOTH, alpha=alpha, **extra) | sparse_models(alpha, ratio)
    score = net_objective(alpha, ratio)
    return Workload(name, recipe, shape, score, "objective", 1e-4, sides, higher=False, relative=True)


SHAPES = [
    *(
        Workload(f"{name} wide", "wide_regression", "2k x 3k", r_squared, "R2", 1e-6, estimators(path, predictions))
        for name, path in REGRESSIONS
    ),
    *(
        Workload(f"{name} tiny", "tiny_regression", "1k x 10", r_squared, "R2", 1e-6, estimators(path, predictions))
        for name, path in REGRESSIONS
    ),
    Workload(
        "ridge float32",
        "regression",
        "500k x 100",
        r_squared,
        "R2",
        1e-4,
        changed(estimators("linear_model.Ridge", predictions), single),
    ),
    Workload(
        "linear discriminants wide",
        "wide_classes",
        "200 x 5k, 3 classes",
        train_accuracy,
        "train accuracy",
        1e-3,
        estimators("discriminant_analysis.LinearDiscriminantAnalysis", predictions, libraries=BOTH),
    ),
    *(
        Workload(
            f"principal components few, {shape}",
            recipe,
            f"{shape}, 10 kept",
            explained_variance,
            "explained variance",
            1e-3,
            estimators("decomposition.PCA", components, n_components=10),
        )
        for recipe, shape in (("factors_wide", "2k x 5k"), ("factors_tall", "20k x 2k"))
    ),
    logistic("logistic many columns", "binary_wide", "50k x 500"),
    logistic("logistic wide", "wide_binary", "200 x 5k"),
    logistic("logistic tiny", "tiny_binary", "1k x 10"),
    logistic("logistic badly scaled", "binary_scaled", "200k x 30, columns 1e-3 to 1e3", max_iter=200),
    logistic("logistic float32", "margins", "200k x 50", change=single),
    logistic("logistic Fortran order", "margins", "200k x 50", change=by_columns),
    logistic("logistic pandas", "margins", "200k x 50", libraries=BOTH, change=as_frame),
    Workload(
        "pipeline of scaler and logistic",
        "margins",
        "200k x 50",
        log_loss,
        "train log-loss",
        1e-3,
        {library: scaled_logistic(library) for library in ALL},
        higher=False,
        relative=True,
    ),
    net("elastic net many columns", "sparse_tall", "20k x 2k, alpha 1", "linear_model.ElasticNet", 1.0, 0.5),
    net("lasso wide", "sparse_wide", "2k x 20k, alpha 5", "linear_model.Lasso", 5.0, 1.0),
    Workload(
        "bins by quantiles",
        "normal_columns",
        "1M x 10, 10 bins",
        edge_error,
        "error in ranks",
        1e-5,
        estimators(
            "preprocessing.KBinsDiscretizer",
            lambda model, _data: model.bin_edges_,
            libraries=BOTH,
            n_bins=10,
            encode="ordinal",
        ),
        higher=False,
    ),
    Workload(
        "robust scaler",
        "normal_columns",
        "1M x 10",
        scale_error,
        "relative error",
        1e-5,
        estimators("preprocessing.RobustScaler", itself, libraries=BOTH),
        higher=False,
    ),
    Workload(
        "one-hot text",
        "levels",
        "1M x 5, 50 levels",
        levels_found,
        "levels",
        0.0,
        changed(estimators("preprocessing.OneHotEncoder", itself, libraries=BOTH), text),
    ),
    Workload(
        "k-means tiny",
        "tiny_blobs",
        "1k x 10, k=8, 10 starts",
        inertia,
        "inertia a row",
        0.02,
        estimators("cluster.KMeans", centres, libraries=BOTH, n_clusters=8, n_init=10, random_state=0),
        higher=False,
        relative=True,
    ),
]
