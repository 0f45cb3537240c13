"""The classes behind every learner: one way to fit, predict, store and show them all.

A learner's own class is generated: its name in the registry, its signature and its documentation.
"""

import importlib
import json
import os
from contextlib import contextmanager
from functools import lru_cache
from zlib import crc32

import numpy as np

from . import _native, _output, _validation
from ._params import NO_TABLE, Parameters
from ._sklearn import UNCHANGED, Scored, Tagged
from .answer import Answer
from .errors import (
    DataError,
    LearntError,
    LearntWarning,
    ModelFileError,
    ParameterError,
    UnsupportedError,
    not_fitted,
    warn,
)

@lru_cache(maxsize=None)
def registry():
    """Facts, parameters and attributes of every learner, by path."""
    return {entry["path"]: entry for entry in json.loads(_native.registry())}


class BaseEstimator(Tagged, Parameters):
    """What every learner can do."""

    _path = None

    def _facts(self):
        return registry()[self._path]

    def _roles(self):
        return self._facts()["roles"]

    def _read(self, X, volumes=False):
        """Rows and columns from what the user gives."""
        return _validation.read_table(X, estimator=type(self).__name__, volumes=volumes)

    def _fit(self, X, y=None, sample_weight=None, lengths=None, groups=None, engine=None):
        if engine is not None or _is_place(X):
            return self._fit_files(X, y, sample_weight, lengths, engine)
        name, facts = type(self).__name__, self._facts()
        volumes = getattr(X, "ndim", 2) > 2 and facts["accepts"]["volumes"]
        goes_on = getattr(self, "warm_start", False) and "warm_start" not in self._carried
        before = self.__dict__.get("_model") if goes_on else None
        if before is None:
            table = self._read(X, volumes)
        else:
            table = self._rows(X)
        target, classes, labels, single = None, None, None, True
        if facts["target"] != "none":
            if y is None:
                raise DataError(f"{name} requires y to be passed, but the target y is None.")
            many = facts["accepts"]["many_outputs"] and facts["target"] == "numbers"
            target = _validation.read_target(y, len(table.values), many=many)
            single, self._n_outputs = target.ndim == 1, 1 if target.ndim == 1 else target.shape[1]
            if facts["target"] == "classes":
                target, classes = _validation.encode_classes(target)
                labels = _labels(classes)
                if facts.get("two_classes") and len(classes) > 2:
                    raise DataError(
                        "Only binary classification is supported. The type of the target is "
                        f"multiclass: {len(classes)} classes. Put {name} into OneVsRestClassifier."
                    )
            else:
                target = _validation.read_numbers(target, "y")
        params, weights = self._weighted_params(X, table, sample_weight, target, classes)
        given = self._given(params, table, y, target, labels, weights, lengths, groups)
        if before is not None:
            return self._extend(before, given)
        try:
            model = self.__dict__.get("_trains", _native.fit)(given)
        except LearntError as error:
            if len(table.values) == 1:
                error.args = (f"{error.args[0]} (n_samples = 1)", *error.args[1:])
            raise
        self._remember(model, table.names, table.values.shape[1], classes, single)
        self._column_numbers = table.numbers
        return self

    def _extend(self, before, given):
        """Adds the members or rounds that are missing, of the rows that the model was fitted on."""
        count, rounds = given["params"].get("n_estimators"), before.attributes().get("n_iter")
        lacks = getattr(self, "oob_score", False) and before.attributes().get("oob_score") is None
        if rounds is None and count == len(before.parts()) and not lacks:
            warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                LearntWarning,
            )
            return self
        name = "max_iter" if "max_iter" in given["params"] else "n_estimators"
        wanted, made = given["params"].get(name), len(before.parts()) if rounds is None else int(rounds)
        if wanted is not None and wanted < made:
            has = "len(estimators_)" if rounds is None else "n_iter_"
            raise ParameterError(
                f"{name}={wanted} must be larger than or equal to {has}={made} when warm_start==True; "
                f"take at least {made}"
            )
        self._model, self._cache = _native.extend(before, given), {}
        self.__dict__.pop("_kept_outcome", None)
        return self

    def _fit_files(self, source, target, weight, sequence, engine):
        """Fits rows of files, on an engine; target, weights and sequences are names of columns."""
        from . import distributed

        columns = {"weight": weight, "sequence": sequence}
        return distributed.fit(self, source, target, engine=engine or "threads", **columns)

    def _given(self, params, table, y, target, labels, weights, lengths=None, groups=None):
        """What the native half is given to fit."""
        return {
            "path": self._path,
            "params": params,
            "x": table.values,
            "columns": table.columns,
            "y": target,
            "classes": labels,
            "targets": _target_names(y),
            "weights": weights,
            "lengths": _validation.read_lengths(lengths),
            "groups": _validation.read_groups(groups, len(table.values)),
            "seed": self._seed(),
            "threads": self._threads(),
            "missing": _missing[-1] if _missing else None,
        }

    def _weighted_params(self, X, table, sample_weight, target, classes):
        """Parameters for the native half, and row weights with the factors of a dictionary."""
        weights = _validation.read_weights(sample_weight, len(table.values))
        params = self._native_params(X, table)
        if isinstance(params.get("class_weight"), dict) and classes is not None:
            by_class = _validation.class_weights(params.pop("class_weight"), classes)[target]
            weights = by_class if weights is None else weights * by_class
        return params, weights

    def _remember(self, model, names, width, classes, single):
        self._model, self._single_output, self._cache = model, single, {}
        self.__dict__.pop("_kept_outcome", None)
        self.n_features_in_ = width
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.pop("_column_numbers", None)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        if classes is not None:
            self.classes_ = classes

    def _fitted(self):
        model = self.__dict__.get("_model")
        if model is None:
            raise not_fitted(self)
        return model

    def _rows(self, X):
        """New rows and their columns, matched to those of the training data."""
        self._fitted()
        name = type(self).__name__
        if "formula_" in self.__dict__ and hasattr(X, "columns"):
            # A formula names its columns: the others are left out without a word.
            own = list(self.feature_names_in_)
            X = X[own] if set(own) <= set(X.columns) else X
        volumes = getattr(X, "ndim", 2) > 2 and self._facts()["accepts"]["volumes"]
        table = self._read(X, volumes)
        known, width = self.__dict__.get("feature_names_in_"), table.values.shape[1]
        if known is not None and table.names is not None:
            extra = sorted(set(table.names) - set(known))
            if extra and set(known) <= set(table.names):
                warn(f"{name} ignores columns that it was not fitted with: {extra}", LearntWarning)
            return table
        if width != self.n_features_in_:
            raise DataError(
                f"X has {width} features, but {name} is expecting {self.n_features_in_} features "
                "as input."
            )
        _validation.same_order(self.__dict__.get("_column_numbers"), table.numbers)
        if known is not None:
            warn(
                f"X does not have valid feature names, but {name} was fitted with feature names",
                LearntWarning,
            )
        elif table.names is not None:
            warn(
                f"X has feature names, but {name} was fitted without feature names", LearntWarning
            )
        table.names = None
        return table

    def _names_in(self, input_features):
        """Names that are given for the columns, which must be those of training."""
        self._fitted()
        known = self.__dict__.get("feature_names_in_")
        names = None if input_features is None else [str(name) for name in input_features]
        if names is not None:
            if known is not None and list(known) != names:
                raise DataError("input_features is not equal to feature_names_in_")
            if len(names) != self.n_features_in_:
                raise DataError(
                    "input_features should have length equal to number of features "
                    f"({self.n_features_in_}), got {len(names)}"
                )
        return names

    def _finite_rows(self, X):
        """New rows as numbers, where they are read without the native half's gate."""
        values = self._rows(X).values
        missing = np.isnan(values).any() and not self._facts()["accepts"]["missing"]
        if missing or np.isinf(values).any():
            wrong = np.isinf(values) | (np.isnan(values) if missing else False)
            row, column = (int(k) for k in np.argwhere(wrong)[0])
            name = self.__dict__.get("feature_names_in_", {column: f"x{column}"})[column]
            what = "NaN" if np.isnan(values[row, column]) else "infinity"
            raise DataError(f"Input X contains {what}: column '{name}', first in row {row + 1}.")
        return values

    def _call(self, method, X, lengths=None, double=False):
        table = self._rows(X)
        lengths = _validation.read_lengths(lengths)
        policy = _missing[-1] if _missing else None
        single = method == "transform" and not double and self._answers_single(table)
        values, kept = self._model.call(
            method, table.values, table.columns, self._threads(), lengths, policy, single
        )
        if kept is None:
            return values
        if isinstance(values, tuple):
            return _spread(values[0], kept, len(table.values)), *values[1:]
        return _spread(values, kept, len(table.values))

    def _answers_single(self, table):
        """Whether rows of float32 stay float32 when they are transformed."""
        return table.values.dtype == np.float32 and "float32" in self._kept_types()

    def _predict(self, X):
        values = self._call("predict", X)
        if "classifier" in self._roles():
            return _classes_of(values, self.classes_)
        return values.ravel() if self._single_output and values.shape[1:] == (1,) else values

    def _seed(self, state=UNCHANGED):
        if state is UNCHANGED and "random_state" in self._carried:
            state = self.random_state
            return 0 if state is None or hasattr(state, "randint") else seed_of(state)
        return seed_of(getattr(self, "random_state", 0) if state is UNCHANGED else state)

    def _threads(self):
        return threads_of(getattr(self, "n_jobs", None))

    def __getattr__(self, name):
        if name.endswith("_") and not name.startswith("_") and self.__sklearn_is_fitted__():
            found = self._attributes()
            if name[:-1] in found:
                return found[name[:-1]]
        if isinstance(getattr(type(self), name, None), property) and not self.__sklearn_is_fitted__():
            raise not_fitted(self)
        # Methods that some parameters or parts do not offer are told as scikit-learn tells them.
        who = f"This {type(self).__name__!r}" if hasattr(type(self), name) else f"{type(self).__name__!r} object"
        raise AttributeError(f"{who} has no attribute {name!r}")

    def __setattr__(self, name, value):
        own = name in self.__dict__ or name in ("classes_", "n_features_in_", "feature_names_in_")
        if name.endswith("_") and not name.startswith("_") and not own and self.__sklearn_is_fitted__():
            if name[:-1] in self._attributes():
                raise AttributeError(
                    f"{name!r} is what the fit found, and predictions would not follow it; fit again, or copy "
                    "the values"
                )
        super().__setattr__(name, value)

    def __dir__(self):
        fitted = [f"{name}_" for name in self._attributes()] if self.__sklearn_is_fitted__() else []
        return [*super().__dir__(), *fitted]

    def _attributes(self):
        """What training found, by name without the trailing underscore."""
        if not self._cache:
            found = self._model.attributes()
            for value in found.values():
                if isinstance(value, np.ndarray):
                    value.flags.writeable = False
            found.update(self._outcome())
            if self._single_output and "regressor" in self._roles():
                # One row an output is shown without that dimension, as scikit-learn shows it.
                shown = [a["name"] for a in self._facts()["attributes"] if a["per_output"]]
                for name in shown:
                    value = found.get(name)
                    if isinstance(value, np.ndarray) and value.shape[:1] == (1,):
                        found[name] = value[0] if value.ndim > 1 else value[0].item()
            self._cache.update({k: _arrays(v) for k, v in found.items()})
        return self._cache

    def _outcome(self):
        """What the fit gave beside the model: clusters of the training rows, the objectives."""
        kept = self.__dict__.get("_kept_outcome")
        if kept is not None:
            return kept
        labels, losses = self._model.labels(), self._model.loss_curve()
        names = [a["name"] for a in self._facts()["attributes"] if not a["stored"]]
        found = self._model.attributes() if names else {}
        out = {name: found[name] for name in names if name in found}
        if labels is not None:
            out["labels"] = labels
        if losses:
            out["loss_curve"] = losses
        return out

    def summary(self, marks=False):
        """Tables about the fitted model: coefficients with their tests, tree text, loadings.

        With `marks`, p-values are marked: *** below 0.001, ** 0.01, * 0.05, . 0.1.
        """
        report = self._fitted().report(marks)
        if report is None:
            raise UnsupportedError(f"{type(self).__name__} has no summary")
        return Answer(report)

    def ask(self, question, X=None, y=None, sample_weight=None, groups=None, **arguments):
        """The answer of the fitted model to one of its questions, as tables.

        `groups`: the group of each row, for clustered standard errors.
        """
        rows = self._rows_and_target(X, y, sample_weight)
        if groups is not None and X is not None:
            groups = _validation.read_groups(groups, len(rows[0]))
        return Answer(self._fitted().ask(question, arguments, *rows, groups))

    def _rows_and_target(self, X, y, sample_weight):
        """What the native half needs to know about rows: values, columns, target, weights, threads."""
        self._fitted()
        if X is None:
            return None, None, None, None, self._threads()
        table, target = self._rows(X), None
        if y is not None:
            target = _validation.read_target(y, len(table.values), many=True)
            if "classifier" in self._roles():
                target = _validation.class_codes(target, self.classes_)
            else:
                target = _validation.read_numbers(target, "y")
        weights = _validation.read_weights(sample_weight, len(table.values))
        return table.values, table.columns, target, weights, self._threads()

    def save(self, path):
        """Writes the fitted model to a file that `learnt.load` and the command line read."""
        self._fitted().save(os.fspath(path))

    def to_bytes(self):
        """The bytes of the model file."""
        return self._fitted().to_bytes()

    def __getstate__(self):
        state = self.__dict__.copy()
        if state.get("_model") is not None:
            # A model file holds nothing about single training rows; a pickle may.
            state["_kept_outcome"] = self._outcome()
            state["_model"], state["_cache"] = self._model.to_bytes(), {}
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        if isinstance(state.get("_model"), bytes):
            self._model = _native.Model.from_bytes(state["_model"])


