"""The nodes of a fitted tree as arrays, under the names of scikit-learn's `tree_`."""

import numpy as np

from learnt import _base
from ._compose import Bunch
from ._ensemble import Drawing, _arranged, as_grown
from ._foreign import clone
from ._params import NO_TABLE
from ._validation import level_name
from .errors import DataError


class Tree:
    """Arrays with one element a node, the root first; -1 is no child, -2 no column.

    scikit-learn's `export_text` and `plot_tree` read them. Splits of categories and of missing against
    known values have no threshold that says them: `nodes()` and `rules()` do.
    """

    def __init__(self, answer, n_features, n_classes, categories=()):
        def array(name, kind):
            return np.asarray(answer[name]).astype(kind)

        self.children_left = array("children_left", np.intp)
        self.children_right = array("children_right", np.intp)
        self.feature = array("feature", np.intp)
        self.threshold = array("threshold", float)
        self.impurity = array("impurity", float)
        self.n_node_samples = array("n_node_samples", np.intp)
        self.weighted_n_node_samples = array("weighted_n_node_samples", float)
        self.missing_go_to_left = array("missing_go_to_left", bool)
        width = int(answer["numbers in a prediction"])
        values = np.column_stack([array(f"value {k}", float) for k in range(width)])
        self.node_count = len(self.feature)
        self.n_features = n_features
        self.n_leaves = int(np.sum(self.children_left == -1))
        self.max_depth = int(answer["depth"])
        self.n_outputs = 1 if n_classes else width
        self.n_classes = np.array([n_classes] if n_classes else [1] * width, dtype=np.intp)
        self.max_n_classes = int(self.n_classes.max())
        self.value = values.reshape(self.node_count, self.n_outputs, self.max_n_classes)
        self._has_sets = bool(np.isin(self.feature, list(categories)).any())

    def apply(self, X):
        """The leaf of each row; splits of categories have no threshold, ask the learner's own `apply`."""
        if self._has_sets:
            raise DataError("this tree splits categories, which thresholds do not say; use the learner's apply")
        X = np.asarray(X)
        at = np.zeros(len(X), dtype=np.intp)
        inner = self.children_left[at] >= 0
        while inner.any():
            rows, nodes = np.flatnonzero(inner), at[inner]
            values = X[rows, self.feature[nodes]]
            left = np.where(np.isnan(values), self.missing_go_to_left[nodes], values <= self.threshold[nodes])
            at[rows] = np.where(left, self.children_left[nodes], self.children_right[nodes])
            inner = self.children_left[at] >= 0
        return at

    def predict(self, X):
        """The value of the leaf of each row."""
        return self.value[self.apply(X)]

    def compute_feature_importances(self, normalize=True):
        """The decrease of impurity by the splits of each column, as shares of all with `normalize`."""
        inner = np.flatnonzero(self.children_left >= 0)
        cost = self.impurity * self.weighted_n_node_samples
        gains = cost[inner] - cost[self.children_left[inner]] - cost[self.children_right[inner]]
        found = np.bincount(self.feature[inner], gains, minlength=self.n_features)
        found = found / self.weighted_n_node_samples[0]
        return found / found.sum() if normalize and found.sum() > 0 else found


class Directed:
    """A learner with directions of columns, which may be given by name."""

    def _native_params(self, X=None, table=None):
        params = super()._native_params(X, table)
        signs = params.get("monotonic_cst")
        if isinstance(signs, dict):
            known = table is not None and table is not NO_TABLE
            params["monotonic_cst"] = _signs(signs, table.names) if known else None
        elif signs is not None:
            params["monotonic_cst"] = np.asarray(signs).tolist()
        return params


class Important:
    """A learner of trees, which tells what its columns were worth."""

    @property
    def feature_importances_(self):
        """The share of each column in the decrease of impurity."""
        self._fitted()
        return self._attributes()["feature_importances"]


