"""Search for good parameters: grids, random draws, successive halving and Parzen estimators.

Any estimator with scikit-learn's contract can be searched. Where it is a learner of this package and the
scoring has a name, all fits run in the native half: the rows of a split are gathered once for all
settings, and steps of pipelines that settings share are fitted once.
"""

import time

import numpy as np

from . import _native, _validation
from ._base import _labels, threads_of
from ._cross_validation import _fit, _score, _threads, rows_for, splits_of, take
from ._foreign import clone, role_of
from ._params import Parameters, _Resolved, is_learner
from ._scoring import _SCORERS, metric_names, scorers
from ._splits import ParameterGrid
from .answer import Answer
from .errors import DataError, LearntWarning, ParameterError, UnsupportedError, not_fitted, warn

# scikit-learn's names of scores that are a metric of this package, and their sign.
_NATIVE = {
    "accuracy": ("accuracy", 1.0),
    "balanced_accuracy": ("balanced-accuracy", 1.0),
    "r2": ("r2", 1.0),
    "neg_log_loss": ("log-loss", -1.0),
    "neg_mean_squared_error": ("mse", -1.0),
    "neg_root_mean_squared_error": ("rmse", -1.0),
    "neg_mean_absolute_error": ("mae", -1.0),
    "neg_median_absolute_error": ("median-ae", -1.0),
    "neg_max_error": ("max-error", -1.0),
}


class _Delegated:
    """A method that exists where the estimator has it, and asks the best one."""

    def __init__(self, name, doc):
        self.name, self.__doc__ = name, doc

    def __get__(self, search, owner=None):
        if search is None:
            return self
        found = search.__dict__.get("best_estimator_")
        if found is None and "cv_results_" in search.__dict__:
            raise AttributeError(f"`{self.name}` needs the best estimator: set refit=True")
        getattr(search.estimator if found is None else found, self.name)
        if found is None:

            def refuse(*_args, **_kwargs):
                raise not_fitted(search)

            return refuse
        return getattr(found, self.name)