class Predictor(BaseEstimator):
    """A learner whose models predict."""

    def predict(self, X):
        """The prediction for each row of `X`."""
        return self._predict(X)


class Regressor(Scored, Predictor):
    """A learner of numbers."""

    def predict_link(self, X):
        """The prediction on the scale of the model: of its link, or of the function of the target."""
        values = self._call("link", X)
        return values.ravel() if self._single_output and values.shape[1:] == (1,) else values

    def score(self, X, y, sample_weight=None):
        """The coefficient of determination R² of the predictions, averaged over outputs.

        Regressors of counts and positive numbers give D², the share of the deviance explained.
        """
        power = self._facts()["deviance"]
        if power is None:
            return r_squared(y, self.predict(X), sample_weight)
        power = getattr(self, power) if isinstance(power, str) else power
        return d_squared(y, self.predict(X), sample_weight, float(power))


class Classifier(Scored, Predictor):
    """A learner of classes."""

    @property
    def n_classes_(self):
        """The number of classes."""
        return len(self.classes_)

    def score(self, X, y, sample_weight=None):
        """The share of rows whose class is predicted."""
        return accuracy(y, self.predict(X), sample_weight)


class Probabilities:
    """A classifier that gives probabilities."""

    def predict_proba(self, X):
        """Probabilities of the classes, in the order of `classes_`."""
        return self._call("probabilities", X)

    def predict_log_proba(self, X):
        """Logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class _WhereOffered:
    """A method that exists where the parameters allow it."""

    def __init__(self, method):
        self.method, self.__doc__ = method, method.__doc__

    def __get__(self, obj, owner=None):
        if obj is None:
            return self.method
        try:
            _, offers = _native.capabilities(obj._path, obj._native_params(None, NO_TABLE))
        except ParameterError:
            offers = {"probabilities": False}
        if not offers["probabilities"]:
            name = self.method.__name__
            raise AttributeError(f"{type(obj).__name__} has no {name} with these parameters")
        return self.method.__get__(obj, owner)


class SomeProbabilities:
    """A classifier that gives probabilities with some of its parameters."""

    predict_proba = _WhereOffered(Probabilities.predict_proba)
    predict_log_proba = _WhereOffered(Probabilities.predict_log_proba)


class Online:
    """A learner that goes on training with more rows."""

    def set_partial_fit_request(self, *, sample_weight=UNCHANGED):
        """Asks meta-estimators to pass `sample_weight` to `partial_fit`."""
        return self._request("partial_fit", sample_weight)

    def _partial_fit(self, X, y=None, classes=None, sample_weight=None):
        name = type(self).__name__
        before = self.__dict__.get("_model")
        table = self._read(X) if before is None else self._rows(X)
        target, known, labels = None, None, None
        kind = self._facts()["target"]
        if kind != "none":
            if y is None:
                raise DataError(f"{name} requires y to be passed, but the target y is None.")
            target = _validation.read_target(y, len(table.values))
            if kind == "classes":
                target, known = self._known_codes(target, classes, before is None)
                labels = _labels(known)
            else:
                target = _validation.read_numbers(target, "y")
        params, weights = self._weighted_params(X, table, sample_weight, target, known)
        names, width = table.names, table.values.shape[1]
        if before is not None:
            names, width = self.__dict__.get("feature_names_in_"), self.n_features_in_
        given = self._given(params, table, y, target, labels, weights)
        self._remember(_native.update(before, given), names, width, known, True)
        return self

    def _known_codes(self, y, classes, first):
        """Codes among all classes, which the first call names."""
        codes, present = _validation.encode_classes(y)
        if classes is not None:
            classes = np.unique(np.asarray(classes))
        if first:
            if classes is None:
                raise DataError("classes must be passed on the first call to partial_fit.")
            known = classes
        else:
            known = self.classes_
            if classes is not None and not np.array_equal(known, classes):
                raise DataError(
                    f"`classes={classes!r}` is not the same as on last call to partial_fit, was: "
                    f"{known!r}"
                )
        places = {label: place for place, label in enumerate(known.tolist())}
        unknown = [label for label in present.tolist() if label not in places]
        if unknown:
            raise DataError(f"y has labels {unknown} that are not in classes {known.tolist()}")
        order = np.array([places[label] for label in present.tolist()], dtype=np.uint32)
        return order[codes], known


class DecisionScores:
    """A classifier that gives decision scores."""

    def decision_function(self, X):
        """Scores: one a row for two classes (positive means the second), else one a class."""
        values = self._call("decision_scores", X)
        return values.ravel() if values.shape[1] == 1 else values


class Clusterer(BaseEstimator):
    """A learner of groups."""

    def fit_predict(self, X, y=None, **fit_params):
        """Fits, and gives the cluster of each row; -1 is noise."""
        return self.fit(X, **fit_params).labels_


class Assigning:
    """A clusterer that assigns new rows."""

    def predict(self, X):
        """The cluster of each row; -1 is noise."""
        return self._predict(X)


class Density(BaseEstimator):
    """A learner of probability densities."""

    def score_samples(self, X):
        """The logarithm of the density at each row."""
        return self._call("log_density", X).ravel()

    def score(self, X, y=None):
        """The total log-likelihood of the rows."""
        return float(self.score_samples(X).sum())

    def sample(self, n_samples=1, random_state=None):
        """Rows drawn from the density."""
        seed = self._seed(random_state)
        return self._fitted().sample(n_samples, seed)


class Mixture:
    """A density that is a sum of clusters, with the methods of scikit-learn's mixtures."""

    def predict_proba(self, X):
        """The probability of each component, for each row."""
        columns = self.ask("responsibilities", X).tables()[0]
        return np.column_stack(list(columns.values()))

    def fit_predict(self, X, y=None, **fit_params):
        """Fits, and gives the component of each row."""
        return self.fit(X, **fit_params).predict(X)

    def score(self, X, y=None):
        """The mean log-likelihood of the rows."""
        return float(self.score_samples(X).mean())

    def aic(self, X):
        """Akaike's information criterion of the rows: smaller is better."""
        return float(self.ask("criteria", X)["aic"])

    def bic(self, X):
        """The Bayesian information criterion of the rows: smaller is better."""
        return float(self.ask("criteria", X)["bic"])

    def sample(self, n_samples=1, random_state=UNCHANGED):
        """Rows drawn from the mixture, component by component, and the component of each."""
        if n_samples < 1:
            raise ValueError(f"n_samples must be at least 1, got {n_samples}")
        rng = np.random.default_rng(self._seed(random_state))
        counts = rng.multinomial(n_samples, self.weights_ / np.sum(self.weights_))
        means = self.means_
        factors = [np.linalg.cholesky(matrix) for matrix in self._covariance_matrices()]
        rows = [
            mean + rng.standard_normal((count, means.shape[1])) @ factor.T
            for mean, factor, count in zip(means, factors, counts, strict=True)
        ]
        return np.vstack(rows), np.repeat(np.arange(len(counts)), counts)

    @property
    def precisions_(self):
        """Inverses of the covariances, in their form."""
        if self.covariance_type in ("diag", "spherical"):
            return 1.0 / self.covariances_
        return np.linalg.inv(self.covariances_)

    @property
    def precisions_cholesky_(self):
        """Upper triangles U with U Uᵀ the inverse of a covariance, in the form of the covariances."""
        if self.covariance_type in ("diag", "spherical"):
            return 1.0 / np.sqrt(self.covariances_)
        lower = np.linalg.cholesky(self.covariances_)
        return np.swapaxes(np.linalg.inv(lower), -1, -2)

    @property
    def lower_bounds_(self):
        """The objective after each iteration of the best start."""
        return [float(value) for value in self.loss_curve_]

    def _covariance_matrices(self):
        """The covariance of each component as a matrix."""
        count, width = self.means_.shape
        found = self.covariances_
        forms = {
            "full": lambda: found,
            "tied": lambda: np.broadcast_to(found, (count, width, width)),
            "diag": lambda: [np.diag(row) for row in found],
            "spherical": lambda: [variance * np.eye(width) for variance in found],
        }
        return forms[self.covariance_type]()


