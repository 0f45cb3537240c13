"""The table of workloads: what is done, on which data, by which libraries, and how well.

A side is a function of (data, threads) that returns a pair: `run`, the timed function of no arguments, and
`answer`, which turns what `run` returned into what the workload's score wants (predictions, probabilities,
centres, components or a shape). Scores are computed here from those, the same way for every library; a library's
own `inertia_` or `score` is not believed.
"""

import importlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from . import strong

OURS = "learnt"
SKLEARN = "scikit-learn"
INTELEX = "scikit-learn-intelex"
PACKAGES = {OURS: "learnt", SKLEARN: "sklearn", INTELEX: "sklearnex"}


@dataclass
class Workload:
    """One row of the table."""

    name: str
    recipe: str
    shape: str
    score: Callable
    metric: str
    tolerance: float
    sides: dict = field(default_factory=dict)
    higher: bool = True
    relative: bool = False
    # Sides that are shown and not raced: other precision, or other work than ours.
    informative: tuple = ()

    def worse(self, ours, theirs):
        """Whether our quality is below theirs by more than the tolerance."""
        loss = theirs - ours if self.higher else ours - theirs
        return not loss <= self.tolerance * (abs(theirs) if self.relative else 1.0)


# Scores: a function of (data, answer).


def r_squared(data, predictions):
    """Share of the variance of the target explained on the training rows."""
    residual = data["y"] - predictions
    centred = data["y"] - data["y"].mean()
    return float(1 - (residual @ residual) / (centred @ centred))


def log_loss(data, probabilities):
    """Mean negative log-likelihood of the training labels."""
    import numpy

    chosen = probabilities[numpy.arange(len(data["y"])), data["y"]]
    return float(-numpy.log(numpy.clip(chosen, 1e-300, None)).mean())


def test_accuracy(data, labels):
    """Share of the test rows labelled right."""
    return float((labels == data["truth"]).mean())


def train_accuracy(data, labels):
    """Share of the training rows labelled right."""
    return float((labels == data["y"]).mean())


def inertia(data, centre_sets):
    """Mean squared distance to the nearest centre, averaged over the sets of centres."""
    import numpy

    table, total = data["X"], 0.0
    for centres in centre_sets:
        norms = (centres**2).sum(axis=1)
        for start in range(0, len(table), 50_000):
            block = table[start : start + 50_000]
            nearest = (norms - 2 * block @ centres.T).min(axis=1)
            total += float((numpy.einsum("ij,ij->i", block, block) + nearest).sum())
    return total / len(table) / len(centre_sets)


def explained_variance(data, components):
    """Share of the variance of the table inside the span of the components."""
    import numpy

    centred = data["X"] - data["X"].mean(axis=0)
    basis, _ = numpy.linalg.qr(numpy.asarray(components).T)
    return float(((centred @ basis) ** 2).sum() / (centred**2).sum())


def cells(data, shape):
    """One if every row and column of the table was found, else zero."""
    return float(tuple(shape) == tuple(data["shape"]))


def lasso_objective(data, fitted):
    """Half the mean square of the residuals plus the sum of the slopes' sizes."""
    import numpy

    slope, level = fitted
    residual = data["y"] - data["X"] @ slope - level
    return float(residual @ residual / (2 * len(residual)) + numpy.abs(slope).sum())


def path_error(ratio):
    """Mean objective of elastic nets along a path, each at its own penalty, relative to the target's variance."""

    def score(data, path):
        import numpy

        alphas, slopes = path
        total = 0.0
        for alpha, slope in zip(alphas, slopes.T):
            residual = data["y"] - data["X"] @ slope
            sizes = ratio * numpy.abs(slope).sum() + (1 - ratio) / 2 * (slope @ slope)
            total += residual @ residual / (2 * len(residual)) + alpha * sizes
        return float(total / len(alphas) / data["y"].var())

    return score


def poisson_deviance(data, mean):
    """Mean deviance of counts."""
    import numpy

    y = data["y"]
    logs = numpy.where(y > 0, y * numpy.log(numpy.where(y > 0, y, 1.0) / mean), 0.0)
    return float(2 * (logs - y + mean).mean())


def number(_data, found):
    """The sum of what a function gave: every library must find the same."""
    import numpy

    return float(numpy.sum(found))


# Sides.


