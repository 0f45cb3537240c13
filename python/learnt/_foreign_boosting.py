"""Gradient boosting that begins with an estimator of another package.

The rules are those of the native boosters; random draws are NumPy's.
"""

import numpy as np

from ._foreign import _fitted, _rows, clone
from ._foreign_ensemble import Ensemble, takes_weights
from .errors import ParameterError

TINY = 1e-150
EPS = np.finfo(float).eps


def begun(estimator, X, y, weights):
    """The fitted estimator that rounds begin with."""
    if weights is not None and not takes_weights(estimator):
        raise ParameterError(
            f"The initial estimator {type(estimator).__name__} does not support sample weights; leave them out, or take "
            "another `init`"
        )
    return _fitted(estimator, X, y, weights)


class Boosting(Ensemble):
    """Boosting of numbers: rounds over what the estimator leaves.

    Every loss of numbers depends on the distance of target and prediction alone.
    """

    def _grow(self, composite, X, y, weights):
        self.begun = begun(composite.init, X, y, weights)
        left = y.astype(float) - np.asarray(self.begun.predict(X), dtype=float)
        self.rounds = clone(composite).set_params(init="zero")
        self.rounds.fit(X, left, sample_weight=weights)
        self.fitted = [("init", self.begun), *self.rounds._parts()]

    def attributes(self):
        """What the rounds found."""
        return self.rounds._model.attributes()

    def predict(self, X):
        """What the estimator says, and what the rounds add."""
        return np.asarray(self.begun.predict(X), dtype=float) + self.rounds.predict(X)


class Added:
    """A tree whose leaves hold what they add to a score."""

    def __init__(self, tree, values):
        self.tree, self.values = tree, values

    def predict(self, X):
        """What is added to the score of each row."""
        return self.values[self.tree.apply(X)]

    def __getattr__(self, name):
        if name.startswith("__") or "tree" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.tree, name)