class Detector(BaseEstimator):
    """A learner that tells outliers from the rest."""

    def predict(self, X):
        """1 for rows like the training rows, -1 for outliers."""
        return self._call("detect", X)

    def fit_predict(self, X, y=None, **fit_params):
        """Fits, and tells outliers among the same rows."""
        return self.fit(X, **fit_params).predict(X)

    def score_samples(self, X):
        """How much each row is like the training rows; low for outliers."""
        return self._call("scores", X).ravel()

    def decision_function(self, X):
        """Scores less the threshold: negative for outliers."""
        return self.score_samples(X) - self.offset_

    @property
    def offset_(self):
        """The score below which rows are outliers."""
        return self._fitted().threshold()


class Decoder(BaseEstimator):
    """A learner of hidden states; `lengths` has the number of rows of each sequence."""

    def predict(self, X, lengths=None):
        """The most probable states, given all rows of their sequence."""
        return self._states(self._call("decode", X, lengths))

    def decode(self, X, lengths=None):
        """The logarithm of the probability of the best states and the rows, and those states."""
        table = self._call("decoded_log_probability", X, lengths)
        return float(table.sum()), self.predict(X, lengths)

    def predict_proba(self, X, lengths=None):
        """The probability of each state in each row, given all rows of its sequence."""
        return self._call("posteriors", X, lengths)

    def score(self, X, y=None, lengths=None):
        """The log-likelihood of the rows, or with `y` the share of states that are predicted."""
        if y is not None:
            return accuracy(y, self.predict(X, lengths))
        return float(self._call("log_likelihood", X, lengths).sum())

    def score_samples(self, X, lengths=None):
        """The log-likelihood of the rows, and the probability of each state in each row."""
        return self.score(X, lengths=lengths), self.predict_proba(X, lengths)

    def _states(self, codes):
        classes = self.__dict__.get("classes_")
        return codes if classes is None else _classes_of(codes, classes)


