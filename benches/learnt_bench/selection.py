"""Workloads of choosing and judging models: cross-validation, searches, scores of many rows, the bootstrap."""

import importlib

from .workloads import BOTH, INTELEX, OURS, PACKAGES, SKLEARN, Workload, functions, number


def value(_data, found):
    """The answer is the score."""
    return float(found)


def cross_validated(path, **parameters):
    """Five folds of one learner; scikit-learn has a process for each thread."""

    def of(library):
        def side(data, threads):
            module, name = path.rsplit(".", 1)
            package = PACKAGES[library]
            learner = getattr(importlib.import_module(f"{package}.{module}"), name)
            score = importlib.import_module(f"{package}.model_selection").cross_val_score

            def run():
                return score(learner(**parameters), data["X"], data["y"], cv=5, n_jobs=threads)

            return run, lambda scores: scores.mean()

        return side

    return {library: of(library) for library in BOTH}


def penalties():
    """Twenty strengths of a penalty."""
    import numpy

    return numpy.logspace(-3, 4, 20)


def ridge_grid(library):
    """A grid search over twenty penalties with five folds."""

    def side(data, threads):
        package = PACKAGES[library]
        ridge = importlib.import_module(f"{package}.linear_model").Ridge
        search = importlib.import_module(f"{package}.model_selection").GridSearchCV

        def run():
            grid = {"alpha": list(penalties())}
            return search(ridge(), grid, cv=5, n_jobs=threads).fit(data["X"], data["y"])

        return run, lambda found: found.best_score_

    return side


def ridge_path(data, _threads):
    """scikit-learn's RidgeCV: leave-one-out of all penalties from one decomposition."""
    from sklearn.linear_model import RidgeCV

    def run():
        return RidgeCV(alphas=penalties(), scoring="r2").fit(data["X"], data["y"])

    return run, lambda model: model.best_score_


def bootstrap_learnt(data, _threads):
    """Percentile interval of a mean."""
    from learnt.stats import bootstrap

    def run():
        return bootstrap(data["s"], "mean", n_resamples=10_000, method="percentile", random_state=0)

    return run, lambda found: found.high - found.low


def bootstrap_scipy(data, _threads):
    """Percentile interval of a mean, a hundred resamples at a time."""
    import numpy
    from scipy.stats import bootstrap

    def run():
        return bootstrap(
            (data["s"],), numpy.mean, n_resamples=10_000, method="percentile", batch=100, random_state=0
        )

    return run, lambda found: found.confidence_interval.high - found.confidence_interval.low


def scored(name, *inputs, libraries=BOTH):
    """A score of ten million rows."""
    return Workload(
        f"{name}, many rows", "many_scores", "10M values", number, "value", 1e-9,
        functions(f"metrics.{name}", *inputs, libraries=libraries), relative=True,
    )


SELECTION = [
    Workload(
        "cross-validated logistic regression", "tree", "100k x 20, 5 folds", value, "accuracy", 1e-3,
        cross_validated("linear_model.LogisticRegression"),
    ),
    Workload(
        "cross-validated forest", "tree", "100k x 20, 5 folds, 50 trees", value, "accuracy", 0.005,
        cross_validated("ensemble.RandomForestClassifier", n_estimators=50, random_state=0),
    ),
    Workload(
        "cross-validated boosting", "tree", "100k x 20, 5 folds", value, "accuracy", 0.005,
        cross_validated("ensemble.HistGradientBoostingClassifier", early_stopping=False, random_state=0),
    ),
    Workload(
        "grid search of ridge", "sparse", "100k x 200, 20 alphas, 5 folds", value, "R2", 1e-3,
        {OURS: ridge_grid(OURS), SKLEARN: ridge_grid(SKLEARN), "scikit-learn RidgeCV": ridge_path},
    ),
    scored("roc_auc_score", "y", "s", libraries=(*BOTH, INTELEX)),
    scored("average_precision_score", "y", "s"),
    scored("log_loss", "y", "p"),
    Workload(
        "bootstrap of a mean", "few_scores", "100k values, 10k resamples", value, "width", 0.05,
        {OURS: bootstrap_learnt, "scipy": bootstrap_scipy}, relative=True, higher=False,
    ),
]
