"""The nodes of a fitted tree as arrays, under the names of scikit-learn's `tree_`."""

import numpy as np

from learnt import _base


class Tree:
    """Arrays with one element a node, the root first; -1 is no child, -2 no column.

    scikit-learn's `export_text` and `plot_tree` read them. Splits of categories and of missing against
    known values have no threshold that says them: `nodes()` and `rules()` do.
    """

    def __init__(self, answer, n_features, n_classes):
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


class Treelike:
    """A learner whose model is one binary tree."""

    @property
    def tree_(self):
        """The nodes as arrays, under the names of scikit-learn's `tree_`."""
        classes = len(self.classes_) if "classifier" in self._roles() else 0
        return Tree(self.ask("nodes"), self.n_features_in_, classes)


class ManyTrees:
    """A learner whose model is many binary trees."""

    @property
    def estimators_(self):
        """The trees as fitted learners: a list for forests, an array of rounds and scores for boosting.

        Trees of boosting are regressors; their leaves hold what they add to a score.
        """
        trees = [_base.from_model(model) for _, model in self._fitted().parts()]
        if hasattr(self, "proximities"):
            return trees
        out = np.empty(len(trees), dtype=object)
        out[:] = trees
        return out.reshape(int(self.n_iter_), -1)
