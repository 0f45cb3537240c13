"""Comparison of learners on the same folds: `learnt.compare`."""

import time

import numpy as np

from . import _native, _validation
from ._base import _labels, _target_names, seed_of, threads_of
from ._cross_validation import _fit, take
from ._decision import cost_table, place_of
from ._foreign import role_of
from ._scoring import metric_names, scorer
from .answer import Answer
from .errors import DataError, ParameterError, UnsupportedError

# Learners of other packages count as more complex than those whose complexity is known.
_COMPLEXITY_OF_OTHERS = 200
# Whole numbers of more values than this are numbers, and no classes.
MOST_CLASSES = 20


def compare(
    X,
    y,
    learners=None,
    *,
    skip=(),
    scoring=None,
    cv=10,
    task=None,
    groups=None,
    sample_weight=None,
    prepare=True,
    pos_label=None,
    threshold=None,
    costs=None,
    by_class=False,
    random_state=0,
    n_jobs=None,
):
    """Cross-validates learners on the same folds, beside a baseline, with tests against the best.

    The table is that of `learnt compare`: with the same rows and seed it has the same numbers.

    Parameters
    ----------
    X : array or frame
        The rows.
    y : array
        The target.
    learners : list, dict or None, default=None
        Estimators of this package or of another, or names of learners; a dictionary names the rows of
        the table. All learners that suit the target if None.
    skip : list of str, default=()
        Learners to leave out of all.
    scoring : str, list of str or None, default=None
        Metrics by name; the first decides. Those that are usual for the target if None: where one class is
        rare, those that a guess of the commonest does not win.
    cv : int or splitter, default=10
        Number of folds (shuffled; stratified for classes), or what makes the splits.
    task : {"classify", "regress"} or None, default=None
        What the target calls for. None asks the learners if they are given; else words, and whole
        numbers of at most 20 values, are classes.
    groups : array or None, default=None
        The group of each row, for splitters that keep groups whole.
    sample_weight : array or None, default=None
        How much each row counts.
    prepare : bool, default=True
        Whether learners that need it get their standard preparation: missing values filled,
        categories one-hot, numbers standardised.
    pos_label : class or None, default=None
        The positive class; the last of two, in sorted order, if None.
    threshold : float or None, default=None
        Predict the positive class from this probability on. Learners without probabilities decide by
        themselves.
    costs : dict, array or None, default=None
        Predict the class of least expected cost; `decide` says what costs look like. Their mean is the first
        metric then, unless `scoring` names others.
    by_class : bool, default=False
        Whether to add tables of what the simplest of the good learners does with the test rows of each
        class: precision, recall and the confusion matrix.
    random_state : default=0
        Seed of the folds and of the learners.
    n_jobs : int or None, default=None
        Number of threads; None means all. The table does not depend on it.

    Returns
    -------
    Answer
        One row a learner, the best first: means and standard errors of the metrics, seconds of a fit,
        and the p-value of the corrected resampled t test against the best.
    """
    if threshold is not None and costs is not None:
        raise ParameterError("compare takes either `threshold` or `costs`")
    table = _validation.read_table(X, estimator="compare")
    target = _validation.read_target(y, len(table.values), many=True)
    own, others = _contenders(learners)
    classify = _is_classification(target, task, [one for _, one in (own or []) + others])
    labels, classes = None, np.empty(0)
    if classify:
        target, classes = _validation.encode_classes(target)
        labels = _labels(classes)
    elif pos_label is not None or threshold is not None or costs is not None:
        raise ParameterError("`pos_label`, `threshold` and `costs` are for classes, and y has numbers")
    else:
        target = _validation.read_numbers(target, "y")
    given = {
        "path": "", "params": {}, "x": table.values, "columns": table.columns, "y": target,
        "classes": labels, "targets": _target_names(y), "lengths": None, "groups": None, "missing": None,
        "weights": _validation.read_weights(sample_weight, len(table.values)),
        "seed": seed_of(random_state), "threads": threads_of(n_jobs),
    }  # fmt: skip
    splits = _splits(given, X, y, groups, cv)
    metrics = _metrics(scoring) or _usual(given, costs)
    for name, other in others:
        if role_of(other) != ("classifier" if classify else "regressor"):
            raise DataError(f"{name} does not {'classify' if classify else 'regress'}")
    contest = {
        "learners": own,
        "skip": [skip] if isinstance(skip, str) else list(skip),
        "metrics": metrics,
        "splits": splits,
        "prepare": bool(prepare),
        "ready": [_scored(name, other, X, y, splits, metrics) for name, other in others],
        "positive": place_of(np.asarray(classes), pos_label, "pos_label"),
        "threshold": threshold,
        "by_class": bool(by_class),
        "costs": cost_table(np.asarray(classes), costs),
    }
    if others and (threshold is not None or costs is not None):
        names = ", ".join(name for name, _ in others)
        raise UnsupportedError(f"a threshold and costs are for learners of this package, not for {names}")
    return Answer(_native.compare(given, contest))