def estimator(library, path, answer, timed="fit", **parameters):
    """A class with scikit-learn's contract; a parameter may be a function of (data, threads).

    `timed` is "fit", "predict" or "fit+predict"; predictions are made on the queries where the data has some.
    """

    def side(data, threads):
        module, name = path.rsplit(".", 1)
        constructor = getattr(importlib.import_module(f"{PACKAGES[library]}.{module}"), name)
        settled = {
            key: value(data, threads) if callable(value) else value for key, value in parameters.items()
        }
        arguments = (data["X"], data["y"]) if "y" in data else (data["X"],)

        def fit():
            return constructor(**settled).fit(*arguments)

        if timed == "fit":
            return fit, lambda model: answer(model, data)
        queries = data.get("queries", data["X"])
        if timed == "fit+predict":
            return lambda: fit().predict(queries), lambda labels: labels
        model = fit()
        return lambda: model.predict(queries), lambda labels: labels

    return side


def functions(path, *inputs, libraries=(OURS, SKLEARN, INTELEX)):
    """The same function of the same arrays from several libraries."""

    def of(library):
        def side(data, _threads):
            module, name = path.rsplit(".", 1)
            call = getattr(importlib.import_module(f"{PACKAGES[library]}.{module}"), name)
            return lambda: call(*(data[key] for key in inputs)), lambda found: found

        return side

    return {library: of(library) for library in libraries}


def estimators(path, answer, timed="fit", libraries=(OURS, SKLEARN, INTELEX), **parameters):
    """The same class with the same parameters from several libraries."""
    return {library: estimator(library, path, answer, timed, **parameters) for library in libraries}


def predictions(model, data):
    """What the model says of the queries, or of the training rows."""
    return model.predict(data.get("queries", data["X"]))


def probabilities(model, data):
    """Class probabilities of the training rows."""
    return model.predict_proba(data["X"])


def centres(model, _data):
    """The one set of cluster centres of a model."""
    return [model.cluster_centers_]


def components(model, _data):
    """The principal directions, as rows."""
    return model.components_


def all_threads(_data, threads):
    """Value of `n_jobs` where scikit-learn's default is one thread."""
    return threads


def numpy_normal_equations(data, _threads):
    """Least squares by centring and one solve."""
    import numpy

    table, target = data["X"], data["y"]

    def run():
        mean, level = table.mean(axis=0), target.mean()
        centred = table - mean
        slope = numpy.linalg.solve(centred.T @ centred, centred.T @ (target - level))
        return slope, level - mean @ slope

    return run, lambda fitted: table @ fitted[0] + fitted[1]


def statsmodels_least_squares(data, _threads):
    """Least squares with standard errors and p-values."""
    import statsmodels.api

    table = statsmodels.api.add_constant(data["X"])

    def run():
        fitted = statsmodels.api.OLS(data["y"], table).fit()
        fitted.bse, fitted.pvalues
        return fitted

    return run, lambda fitted: fitted.fittedvalues


def learnt_inference(data, _threads):
    """Our least squares with the table of tests."""
    from learnt.linear_model import LinearRegression

    def run():
        model = LinearRegression().fit(data["X"], data["y"])
        model.summary()
        return model

    return run, lambda model: model.predict(data["X"])


def statsmodels_poisson(data, _threads):
    """Poisson regression with standard errors and p-values."""
    import statsmodels.api

    table = statsmodels.api.add_constant(data["X"])

    def run():
        fitted = statsmodels.api.GLM(data["y"], table, family=statsmodels.api.families.Poisson()).fit()
        fitted.bse, fitted.pvalues
        return fitted

    return run, lambda fitted: fitted.fittedvalues


def path_of(library, name, **parameters):
    """A path of a hundred penalties."""

    def side(data, _threads):
        function = getattr(importlib.import_module(f"{PACKAGES[library]}.linear_model"), name)
        table = data["X"]
        if library == SKLEARN:
            import numpy

            # Its coordinate descent wants columns, and would copy inside the clock.
            table = numpy.asfortranarray(table)
        return lambda: function(table, data["y"], alphas=100, eps=1e-3, **parameters), lambda path: path[:2]

    return side


def slopes(model, _data):
    """Slopes and intercept of a linear model."""
    return model.coef_, model.intercept_


def vote(neighbours, labels):
    """The commonest label among each row's neighbours, the smallest on ties."""
    import numpy

    near = labels[neighbours]
    counts = numpy.stack([(near == label).sum(axis=1) for label in range(labels.max() + 1)], axis=1)
    return counts.argmax(axis=1)


