"""Ensembles with members that are no learners of this package: votes, stacks, bags and AdaBoost in Python.

The rules are those of the native ensembles; random draws are NumPy's.
"""

import inspect

import numpy as np

from ._boosting import weighted_median
from ._foreign import Model, _fitted, _rows, clone, role_of, width
from ._params import is_learner
from .errors import DataError, ParameterError


def said(member, method, stack, X):
    """What a member of a stack says about rows; of two classes one column says all."""
    found = np.asarray(getattr(member, method)(X))
    if method == "predict" and "classifier" in stack._roles():
        return np.searchsorted(stack.classes_, found)
    return found[:, 1] if method == "predict_proba" and found.shape[1] == 2 else found


def stack_method(stack, member):
    """What a member of a stack is asked."""
    wanted = getattr(stack, "stack_method", "predict")
    if "classifier" not in stack._roles():
        return "predict"
    ways = ("predict_proba", "decision_function", "predict") if wanted == "auto" else (wanted,)
    for way in ways:
        if hasattr(member, way):
            return way
    raise ParameterError(
        f"{type(member).__name__} does not implement the method {wanted}; take stack_method='auto'"
    )


def dense_rows(X):
    """Rows as an array."""
    return X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)


def _table(X):
    if hasattr(X, "tocsr"):
        return X.tocsr()
    return X if hasattr(X, "shape") else np.asarray(X)


def takes_weights(estimator):
    """Whether `fit` takes row weights."""
    return "sample_weight" in inspect.signature(estimator.fit).parameters


class Ensemble(Model):
    """Members with their names, and the classes that they tell apart."""

    def __init__(self, composite, X, y, sample_weight):
        self.classifies = "classifier" in composite._roles()
        if y is None:
            raise DataError(
                f"{type(composite).__name__} requires y to be passed, but the target y is None."
            )
        y = np.asarray(y)
        if self.classifies:
            if y.ndim > 1 and y.shape[1] > 1:
                raise NotImplementedError("Multilabel and multi-output classification is not supported.")
            y = y.ravel()
            self.classes_ = np.unique(y)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
        if weights is not None and (weights < 0).any():
            raise DataError("Negative values in data passed to `sample_weight`.")
        self._grow(composite, _table(X), y, weights)

    def call(self, method, X):
        """The answer to what the native model would be asked."""
        return super().call(method, _table(X))

    def labels(self):
        """None: these are no clusters."""
        return None

    def names(self, composite):
        """Members as they were given, without those that are dropped."""
        wanted = "classifier" if self.classifies else "regressor"
        pairs = [(name, member) for name, member in composite._pairs() if member != "drop"]
        for name, member in pairs:
            if is_learner(member) and role_of(member) != wanted:
                raise ParameterError(f"The estimator {name!r} should be a {wanted}.")
        return pairs

    def fit_member(self, member, X, y, weights):
        """A fitted copy; weights that it cannot take are refused."""
        if weights is not None and not takes_weights(member):
            raise TypeError(
                f"Underlying estimator {type(member).__name__} does not support sample weights."
            )
        return _fitted(member, X, y, weights)

    def shares(self, member, X):
        """The probabilities of a member in the order of all classes; a 1 for its class without them."""
        if hasattr(member, "predict_proba"):
            found = np.asarray(member.predict_proba(X))
            out = np.zeros((len(found), len(self.classes_)))
            out[:, np.searchsorted(self.classes_, member.classes_)] = found
            return out
        return (np.asarray(member.predict(X))[:, None] == self.classes_).astype(float)

    def predict(self, X):
        """The class of the largest share, the first of equals."""
        return self.classes_[self.probabilities(X).argmax(axis=1)]