class Treelike(Directed, Important):
    """A learner whose model is one binary tree."""

    @property
    def tree_(self):
        """The nodes as arrays, under the names of scikit-learn's `tree_`."""
        self._fitted()
        if "_nodes" not in self._cache:
            classes = len(self.classes_) if "classifier" in self._roles() else 0
            self._attributes()
            _, levels = self._fitted().history()["columns"]
            sets = [place for place, _, ordered in levels if not ordered]
            self._cache["_nodes"] = Tree(self.ask("nodes"), self.n_features_in_, classes, sets)
        return self._cache["_nodes"]

    def apply(self, X, check_input=True):
        """The leaf of each row, as its place in `tree_`."""
        return np.asarray(self.ask("leaves", X)["leaf"]).astype(np.intp)

    def decision_path(self, X, check_input=True):
        """Which nodes each row passes, as a sparse matrix of SciPy's: rows times nodes."""
        return _paths(self.tree_, self.apply(X))

    def get_depth(self):
        """The number of questions on the longest way to a leaf."""
        self._fitted()
        return int(self.depth_)

    def get_n_leaves(self):
        """The number of leaves."""
        self._fitted()
        return int(self.n_leaves_)

    def cost_complexity_pruning_path(self, X, y, sample_weight=None):
        """The values of `ccp_alpha` from which on a smaller subtree is best, and its impurity."""
        whole = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight)
        found = whole.ask("pruning_path")
        alphas, impurities = (np.asarray(found[name]) for name in ("ccp_alpha", "impurity"))
        return Bunch(ccp_alphas=alphas, impurities=impurities)

    @property
    def n_outputs_(self):
        """The number of targets."""
        return self.tree_.n_outputs

    @property
    def max_features_(self):
        """The number of columns that are tried in each node."""
        return features_tried(self.max_features, self._fitted() and self.n_features_in_)


def features_tried(wanted, columns):
    """A number of columns from a number, a share or a word."""
    words = {None: columns, "all": columns, "sqrt": int(columns**0.5), "log2": int(np.log2(columns))}
    if wanted is None or isinstance(wanted, str):
        return max(1, words[wanted])
    if isinstance(wanted, (int, np.integer)):
        return min(int(wanted), columns)
    return max(1, int(wanted * columns))


def _paths(tree, leaves):
    """The nodes on the way to each of the leaves, as rows of a sparse matrix."""
    from scipy.sparse import csr_matrix

    parents = np.full(tree.node_count, -1)
    inner = np.flatnonzero(tree.children_left >= 0)
    parents[tree.children_left[inner]] = inner
    parents[tree.children_right[inner]] = inner
    ways = {}
    for leaf in np.unique(leaves):
        way, node = [], int(leaf)
        while node >= 0:
            way.append(node)
            node = int(parents[node])
        ways[int(leaf)] = way[::-1]
    found = [ways[int(leaf)] for leaf in leaves]
    ends = np.cumsum([0, *map(len, found)])
    places = np.concatenate(found) if found else np.empty(0, dtype=np.intp)
    ones = np.ones(len(places), dtype=np.int64)
    return csr_matrix((ones, places, ends), shape=(len(leaves), tree.node_count))


class ManyTrees(Important):
    """A learner whose model is many binary trees."""

    def apply(self, X):
        """The leaf of each row in each tree, as its place in the `tree_` of that tree."""
        trees = self.estimators_
        if isinstance(trees, list):
            return np.column_stack([tree.apply(X) for tree in trees])
        leaves = [np.column_stack([tree.apply(X) for tree in scores]) for scores in trees]
        found = np.stack(leaves, axis=1).astype(np.float64)
        return found if "classifier" in self._roles() else found[:, :, 0]

    @property
    def n_outputs_(self):
        """The number of targets."""
        self._fitted()
        return self.__dict__.get("_n_outputs", 1)

    @property
    def estimators_(self):
        """The trees as fitted learners: a list for forests, an array of rounds and scores for boosting.

        Trees of boosting are regressors; their leaves hold what they add to a score.
        """
        trees = [_base.from_model(model) for _, model in self._fitted().parts()]
        if not hasattr(self, "proximities"):
            return _arranged(self, trees)
        return as_grown(self, trees)


