"""How models are scored: by the names of this package, by scikit-learn's names, or by a callable.

A scorer is called with a fitted estimator, rows and their target. Names that begin with `neg_` and all
other names of scikit-learn give scikit-learn's value, of which more is better; names of this package
(`rmse`, `log-loss`) give the metric itself.
"""

import inspect
from functools import lru_cache, partial

import numpy as np

from . import _native, _validation
from ._base import default_threads
from .errors import ParameterError

# scikit-learn's names: the function of `learnt.metrics`, what is asked of the estimator, and parameters.
_AVERAGES = ("macro", "micro", "weighted")
_SCORERS = {
    "accuracy": ("accuracy_score", "predict", {}),
    "balanced_accuracy": ("balanced_accuracy_score", "predict", {}),
    "matthews_corrcoef": ("matthews_corrcoef", "predict", {}),
    "average_precision": ("average_precision_score", "scores", {}),
    "roc_auc": ("roc_auc_score", "scores", {}),
    "roc_auc_ovr": ("roc_auc_score", "predict_proba", {"multi_class": "ovr"}),
    "roc_auc_ovo": ("roc_auc_score", "predict_proba", {"multi_class": "ovo"}),
    "neg_log_loss": ("log_loss", "predict_proba", {}),
    "neg_brier_score": ("brier_score_loss", "predict_proba", {}),
    "r2": ("r2_score", "predict", {}),
    "explained_variance": ("explained_variance_score", "predict", {}),
    "neg_max_error": ("max_error", "predict", {}),
    "neg_mean_absolute_error": ("mean_absolute_error", "predict", {}),
    "neg_mean_absolute_percentage_error": ("mean_absolute_percentage_error", "predict", {}),
    "neg_mean_gamma_deviance": ("mean_gamma_deviance", "predict", {}),
    "neg_mean_poisson_deviance": ("mean_poisson_deviance", "predict", {}),
    "neg_mean_squared_error": ("mean_squared_error", "predict", {}),
    "neg_median_absolute_error": ("median_absolute_error", "predict", {}),
    "neg_root_mean_squared_error": ("root_mean_squared_error", "predict", {}),
    **{
        name: (f"{name}_score", "predict", {})
        for name in ("f1", "precision", "recall", "adjusted_rand", "rand", "fowlkes_mallows")
    },
    **{
        f"{name}_{average}": (f"{name}_score", "predict", {"average": average})
        for name in ("f1", "precision", "recall")
        for average in _AVERAGES
    },
    **{
        f"{name}_score": (f"{name}_score", "predict", {})
        for name in (
            "adjusted_rand", "rand", "fowlkes_mallows", "mutual_info", "normalized_mutual_info",
        )
    },
}  # fmt: skip


@lru_cache(maxsize=None)
def metric_names():
    """The metrics of this package by each of their names: (name, task, whether more is better)."""
    return {
        word: (names[0], task, higher)
        for names, task, higher, _ in _native.metrics()
        for word in names
    }


def known_names():
    """Every name that a scorer can have without another package."""
    return sorted({*_SCORERS, *metric_names()})


def scorer(scoring):
    """What scores an estimator: a function of the fitted estimator, rows and their target."""
    if scoring is None:
        return _own_score
    if callable(scoring):
        return scoring
    if scoring in _SCORERS:
        name, method, params = _SCORERS[scoring]
        sign = -1.0 if scoring.startswith("neg_") else 1.0
        return partial(_by_function, name, method, params, sign)
    word = str(scoring).lower().replace("_", "-")
    if word in metric_names():
        return partial(_by_metric, metric_names()[word][0])
    try:
        from sklearn.metrics import get_scorer

        return get_scorer(scoring)
    except (ImportError, ValueError) as error:
        raise ParameterError(
            f"`scoring` is no metric: {scoring!r} (known: {', '.join(known_names())})"
        ) from error


def scorers(scoring):
    """Scorers by name, and whether there are several: from a name, a callable, a list or a dictionary."""
    if isinstance(scoring, dict):
        return {name: scorer(value) for name, value in scoring.items()}, True
    if isinstance(scoring, (list, tuple, set)):
        return {name: scorer(name) for name in scoring}, True
    return {"score": scorer(scoring)}, False


def _own_score(estimator, X, y=None, sample_weight=None):
    extra = {} if sample_weight is None else {"sample_weight": sample_weight}
    return estimator.score(X, **extra) if y is None else estimator.score(X, y, **extra)


def _by_function(name, method, params, sign, estimator, X, y, sample_weight=None):
    from . import metrics

    classes = getattr(estimator, "classes_", None)
    if sample_weight is not None:
        if "sample_weight" not in inspect.signature(getattr(metrics, name)).parameters:
            raise ParameterError(f"`{name}` takes no weights; leave out `sample_weight`, or score by another name")
        params = {**params, "sample_weight": sample_weight}
    if method == "predict":
        return sign * getattr(metrics, name)(y, estimator.predict(X), **params)
    found = _scores(estimator, X) if method == "scores" else estimator.predict_proba(X)
    if classes is not None and len(classes) == 2:
        found = found[:, 1] if np.ndim(found) == 2 else found
        if name in ("brier_score_loss", "average_precision_score"):
            params = {**params, "pos_label": classes[1]}
        elif name == "roc_auc_score":
            y, params = np.asarray(y) == classes[1], {k: v for k, v in params.items() if k == "sample_weight"}
    elif name == "roc_auc_score" and "multi_class" not in params:
        raise ParameterError("`roc_auc` is for two classes; name roc_auc_ovr or roc_auc_ovo")
    if name == "log_loss" or (name == "roc_auc_score" and "multi_class" in params):
        params = {**params, "labels": classes.tolist()}
    return sign * getattr(metrics, name)(y, found, **params)


def _scores(estimator, X):
    """Decision scores, or probabilities of an estimator that has none."""
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(X)
    return estimator.predict_proba(X)


def _by_metric(name, estimator, X, y, sample_weight=None):
    """A metric of this package, from all that the estimator says about the rows."""
    weights = _validation.read_weights(sample_weight, len(y))
    parts = dict.fromkeys(("values", "codes", "classes", "probabilities", "decision_scores"))
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        truth = _validation.read_numbers(_validation.read_target(y, len(y), many=True), "y")
        parts["values"] = np.asarray(estimator.predict(X), dtype=np.float64)
    else:
        y, classes = np.asarray(y), np.asarray(classes)
        both = np.unique(np.concatenate([classes, y]))
        place = partial(np.searchsorted, both)
        truth = place(y).astype(np.uint32)
        parts["codes"] = place(np.asarray(estimator.predict(X))).astype(np.uint32)
        parts["classes"] = both.tolist()
        parts.update(_foretold(estimator, X, place(classes), len(both)))
    return _native.score(name, {"truth": truth, "weights": weights, **parts}, default_threads())


def _foretold(estimator, X, places, width):
    """Probabilities of all classes, or decision scores; a class that training lacked has none."""
    if hasattr(estimator, "predict_proba"):
        found = np.asarray(estimator.predict_proba(X), dtype=np.float64)
        if found.shape[1] == width:
            return {"probabilities": found}
        wide = np.zeros((len(found), width))
        wide[:, places] = found
        return {"probabilities": wide}
    if hasattr(estimator, "decision_function") and len(places) == width:
        return {"decision_scores": np.asarray(estimator.decision_function(X), dtype=np.float64)}
    return {}
