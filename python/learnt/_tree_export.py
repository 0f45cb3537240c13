"""Trees shown by scikit-learn's functions, which want scikit-learn's own classes."""


def _shown(tree):
    """A tree of this package as an object of scikit-learn's class that shows the same nodes."""
    from sklearn import tree as theirs

    if not hasattr(tree, "_path"):
        return tree
    cls = getattr(theirs, type(tree).__name__, None)
    if cls is None:
        raise TypeError(f"{type(tree).__name__} is no binary tree of scikit-learn's kind; see its `export`")
    out = cls(criterion=tree.criterion)
    if tree.__sklearn_is_fitted__():
        names = ("tree_", "n_features_in_", "n_outputs_", "classes_", "n_classes_", "feature_names_in_")
        for name in names:
            if hasattr(tree, name):
                setattr(out, name, getattr(tree, name))
    return out


def export_text(decision_tree, **options):
    """The tree as text, in the form of scikit-learn.

    Parameters
    ----------
    decision_tree : DecisionTreeClassifier or DecisionTreeRegressor
        A fitted tree.
    **options
        As `sklearn.tree.export_text` takes them; scikit-learn must be there.

    Returns
    -------
    str

    Examples
    --------
    >>> from learnt.tree import DecisionTreeRegressor, export_text
    >>> print(export_text(DecisionTreeRegressor().fit([[0.0], [1.0]], [1.0, 2.0])).split("\\n")[0])
    |--- feature_0 <= 0.50
    """
    from sklearn.tree import export_text

    return export_text(_shown(decision_tree), **options)


def export_graphviz(decision_tree, out_file=None, **options):
    """The tree in the language of Graphviz, in the form of scikit-learn.

    Parameters
    ----------
    decision_tree : DecisionTreeClassifier or DecisionTreeRegressor
        A fitted tree.
    out_file : file, str or None, default=None
        Where to write it; None gives the text.
    **options
        As `sklearn.tree.export_graphviz` takes them; scikit-learn must be there.

    Returns
    -------
    str or None
    """
    from sklearn.tree import export_graphviz

    return export_graphviz(_shown(decision_tree), out_file, **options)


def plot_tree(decision_tree, **options):
    """The tree drawn by Matplotlib, in the form of scikit-learn; `learnt.plot` draws it without.

    Parameters
    ----------
    decision_tree : DecisionTreeClassifier or DecisionTreeRegressor
        A fitted tree.
    **options
        As `sklearn.tree.plot_tree` takes them; scikit-learn and Matplotlib must be there.

    Returns
    -------
    list of annotations
    """
    from sklearn.tree import plot_tree

    return plot_tree(_shown(decision_tree), **options)