class _Search(Parameters):
    """What every search can do."""

    predict = _Delegated("predict", "The prediction of the best estimator for each row.")
    predict_proba = _Delegated("predict_proba", "Probabilities by the best estimator.")
    predict_log_proba = _Delegated("predict_log_proba", "Logarithms of the probabilities.")
    decision_function = _Delegated("decision_function", "Scores by the best estimator.")
    score_samples = _Delegated("score_samples", "Scores of rows by the best estimator.")
    transform = _Delegated("transform", "The rows as the best estimator transforms them.")
    inverse_transform = _Delegated("inverse_transform", "The rows before the transformation.")

    def fit(self, X, y=None, **params):
        """Cross-validates the settings, and fits the best to all rows.

        Parameters
        ----------
        X : array, frame or sparse matrix
            The rows.
        y : array or None, default=None
            The target.
        **params
            `groups` for the splitter, and more arguments of the estimator's `fit`; those with a value
            for each row are split with the rows.
        """
        groups = params.pop("groups", None)
        self._check()
        engine = self.__dict__.get("_spread", _Engine)(self, X, y, groups, params)
        self._run(engine)
        self.scorer_ = engine.scorers if engine.several else engine.scorers["score"]
        self.multimetric_, self.n_splits_ = engine.several, len(engine.splits)
        self.cv_results_ = engine.results(self._columns(engine))
        self._lines = engine.report_lines()
        self._choose(engine)
        if self.refit:
            start = time.perf_counter()
            best = clone(self.estimator).set_params(**_copies(self.best_params_))
            arguments = (X,) if y is None else (X, y)
            self.best_estimator_ = best.fit(*arguments, **params)
            self.refit_time_ = time.perf_counter() - start
            for name in ("feature_names_in_", "n_features_in_"):
                if hasattr(best, name):
                    setattr(self, name, getattr(best, name))
        return self

    def score(self, X, y=None):
        """The score of the best estimator by the scoring that chose it."""
        best = self._best()
        way = self.scorer_[self.refit] if self.multimetric_ else self.scorer_
        return float(way(best, X) if y is None else way(best, X, y))

    def summary(self):
        """The search as tables: a row a setting, the best first, and a chart of the scores."""
        if "cv_results_" not in self.__dict__:
            raise not_fitted(self)
        if self._lines is None or "best_index_" not in self.__dict__:
            raise UnsupportedError("a summary needs a scoring by a metric of this package")
        title = f"{type(self).__name__} of {type(self.estimator).__name__}"
        metrics, lines, work = self._lines
        return Answer(_native.search_report(title, metrics, lines, int(self.best_index_), work))

    @property
    def classes_(self):
        """The classes of the best estimator."""
        return self._best().classes_

    def _best(self):
        if "cv_results_" not in self.__dict__:
            raise not_fitted(self)
        if "best_estimator_" not in self.__dict__:
            raise AttributeError("the best estimator was not fitted: set refit=True")
        return self.best_estimator_

    def _roles(self):
        return [role_of(self.estimator)]

    def __sklearn_tags__(self):
        return self.estimator.__sklearn_tags__()

    def __sklearn_is_fitted__(self):
        return "cv_results_" in self.__dict__

    def get_metadata_routing(self):
        """No metadata are asked for."""
        from sklearn.utils.metadata_routing import MetadataRequest

        return MetadataRequest(owner=self)

    def _check(self):
        if not is_learner(self.estimator) or not hasattr(self.estimator, "fit"):
            raise ParameterError(f"`estimator` must be an estimator, got {self.estimator!r}")

    def _columns(self, engine):
        """More columns of the results."""
        return {}

    def _candidates_for_best(self, engine):
        """The settings among which the best is looked for."""
        return range(len(engine.settings))

    def _choose(self, engine):
        names = list(engine.scorers)
        name = self.refit if engine.several else names[0]
        if callable(self.refit):
            self.best_index_ = int(self.refit(self.cv_results_))
            if not 0 <= self.best_index_ < len(engine.settings):
                raise IndexError("best_index_ index out of range")
        elif engine.several and not self.refit:
            return
        elif engine.several and name not in names:
            raise ParameterError(
                "with several scores, `refit` must name one of them, a callable or False, "
                f"got {self.refit!r}"
            )
        else:
            ranks = self.cv_results_[f"rank_test_{name}"]
            among = np.asarray(self._candidates_for_best(engine))
            self.best_index_ = int(among[np.argmin(ranks[among])])
        self.best_params_ = engine.settings[self.best_index_]
        if not callable(self.refit):
            self.best_score_ = float(self.cv_results_[f"mean_test_{name}"][self.best_index_])


