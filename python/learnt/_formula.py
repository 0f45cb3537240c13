"""Fits by formula, and comparisons of models by their fit: `learnt.fit_formula`, `learnt.anova`."""

from warnings import warn

import numpy as np

from . import _native, _validation
from .answer import Answer
from .errors import DataError, LearntWarning, ParameterError

OFFSET = "(offset)"


def fit_formula(formula, data, estimator=None, *, sample_weight=None, missing="drop"):
    """Fits a learner by a formula to the columns of a data frame, as R does.

    Parameters
    ----------
    formula : str
        Target and terms, such as "log(mpg) ~ wt * hp + factor(cyl)".
    data : pandas DataFrame
        The table.
    estimator : estimator or None, default=None
        What is fitted; least squares if None.
    sample_weight : array or None, default=None
        Weights of the rows.
    missing : {"drop", "keep"}, default="drop"
        Whether rows with missing values in the columns of the formula are left out, with a count in
        `n_dropped_`, or are given to the learner.

    Returns
    -------
    A fitted pipeline. Predictions are of the target itself; `predict_link` has the scale of the model.

    Examples
    --------
    >>> from learnt import fit_formula
    >>> from learnt.linear_model import GeneralizedLinearModel
    >>> import pandas
    >>> data = pandas.DataFrame({"y": [1, 3, 5, 6, 10], "x": [0, 0, 1, 1, 1]})
    >>> model = fit_formula("y ~ x", data, GeneralizedLinearModel("poisson"))
    >>> [round(float(b), 4) for b in model.ask("coefficients")["coefficient"]]
    [0.6931, 1.2528]
    """
    from .compose import TransformedTargetRegressor
    from .linear_model import LinearRegression
    from .pipeline import Pipeline
    from .preprocessing import FormulaTransformer

    if missing not in ("drop", "keep"):
        raise ParameterError(f'missing must be "drop" or "keep", got {missing!r}')
    if not hasattr(data, "columns") or not hasattr(data, "loc"):
        raise DataError("fit_formula needs a pandas DataFrame, whose columns the formula names")
    target, func, terms = _native.formula_sides(formula)
    if target is None:
        raise ParameterError(f"the formula {formula!r} has no target: write 'y ~ a + b'")
    if target not in data.columns:
        raise DataError(f"the table has no column {target!r}, which the formula predicts")
    inputs = data.drop(columns=[target])
    table = _validation.read_table(inputs, estimator="fit_formula")
    intercept, offset, used = _native.formula_terms(
        terms, table.columns, table.values.shape[1], target
    )
    inputs = inputs.iloc[:, used]
    y, weights, dropped = data[target], sample_weight, 0
    if missing == "drop":
        whole = np.asarray(inputs.notna().all(axis=1) & y.notna())
        dropped = int((~whole).sum())
        inputs, y = inputs.loc[whole], y.loc[whole]
        weights = None if weights is None else np.asarray(weights)[whole]
    learner = LinearRegression() if estimator is None else _copy(estimator)
    if not intercept:
        learner.set_params(fit_intercept=False)
    inside = offset and "offset" in learner.get_params(deep=False)
    if inside:
        learner.set_params(offset=OFFSET)
    if func is not None or (offset and not inside):
        learner = TransformedTargetRegressor(
            learner, func=func, offset=OFFSET if offset and not inside else None
        )
    model = Pipeline([("formula", FormulaTransformer(terms)), ("model", learner)])
    given = {} if weights is None else {"sample_weight": weights}
    model.fit(inputs, y, **given)
    model.formula_, model.n_dropped_ = formula, dropped
    if dropped:
        warn(f"{dropped} rows with missing values were left out", LearntWarning, stacklevel=2)
    return model


def _copy(estimator):
    return type(estimator)(**estimator.get_params(deep=False))


def anova(*models, names=None):
    """Compares nested models by their fit, the smallest first: F or likelihood-ratio tests.

    Parameters
    ----------
    *models : fitted estimators
        Least squares, generalized linear models or logistic regression without a penalty, fitted to
        the same rows.
    names : list of str or None, default=None
        What the table calls them; their formulas, or their numbers, if None.

    Examples
    --------
    >>> from learnt import anova
    >>> from learnt.linear_model import LinearRegression
    >>> X, y = [[1, 2], [2, 1], [3, 5], [4, 3], [5, 8]], [1, 3, 2, 5, 4]
    >>> small = LinearRegression().fit([row[:1] for row in X], y)
    >>> table = anova(small, LinearRegression().fit(X, y))
    >>> round(float(table["F"][1]), 4)
    40.8936
    """
    if names is None:
        names = [getattr(model, "formula_", f"model {i + 1}") for i, model in enumerate(models)]
    if len(names) != len(models):
        raise ParameterError(f"{len(models)} models need as many names, got {len(names)}")
    return Answer(_native.anova(list(names), [model._fitted() for model in models]))