class Transformer(BaseEstimator):
    """A learner of transformations."""

    def transform(self, X):
        """The transformed rows."""
        values, columns = self._call("transform", X)
        return _output.wrap(_output.configured(self), values, columns, X)

    def fit_transform(self, X, y=None, **fit_params):
        """Fits, then transforms the same rows."""
        return self.fit(X, y, **fit_params).transform(X)

    def get_feature_names_out(self, input_features=None):
        """The names of the transformed columns."""
        names = self._names_in(input_features)
        return np.array(self._fitted().names_out(names), dtype=object)

    def set_output(self, *, transform=None):
        """Chooses what `transform` gives: "default", "pandas", "polars" or "arrow"."""
        if transform is not None:
            _output.check_kind(transform)
            self._sklearn_output_config = {"transform": transform}
        return self


class Invertible:
    """A transformer with an inverse."""

    def inverse_transform(self, X):
        """The rows before the transformation."""
        model, name = self._fitted(), type(self).__name__
        table = _validation.read_table(X, estimator=name)
        single = self._answers_single(table)
        values, (_, levels) = model.inverse_transform(table.values, self._threads(), single)
        return _output.decode(values, levels)


class Where:
    """A method that some estimators of a class have: `lack(obj, name)` says why one has none, or nothing."""

    def __init__(self, method):
        self.method, self.__doc__ = method, method.__doc__

    def __get__(self, obj, owner=None):
        if obj is None:
            return self.method
        lack = self.lack(obj, self.method.__name__)
        if lack:
            raise AttributeError(lack)
        return self.method.__get__(obj, owner)