class Forest(Directed, Drawing):
    """Trees that are fitted side by side."""

    def _fit(self, X, y=None, sample_weight=None, **kwargs):
        super()._fit(X, y, sample_weight, **kwargs)
        self.__dict__.pop("_own_oob_score", None)
        if callable(self.oob_score):
            classes = "classifier" in self._roles()
            found = self.oob_decision_function_ if classes else self.oob_prediction_
            known = ~np.isnan(found.reshape(len(found), -1)).any(axis=1)
            truth = np.asarray(y)[self.__dict__.get("_counted_rows", slice(None))][known]
            said = self.classes_[found[known].argmax(axis=1)] if classes else found[known]
            self._own_oob_score = self.oob_score(truth, said)
        return self

    def _native_params(self, X=None, table=None):
        params = super()._native_params(X, table)
        return {**params, "oob_score": True} if callable(self.oob_score) else params

    def _attributes(self):
        found, own = super()._attributes(), self.__dict__.get("_own_oob_score")
        return found if own is None else {**found, "oob_score": own}

    def decision_path(self, X):
        """Which nodes of which tree each row passes: a sparse matrix, and where each tree begins in it."""
        from scipy.sparse import hstack

        paths = [tree.decision_path(X) for tree in self.estimators_]
        starts = np.cumsum([0, *(path.shape[1] for path in paths)])
        return hstack(paths).tocsr(), starts

    @property
    def oob_prediction_(self):
        """What trees say about rows that they did not draw; one number a row for one output."""
        found = self._attributes().get("oob_prediction") if self.__sklearn_is_fitted__() else None
        if found is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'oob_prediction_'")
        return found[:, 0] if self._single_output and found.ndim == 2 else found

    @property
    def estimator_(self):
        """A learner like the trees, with their parameters."""
        first = self.estimators_[0]
        return type(first)(**{k: getattr(self, k) for k in first._defaults() if hasattr(self, k)})


class Rounds:
    """Trees that are fitted one after the other, each to what the others left."""

    def _staged_scores(self, X):
        """The scores of rows after each round."""
        stages = self._from_start(X)
        next(stages)
        return stages

    def _from_start(self, X):
        """The scores of rows before the first round and after each."""
        def added(trees, rows):
            return np.column_stack([tree.predict(rows) for tree in trees])

        self._rows(X)
        rounds = self.estimators_
        final = self._scores(X).reshape(len(X), -1)
        # Without a learner to begin with, the first round starts from the same for every row.
        begun = getattr(self, "init", None) is not None and self.init != "zero"
        few = X if begun else X[:1]
        start = self._scores(few).reshape(len(few), -1) - sum(added(trees, few) for trees in rounds)
        total = np.broadcast_to(start, final.shape)
        yield total
        for trees in rounds[:-1]:
            total = total + added(trees, X)
            yield total
        yield final

    @property
    def n_trees_per_iteration_(self):
        """The number of trees of each round."""
        return self.estimators_.shape[1]

    @property
    def n_estimators_(self):
        """The number of rounds."""
        return int(self.n_iter_)

    @property
    def max_features_(self):
        """The number of columns that are tried in each node."""
        return features_tried(self.max_features, self._fitted() and self.n_features_in_)


class RegressorRounds(Rounds):
    """Rounds for numbers."""

    def _scores(self, X):
        means = self.predict(X)
        return np.log(means) if self.loss in ("poisson", "gamma") else means

    def staged_predict(self, X):
        """The predictions after each round."""
        for scores in self._staged_scores(X):
            yield self._told(scores)

    def _told(self, scores):
        """The predictions of these scores."""
        return np.exp(scores).ravel() if self.loss in ("poisson", "gamma") else scores.ravel()


