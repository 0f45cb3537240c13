"""Constrained problems: the Lagrangian, its dual, gaps and the conditions of Karush, Kuhn and Tucker.

All of it is public as `learnt.optimize`.
"""

import numpy as np

from . import _native
from .errors import ParameterError


class Result(dict):
    """A dictionary whose entries are attributes too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__

    def __dir__(self):
        return list(self)

    def __repr__(self):
        width = max(map(len, self), default=0)
        lines = []
        for name, value in self.items():
            text = np.array2string(value) if isinstance(value, np.ndarray) else repr(value)
            lines.append(f"{name:>{width}}: {text.replace(chr(10), chr(10) + ' ' * (width + 2))}")
        return "\n".join(lines)


class Problem:
    """``fun(x)`` subject to ``ineq(x) <= 0`` and ``eq(x) == 0``.

    Parameters
    ----------
    fun : callable
        The objective.
    jac : callable, default=None
        Its gradient; central differences if None.
    ineq, eq : callable, default=None
        The constraints, as arrays.
    ineq_jac, eq_jac : callable, default=None
        Their gradients, one a row; central differences if None.
    """

    def __init__(self, fun, jac=None, ineq=None, ineq_jac=None, eq=None, eq_jac=None):
        self.fun, self.jac = fun, jac
        self.ineq, self.ineq_jac = ineq, ineq_jac
        self.eq, self.eq_jac = eq, eq_jac

    def __call__(self, x):
        """Value and gradients of the objective, the inequalities and the equalities."""
        value, gradient = _derivatives(self.fun, self.jac, x)
        inequalities = _derivatives(self.ineq, self.ineq_jac, x)
        equalities = _derivatives(self.eq, self.eq_jac, x)
        return value[0], gradient[0], *inequalities, *equalities


def _derivatives(function, jacobian, x):
    """Values and their gradients, one a row; nothing of no function."""
    if function is None:
        return np.zeros(0), np.zeros((0, len(x)))
    values = np.atleast_1d(np.asarray(function(x), dtype=float))
    if jacobian is None:
        return values, _native.optimize_jacobian(lambda x: np.atleast_1d(function(x)), list(x))
    return values, np.asarray(jacobian(x), dtype=float).reshape(len(values), len(x))


def lagrangian(problem, x, ineq_multipliers=(), eq_multipliers=()):
    """The Lagrangian ``f + a @ g + b @ h`` of a `Problem` at `x`, as `fun`, and its gradient `jac`."""
    multipliers = _multipliers(ineq_multipliers, eq_multipliers)
    value, gradient = _native.optimize_lagrangian(problem, vector("x", x), multipliers)
    return Result(fun=value, jac=gradient)


def dual(problem, x0, ineq_multipliers=(), eq_multipliers=()):
    """The dual function: the Lagrangian of a `Problem` minimised over x, by L-BFGS from `x0`.

    `fun` is minus infinity where the Lagrangian falls for ever.
    """
    multipliers = _multipliers(ineq_multipliers, eq_multipliers)
    return Result(_native.optimize_dual(problem, vector("x0", x0), multipliers))


def dual_gap(problem, x, ineq_multipliers=(), eq_multipliers=(), *, tol=1e-8):
    """The objective of a `Problem` at a feasible `x` less the dual function at the multipliers.

    No feasible point of a convex problem is lower than `x` by more than this. Constraints may be
    violated by `tol`.
    """
    multipliers = _multipliers(ineq_multipliers, eq_multipliers)
    return _native.optimize_gap(problem, vector("x", x), multipliers, float(tol))


def kkt(problem, x, ineq_multipliers=(), eq_multipliers=(), *, tol=1e-6):
    """The residuals of the conditions of Karush, Kuhn and Tucker of a `Problem` at `x`.

    Zero everywhere is sufficient for a minimum of convex problems only; elsewhere it is necessary,
    where the constraints are regular.

    Returns
    -------
    Result
        `stationarity`, `primal_feasibility`, `dual_feasibility`, `complementary_slackness`,
        `success` (none is above `tol`), `message`.
    """
    multipliers = _multipliers(ineq_multipliers, eq_multipliers)
    return Result(_native.optimize_kkt(problem, vector("x", x), multipliers, float(tol)))


def vector(name, values):
    values = np.asarray(values, dtype=float)
    if values.ndim > 1:
        raise ParameterError(f"`{name}` must have one dimension, got {values.ndim}")
    return values.ravel().tolist()


def _multipliers(inequalities, equalities):
    return (
        vector("ineq_multipliers", inequalities),
        vector("eq_multipliers", equalities),
    )