def _is_classification(target, task, learners):
    if task not in ("classify", "regress", None):
        raise ParameterError(f"`task` must be 'classify', 'regress' or None, got {task!r}")
    if task is not None:
        return task == "classify"
    roles = {role_of(learner) for learner in learners if not isinstance(learner, str)}
    if roles in ({"classifier"}, {"regressor"}):
        return roles == {"classifier"}
    if target.ndim > 1 or target.dtype.kind not in "fiu":
        return target.ndim == 1
    return bool(np.all(target == np.floor(target))) and len(np.unique(target)) <= MOST_CLASSES


def _splits(given, X, y, groups, cv):
    if isinstance(cv, (int, np.integer)):
        if groups is not None:
            raise ParameterError("`groups` needs a splitter that keeps them whole: cv=GroupKFold(5)")
        return _native.usual_splits(given, int(cv))
    pairs = cv.split(X, y, groups) if hasattr(cv, "split") else cv
    return [tuple(np.ascontiguousarray(part, dtype=np.int64) for part in pair) for pair in pairs]


def _usual(given, costs):
    found = _native.usual_metrics(given)
    return found if costs is None else ["cost", *found][:4]


def _metrics(scoring):
    if scoring is None:
        return []
    names = [scoring] if isinstance(scoring, str) else list(scoring)
    words = [str(name).lower().replace("_", "-") for name in names]
    for name, word in zip(names, words):
        if word not in metric_names():
            raise ParameterError(
                f"{name!r} is no metric of this package (known: {', '.join(sorted(metric_names()))})"
            )
    return [metric_names()[word][0] for word in words]


def _contenders(learners):
    """Learners of this package for the native half, and those of others, with the names of rows."""
    if learners is None:
        return None, []
    pairs = learners.items() if isinstance(learners, dict) else ((None, one) for one in learners)
    own, others = [], []
    for name, learner in pairs:
        if isinstance(learner, str) or hasattr(learner, "_path"):
            own.append((name, learner))
        elif hasattr(learner, "fit"):
            others.append((name or type(learner).__name__, learner))
        else:
            raise ParameterError(f"{learner!r} is neither an estimator nor the name of a learner")
    return own, others


def _scored(name, learner, X, y, splits, metrics):
    """A row of the table for a learner of another package."""
    ways = [scorer(metric) for metric in metrics]
    scores, seconds = [[] for _ in ways], []
    for train, test in splits:
        start = time.perf_counter()
        model = _fit(learner, X, y, train, None)
        seconds.append(time.perf_counter() - start)
        for column, way in zip(scores, ways):
            column.append(_or_nan(way, model, take(X, test), take(y, test)))
    return name, _COMPLEXITY_OF_OTHERS, scores, seconds


def _or_nan(way, model, X, y):
    """The score; NaN for a metric that needs more than the estimator predicts."""
    try:
        return float(way(model, X, y))
    except UnsupportedError:
        return float("nan")
