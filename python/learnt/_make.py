"""Composites without names of one's own, under scikit-learn's names."""

import re

from ._params import is_word


def _named(learners):
    """Learners with their classes in small letters as names, numbered where several have one."""
    names = [part if is_word(part) else type(part).__name__.lower() for part in learners]
    out = []
    for place, name in enumerate(names):
        several = names.count(name) > 1
        out.append(f"{name}-{names[: place + 1].count(name)}" if several else name)
    return list(zip(out, learners))


def make_pipeline(*steps, memory=None, verbose=False):
    """A pipeline whose steps are named by their classes.

    Parameters
    ----------
    *steps : learners
        The steps in their order.
    memory, verbose
        As `Pipeline` takes them.

    Returns
    -------
    Pipeline

    Examples
    --------
    >>> from learnt.pipeline import make_pipeline
    >>> from learnt.linear_model import Ridge
    >>> from learnt.preprocessing import StandardScaler
    >>> list(make_pipeline(StandardScaler(), Ridge()).named_steps)
    ['standardscaler', 'ridge']
    """
    from .pipeline import Pipeline

    return Pipeline(_named(steps), memory=memory, verbose=verbose)


def make_column_transformer(
    *transformers,
    remainder="drop",
    sparse_threshold=0.3,
    n_jobs=None,
    verbose=False,
    verbose_feature_names_out=True,
):
    """A column transformer whose groups are named by their classes.

    Parameters
    ----------
    *transformers : pairs of a transformer and columns
        The groups of columns.
    remainder, sparse_threshold, n_jobs, verbose, verbose_feature_names_out
        As `ColumnTransformer` takes them.

    Returns
    -------
    ColumnTransformer

    Examples
    --------
    >>> from learnt.compose import make_column_transformer
    >>> from learnt.preprocessing import MinMaxScaler
    >>> made = make_column_transformer((MinMaxScaler(), ["a"]))
    >>> made.fit_transform(__import__("pandas").DataFrame({"a": [1.0, 3.0]})).tolist()
    [[0.0], [1.0]]
    """
    from .compose import ColumnTransformer

    named = _named([transformer for transformer, _ in transformers])
    groups = [(*pair, columns) for pair, (_, columns) in zip(named, transformers)]
    return ColumnTransformer(
        groups,
        remainder=remainder,
        sparse_threshold=sparse_threshold,
        n_jobs=n_jobs,
        verbose=verbose,
        verbose_feature_names_out=verbose_feature_names_out,
    )


class make_column_selector:
    """Columns of a frame of pandas, by their names or types, for a group of a column transformer.

    Parameters
    ----------
    pattern : str, default=None
        A regular expression that a name contains.
    dtype_include, dtype_exclude : type, str or list of these, default=None
        Types of columns, as `select_dtypes` of pandas takes them.

    Examples
    --------
    >>> import numpy as np, pandas
    >>> from learnt.compose import make_column_selector
    >>> frame = pandas.DataFrame({"a": [1.0], "b": ["x"]})
    >>> make_column_selector(dtype_include=np.number)(frame)
    ['a']
    """

    def __init__(self, pattern=None, *, dtype_include=None, dtype_exclude=None):
        self.pattern = pattern
        self.dtype_include = dtype_include
        self.dtype_exclude = dtype_exclude

    def __call__(self, df):
        """The names of the columns that fit."""
        if not hasattr(df, "iloc"):
            raise ValueError("make_column_selector can only be applied to pandas dataframes")
        rows = df.iloc[:1]
        if self.dtype_include is not None or self.dtype_exclude is not None:
            rows = rows.select_dtypes(include=self.dtype_include, exclude=self.dtype_exclude)
        names = rows.columns
        if self.pattern is not None:
            names = [name for name in names if re.search(self.pattern, str(name))]
        return list(names)
