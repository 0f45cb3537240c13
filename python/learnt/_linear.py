"""Functions of `learnt.linear_model` that are no learners."""

from dataclasses import dataclass, field

import numpy as np

from . import _native, _validation
from ._base import default_threads
from .answer import Answer


@dataclass(repr=False)
class RegularizationPath:
    """Coefficients of a linear model as its penalty falls. The first output's, if there is one."""

    alphas: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    shrinkage: np.ndarray
    df: np.ndarray
    r2: np.ndarray
    dual_gaps: np.ndarray
    n_iters: list
    names: list
    svg: str = field(default="")
    report: object = field(default=None)

    def summary(self):
        """The path as a table."""
        return Answer(self.report)

    def __repr__(self):
        return f"RegularizationPath({len(self.names)} columns, {len(self.alphas)} alphas)"

    def _repr_svg_(self):
        return self.svg

    def _repr_html_(self):
        return self.svg


def regularization_path(
    X,
    y,
    *,
    l1_ratio=1.0,
    alphas=100,
    eps=1e-3,
    fit_intercept=True,
    max_iter=1000,
    tol=1e-4,
    positive=False,
    sample_weight=None,
):
    """The path of the lasso (`l1_ratio` 1), the elastic net, or ridge regression (`l1_ratio` 0).

    `alphas` is the number of penalties, or the penalties themselves. A shrinkage factor is the sum
    of the sizes of the coefficients as a share of that of least squares. In a notebook the result
    shows its figure.
    """
    return _path(
        X, y, l1_ratio, alphas, eps, fit_intercept, max_iter, tol, positive, sample_weight,
        shown=True,
    )  # fmt: skip


def _path(
    X, y, l1_ratio, alphas, eps, fit_intercept, max_iter, tol, positive, sample_weight, *, shown
):  # fmt: skip
    table, target, weights = _regression(X, y, sample_weight, "regularization_path")
    single = np.ndim(y) == 1
    count, given = (alphas, None) if np.ndim(alphas) == 0 else (len(alphas), list(map(float, alphas)))
    found = _native.regularization_path(
        table.values, table.columns, target, weights, float(l1_ratio), int(count), float(eps),
        given, bool(fit_intercept), int(max_iter), float(tol), bool(positive), shown,
        default_threads(),
    )  # fmt: skip
    coefs = found.pop("coefs")
    found["coefs"] = coefs[0] if single else np.stack(coefs)
    if single:
        for name in ("intercepts", "shrinkage", "df", "r2", "dual_gaps", "n_iters"):
            found[name] = found[name][0]
    return RegularizationPath(**found)


def enet_path(
    X,
    y,
    *,
    l1_ratio=0.5,
    eps=1e-3,
    alphas=100,
    positive=False,
    return_n_iter=False,
    max_iter=1000,
    tol=1e-4,
):
    """Penalties, coefficients and duality gaps along the path of the elastic net.

    As in scikit-learn there is no intercept: centre the data first.
    """
    path = _path(X, y, l1_ratio, alphas, eps, False, max_iter, tol, positive, None, shown=False)
    answer = (path.alphas, path.coefs, path.dual_gaps)
    return (*answer, path.n_iters) if return_n_iter else answer


def lasso_path(X, y, *, eps=1e-3, alphas=100, positive=False, return_n_iter=False, **params):
    """Penalties, coefficients and duality gaps along the path of the lasso, as `enet_path`."""
    return enet_path(
        X, y, l1_ratio=1.0, eps=eps, alphas=alphas, positive=positive,
        return_n_iter=return_n_iter, **params,
    )  # fmt: skip


def _regression(X, y, sample_weight, name):
    table = _validation.read_table(X, estimator=name)
    target = _validation.read_numbers(_validation.read_target(y, len(table.values), many=True), "y")
    return table, target, _validation.read_weights(sample_weight, len(table.values))