class _AsLastStep(Where):
    """A method that exists where the last step has one of the same name."""

    @staticmethod
    def lack(obj, name):
        last = obj._last()
        has = hasattr(last, name) or (last == "passthrough" and name == "transform")
        return None if has else f"the last step of {type(obj).__name__} has no {name}"


class Composite(Scored, BaseEstimator):
    """Steps one after the other: it takes what its first step takes, and does what its last does."""

    def _facts(self):
        roles, accepts = _native.capabilities(self._path, self._native_params(None, NO_TABLE))
        last = self._last()
        own = last._facts() if hasattr(last, "_facts") else {"exempt": {}, "attributes": []}
        target = "classes" if accepts["classes"] else "numbers" if "regressor" in roles else "none"
        return {
            **super()._facts(),
            "roles": roles,
            "accepts": accepts,
            "exempt": own["exempt"],
            "attributes": own["attributes"],
            "target": target,
        }

    def _seed(self):
        """Its own seed, else one made from the seeds of its steps where they have any."""
        nested = {k: v for k, v in self.get_params().items() if k.endswith("__random_state")}
        given = {k: v for k, v in nested.items() if isinstance(v, (int, np.integer))}
        if self.random_state is None and given:
            return crc32(repr(sorted(given.items())).encode())
        return super()._seed()

    def _last(self):
        last = self.steps[-1] if self.steps else None
        return last[1] if isinstance(last, (list, tuple)) else last

    @_AsLastStep
    def score(self, X, y=None, sample_weight=None):
        """The score of the last step."""
        roles, last = self._roles(), self._last()
        if "classifier" in roles:
            return accuracy(y, self.predict(X), sample_weight)
        if "regressor" in roles:
            power = last._facts()["deviance"] if hasattr(last, "_facts") else None
            if power is None:
                return r_squared(y, self.predict(X), sample_weight)
            power = getattr(last, power) if isinstance(power, str) else power
            return d_squared(y, self.predict(X), sample_weight, float(power))
        if "density" in roles:
            values = self.score_samples(X)
            return float(values.mean() if isinstance(last, Mixture) else values.sum())
        *before, (_, fitted) = self._parts()
        for _, step in before:
            X = step.transform(X)
        return fitted.score(X) if sample_weight is None else fitted.score(X, sample_weight=sample_weight)

    predict = _AsLastStep(Predictor.predict)
    predict_link = _AsLastStep(Regressor.predict_link)
    predict_proba = _AsLastStep(Probabilities.predict_proba)
    predict_log_proba = _AsLastStep(Probabilities.predict_log_proba)
    decision_function = _AsLastStep(DecisionScores.decision_function)
    fit_predict = _AsLastStep(Clusterer.fit_predict)
    score_samples = _AsLastStep(Density.score_samples)
    transform = _AsLastStep(Transformer.transform)
    fit_transform = _AsLastStep(Transformer.fit_transform)
    inverse_transform = _AsLastStep(Invertible.inverse_transform)
    get_feature_names_out = _AsLastStep(Transformer.get_feature_names_out)
    set_output = Transformer.set_output