class _Engine:
    """Settings on splits: in the native half where everything is of this package, else one by one."""

    def __init__(self, search, X, y, groups, params):
        self.search, self.X, self.y, self.params = search, X, y, params
        self.scorers, self.several = scorers(search.scoring)
        self.splits = [
            tuple(np.ascontiguousarray(part, dtype=np.int64) for part in pair)
            for pair in splits_of(search.estimator, X, y, groups, search.cv)
        ]
        self.error_score = search.error_score
        self.train = bool(search.return_train_score)
        self.settings, self.cells, self.rungs, self.failures = [], [], [], []
        self.work = 0.0
        self.native = self._native_metrics()
        self.given = self._read() if self.native else None

    def _native_metrics(self):
        """Metric and sign of each score, if the native half can do it all."""
        estimator, scoring = self.search.estimator, self.search.scoring
        foreign = not hasattr(estimator, "_path") or getattr(estimator, "_is_foreign", bool)()
        if foreign or self.params or self.y is None or getattr(self.X, "ndim", 2) != 2:
            return None
        role, facts = role_of(estimator), estimator._facts()
        if role not in ("classifier", "regressor") or getattr(self.y, "ndim", 1) != 1:
            return None
        if any(k.endswith("class_weight") and v for k, v in estimator.get_params().items()):
            return None
        if scoring is None:
            if role == "regressor" and facts.get("deviance") is not None:
                return None
            return [("accuracy" if role == "classifier" else "r2", 1.0)]
        if isinstance(scoring, dict):
            names = list(scoring.values())
        else:
            names = list(scoring) if self.several else [scoring]
        found = [_native_metric(name) for name in names]
        return None if any(one is None for one in found) else found

    def _read(self):
        """What the native half is given: rows, target, seed and threads."""
        estimator, search = self.search.estimator, self.search
        name = type(estimator).__name__
        table = _validation.read_table(self.X, estimator=name)
        target = _validation.read_target(self.y, len(table.values))
        labels = None
        if role_of(estimator) == "classifier":
            target, classes = _validation.encode_classes(target)
            labels = _labels(classes)
        else:
            target = _validation.read_numbers(target, "y")
        self.table = table
        given = estimator._given({}, table, self.y, target, labels, None)
        if search.n_jobs is not None:
            given["threads"] = threads_of(search.n_jobs)
        return given

    def evaluate(self, settings, splits=None, rung=(0, None)):
        """Cross-validates settings; their places among all."""
        splits = self.splits if splits is None else splits
        whole = sum(len(train) for train, _ in self.splits)
        self.work += len(settings) * len(splits) * sum(len(t) for t, _ in splits) / max(whole, 1)
        first = len(self.settings)
        learners = [clone(self.search.estimator).set_params(**_copies(s)) for s in settings]
        native = self.native and not any(_needs_python(s) for s in settings)
        found = (self._natively if native else self._in_python)(learners, splits)
        self.settings += settings
        self.rungs += [rung] * len(settings)
        self.cells += found
        return range(first, len(self.settings))

    def _natively(self, learners, splits):
        metrics = [metric for metric, _ in self.native]
        resolved = [_Resolved(learner, self.X, self.table) for learner in learners]
        out = []
        for scores, train, fit_time, score_time, why in _native.evaluate(
            self.given, resolved, metrics, splits, self.train
        ):
            test, seen = {}, {}
            for name, (_, sign), values, known in zip(self.scorers, self.native, scores, train):
                test[name] = self._or_error(sign * np.array(values), why)
                seen[name] = self._or_error(sign * np.array(known), why) if self.train else None
            self.failures += [reason for reason in why if reason is not None]
            out.append((test, seen, np.nan_to_num(fit_time), np.nan_to_num(score_time), why))
        return out

    def _or_error(self, values, why):
        if self.error_score == "raise":
            for reason in why:
                if reason is not None:
                    raise DataError(reason)
            return values
        return np.where(np.isnan(values), self.error_score, values)

    def _in_python(self, learners, splits):
        X, y = self.X, self.y
        out = []
        for learner in learners:
            cells = []
            for train, test in splits:
                with _threads(self.search.n_jobs):
                    start, reason, model = time.perf_counter(), None, None
                    try:
                        model = _fit(learner, X, y, train, self.params)
                    except Exception as error:
                        if self.error_score == "raise":
                            raise
                        reason = f"{type(error).__name__}: {error}"
                    fitted = time.perf_counter()
                    kinds = self.scorers, model
                    scores = _score(*kinds, rows_for(learner, X, test, train), take(y, test), self.error_score)
                    scored = time.perf_counter()
                    seen = None
                    if self.train:
                        rows = rows_for(learner, X, train, train)
                        seen = _score(*kinds, rows, take(y, train), self.error_score)
                cells.append((scores, seen, fitted - start, scored - fitted, reason))
            self.failures += [cell[4] for cell in cells if cell[4] is not None]
            parts = [
                {name: np.array([cell[k][name] for cell in cells]) for name in self.scorers}
                if k == 0 or self.train
                else dict.fromkeys(self.scorers)
                for k in (0, 1)
            ]
            times = [np.array([cell[k] for cell in cells]) for k in (2, 3)]
            out.append((*parts, *times, [cell[4] for cell in cells]))
        return out

    def higher(self, name):
        """Whether more is better: scores are, and metrics of this package that say so."""
        scoring = self.search.scoring
        if self.several:
            scoring = scoring[name] if isinstance(scoring, dict) else name
        if not isinstance(scoring, str) or scoring in _SCORERS:
            return True
        known = metric_names().get(scoring.lower().replace("_", "-"))
        return True if known is None else known[2]

    def means(self, name):
        """The mean score of every setting."""
        return np.array([cell[0][name].mean() for cell in self.cells])

    def best_of(self, places, name, count):
        """The best of some settings, the best first."""
        sign = -1.0 if self.higher(name) else 1.0
        means = sign * self.means(name)[list(places)]
        order = np.argsort(np.where(np.isnan(means), np.inf, means), kind="stable")
        return [places[i] for i in order[:count]]

    def results(self, more):
        """`cv_results_`."""
        fits = len(self.cells) * len(self.splits)
        if self.failures:
            message = f"{len(self.failures)} of {fits} fits or scores failed: {self.failures[0]}"
            if len(self.failures) == fits:
                raise ValueError(f"all the {message}")
            warn(message, LearntWarning)
        out = {}
        for k, kind in ((2, "fit_time"), (3, "score_time")):
            times = np.array([cell[k] for cell in self.cells])
            out[f"mean_{kind}"], out[f"std_{kind}"] = times.mean(axis=1), times.std(axis=1)
        out.update(more)
        out.update(_parameter_columns(self.settings))
        out["params"] = self.settings
        for name in self.scorers:
            self._score_columns(out, name, "test", 0)
            means = out[f"mean_test_{name}"] * (1.0 if self.higher(name) else -1.0)
            out[f"rank_test_{name}"] = _ranks(means)
        if self.train:
            for name in self.scorers:
                self._score_columns(out, name, "train", 1)
        return out

    def _score_columns(self, out, name, part, k):
        scores = np.array([cell[k][name] for cell in self.cells], dtype=np.float64)
        for i in range(scores.shape[1]):
            out[f"split{i}_{part}_{name}"] = scores[:, i]
        out[f"mean_{part}_{name}"], out[f"std_{part}_{name}"] = scores.mean(1), scores.std(1)

    def report_lines(self):
        """What a summary is made from; nothing where a score is no metric of this package."""
        found = self.native
        if found is None:
            scoring = self.search.scoring
            names = list(scoring) if self.several else [scoring]
            found = [_native_metric(name) for name in names]
            if scoring is None or any(one is None for one in found):
                return None
        lines = []
        for setting, (rung, resource), (test, _, fit_time, _, why) in zip(
            self.settings, self.rungs, self.cells
        ):
            scores = [(sign * test[name]).tolist() for name, (_, sign) in zip(self.scorers, found)]
            shown = {name: _plain(value) for name, value in setting.items()}
            lines.append((shown, rung, resource, scores, fit_time.tolist(), why))
        return [metric for metric, _ in found], lines, self.work


