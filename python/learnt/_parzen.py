"""Model-based search: settings that Parzen estimators of those so far suggest."""

import numpy as np

from . import _native
from ._base import seed_of
from ._search import _Search
from .errors import ParameterError

# Settings that are suggested from one model, and at random before the first.
_BATCH, _START = 4, 10


class ParzenSearchCV(_Search):
    """Model-based search: settings are suggested by tree-structured Parzen estimators of those so far.

    Parameters
    ----------
    estimator : estimator
        Of this package or of another.
    param_distributions : dict
        Lists of values, or ranges as tuples: ``(low, high)`` or ``(low, high, "log")``, whole numbers if
        both ends are.
    n_iter : int, default=30
        Number of settings.
    scoring, n_jobs, refit, cv, error_score, return_train_score
        As in `GridSearchCV`.
    random_state : default=None
        Seed of the suggestions; None takes one from NumPy's global generator.
    """

    def __init__(
        self,
        estimator,
        param_distributions,
        *,
        n_iter=30,
        scoring=None,
        n_jobs=None,
        refit=True,
        cv=None,
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
        self.random_state = random_state
        self.error_score = error_score
        self.return_train_score = return_train_score

    def _run(self, engine):
        lists = {k: v for k, v in self.param_distributions.items() if not isinstance(v, tuple)}
        space = [(name, _domain(name, v)) for name, v in self.param_distributions.items()]
        seed, tried = seed_of(self.random_state), []
        name = self.refit if engine.several else "score"
        if name not in engine.scorers:
            raise ParameterError("with several scores, `refit` must name the one that guides")
        while len(tried) < self.n_iter:
            count = min(_BATCH if tried else _START, self.n_iter - len(tried))
            found = _native.suggest(space, tried, count, seed)
            if not found:
                break
            settings = [{k: lists[k][v] if k in lists else v for k, v in s.items()} for s in found]
            places = engine.evaluate(settings)
            sign = -1.0 if engine.higher(name) else 1.0
            losses = sign * engine.means(name)[list(places)]
            tried += [(s, None if np.isnan(x) else float(x)) for s, x in zip(found, losses)]


def _domain(name, values):
    if not isinstance(values, tuple):
        if isinstance(values, str) or not hasattr(values, "__len__"):
            raise TypeError(f"{name!r} must be a list of values or a range (low, high), got {values!r}")
        return list(values)
    low, high, *scale = values
    if scale not in ([], ["log"]):
        raise ParameterError(f"the range of {name!r} is (low, high) or (low, high, 'log')")
    whole = isinstance(low, (int, np.integer)) and isinstance(high, (int, np.integer))
    return (float(low), float(high), bool(scale), whole)
