"""Successive halving: many settings with few resources, the best of them with more."""

import numpy as np

from . import _native, _validation
from ._base import _labels, seed_of, threads_of
from ._cross_validation import rows_of
from ._foreign import role_of
from ._search import _Search, draws_of, grid_of
from .errors import ParameterError


class _Halving(_Search):
    """Successive halving: many settings with few resources, the best of them with more."""

    def _halve(self, engine, settings, least, most, smallest):
        name = self.refit if engine.several else "score"
        if name not in engine.scorers:
            raise ParameterError("with several scores, `refit` must name the one that halves")
        exhaust = self.min_resources == "exhaust"
        rungs = _native.halving_rungs(
            len(settings), smallest, float(self.factor), None if exhaust else least, most, exhaust,
            bool(self.aggressive_elimination),
        )  # fmt: skip
        self.max_resources_, self.min_resources_ = most, rungs[0][1]
        self.n_resources_, self.n_candidates_ = [r for _, r in rungs], [c for c, _ in rungs]
        self.n_iterations_ = len(rungs)
        self.n_required_iterations_ = 1 + int(np.log(len(settings)) / np.log(self.factor) + 1e-12)
        possible = np.log(most // self.min_resources_) / np.log(self.factor)
        self.n_possible_iterations_ = 1 + int(possible + 1e-12)
        for rung, (count, resource) in enumerate(rungs):
            settings, splits = settings[:count], engine.splits
            if self.resource == "n_samples":
                splits = self._thinned(engine, resource / rows_of(engine.X))
            else:
                settings = [{**setting, self.resource: resource} for setting in settings]
            places = engine.evaluate(settings, splits, (rung, resource))
            keep = int(np.ceil(count / self.factor))
            settings = [engine.settings[i] for i in engine.best_of(places, name, keep)]
        self.n_remaining_candidates_ = len(settings)

    def _thinned(self, engine, share):
        given = self._rows_for_splits(engine)
        return _native.thinned_splits(given, engine.splits, float(share))[0]

    def _rows_for_splits(self, engine):
        """Places of rows and their classes, as the native half takes them."""
        table = _validation.read_table(np.zeros((rows_of(engine.X), 1)), estimator="halving")
        labels, target = None, None
        if engine.y is not None and role_of(self.estimator) == "classifier":
            target, classes = _validation.encode_classes(np.asarray(engine.y))
            labels = _labels(classes)
        return {
            "path": "", "params": {}, "x": table.values, "columns": table.columns,
            "y": target, "classes": labels, "targets": [], "lengths": None, "groups": None,
            "missing": None, "weights": None, "seed": self._seed, "threads": threads_of(self.n_jobs),
        }  # fmt: skip

    def _limits(self, engine):
        """The least and the most resources, and the least that makes sense."""
        by_rows = self.resource == "n_samples"
        if not by_rows and self.resource not in self.estimator.get_params():
            raise ParameterError(f"`resource` {self.resource!r} is no parameter of the estimator")
        if self.max_resources == "auto" and not by_rows:
            raise ParameterError("`max_resources` must be given for a resource other than n_samples")
        most = rows_of(engine.X) if self.max_resources == "auto" else int(self.max_resources)
        smallest = 1
        if by_rows:
            classes = 1
            if role_of(self.estimator) == "classifier":
                classes = len(np.unique(np.asarray(engine.y)))
            smallest = 2 * classes * len(engine.splits)
        least = smallest if isinstance(self.min_resources, str) else int(self.min_resources)
        return least, most, smallest

    def _check(self):
        super()._check()
        if not self.factor > 1:
            raise ParameterError(f"`factor` must be a number above 1, got {self.factor!r}")
        self._seed = seed_of(self.random_state)

    def _columns(self, engine):
        return {
            "iter": np.array([rung for rung, _ in engine.rungs]),
            "n_resources": np.array([resource for _, resource in engine.rungs]),
        }

    def _candidates_for_best(self, engine):
        last = engine.rungs[-1][0]
        return [i for i, (rung, _) in enumerate(engine.rungs) if rung == last]


class HalvingGridSearchCV(_Halving):
    """Successive halving of a grid: all settings on few rows, the best third on three times as many.

    Parameters
    ----------
    estimator : estimator
        Of this package or of another.
    param_grid : dict or list of dicts
        Lists of values by name.
    factor : float, default=3
        One in so many settings goes on.
    resource : str, default="n_samples"
        What grows: rows, or a parameter of the estimator.
    max_resources : int or "auto", default="auto"
        The most that a setting gets; all rows.
    min_resources : int, "exhaust" or "smallest", default="exhaust"
        What settings get first; "exhaust" lets the last ones come near the most.
    aggressive_elimination : bool, default=False
        Repeat the first rung until few enough settings are left.
    cv, scoring, refit, error_score, return_train_score, n_jobs, verbose
        As in `GridSearchCV`.
    random_state : default=None
        Seed of the rows that are taken.
    """

    def __init__(
        self,
        estimator,
        param_grid,
        *,
        factor=3,
        resource="n_samples",
        max_resources="auto",
        min_resources="exhaust",
        aggressive_elimination=False,
        cv=5,
        scoring=None,
        refit=True,
        error_score=np.nan,
        return_train_score=True,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.param_grid = param_grid
        self.factor = factor
        self.resource = resource
        self.max_resources = max_resources
        self.min_resources = min_resources
        self.aggressive_elimination = aggressive_elimination
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _run(self, engine):
        self._halve(engine, grid_of(self.param_grid), *self._limits(engine))


class HalvingRandomSearchCV(_Halving):
    """Successive halving of settings at random.

    Parameters
    ----------
    estimator : estimator
        Of this package or of another.
    param_distributions : dict or list of dicts
        Lists of values, or distributions with `rvs`, by name.
    n_candidates : int or "exhaust", default="exhaust"
        Number of settings; as many as let the last rung use all resources.
    min_resources : int, "exhaust" or "smallest", default="smallest"
        What settings get first.
    factor, resource, max_resources, aggressive_elimination, cv, scoring, refit, error_score, \
return_train_score, random_state, n_jobs, verbose
        As in `HalvingGridSearchCV`.
    """

    def __init__(
        self,
        estimator,
        param_distributions,
        *,
        n_candidates="exhaust",
        factor=3,
        resource="n_samples",
        max_resources="auto",
        min_resources="smallest",
        aggressive_elimination=False,
        cv=5,
        scoring=None,
        refit=True,
        error_score=np.nan,
        return_train_score=True,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.param_distributions = param_distributions
        self.n_candidates = n_candidates
        self.factor = factor
        self.resource = resource
        self.max_resources = max_resources
        self.min_resources = min_resources
        self.aggressive_elimination = aggressive_elimination
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _run(self, engine):
        least, most, smallest = self._limits(engine)
        count = self.n_candidates
        if count == "exhaust":
            if self.min_resources == "exhaust":
                raise ParameterError("`n_candidates` and `min_resources` cannot both be 'exhaust'")
            count = max(1, most // least)
        settings = draws_of(self.param_distributions, int(count), self.random_state)
        self._halve(engine, settings, least, most, smallest)
