"""What AdaBoost's models say beside their predictions, under scikit-learn's names."""

import numpy as np

from ._ensemble import Gathering


class Weighed(Gathering):
    """Members that count by their weights."""

    @property
    def feature_importances_(self):
        """The importances of the members, by their weights."""
        members = self.estimators_
        if not all(hasattr(member, "feature_importances_") for member in members):
            raise AttributeError(
                f"{type(self).__name__} has no feature_importances_: its members have none"
            )
        weights = np.asarray(self.estimator_weights_, dtype=float)[: len(members)]
        found = np.array([member.feature_importances_ for member in members])
        return weights @ found / weights.sum()

    def staged_score(self, X, y, sample_weight=None):
        """The score after each round."""
        for predicted in self.staged_predict(X):
            yield self._judge(y, predicted, sample_weight)


class WeighedClassifier(Weighed):
    """Members that vote for classes."""

    def _judge(self, y, predicted, sample_weight):
        from ._base import accuracy

        return accuracy(y, predicted, sample_weight)

    def staged_decision_function(self, X):
        """The decision scores after each round."""
        classes, total, weight_sum = self.classes_, 0.0, 0.0
        for member, weight in zip(self.estimators_, self.estimator_weights_):
            votes = np.asarray(member.predict(X))[:, None] == classes
            total = total + weight * np.where(votes, 1.0, -1.0 / (len(classes) - 1))
            weight_sum += weight
            scores = total / weight_sum
            yield scores[:, 1] - scores[:, 0] if len(classes) == 2 else scores

    def staged_predict(self, X):
        """The classes after each round."""
        for scores in self.staged_decision_function(X):
            two = scores.ndim == 1
            yield self.classes_[(scores > 0).astype(int) if two else scores.argmax(axis=1)]

    def staged_predict_proba(self, X):
        """The probabilities of the classes after each round."""
        count = len(self.classes_)
        for scores in self.staged_decision_function(X):
            scores = np.column_stack([-scores, scores]) / 2 if scores.ndim == 1 else scores
            powers = np.exp(scores / (count - 1) - (scores / (count - 1)).max(axis=1, keepdims=True))
            yield powers / powers.sum(axis=1, keepdims=True)


class WeighedRegressor(Weighed):
    """Members whose weighted median is the prediction."""

    def _judge(self, y, predicted, sample_weight):
        from ._base import r_squared

        return r_squared(y, predicted, sample_weight)

    def staged_predict(self, X):
        """The predictions after each round."""
        found = []
        for member in self.estimators_:
            found.append(np.asarray(member.predict(X), dtype=float))
            yield weighted_median(np.column_stack(found), self.estimator_weights_[: len(found)])


def weighted_median(values, weights):
    """The least value of each row whose smaller ones have half of the weight, itself counted."""
    order = np.argsort(values, axis=1, kind="stable")
    sums = np.cumsum(np.asarray(weights, dtype=float)[order], axis=1)
    place = (sums >= 0.5 * sums[:, -1:]).argmax(axis=1)
    rows = np.arange(len(values))
    return values[rows, order[rows, place]]