def load(path):
    """The fitted learner in a model file."""
    with open(path, "rb") as file:
        return from_bytes(file.read())


def from_bytes(data):
    """The fitted learner in the bytes of a model file."""
    return from_model(_native.Model.from_bytes(data))


def from_model(model):
    """The fitted learner of a native model."""
    history = model.history()
    estimator = build(history["path"], history["params"])
    names, _ = history["columns"]
    unnamed = names == [f"x{i}" for i in range(len(names))]
    classes = _class_array(history["classes"]) if history["classes"] else None
    if "random_state" in set(estimator._defaults()) - set(estimator._carried):
        estimator.random_state = history["seed"]
    estimator._remember(model, None if unnamed else names, len(names), classes, True)
    return estimator


def build(path, params):
    """A learner by its name in the registry, with parameters by name."""
    if path not in registry():
        raise ModelFileError(f"there is no learner {path!r}")
    module, _, name = path.rpartition(".")
    cls = getattr(importlib.import_module(f"learnt.{module}"), name)
    unknown = sorted(set(params) - set(cls._defaults()))
    if unknown:
        raise ModelFileError(f"{path} has no parameters {unknown}")
    return cls(**{key: _learners(value) for key, value in params.items()})


def _learners(value):
    if isinstance(value, dict):
        if set(value) != {"learner", "params"}:
            raise ModelFileError(f"a parameter is no learner: {sorted(value)}")
        return build(value["learner"], value["params"])
    if isinstance(value, list) and value and isinstance(value[0], list):
        return [tuple(_learners(item) for item in pair) for pair in value]
    return [_learners(item) for item in value] if isinstance(value, list) else value


