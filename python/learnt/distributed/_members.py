"""Members of an ensemble on an engine: a task for some of them, and trees that are put behind one another.

Which rows and columns a member draws follows from the seed and its number, so members may be fitted anywhere.
"""

from .. import _native
from ..errors import UnsupportedError
from ._folds import mapped, table_of

# Bounds the number of tasks where nobody says it: several for each worker, so that none waits for long.
TASKS = 16


class Members:
    """A worker that fits members by their numbers."""

    def __init__(self, learner, X, y, sample_weight):
        self.learner, self.X, self.y, self.sample_weight = learner, X, y, sample_weight

    def open(self):
        """Reads the table, once a process."""
        self.X, self.y = table_of(self.X, self.y)
        return self

    def __call__(self, numbers):
        learner = type(self.learner)(**self.learner.get_params(deep=False))
        learner._trains = lambda given: _native.fit_members(given, *numbers)
        try:
            return learner.fit(self.X, self.y, sample_weight=self.sample_weight)
        finally:
            del learner._trains


def fit(runner, learner, X, y, sample_weight, tasks):
    """The learner, fitted by tasks."""
    params = learner._native_params(X, None)
    count = params.get("n_estimators")
    foreign = getattr(learner, "_is_foreign", bool)()
    if foreign or not learner._facts()["uses"]["members"]:
        raise UnsupportedError(
            f"{type(learner).__name__} has no members that are fitted apart; forests and bagging have"
        )
    alone = type(learner)(**learner.get_params(deep=False))
    alone.set_params(warm_start=False, random_state=learner._seed())
    tasks = min(count, tasks or TASKS)
    cuts = [count * k // tasks for k in range(tasks + 1)]
    parts = mapped(runner, Members(alone, X, y, sample_weight), list(zip(cuts, cuts[1:])))
    first = parts[0]
    joined = _native.join(learner._path, params, [part._model for part in parts])
    names = first.__dict__.get("feature_names_in_")
    classes = first.__dict__.get("classes_")
    learner._remember(joined, names, first.n_features_in_, classes, first._single_output)
    return learner
