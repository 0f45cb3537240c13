"""What ensembles say about their members and rounds, under scikit-learn's names."""

import warnings

import numpy as np

from . import _base
from ._foreign import _rows, clone
from ._scoring import scorer
from .errors import DataError, LearntWarning, ParameterError, warn


class Gathering:
    """An ensemble as a sequence of its fitted members."""

    def __len__(self):
        return len(self.estimators_)

    def __getitem__(self, place):
        return self.estimators_[place]

    def __iter__(self):
        return iter(self.estimators_)

    def __bool__(self):
        return True


class Drawing(Gathering):
    """Members that draw rows."""

    def _fit(self, X, y=None, sample_weight=None, **kwargs):
        super()._fit(X, y, sample_weight, **kwargs)
        self.__dict__.pop("_counted_rows", None)
        if sample_weight is not None:
            weights = np.asarray(sample_weight, dtype=float)
            if (weights == 0).any():
                self._counted_rows = np.flatnonzero(weights)
        return self

    @property
    def estimators_samples_(self):
        """The rows that each member drew, those that it drew twice twice."""
        model = self._fitted()
        if not hasattr(model, "draws"):
            return self._attributes()["estimators_samples"]
        counted = self.__dict__.get("_counted_rows")
        drawn = model.draws()
        return [(rows if counted is None else counted[rows]).astype(np.int32) for rows in drawn]

    def _attributes(self):
        """What training found; estimates that nobody asked for are not there."""
        found = super()._attributes()
        return {
            name: value
            for name, value in found.items()
            if not (name.startswith("oob_") and (value is None or np.size(value) == 0))
        }


class Bagged(Drawing):
    """Members of one kind that see rows and columns drawn at random."""

    def _fit(self, X, y=None, sample_weight=None, **kwargs):
        super()._fit(X, y, sample_weight, **kwargs)
        found = self._attributes()
        estimates = found.get("oob_decision_function", found.get("oob_prediction"))
        if estimates is not None and np.isnan(estimates).any():
            warn(
                "Some inputs do not have OOB scores: every member drew them. Take more estimators for reliable "
                "out-of-bag estimates.",
                LearntWarning,
            )
        return self

    @property
    def estimator_(self):
        """A learner like the members."""
        return type(self.estimators_[0])() if self.estimator is None else self.estimator

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags.allow_nan = self.estimator.__sklearn_tags__().input_tags.allow_nan
        return tags

    @property
    def estimators_features_(self):
        """The columns that each member sees."""
        self._fitted()
        return [np.asarray(places, dtype=np.intp) for places in self._attributes()["estimators_features"]]


class _AsMembers(_base.Where):
    """A method that exists where the learner of the members has one of the same name."""

    @staticmethod
    def lack(obj, name):
        has = obj.estimator is not None and hasattr(obj.estimator, name)
        return None if has else f"This {type(obj).__name__!r} has no attribute {name!r}: its members have none"


class BaggedClassifier(Bagged):
    """Classifiers of one kind that see rows and columns drawn at random."""

    @_AsMembers
    def decision_function(self, X):
        """The mean of the decision scores of the members."""
        self._rows(X)
        total = 0.0
        with warnings.catch_warnings():
            # Members know their columns by name, also those that were given without.
            warnings.simplefilter("ignore", UserWarning)
            for member, places in zip(self.estimators_, self.estimators_features_):
                total = total + np.asarray(member.decision_function(_columns(X, places)))
        return total / len(self.estimators_)


def _columns(X, places):
    return X.iloc[:, places] if hasattr(X, "iloc") else np.asarray(X)[:, places]