_threads, _missing = [], []


@contextmanager
def missing(policy):
    """Within this context, missing values that a learner cannot take follow this policy.

    "error" refuses them, "skip" leaves their rows without a prediction (NaN, or None for a class),
    "impute" fills in the means and commonest levels of training. A model that is fitted within keeps
    the policy for its predictions.
    """
    if policy not in ("error", "skip", "impute"):
        raise ParameterError(f'the policy must be "error", "skip" or "impute", got {policy!r}')
    _missing.append(policy)
    try:
        yield
    finally:
        _missing.pop()


def _is_place(X):
    """Whether something names files: a path, or a text that is one."""
    if isinstance(X, str):
        return "://" in X or "*" in X or os.path.exists(X)
    return isinstance(X, os.PathLike)


def _spread(values, kept, rows):
    """One entry for every row: those of skipped rows are NaN."""
    dtype = values.dtype if values.dtype.kind == "f" else None
    out = np.full((rows, *values.shape[1:]), np.nan, dtype=dtype)
    out[kept] = values
    return out


def _classes_of(codes, classes):
    """The classes of codes; None where there is no prediction."""
    if codes.dtype.kind != "f":
        return classes[codes]
    out = np.full(len(codes), None, dtype=object)
    known = ~np.isnan(codes)
    out[known] = classes[codes[known].astype(int)]
    return out


@contextmanager
def threads(count):
    """Within this context, learners without `n_jobs` use at most this many threads."""
    if not isinstance(count, int) or count < 1:
        raise ParameterError(f"the number of threads must be a whole number >= 1, got {count!r}")
    _threads.append(count)
    try:
        yield
    finally:
        _threads.pop()