class Voting(Ensemble):
    """Members that vote, or whose probabilities or numbers are averaged."""

    def _grow(self, composite, X, y, weights):
        self.soft = getattr(composite, "voting", "hard") == "soft"
        given = composite.weights
        pairs = composite._pairs()
        given = [1.0] * len(pairs) if given is None else given
        self.weights = [float(w) for w, (_, member) in zip(given, pairs) if member != "drop"]
        self.fitted = [
            (name, self.fit_member(member, X, y, weights)) for name, member in self.names(composite)
        ]

    def probabilities(self, X):
        """The mean probabilities, or the shares of votes."""
        if self.soft:
            found = [self.shares(member, X) for _, member in self.fitted]
        else:
            found = [
                (np.asarray(member.predict(X))[:, None] == self.classes_).astype(float)
                for _, member in self.fitted
            ]
        return np.average(found, axis=0, weights=self.weights)

    def predict(self, X):
        """The class of most votes, or the mean number."""
        if self.classifies:
            return super().predict(X)
        found = [np.asarray(member.predict(X)) for _, member in self.fitted]
        return np.average(found, axis=0, weights=self.weights)


class Stacking(Ensemble):
    """Members whose predictions for rows that they did not see train one more learner."""

    def _grow(self, composite, X, y, weights):
        from ._cross_validation import cross_val_predict, splits_of

        pairs, params = self.names(composite), {}
        if weights is not None:
            params["sample_weight"] = weights
        prefit = isinstance(composite.cv, str) and composite.cv == "prefit"
        self.passthrough, columns = composite.passthrough, []
        members = [m if prefit else self.fit_member(m, X, y, weights) for _, m in pairs]
        self.ways = [stack_method(composite, member) for member in members]
        splits = None if prefit else list(splits_of(composite, X, y, None, composite.cv))
        for (_, given), member, way in zip(pairs, members, self.ways):
            if prefit:
                found = np.asarray(getattr(member, way)(X))
            else:
                found = cross_val_predict(given, X, y, cv=splits, method=way, params=params)
            columns.append(self._columns(found, way))
        last = composite.final_estimator
        last = self._usual() if last is None else last
        if role_of(last) != ("classifier" if self.classifies else "regressor"):
            kind = "classifier" if self.classifies else "regressor"
            raise ParameterError(f"'final_estimator' parameter should be a {kind}. Got {last}")
        table = self._table(columns, X)
        self.fitted = [(name, member) for (name, _), member in zip(pairs, members)]
        self.fitted.append(("final", self.fit_member(last, table, y, weights)))

    def _usual(self):
        from . import linear_model

        return linear_model.LogisticRegression() if self.classifies else linear_model.RidgeCV()

    def _columns(self, found, way):
        if way == "predict" and self.classifies:
            found = np.searchsorted(self.classes_, found)
        if way == "predict_proba" and found.shape[1] == 2:
            found = found[:, 1]
        return np.asarray(found, dtype=float).reshape(len(found), -1)

    def _table(self, columns, X):
        return np.hstack([*columns, dense_rows(X)] if self.passthrough else columns)

    def _last(self, method, X):
        columns = [
            self._columns(np.asarray(getattr(member, way)(X)), way)
            for (_, member), way in zip(self.fitted, self.ways)
        ]
        return np.asarray(getattr(self.fitted[-1][1], method)(self._table(columns, X)))

    def predict(self, X):
        """The prediction of the last learner."""
        return self._last("predict", X)

    def probabilities(self, X):
        """The probabilities of the last learner."""
        return self._last("predict_proba", X)

    def decision_scores(self, X):
        """The decision scores of the last learner, in two dimensions."""
        scores = self._last("decision_function", X)
        return scores.reshape(len(scores), -1)


def seeded(estimator, rng):
    """A copy with a seed of its own, where it takes one."""
    estimator = clone(estimator)
    if "random_state" in estimator.get_params(deep=False):
        estimator.set_params(random_state=int(rng.integers(2**31 - 1)))
    return estimator


def _count(wanted, whole, name, more=False):
    """A number from a number or a share; `more` than there are where it is drawn with replacement."""
    count = int(wanted) if isinstance(wanted, (int, np.integer)) else max(1, int(wanted * whole))
    if count <= 0 or (count > whole and not more):
        raise ParameterError(f"{name} must be in (0, {whole}], got {wanted!r}")
    return count