class ClassifierRounds(Rounds):
    """Rounds for classes."""

    def _scores(self, X):
        return self.decision_function(X)

    def staged_decision_function(self, X):
        """The decision scores after each round."""
        for scores in self._staged_scores(X):
            yield scores.ravel() if scores.shape[1] == 1 else scores

    def staged_predict_proba(self, X):
        """The probabilities of the classes after each round."""
        for scores in self._staged_scores(X):
            yield self._shares(scores)

    def _shares(self, scores):
        """The probabilities of these scores."""
        if scores.shape[1] == 1:
            twice = 2.0 if getattr(self, "loss", "") == "exponential" else 1.0
            second = 1.0 / (1.0 + np.exp(-twice * scores.ravel()))
            return np.column_stack([1.0 - second, second])
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)

    def _told(self, scores):
        """The classes of these scores."""
        return self.classes_[self._shares(scores).argmax(axis=1)]

    def staged_predict(self, X):
        """The classes after each round."""
        for shares in self.staged_predict_proba(X):
            yield self.classes_[shares.argmax(axis=1)]


class Categorical(Directed):
    """A learner whose columns of numbers may be categories; levels that training did not see are missing values."""

    def _rows(self, X):
        table = super()._rows(X)
        names, trained = self._fitted().history()["columns"]
        trained = {names[place]: list(levels) for place, levels, _ in trained}
        values = None
        for k, (place, levels, ordered) in enumerate(table.levels):
            known = trained.get((table.names or names)[place])
            if known is None or set(levels) <= set(known):
                continue
            values = np.array(table.values, dtype=np.float64) if values is None else values
            code = np.array([known.index(level) if level in known else np.nan for level in levels])
            given = ~np.isnan(values[:, place])
            values[given, place] = code[values[given, place].astype(int)]
            table.levels[k] = (place, known, ordered)
        if values is not None:
            table.values = values
        return table

    def _read(self, X, volumes=False):
        table = super()._read(X, volumes)
        given = self.categorical_features
        if given is None or (isinstance(given, str) and given == "from_dtype"):
            return table
        known = {place for place, *_ in table.levels}
        values = np.array(table.values, dtype=np.float64)
        for place in _places(given, table.names, values.shape[1]):
            if place in known:
                continue
            column = values[:, place]
            levels, codes = np.unique(column[~np.isnan(column)], return_inverse=True)
            values[~np.isnan(column), place] = codes
            table.levels.append((place, [level_name(level) for level in levels], False))
        table.values = values
        table.levels.sort(key=lambda level: level[0])
        return table

    @property
    def is_categorical_(self):
        """Which columns are categories; None if none is."""
        _, levels = self._fitted().history()["columns"]
        found = np.zeros(self.n_features_in_, dtype=bool)
        found[[place for place, *_ in levels]] = True
        return found if found.any() else None


def _signs(given, names):
    """Signs of all columns from those of some by name."""
    if names is None:
        raise DataError("monotonic_cst by name needs columns with names: fit a frame, or give a list of signs.")
    unknown = [name for name in given if name not in names]
    if unknown:
        raise DataError(f"monotonic_cst contains {len(unknown)} unexpected feature names: {unknown!r}.")
    return [int(given.get(name, 0)) for name in names]


def _places(given, names, width):
    """The places of columns from a mask, from places or from names."""
    given = list(np.atleast_1d(np.asarray(given)).tolist())
    if given and all(isinstance(flag, bool) for flag in given):
        if len(given) != width:
            raise DataError(
                f"categorical_features set as a boolean mask must have shape (n_features,), got: ({len(given)},)"
            )
        return [place for place, flag in enumerate(given) if flag]
    if given and all(isinstance(name, str) for name in given):
        if names is None:
            raise DataError("categorical_features should be passed as an array of integers or as a boolean mask when the model is fitted on data without feature names.")
        unknown = [name for name in given if name not in names]
        if unknown:
            raise DataError(f"categorical_features has a item value {unknown[0]!r} which is not a valid feature name of the training data.")
        return [names.index(name) for name in given]
    if any(not isinstance(place, int) for place in given):
        raise DataError(f"categorical_features must be an array-like of bool, int or str, got: {given!r}.")
    if any(not 0 <= place < width for place in given):
        raise DataError("categorical_features set as integer indices must be in [0, n_features - 1]")
    return given