class JudgedRounds(Gathering):
    """Rounds of exact trees, which begin with a constant or with another learner."""

    def _fit(self, X, y=None, sample_weight=None, monitor=None, **kwargs):
        if monitor is None:
            return super()._fit(X, y, sample_weight, **kwargs)
        given = {name: getattr(self, name) for name in ("n_estimators", "warm_start", "random_state")}
        if not self.warm_start:
            self.__dict__.pop("_model", None)
        first = int(self.n_iter_) if self.__sklearn_is_fitted__() else 0
        seed = self._seed()
        try:
            for i in range(first, given["n_estimators"]):
                self.n_estimators, self.warm_start, self.random_state = i + 1, True, seed
                super()._fit(X, y, sample_weight, **kwargs)
                self.n_estimators = given["n_estimators"]
                if int(self.n_iter_) <= i or monitor(i, self, {"i": i, "X": X, "y": y, "sample_weight": sample_weight}):
                    break
        finally:
            for name, value in given.items():
                setattr(self, name, value)
        return self

    @property
    def estimators_(self):
        """The trees as an array of rounds and scores; their leaves hold what they add to a score."""
        trees = [tree for name, tree in self._parts() if name != "init"]
        return _arranged(self, as_grown(self, trees))

    @property
    def init_(self):
        """What the rounds begin with: a fitted learner, or 'zero'."""
        self._fitted()
        if isinstance(self.init, str):
            return self.init
        begun = [part for name, part in self._parts() if name == "init"]
        return begun[0] if begun else self._constant()

    def _constant(self):
        """The best constant as a learner."""
        from . import dummy

        rows = np.zeros((1, self.n_features_in_))
        start = next(self._from_start(rows))
        if "classifier" in self._roles():
            shares = self._shares(start)[0]
            known = self.classes_[shares > 0]
            rows = np.zeros((len(known), self.n_features_in_))
            return dummy.DummyClassifier(strategy="prior").fit(rows, known, sample_weight=shares[shares > 0])
        value = float(start[0, 0])
        return dummy.DummyRegressor(strategy="constant", constant=value).fit(rows, [value])

    def _attributes(self):
        """What training found; losses are counted as scikit-learn counts them."""
        found = dict(super()._attributes())
        half = self.loss == "squared_error" or (self.loss == "log_loss" and len(self.classes_) <= 2)
        factor = 2.0 if half else 1.0
        found["train_score"] = factor * np.asarray(found["train_score"])[1:]
        for name in ("oob_scores", "oob_improvement"):
            values = factor * np.asarray(found.pop(name, ()))
            if len(values):
                found[name] = values
        if "oob_scores" in found:
            found["oob_score"] = float(found["oob_scores"][-1])
        return found


def as_grown(ensemble, trees):
    """Trees with the parameters of the ensemble that grew them."""
    shared = set(trees[0]._defaults()) & set(ensemble._defaults()) - {"class_weight", "random_state"}
    for tree in trees:
        for name in shared:
            setattr(tree, name, getattr(ensemble, name))
    return trees


def _arranged(ensemble, trees):
    """Trees as an array of rounds and scores."""
    out = np.empty(len(trees), dtype=object)
    out[:] = trees
    return out.reshape(int(ensemble.n_iter_), -1)


class ScoredRounds:
    """Rounds in bins that a score may judge, on rows of the user's choice."""

    def _fit(
        self, X, y=None, sample_weight=None, X_val=None, y_val=None, sample_weight_val=None, engine=None, **kwargs
    ):
        self.__dict__.pop("_judged", None)
        self._check_judges(X_val, y_val)
        stops = self.early_stopping
        stops = len(X) > 10_000 if isinstance(stops, str) and stops == "auto" and hasattr(X, "__len__") else stops
        plain = isinstance(self.scoring, str) and self.scoring == "loss" and X_val is None
        if plain or not stops or engine is not None:
            return super()._fit(X, y, sample_weight, engine=engine, **kwargs)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
        train, judges = (X, y, weights), (X_val, y_val, sample_weight_val)
        if X_val is None and self.validation_fraction is not None:
            train, judges = self._parted(X, np.asarray(y), weights)
        return self._stopped(train, judges)

    def _check_judges(self, X_val, y_val):
        """Refuses rows without their targets, and rows that would judge nothing."""
        for given, other, name in ((X_val, y_val, "y_val"), (y_val, X_val, "X_val")):
            if given is not None and other is None:
                has = "X_val" if name == "y_val" else "y_val"
                raise DataError(f"{has} is provided, but {name} was not provided.")
        if X_val is not None and self.early_stopping is False:
            raise ParameterError(
                "X_val and y_val are passed to fit while at the same time early_stopping=False; take "
                "early_stopping=True"
            )

    def _parted(self, X, y, weights):
        """Rows to train on, and rows that judge; of every class its share."""
        from .model_selection import train_test_split

        strata = y if "classifier" in self._roles() else None
        places = np.arange(len(y))
        size, seed = self.validation_fraction, self._seed() % 2**32
        train, judges = train_test_split(places, test_size=size, random_state=seed, stratify=strata)
        parts = [(_rows(X, at), y[at], None if weights is None else weights[at]) for at in (train, judges)]
        return parts[0], parts[1]

    def _stopped(self, train, judges):
        """The rounds before the score stalled: a fit of all of them, and one of those."""
        inner = clone(self).set_params(
            early_stopping=False, scoring="loss", warm_start=False, random_state=self._seed()
        )
        inner.fit(*train)
        score = _loss_score if isinstance(self.scoring, str) and self.scoring == "loss" else scorer(self.scoring)
        told = _few(train, self._seed())
        judges = None if judges[0] is None else judges
        stage, found = _Stage(inner), ([], [])
        for made in range(inner.n_iter_ + 1):
            for rows, scores in zip((told, judges), found):
                if rows is not None:
                    scores.append(_asked(score, stage, rows))
            if _stalls(found[0] if judges is None else found[1], self.n_iter_no_change, self.tol):
                break
            stage.advance()
        if made < inner.n_iter_:
            inner.set_params(max_iter=max(1, made)).fit(*train)
        kept = {*self._defaults(), "_metadata_request"}
        self.__dict__.update({k: v for k, v in inner.__dict__.items() if k not in kept})
        self._judged = tuple(np.array(scores) for scores in found)
        return self

    def _native_params(self, X=None, table=None):
        params = super()._native_params(X, table)
        groups = params.get("interaction_cst")
        if isinstance(groups, (list, tuple, set)):
            params["interaction_cst"] = [sorted(g) if isinstance(g, (set, frozenset)) else g for g in groups]
        return params

    def _attributes(self):
        """What training found; losses are told as scores, of which more is better."""
        found = dict(super()._attributes())
        names = ("train_score", "validation_score")
        judged = self.__dict__.get("_judged")
        for place, name in enumerate(names):
            found[name] = -np.asarray(found[name]) if judged is None else judged[place]
        return found