def _columns_of(X, places):
    if hasattr(X, "tocsr"):
        return X.tocsr()[:, places]
    return X.iloc[:, places] if hasattr(X, "iloc") else dense_rows(X)[:, places]


class Bagging(Ensemble):
    """Members that see rows and columns drawn at random."""

    def _grow(self, composite, X, y, weights):
        rng = np.random.default_rng(composite._seed())
        rows, columns, self.single = len(y), width(X), y.ndim == 1
        # A share is one of the weights, as in scikit-learn; all of them are as many draws as there are rows.
        whole = rows if weights is None or composite.max_samples == 1.0 else weights.sum()
        size = _count(composite.max_samples, whole, "max_samples", composite.bootstrap)
        wide = _count(composite.max_features, columns, "max_features")
        chances = None if weights is None else weights / weights.sum()
        self.fitted, self.drawn, self.columns = [], [], []
        for k in range(composite.n_estimators):
            drawn = rng.choice(rows, size, replace=composite.bootstrap, p=chances)
            places = np.arange(columns)
            if wide < columns or composite.bootstrap_features:
                places = rng.choice(columns, wide, replace=composite.bootstrap_features)
            member = seeded(composite.estimator, rng)
            if weights is not None and takes_weights(member):
                # A weight of zero is a row that was not drawn.
                counts = np.bincount(drawn, minlength=rows).astype(float)
                member.fit(_columns_of(X, places), y, sample_weight=counts)
            else:
                member.fit(_columns_of(_rows(X, drawn), places), y[drawn])
            self.fitted.append((f"member {k + 1}", member))
            self.drawn.append(drawn)
            self.columns.append(places)
        self.outside = self._out_of_bag(X, y) if composite.oob_score else {}

    def _out_of_bag(self, X, y):
        """What the members say about rows that they did not draw."""
        sums = np.zeros((len(y), len(self.classes_) if self.classifies else y[:1].size))
        counts = np.zeros(len(y))
        for (_, member), drawn, places in zip(self.fitted, self.drawn, self.columns):
            left = np.setdiff1d(np.arange(len(y)), drawn)
            if len(left):
                sums[left] += self._says(member, _columns_of(_rows(X, left), places))
                counts[left] += 1
        with np.errstate(invalid="ignore", divide="ignore"):
            found = sums / counts[:, None]
        known = counts > 0
        if self.classifies:
            right = self.classes_[found[known].argmax(axis=1)] == y[known]
            return {"oob_decision_function": found, "oob_score": float(np.mean(right))}
        found = found[:, 0] if y.ndim == 1 else found
        from ._base import r_squared

        score = r_squared(y[known], found[known])
        return {"oob_prediction": found, "oob_score": score}

    def attributes(self):
        """The rows and columns of the members, and the estimates from rows that they did not draw."""
        return {"estimators_samples": self.drawn, "estimators_features": self.columns, **self.outside}

    def _says(self, member, X):
        if self.classifies:
            return self.shares(member, X)
        found = np.asarray(member.predict(X), dtype=float)
        return found.reshape(len(found), -1)

    def probabilities(self, X):
        """The mean over the members."""
        return sum(
            self._says(member, _columns_of(X, places))
            for (_, member), places in zip(self.fitted, self.columns)
        ) / len(self.fitted)

    def predict(self, X):
        """The class of the largest mean share, or the mean number."""
        if self.classifies:
            return super().predict(X)
        found = self.probabilities(X)
        return found[:, 0] if self.single else found