def scipy_tree(data, threads):
    """scipy's k-d tree, with the vote."""
    from scipy.spatial import cKDTree

    def run():
        _, found = cKDTree(data["X"]).query(data["queries"], 10, workers=threads)
        return vote(found, data["y"])

    return run, lambda labels: labels


def faiss_flat(data, threads):
    """faiss' exhaustive search in float32, with the vote."""
    import faiss
    import numpy

    faiss.omp_set_num_threads(threads)
    table, queries = data["X"].astype(numpy.float32), data["queries"].astype(numpy.float32)

    def run():
        index = faiss.IndexFlatL2(table.shape[1])
        index.add(table)
        return vote(index.search(queries, 10)[1], data["y"])

    return run, lambda labels: labels


def faiss_kmeans(data, threads):
    """faiss' k-means in float32."""
    import faiss
    import numpy

    faiss.omp_set_num_threads(threads)
    table, start = data["X"].astype(numpy.float32), data["start"].astype(numpy.float32)

    def run():
        model = faiss.Kmeans(table.shape[1], 32, niter=30, nredo=1, max_points_per_centroid=10**9, seed=0)
        model.train(table, init_centroids=start)
        return model

    return run, lambda model: [model.centroids.astype(numpy.float64)]


def mlpack_kmeans(algorithm):
    """mlpack's k-means by the named algorithm."""

    def side(data, _threads):
        import mlpack

        def run():
            return mlpack.kmeans(
                clusters=32,
                input_=data["X"],
                initial_centroids=data["start"],
                max_iterations=30,
                algorithm=algorithm,
                labels_only=True,
            )

        return run, lambda outcome: [outcome["centroid"]]

    return side


def mlpack_tree(depth):
    """mlpack's decision tree; `depth` counts the levels of splits, 0 for no limit (mlpack counts nodes)."""

    def side(data, _threads):
        import mlpack
        import numpy

        labels = data["y"].astype(numpy.uint64)
        limit = {"maximum_depth": depth + 1} if depth else {}

        def run():
            model = mlpack.DecisionTree(minimum_leaf_size=1, minimum_gain_split=1e-7, **limit)
            return model.fit(training=data["X"], labels=labels)

        return run, lambda model: model.predict(test=data["queries"]).ravel()

    return side


def mlpack_bayes(data, _threads):
    """mlpack's naive Bayes."""
    import mlpack
    import numpy

    labels = data["y"].astype(numpy.uint64)

    def run():
        return mlpack.nbc(training=data["X"], labels=labels)["output_model"]

    return run, lambda model: mlpack.nbc(input_model=model, test=data["X"])["predictions"].ravel()


def mlpack_bayes_predict(data, threads):
    """Prediction by mlpack's naive Bayes."""
    fit, answer = mlpack_bayes(data, threads)
    model = fit()
    return lambda: answer(model), lambda labels: labels


RPART = """
library(rpart)
read <- function(name, count) readBin(file.path(folder, name), "double", count)
frame <- data.frame(y = factor(read("y", ROWS)), matrix(read("X", ROWS * COLUMNS), ROWS))
queries <- data.frame(matrix(read("queries", QUERIES * COLUMNS), QUERIES))
names(queries) <- names(frame)[-1]
control <- rpart.control(cp = 0, maxdepth = 8, minbucket = 1, minsplit = 2, xval = 0,
                         maxsurrogate = 0, maxcompete = 0)
spent <- system.time(model <- rpart(y ~ ., frame, method = "class", control = control))
labels <- as.character(predict(model, queries, type = "class"))
writeBin(c(spent[[3]], as.double(labels)), file.path(folder, "answer"))
"""


@dataclass
class Timed:
    """An outcome that brings its own seconds: another program's start and reading are not counted."""

    seconds: float
    value: object


def r_rpart(data, _threads):
    """R's rpart without surrogates or cross-validation."""
    import numpy

    if not shutil.which("Rscript"):
        raise RuntimeError("Rscript is not on PATH")

    def run():
        with tempfile.TemporaryDirectory() as folder:
            for name in ("X", "y", "queries"):
                data[name].astype(numpy.float64).ravel(order="F").tofile(os.path.join(folder, name))
            sizes = {"ROWS": len(data["X"]), "COLUMNS": data["X"].shape[1], "QUERIES": len(data["queries"])}
            program = f"folder <- '{folder}'\n" + "".join(f"{key} <- {size}\n" for key, size in sizes.items())
            subprocess.run(["Rscript", "--vanilla", "-e", program + RPART], check=True, capture_output=True)
            outcome = numpy.fromfile(os.path.join(folder, "answer"))
        return Timed(float(outcome[0]), outcome[1:])

    return run, lambda labels: labels