def default_threads():
    """The default number of threads: the innermost `threads`, the environment, or all."""
    if _threads:
        return _threads[-1]
    for variable in ("LEARNT_NUM_THREADS", "OMP_NUM_THREADS"):
        first = os.environ.get(variable, "").partition(",")[0]
        if first.isdecimal() and int(first) > 0:
            return min(int(first), _native.threads_available())
    return 0


def seed_of(state):
    """A seed from a whole number, a generator of NumPy, or NumPy's global generator."""
    if state is None:
        state = np.random.mtrand._rand
    if hasattr(state, "randint"):
        return int(state.randint(np.iinfo(np.int32).max))
    if hasattr(state, "integers"):
        return int(state.integers(2**63))
    if isinstance(state, (int, np.integer)) and not isinstance(state, bool):
        if 0 <= state < 2**64:
            return int(state)
    raise ParameterError(
        "`random_state` must be a whole number >= 0 and below 2**64, a NumPy generator or None, "
        f"got {state!r}"
    )


def threads_of(wanted):
    """A number of threads: -1 and None mean all that this process may use."""
    if wanted is None:
        return default_threads()
    if not isinstance(wanted, (int, np.integer)) or wanted == 0:
        raise ParameterError(f"`n_jobs` must be a whole number other than 0, got {wanted!r}")
    return int(wanted) if wanted > 0 else max(1, _native.threads_available() + 1 + wanted)


def accuracy(y, predicted, sample_weight=None):
    """The weighted share of equal entries."""
    y = _validation.read_target(y, len(predicted))
    weights = _validation.read_weights(sample_weight, len(predicted))
    return float(np.average(y == predicted, weights=weights))


def r_squared(y, predicted, sample_weight=None):
    """1 - Σ w (y - f)² / Σ w (y - mean)², averaged over outputs; 0 or 1 for a constant target."""
    y = _validation.read_numbers(_validation.read_target(y, len(predicted), many=True), "y")
    weights = _validation.read_weights(sample_weight, len(predicted))
    y, predicted = y.reshape(len(y), -1), predicted.reshape(len(predicted), -1)
    if y.shape != predicted.shape:
        raise DataError(f"y has {y.shape[1]} outputs, and the model gives {predicted.shape[1]}")
    errors = np.average((y - predicted) ** 2, axis=0, weights=weights)
    spread = np.average((y - np.average(y, axis=0, weights=weights)) ** 2, axis=0, weights=weights)
    constant = np.where(errors == 0, 1.0, 0.0)
    shares = np.divide(errors, spread, out=1 - constant, where=spread != 0)
    return float(np.mean(1 - shares))


def d_squared(y, predicted, sample_weight, power):
    """1 - deviance / deviance of the mean, where the variance is a power of the mean."""
    y = _validation.read_numbers(_validation.read_target(y, len(predicted), many=False), "y")
    weights = _validation.read_weights(sample_weight, len(predicted))
    errors = np.average(_deviance(y, predicted, power), weights=weights)
    spread = np.average(_deviance(y, np.average(y, weights=weights), power), weights=weights)
    return float(1 - errors / spread) if spread > 0 else float(errors == 0)


def _deviance(y, mean, power):
    """Half the unit deviances of Tweedie's family."""
    if power == 0:
        return (y - mean) ** 2 / 2
    if power == 1:
        return np.where(y > 0, y * np.log(np.where(y > 0, y, 1.0) / mean), 0.0) - y + mean
    if power == 2:
        return np.log(mean / y) + y / mean - 1
    own = np.where(y > 0, y, 0.0) ** (2 - power) if power < 2 else y ** (2 - power)
    return (
        own / ((1 - power) * (2 - power))
        - y * mean ** (1 - power) / (1 - power)
        + mean ** (2 - power) / (2 - power)
    )


def _arrays(value):
    """Lists of texts as arrays of objects, as scikit-learn keeps names."""
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return np.array(value, dtype=object)
    return value


def _class_array(classes):
    kind = object if len({type(c) for c in classes}) > 1 else None
    return np.array(classes, dtype=kind)


def _labels(classes):
    """Classes as the native half takes them: whole numbers of more than 64 bits are texts there."""

    def label(value):
        if isinstance(value, bytes):
            return text(value)
        return str(value) if isinstance(value, int) and abs(value) >= 2**63 else value

    return [label(value) for value in classes.tolist()]


def _target_names(y):
    """The names that a target has: those of a series or of the columns of a frame."""
    if hasattr(y, "columns"):
        return [str(name) for name in y.columns]
    name = getattr(y, "name", None)
    return [name] if isinstance(name, str) else []


def text(value):
    """Bytes as text."""
    return value.decode()