def _few(rows, seed):
    """At most 10,000 of some rows."""
    X, y, weights = rows
    if len(y) <= 10_000:
        return rows
    at = np.random.default_rng(seed).choice(len(y), 10_000, replace=False)
    return _rows(X, at), np.asarray(y)[at], None if weights is None else weights[at]


def _asked(score, stage, rows):
    X, y, weights = rows
    if weights is None:
        return float(score(stage, X, y))
    return float(score(stage, X, y, sample_weight=weights))


def _stalls(scores, patience, tol):
    """Whether none of the last scores is more than the one before them."""
    if len(scores) <= patience:
        return False
    return all(score <= scores[-patience - 1] + tol for score in scores[-patience:])


class _Stage:
    """A boosted model after some of its rounds: it answers as a fitted estimator does."""

    def __init__(self, model):
        self.model, self.made, self.known = model, 0, {}
        self.loss = getattr(model, "loss", "log_loss")
        if hasattr(model, "classes_"):
            self.classes_, self._estimator_type = model.classes_, "classifier"
        else:
            self._estimator_type = "regressor"

    def __sklearn_tags__(self):
        return self.model.__sklearn_tags__()

    def __sklearn_is_fitted__(self):
        return True

    def advance(self):
        """One round more."""
        self.made += 1

    def _scores(self, X):
        rows, stages, made, scores = self.known.get(id(X), (None, None, 0, None))
        if rows is not X or made > self.made + 1:
            stages, made, scores = self.model._from_start(X), 0, None
        while made <= self.made:
            scores, made = next(stages), made + 1
        self.known[id(X)] = (X, stages, made, scores)
        return scores

    def predict(self, X):
        """The prediction for each row."""
        return self.model._told(self._scores(X))

    def predict_proba(self, X):
        """The probabilities of the classes."""
        return self.model._shares(self._scores(X))

    def decision_function(self, X):
        """The decision scores."""
        scores = self._scores(X)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def score(self, X, y, sample_weight=None):
        """The score of the learner."""
        measure = _base.accuracy if self._estimator_type == "classifier" else _base.r_squared
        return measure(y, self.predict(X), sample_weight)


def _loss_score(stage, X, y, sample_weight=None):
    """The negative mean loss; constants that no round changes are left out."""
    y = np.asarray(y)
    if stage._estimator_type == "classifier":
        shares = stage.predict_proba(X)[np.arange(len(y)), np.searchsorted(stage.classes_, y)]
        losses = -np.log(np.maximum(shares, np.finfo(float).tiny))
    else:
        losses = _number_losses(stage.model, y, stage.predict(X))
    return -float(np.average(losses, weights=sample_weight))


def _number_losses(model, y, found):
    apart = y - found
    if model.loss == "absolute_error":
        return np.abs(apart)
    if model.loss == "quantile":
        return apart * np.where(apart < 0, model.quantile - 1.0, model.quantile)
    if model.loss == "poisson":
        return found - y * np.log(found)
    if model.loss == "gamma":
        return np.log(found) + y / found
    return 0.5 * apart**2