def kmeans_plus_plus(library):
    """k-means++ from three seeds one after another: the seed's luck in iterations and inertia averages out."""

    def side(data, _threads):
        constructor = importlib.import_module(f"{PACKAGES[library]}.cluster").KMeans

        def run():
            seeds = range(3)
            return [constructor(n_clusters=32, n_init=1, random_state=seed).fit(data["X"]) for seed in seeds]

        return run, lambda models: [model.cluster_centers_ for model in models]

    return side


def built(name):
    """A program of ours as it is distributed, or else of a release build; `cargo xtask bench` builds the first."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", Path(__file__).parents[2] / "target"))
    for profile in ("dist", "release"):
        program = target / profile / (name + (".exe" if os.name == "nt" else ""))
        if program.exists():
            return str(program)
    chosen = "--package learnt-io --example read" if name.startswith("examples/") else "--package learnt-cli"
    raise FileNotFoundError(f"no {name} in dist or release: cargo build --profile dist {chosen}")


def read_learnt(data, _threads):
    """learnt's reader, as a process of its own: start and end are counted too."""
    command = [built("examples/read"), data["path"]]

    def shape(outcome):
        words = outcome.stdout.decode().split()
        return int(words[words.index("rows") - 1]), int(words[words.index("columns") - 1])

    return lambda: subprocess.run(command, check=True, capture_output=True), shape


def describe_learnt(data, _threads):
    """The command that reads a file and describes its columns."""
    command = [built("learnt"), "describe", data["path"]]
    return lambda: subprocess.run(command, check=True, capture_output=True), lambda _outcome: data["shape"]


def read_polars(data, _threads):
    """polars' reader."""
    import polars

    return lambda: polars.read_csv(data["path"]), lambda table: table.shape


def read_pandas(engine):
    """pandas' reader by the named engine."""

    def side(data, _threads):
        import pandas

        return lambda: pandas.read_csv(data["path"], engine=engine), lambda table: table.shape

    return side


def read_pyarrow(data, threads):
    """Arrow's reader."""
    import pyarrow
    from pyarrow import csv

    pyarrow.set_cpu_count(threads)
    return lambda: csv.read_csv(data["path"]), lambda table: table.shape


# The table.


def logistic(solver, libraries, iterations=200):
    """Logistic regression by the named solver."""
    return estimators(
        "linear_model.LogisticRegression",
        probabilities,
        libraries=libraries,
        C=1.0,
        max_iter=iterations,
        solver=solver,
    )


def nearest(algorithm):
    """Ten nearest neighbours, fitted and asked."""
    return estimators(
        "neighbors.KNeighborsClassifier",
        None,
        timed="fit+predict",
        n_neighbors=10,
        algorithm=algorithm,
        n_jobs=all_threads,
    )


def cart(**parameters):
    """A classification tree."""
    path = "tree.DecisionTreeClassifier"
    return estimators(path, predictions, libraries=(OURS, SKLEARN), random_state=0, **parameters)


def principal(solver):
    """Twenty principal components by the named solver."""
    return estimators("decomposition.PCA", components, n_components=20, svd_solver=solver)


BOTH = (OURS, SKLEARN)
BAYES = "naive_bayes.GaussianNB"
LINEAR_DISCRIMINANT = "discriminant_analysis.LinearDiscriminantAnalysis"
QUADRATIC_DISCRIMINANT = "discriminant_analysis.QuadraticDiscriminantAnalysis"