class AdaBoost(Ensemble):
    """Members one after another, each on the rows that the others got wrong."""

    def _grow(self, composite, X, y, weights):
        rng = np.random.default_rng(composite._seed())
        weights = np.full(len(y), 1.0 / len(y)) if weights is None else weights / weights.sum()
        self.fitted, self.weights, self.errors = [], [], []
        step = self._classify if self.classifies else self._regress
        for k in range(composite.n_estimators):
            member = seeded(composite.estimator, rng)
            weights = step(composite, member, X, y, weights, rng)
            if weights is None or weights.sum() <= 0:
                break
            weights = weights / weights.sum()
        if not self.fitted:
            raise ParameterError(
                f"{type(composite.estimator).__name__} in {type(composite).__name__} is worse than random, "
                "ensemble can not be fit."
            )

    def _keep(self, member, weight, error):
        self.fitted.append((f"member {len(self.fitted) + 1}", member))
        self.weights.append(float(weight))
        self.errors.append(float(error))

    def _classify(self, composite, member, X, y, weights, rng):
        if takes_weights(member):
            member.fit(X, y, sample_weight=weights)
        else:
            drawn = rng.choice(len(y), len(y), p=weights)
            member.fit(_rows(X, drawn), y[drawn])
        wrong, count = np.asarray(member.predict(X)) != y, len(self.classes_)
        error = float(weights @ wrong)
        if error <= 0:
            self._keep(member, 1.0, 0.0)
            return None
        several = count - 1 if composite.algorithm == "SAMME" else 1
        if error >= (1.0 - 1.0 / count if composite.algorithm == "SAMME" else 0.5):
            return None
        weight = composite.learning_rate * (np.log((1.0 - error) / error) + np.log(several))
        self._keep(member, weight, error)
        return weights * np.exp(weight * wrong)

    def _regress(self, composite, member, X, y, weights, rng):
        drawn = rng.choice(len(y), len(y), p=weights)
        member.fit(_rows(X, drawn), y[drawn])
        distance = np.abs(np.asarray(member.predict(X)) - y)
        largest = distance.max()
        if largest <= 0:
            self._keep(member, 1.0, 0.0)
            return None
        losses = distance / largest
        if composite.loss == "square":
            losses = losses**2
        elif composite.loss == "exponential":
            losses = 1.0 - np.exp(-losses)
        error = float(weights @ losses)
        if error >= 0.5 and self.fitted:
            return None
        if error >= 0.5 or error <= 0:
            self._keep(member, 1.0, error)
            return None
        ratio = error / (1.0 - error)
        self._keep(member, composite.learning_rate * np.log(1.0 / ratio), error)
        return weights * ratio ** (composite.learning_rate * (1.0 - losses))

    def attributes(self):
        """The weights and errors of the members."""
        return {
            "estimator_weights": np.array(self.weights),
            "estimator_errors": np.array(self.errors),
        }

    def _votes(self, X):
        total, count = 0.0, len(self.classes_)
        for (_, member), weight in zip(self.fitted, self.weights):
            chosen = np.asarray(member.predict(X))[:, None] == self.classes_
            total = total + weight * np.where(chosen, 1.0, -1.0 / (count - 1))
        return total / sum(self.weights)

    def decision_scores(self, X):
        """Votes by the weights of the members; one column for two classes."""
        votes = self._votes(X)
        return votes[:, 1:] - votes[:, :1] if votes.shape[1] == 2 else votes

    def probabilities(self, X):
        """Shares from the votes."""
        votes = self._votes(X) / (len(self.classes_) - 1)
        powers = np.exp(votes - votes.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)

    def predict(self, X):
        """The class of most votes, or the weighted median."""
        if self.classifies:
            return self.classes_[self._votes(X).argmax(axis=1)]
        found = [np.asarray(member.predict(X), dtype=float) for _, member in self.fitted]
        return weighted_median(np.column_stack(found), self.weights)


KINDS = {
    "ensemble.VotingClassifier": Voting,
    "ensemble.VotingRegressor": Voting,
    "ensemble.StackingClassifier": Stacking,
    "ensemble.StackingRegressor": Stacking,
    "ensemble.BaggingClassifier": Bagging,
    "ensemble.BaggingRegressor": Bagging,
    "ensemble.AdaBoostClassifier": AdaBoost,
    "ensemble.AdaBoostRegressor": AdaBoost,
}