def _native_metric(name):
    if not isinstance(name, str):
        return None
    if name in _SCORERS:
        return _NATIVE.get(name)
    known = metric_names().get(name.lower().replace("_", "-"))
    return None if known is None or known[1] == "clustering" else (known[0], 1.0)


def _needs_python(setting):
    """Whether a setting has what the native half does not know: how to run, weights by class."""
    last = [name.rpartition("__")[2] for name in setting]
    if any(name in ("random_state", "n_jobs", "class_weight") for name in last):
        return True
    learners = [value for value in setting.values() if is_learner(value)]
    return any(not hasattr(one, "_path") or getattr(one, "_is_foreign", bool)() for one in learners)


def _copies(setting):
    return {name: clone(value) if is_learner(value) else value for name, value in setting.items()}


def _plain(value):
    """A value as the summary shows it."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, (bool, int, float, str)) or value is None else repr(value)


def _ranks(means):
    """1 for the best; settings without a score last; equals share the lowest."""
    means = np.where(np.isnan(means), -np.inf, means)
    return np.array([1 + np.sum(means > mean) for mean in means], dtype=np.int32)


def _parameter_columns(settings):
    """The values of each parameter as a masked array, as scikit-learn keeps them."""
    names = sorted({name for setting in settings for name in setting})
    out = {}
    for name in names:
        values = [setting.get(name) for setting in settings]
        kinds = {type(value) for setting, value in zip(settings, values) if name in setting}
        kind = float if kinds <= {float, int} and float in kinds else object
        kind = int if kinds == {int} else bool if kinds == {bool} else kind
        column = np.ma.masked_all(len(settings), dtype=kind)
        for i, (setting, value) in enumerate(zip(settings, values)):
            if name in setting:
                column[i] = value
        out[f"param_{name}"] = column
    return out


def grid_of(param_grid):
    """Every setting of a grid, or of several: names sorted, the last varies fastest."""
    return list(ParameterGrid(param_grid))


def draws_of(param_distributions, count, random_state):
    """Settings at random: different ones if all values are lists, else independent draws."""
    choices = param_distributions
    choices = [choices] if isinstance(choices, dict) else list(choices)
    state = random_state
    if state is None:
        state = np.random.mtrand._rand
    elif isinstance(state, (int, np.integer)):
        state = np.random.RandomState(state)
    if all(not hasattr(v, "rvs") for choice in choices for v in choice.values()):
        grid = grid_of(choices)
        if len(grid) <= count:
            if len(grid) < count:
                warn(f"the grid has {len(grid)} settings, fewer than n_iter={count}", LearntWarning)
            count = len(grid)
        return [grid[i] for i in state.permutation(len(grid))[:count]]
    out = []
    for _ in range(count):
        choice = choices[state.randint(len(choices))] if len(choices) > 1 else choices[0]
        setting = {}
        for name in sorted(choice):
            values = choice[name]
            drawn = hasattr(values, "rvs")
            value = values.rvs(random_state=state) if drawn else values[state.randint(len(values))]
            setting[name] = value.item() if isinstance(value, np.generic) else value
        out.append(setting)
    return out


def one_standard_error(cv_results):
    """The first setting within one standard error of the best: for `refit`.

    List values from the simplest to the most complex.
    """
    best = int(np.argmin(cv_results["rank_test_score"]))
    means, splits = cv_results["mean_test_score"], 0
    while f"split{splits}_test_score" in cv_results:
        splits += 1
    error = cv_results["std_test_score"][best] / np.sqrt(max(splits - 1, 1))
    near = np.abs(means - means[best]) <= error
    return int(np.argmax(near))


class GridSearchCV(_Search):
    """Every setting of a grid, cross-validated on the same splits.

    Parameters
    ----------
    estimator : estimator
        Of this package or of another.
    param_grid : dict or list of dicts
        Lists of values by name; ``step__parameter`` reaches inside.
    scoring : str, callable, list, dict or None, default=None
        A metric by name, a function of (estimator, X, y), or several; None takes the estimator's own.
    n_jobs : int or None, default=None
        Number of threads; None means all. The result does not depend on it.
    refit : bool, str or callable, default=True
        Whether the best is fitted to all rows; the name of the score that decides among several; or a
        function of `cv_results_` that gives the place of the choice, such as `one_standard_error`.
    cv : int, splitter, iterable or None, default=None
        Number of folds (5 if None; stratified for classifiers), or what makes the splits.
    verbose, pre_dispatch
        Taken for scikit-learn's sake; nothing is printed.
    error_score : float or "raise", default=nan
        The score of a fit that failed.
    return_train_score : bool, default=False
        Whether the training rows are scored too.
    """

    def __init__(
        self,
        estimator,
        param_grid,
        *,
        scoring=None,
        n_jobs=None,
        refit=True,
        cv=None,
        verbose=0,
        pre_dispatch="2*n_jobs",
        error_score=np.nan,
        return_train_score=False,
    ):
        self.estimator = estimator
        self.param_grid = param_grid
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.refit = refit
        self.cv = cv
        self.verbose = verbose
        self.pre_dispatch = pre_dispatch
        self.error_score = error_score
        self.return_train_score = return_train_score

    def _run(self, engine):
        engine.evaluate(grid_of(self.param_grid))


class RandomizedSearchCV(_Search):
    """Settings at random, cross-validated on the same splits.

    Parameters
    ----------
    estimator : estimator
        Of this package or of another.
    param_distributions : dict or list of dicts
        Lists of values, or distributions with `rvs`, by name.
    n_iter : int, default=10
        Number of settings.
    scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        As in `GridSearchCV`.
    random_state : default=None
        Seed of the draws; None takes one from NumPy's global generator.
    """

    def __init__(
        self,
        estimator,
        param_distributions,
        *,
        n_iter=10,
        scoring=None,
        n_jobs=None,
        refit=True,
        cv=None,
        verbose=0,
        pre_dispatch="2*n_jobs",
        random_state=None,
        error_score=np.nan,
        return_train_score=False,
    ):
        self.estimator = estimator
        self.param_distributions = param_distributions
        self.n_iter = n_iter
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.refit = refit
        self.cv = cv
        self.verbose = verbose
        self.pre_dispatch = pre_dispatch
        self.random_state = random_state
        self.error_score = error_score
        self.return_train_score = return_train_score

    def _run(self, engine):
        engine.evaluate(draws_of(self.param_distributions, self.n_iter, self.random_state))