class ClassBoosting(Ensemble):
    """Boosting of classes: trees on the gradients, with Newton's steps in the leaves."""

    def _grow(self, composite, X, y, weights):
        self.exponential = composite.loss == "exponential"
        if not hasattr(composite.init, "predict_proba"):
            raise ParameterError("`init` must be a classifier that gives probabilities (predict_proba)")
        if self.exponential and len(self.classes_) > 2:
            raise ParameterError("loss='exponential' is for two classes; take loss='log_loss'")
        self.begun = begun(composite.init, X, y, weights)
        self.codes, self.trees = np.searchsorted(self.classes_, y), []
        self.weights = np.ones(len(y)) if weights is None else weights
        self.rng, scores = np.random.default_rng(composite._seed()), self._begin(X)
        train, aside = self._parted(composite)
        self.told = {"train_score": [self._mean(scores, train)], "validation_score": []}
        self.told.update(oob_scores=[], oob_improvement=[])
        for _ in range(composite.n_estimators):
            scores = self._round(composite, X, scores, train)
            if aside is not None:
                self.told["validation_score"].append(self._mean(scores, aside))
                if self._stalls(self.told["validation_score"], composite):
                    break
        self.fitted = [("init", self.begun)]
        self.fitted += [(f"tree {k + 1}", tree) for k, tree in enumerate(sum(self.trees, []))]
        del self.codes, self.weights, self.rng

    def _parted(self, composite):
        """Rows to train on, and rows set aside to judge the rounds."""
        places = np.arange(len(self.codes))
        if composite.n_iter_no_change is None:
            return places, None
        from .model_selection import train_test_split

        seed = int(self.rng.integers(2**31 - 1))
        size = composite.validation_fraction
        return train_test_split(places, test_size=size, random_state=seed, stratify=self.codes)

    def _stalls(self, losses, composite):
        patience = composite.n_iter_no_change
        recent, before = losses[-patience:], losses[: -patience]
        return bool(before) and all(loss > before[-1] - composite.tol for loss in recent)

    def _begin(self, X):
        """The scores that the estimator gives."""
        shares = np.clip(np.asarray(self.begun.predict_proba(X), dtype=float), EPS, 1.0 - EPS)
        if len(self.classes_) > 2:
            logs = np.log(shares)
            return logs - logs.mean(axis=1, keepdims=True)
        odds = np.log(shares[:, -1:] / (1.0 - shares[:, -1:]))
        return 0.5 * odds if self.exponential else odds

    def _mean(self, scores, rows):
        """The mean loss of rows."""
        f, codes = scores[rows], self.codes[rows]
        if f.shape[1] > 1:
            most = f.max(axis=1)
            losses = most + np.log(np.exp(f - most[:, None]).sum(axis=1)) - f[np.arange(len(f)), codes]
        elif self.exponential:
            losses = np.exp(-(2.0 * codes - 1.0) * f[:, 0])
        else:
            losses = np.logaddexp(0.0, f[:, 0]) - codes * f[:, 0]
        return float(np.average(losses, weights=self.weights[rows]))

    def _round(self, composite, X, scores, train):
        """One tree for each score; the scores with what they add."""
        drawn = train
        if composite.subsample < 1.0:
            size = max(1, int(composite.subsample * len(train)))
            drawn = np.sort(self.rng.choice(train, size, replace=False))
        left = np.setdiff1d(train, drawn)
        known = self.told["oob_scores"]
        before = known[-1] if known else (self._mean(scores, left) if len(left) else 0.0)
        first, second = self._derivatives(scores)
        trees = [self._tree(composite, X, drawn, first[:, k], second[:, k]) for k in range(scores.shape[1])]
        self.trees.append(trees)
        scores = scores + np.column_stack([tree.predict(X) for tree in trees])
        self.told["train_score"].append(self._mean(scores, drawn))
        if len(left):
            known.append(self._mean(scores, left))
            self.told["oob_improvement"].append(before - known[-1])
        return scores

    def _derivatives(self, scores):
        """Negative gradients, and what divides them in a leaf."""
        if scores.shape[1] > 1:
            first = (self.codes[:, None] == np.arange(scores.shape[1])) - self.shares_of(scores)
            return first, np.abs(first) * (1.0 - np.abs(first))
        if self.exponential:
            side = 2.0 * self.codes[:, None] - 1.0
            loss = np.exp(-side * scores)
            return side * loss, loss
        shares = self.shares_of(scores)[:, 1:]
        return self.codes[:, None] - shares, shares * (1.0 - shares)

    def _tree(self, composite, X, rows, first, second):
        from .tree import DecisionTreeRegressor

        own = set(DecisionTreeRegressor._defaults()) & set(composite._defaults()) - {"criterion", "random_state"}
        params = {name: getattr(composite, name) for name in own}
        tree = DecisionTreeRegressor(**params, random_state=int(self.rng.integers(2**31 - 1)))
        tree.fit(_rows(X, rows), first[rows], sample_weight=self.weights[rows])
        leaves, weights = tree.apply(_rows(X, rows)), self.weights[rows]
        above = np.bincount(leaves, weights * first[rows], minlength=tree.tree_.node_count)
        below = np.bincount(leaves, weights * second[rows], minlength=tree.tree_.node_count)
        count = len(self.classes_)
        factor = composite.learning_rate * ((count - 1) / count if count > 2 else 1.0)
        steps = np.divide(above, below, out=np.zeros_like(above), where=below > TINY)
        return Added(tree, factor * steps)

    def attributes(self):
        """The number of rounds, their losses and the shares of the columns."""
        gains = sum(tree.tree_.compute_feature_importances(normalize=False) for tree in sum(self.trees, []))
        total = gains.sum()
        told = {name: np.array(values) for name, values in self.told.items()}
        return {"n_iter": len(self.trees), "feature_importances": gains / total if total > 0 else gains, **told}

    def shares_of(self, scores):
        """The probabilities of these scores."""
        if scores.shape[1] == 1:
            second = 1.0 / (1.0 + np.exp(-(2.0 if self.exponential else 1.0) * scores[:, 0]))
            return np.column_stack([1.0 - second, second])
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)

    def decision_scores(self, X):
        """What the estimator says, and what the trees add."""
        scores = self._begin(X)
        for trees in self.trees:
            scores = scores + np.column_stack([tree.predict(X) for tree in trees])
        return scores

    def probabilities(self, X):
        """Shares from the scores."""
        return self.shares_of(self.decision_scores(X))


KINDS = {
    "ensemble.GradientBoostingClassifier": ClassBoosting,
    "ensemble.GradientBoostingRegressor": Boosting,
}