WORKLOADS = [
    Workload(
        "least squares",
        "regression",
        "500k x 100",
        r_squared,
        "R2",
        1e-6,
        {
            **estimators("linear_model.LinearRegression", predictions),
            "numpy normal equations": numpy_normal_equations,
            "statsmodels (with inference)": statsmodels_least_squares,
        },
        informative=("statsmodels (with inference)",),
    ),
    Workload(
        "least squares with inference",
        "regression",
        "500k x 100",
        r_squared,
        "R2",
        1e-6,
        {
            OURS: learnt_inference,
            "statsmodels (with inference)": statsmodels_least_squares,
            **estimators("linear_model.LinearRegression", predictions, libraries=(INTELEX,)),
        },
        informative=(INTELEX,),
    ),
    Workload(
        "lasso",
        "sparse",
        "100k x 200, alpha 1",
        lasso_objective,
        "objective",
        1e-5,
        {**estimators("linear_model.Lasso", slopes, libraries=BOTH, alpha=1.0), **strong.sparse_models(1.0)},
        higher=False,
        relative=True,
    ),
    Workload(
        "lasso path",
        "wide",
        "10k x 1000, 100 alphas",
        path_error(1.0),
        "mean objective",
        1e-4,
        {**{library: path_of(library, "lasso_path") for library in BOTH}, "celer": strong.celer_path},
        higher=False,
        relative=True,
    ),
    Workload(
        "elastic-net path",
        "wide",
        "10k x 1000, 100 alphas, l1_ratio .5",
        path_error(0.5),
        "mean objective",
        1e-4,
        {library: path_of(library, "enet_path", l1_ratio=0.5) for library in BOTH},
        higher=False,
        relative=True,
    ),
    Workload(
        "poisson regression",
        "counts",
        "500k x 20",
        poisson_deviance,
        "mean deviance",
        1e-6,
        {
            **estimators("linear_model.PoissonRegressor", predictions, libraries=(OURS,), alpha=0.0),
            "scikit-learn newton-cholesky": estimator(
                SKLEARN, "linear_model.PoissonRegressor", predictions, alpha=0.0, solver="newton-cholesky"
            ),
            "glum": strong.glum_poisson,
            "statsmodels (with inference)": statsmodels_poisson,
        },
        higher=False,
        relative=True,
    ),
    Workload(
        "logistic L1",
        "margins",
        "200k x 50, C=0.01",
        log_loss,
        "train log-loss",
        1e-4,
        {
            OURS: estimator(OURS, "linear_model.LogisticRegression", probabilities, l1_ratio=1.0, C=0.01),
            "scikit-learn liblinear": estimator(
                SKLEARN,
                "linear_model.LogisticRegression",
                probabilities,
                l1_ratio=1.0,
                C=0.01,
                solver="liblinear",
            ),
        },
        higher=False,
        relative=True,
    ),
    Workload(
        "linear discriminant",
        "multinomial",
        "200k x 50, 10 classes",
        train_accuracy,
        "train accuracy",
        0.001,
        {
            OURS: estimator(OURS, LINEAR_DISCRIMINANT, predictions),
            "scikit-learn lsqr": estimator(SKLEARN, LINEAR_DISCRIMINANT, predictions, solver="lsqr"),
            "scikit-learn svd": estimator(SKLEARN, LINEAR_DISCRIMINANT, predictions, solver="svd"),
        },
    ),
    Workload(
        "quadratic discriminant fit",
        "margins",
        "200k x 50, reg_param .01",
        train_accuracy,
        "train accuracy",
        0.001,
        estimators(QUADRATIC_DISCRIMINANT, predictions, libraries=BOTH, reg_param=0.01),
    ),
    Workload(
        "quadratic discriminant predict",
        "margins",
        "200k x 50, reg_param .01",
        train_accuracy,
        "train accuracy",
        0.001,
        estimators(QUADRATIC_DISCRIMINANT, None, "predict", libraries=BOTH, reg_param=0.01),
    ),
    Workload(
        "stochastic gradient hinge",
        "margins",
        "200k x 50, 5 epochs",
        train_accuracy,
        "train accuracy",
        0.01,
        estimators(
            "linear_model.SGDClassifier", predictions, libraries=BOTH, max_iter=5, tol=None, random_state=0
        ),
    ),
    Workload(
        "ridge",
        "regression",
        "500k x 100",
        r_squared,
        "R2",
        1e-6,
        estimators("linear_model.Ridge", predictions, alpha=1.0),
    ),
    Workload(
        "logistic binary lbfgs",
        "binary",
        "1M x 20",
        log_loss,
        "train log-loss",
        1e-4,
        {**logistic("lbfgs", (OURS, SKLEARN, INTELEX)), "snapml": strong.snap_logistic},
        higher=False,
        relative=True,
    ),
    Workload(
        "logistic binary newton",
        "binary",
        "1M x 20",
        log_loss,
        "train log-loss",
        1e-4,
        {
            **logistic("newton-cholesky", BOTH),
            "scikit-learn-intelex newton-cg": logistic("newton-cg", (INTELEX,))[INTELEX],
        },
        higher=False,
        relative=True,
    ),
    Workload(
        "logistic multinomial",
        "multinomial",
        "200k x 50, 10 classes",
        log_loss,
        "train log-loss",
        1e-4,
        logistic("lbfgs", (OURS, SKLEARN, INTELEX), iterations=300),
        higher=False,
        relative=True,
    ),
    Workload(
        "k-means given start",
        "blobs",
        "1M x 16, k=32, 30 iterations",
        inertia,
        "inertia a row",
        1e-4,
        {
            **estimators(
                "cluster.KMeans",
                centres,
                n_clusters=32,
                init=lambda data, _threads: data["start"],
                n_init=1,
                max_iter=30,
                tol=0.0,
            ),
            "mlpack hamerly": mlpack_kmeans("hamerly"),
            "mlpack naive": mlpack_kmeans("naive"),
            "faiss (float32)": faiss_kmeans,
        },
        higher=False,
        relative=True,
        informative=("faiss (float32)",),
    ),
    Workload(
        "k-means++ to tolerance",
        "blobs",
        "1M x 16, k=32, 3 seeds",
        inertia,
        "inertia a row",
        0.05,
        {library: kmeans_plus_plus(library) for library in PACKAGES},
        higher=False,
        relative=True,
    ),
    Workload(
        "neighbours brute",
        "neighbours",
        "100k x 10, 10k queries, k=10",
        test_accuracy,
        "test accuracy",
        0.001,
        {**nearest("brute"), "faiss (float32)": faiss_flat},
        informative=("faiss (float32)",),
    ),
    Workload(
        "neighbours k-d tree",
        "neighbours",
        "100k x 10, 10k queries, k=10",
        test_accuracy,
        "test accuracy",
        0.001,
        {**nearest("kd_tree"), "scipy cKDTree": scipy_tree},
    ),
    Workload(
        "decision tree full",
        "tree",
        "100k x 20",
        test_accuracy,
        "test accuracy",
        0.01,
        {**cart(), "mlpack": mlpack_tree(0), "snapml": strong.snap_tree(), "ydf": strong.ydf_tree()},
    ),
    Workload(
        "decision tree depth 8",
        "tree",
        "100k x 20",
        test_accuracy,
        "test accuracy",
        0.01,
        {
            **cart(max_depth=8),
            "mlpack": mlpack_tree(8),
            "snapml": strong.snap_tree(8),
            "ydf": strong.ydf_tree(8),
            "R rpart": r_rpart,
        },
    ),
    Workload(
        "principal components eigh",
        "low_rank",
        "100k x 200, 20 kept",
        explained_variance,
        "explained variance",
        1e-6,
        principal("covariance_eigh"),
    ),
    Workload(
        "principal components svd",
        "low_rank",
        "100k x 200, 20 kept",
        explained_variance,
        "explained variance",
        1e-6,
        principal("full"),
    ),
    Workload(
        "naive Bayes fit",
        "binary",
        "1M x 20",
        train_accuracy,
        "train accuracy",
        1e-4,
        {**estimators(BAYES, predictions, libraries=BOTH), "mlpack": mlpack_bayes},
    ),
    Workload(
        "naive Bayes predict",
        "binary",
        "1M x 20",
        train_accuracy,
        "train accuracy",
        1e-4,
        {**estimators(BAYES, None, "predict", BOTH), "mlpack": mlpack_bayes_predict},
    ),
    Workload(
        "read CSV",
        "numbers",
        "1M x 20",
        cells,
        "whole table",
        0.0,
        {
            OURS: read_learnt,
            "learnt describe (command)": describe_learnt,
            "polars": read_polars,
            "pandas": read_pandas("c"),
            "pandas with pyarrow": read_pandas("pyarrow"),
            "pyarrow": read_pyarrow,
        },
        informative=("learnt describe (command)",),
    ),
    Workload(
        "roc_auc_score",
        "scores",
        "1M values",
        number,
        "value",
        1e-9,
        functions("metrics.roc_auc_score", "y", "s"),
        relative=True,
    ),
    Workload(
        "log_loss",
        "scores",
        "1M values",
        number,
        "value",
        1e-9,
        functions("metrics.log_loss", "y", "p", libraries=BOTH),
        relative=True,
    ),
    Workload(
        "confusion_matrix",
        "scores",
        "1M values",
        number,
        "rows",
        0.0,
        functions("metrics.confusion_matrix", "y", "predicted", libraries=BOTH),
    ),
    Workload(
        "silhouette_score",
        "groups",
        "10k x 8",
        number,
        "value",
        1e-9,
        functions("metrics.silhouette_score", "X", "labels", libraries=BOTH),
        relative=True,
    ),
]
