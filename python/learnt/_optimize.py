"""Optimisation of your own functions: descent methods, EM, likelihoods, Lagrangians, KKT.

All of it is public as `learnt.optimize`, beside functions that take no callable.

Names are SciPy's where SciPy has them. Every search ends by the first of several rules and says
which one it was (`status`). What your function raises comes out unchanged, and Ctrl-C stops a
search.

>>> from learnt import optimize
>>> found = optimize.minimize(lambda x: (x[0] - 3) ** 2 + 1, [0.0])
>>> round(float(found.x[0]), 4), round(found.fun, 4), found.status
(3.0, 1.0, 'gradient')
"""

import operator

import numpy as np

from . import _native
from ._lagrangian import Problem, Result, dual, dual_gap, kkt, lagrangian, vector
from .errors import ParameterError

__all__ = [
    "Problem",
    "Result",
    "dual",
    "dual_gap",
    "em",
    "kkt",
    "lagrangian",
    "learning_rate_study",
    "maximum_likelihood",
    "minimize",
    "minimize_stochastic",
]

_METHODS = ("lbfgs", "newton", "gradient-descent", "momentum", "nesterov", "adam", "coordinate")


def minimize(
    fun,
    x0,
    args=(),
    method="lbfgs",
    jac=None,
    hess=None,
    bounds=None,
    tol=None,
    options=None,
    *,
    rate=None,
    schedule="constant",
    power=1.0,
    factor=0.99,
    every=100,
    momentum=0.9,
    beta1=0.9,
    beta2=0.999,
    epsilon=1e-8,
    max_iter=1000,
    gtol=1e-5,
    ftol=None,
    xtol=None,
    target=None,
    equalities=None,
    step=None,
    trace=False,
):
    """Minimise a function of a vector.

    Parameters
    ----------
    fun : callable
        ``fun(x, *args)`` gives a number; with ``jac=True``, the pair of number and gradient.
    x0 : array of shape (n,)
        Where to start.
    args : tuple, default=()
        More arguments for `fun`, `jac` and `hess`.
    method : str, default="lbfgs"
        ``"lbfgs"`` (memory 10, strong Wolfe line search), ``"newton"`` (step halving, and a ridge
        where the Hessian is not positive definite), ``"gradient-descent"``, ``"momentum"``
        (step = -rate * gradient + momentum * previous step), ``"nesterov"``, ``"adam"``, or
        ``"coordinate"`` (one coordinate after the other to its minimum, without derivatives).
    jac : callable, True or None, default=None
        The gradient; central differences if None.
    hess : callable or None, default=None
        The second derivatives, for ``"newton"``; differences if None.
    bounds : sequence of (low, high) or scipy.optimize.Bounds, default=None
        For ``"newton"`` and ``"coordinate"``; None is no bound.
    tol : float, default=None
        Sets `gtol`, or `xtol` for ``"coordinate"``.
    options : dict, default=None
        Any of the arguments below by name; ``maxiter`` is understood.
    rate : float, default=None
        The rate of descent: 0.1, and 0.001 for ``"adam"``.
    schedule : str, default="constant"
        The rate of step k = 1, 2, ...: ``"constant"``; ``"inverse"``, rate / k**power;
        ``"exponential"``, rate * factor**(k - 1); ``"stairs"``, multiplied by `factor` after
        `every` steps; ``"backtracking"``, found by a line search (``"gradient-descent"`` only).
    power, factor, every : float, float, int
        See `schedule`.
    momentum, beta1, beta2, epsilon : float
        Of the methods that have them.
    max_iter : int, default=1000
        Steps at most.
    gtol : float or None, default=1e-5
        Length of the gradient that is small enough.
    ftol : float or None, default=None
        Relative decrease that is small enough: ``|f' - f| <= ftol * max(|f'|, |f|, 1)``.
    xtol : float or None, default=None
        Length of a step that is small enough; 1e-8 for ``"coordinate"``.
    target : float or None, default=None
        Value that is low enough.
    equalities : array of shape (m, n), default=None
        Coefficients of equality constraints. ``"coordinate"`` refuses constraints that tie
        coordinates, because none of them can move alone; other methods take none.
    step : callable, default=None
        For ``"coordinate"``, ``step(x, j)`` gives the best value of coordinate j with the others
        fixed; found by bracketing and Brent's method if None.
    trace : bool, default=False
        Whether to keep `path`.

    Returns
    -------
    Result
        `x`, `fun`, `jac` (zero where a bound holds; None for ``"coordinate"``), `nit`, `nfev`, `njev`, `nhev`, `success`,
        `status` (the rule that fired: ``"gradient"``, ``"decrease"``, ``"change"``, ``"target"``,
        ``"max_iter"``, ``"converged"``, ``"stalled"`` or ``"diverged"``), `message`, `history` (the
        function at the start and after every step) and `path` (the points; every single
        coordinate's for ``"coordinate"``).

    Examples
    --------
    >>> found = minimize(lambda x: x[0] ** 2, [1.0], method="gradient-descent", rate=0.1,
    ...                  max_iter=20, gtol=None)
    >>> round(float(found.x[0]), 7), found.status
    (0.0115292, 'max_iter')
    """
    given = dict(
        rate=rate, schedule=schedule, power=power, factor=factor, every=every, momentum=momentum,
        beta1=beta1, beta2=beta2, epsilon=epsilon, max_iter=max_iter, gtol=gtol, ftol=ftol,
        xtol=xtol, target=target, equalities=equalities, step=step, trace=trace,
    )  # fmt: skip
    for name, value in (options or {}).items():
        name = "max_iter" if name == "maxiter" else name
        if name not in given:
            raise ParameterError(f"no option named {name!r} (known: {', '.join(given)})")
        given[name] = value
    method = str(method).lower()
    if method not in _METHODS:
        raise ParameterError(f"no method named {method!r} (known: {', '.join(_METHODS)})")
    coordinate = method == "coordinate"
    if tol is not None:
        given["xtol" if coordinate else "gtol"] = tol
    if coordinate and all(given[name] is None for name in ("xtol", "ftol", "target")):
        given["xtol"] = 1e-8
    if given["equalities"] is not None and not coordinate:
        raise ParameterError(
            f"method {method!r} takes no equality constraints (use quadratic_program, or a Problem)"
        )
    x0 = vector("x0", x0)
    found = _native.optimize_minimize(
        _with_arguments(fun, args),
        x0,
        _with_arguments(jac, args) if callable(jac) else None,
        _with_arguments(hess, args),
        jac is True,
        _motion(method, given),
        _pace(method, given),
        _rules(given),
        _bounds(bounds, len(x0)),
        given["equalities"],
        given["step"],
        bool(given["trace"]),
    )
    return Result(found)


def minimize_stochastic(
    grad,
    x0,
    n,
    fun=None,
    *,
    batch_size=50,
    order="shuffled",
    method="gradient-descent",
    rate=None,
    schedule="constant",
    power=1.0,
    factor=0.99,
    every=100,
    momentum=0.9,
    beta1=0.9,
    beta2=0.999,
    epsilon=1e-8,
    average_from=None,
    mean=False,
    max_iter=100,
    ftol=None,
    xtol=None,
    target=None,
    random_state=0,
    trace=False,
):
    """Descend on a sum over `n` rows, some rows at a time.

    Parameters
    ----------
    grad : callable
        ``grad(x, rows)`` gives the gradients of these rows: one row each (shape (len(rows), d)), or
        their sum (shape (d,)), which is then divided by the size of the batch.
    x0 : array of shape (d,)
        Where to start.
    n : int
        Number of rows.
    fun : callable, default=None
        ``fun(x)``, the objective, looked at after every epoch.
    batch_size : int, default=50
        Rows in a batch: 1 is stochastic descent, `n` batch descent. The last batch of an epoch may
        be short, and is divided by its own size.
    order : {"shuffled", "listed", "replacement"}, default="shuffled"
        Shuffled anew in every epoch, as the rows are, or drawn with replacement.
    method : {"gradient-descent", "momentum", "nesterov", "adam"}, default="gradient-descent"
        How gradients become steps.
    rate, schedule, power, factor, every, momentum, beta1, beta2, epsilon
        As in `minimize`; a step is a batch.
    average_from : int or None, default=None
        Return the mean of the points of all epochs from this one (counted from 0) on.
    mean : bool, default=False
        Whether a gradient of shape (d,) is already the mean over its rows.
    max_iter : int, default=100
        Epochs at most.
    ftol, xtol, target : float or None, default=None
        As in `minimize`, after every epoch; `ftol` and `target` need `fun`.
    random_state : int, default=0
        Seed of the order.
    trace : bool, default=False
        Whether to keep `path`, the point after every batch.

    Returns
    -------
    Result
        `x`, `last` (the last point, where `x` is an average), `fun`, `nit` (epochs), `steps`
        (batches), `success`, `status`, `message`, `history` (one an epoch), `path`.
    """
    given = dict(
        rate=rate, schedule=schedule, power=power, factor=factor, every=every, momentum=momentum,
        beta1=beta1, beta2=beta2, epsilon=epsilon, max_iter=max_iter, gtol=None, ftol=ftol,
        xtol=xtol, target=target,
    )  # fmt: skip
    found = _native.optimize_stochastic(
        grad,
        vector("x0", x0),
        _count("n", n),
        fun,
        _count("batch_size", batch_size),
        order,
        _motion(method, given),
        _pace(method, given),
        average_from,
        bool(mean),
        _rules(given),
        bool(trace),
        _count("random_state", random_state),
    )
    return Result(found)


def learning_rate_study(fun, x0, rates, *, args=(), jac=None, steps=100):
    """Gradient descent from the same start at several rates.

    Returns
    -------
    Result
        `rates`, `history` (n_rates x (steps + 1), the objective at the start and after every step,
        infinite after divergence), `x` (n_rates x n) and `status` (a list).
    """
    rates = vector("rates", rates)
    x0 = vector("x0", x0)
    curves = _native.optimize_rates(
        _with_arguments(fun, args),
        x0,
        _with_arguments(jac, args) if callable(jac) else None,
        jac is True,
        rates,
        _count("steps", steps),
    )
    history = np.full((len(rates), int(steps) + 1), np.inf)
    for row, curve in zip(history, curves):
        row[: len(curve["history"])] = curve["history"]
    return Result(
        rates=np.asarray(rates),
        history=history,
        x=np.array([curve["x"] for curve in curves]).reshape(len(rates), len(x0)),
        status=[curve["status"] for curve in curves],
    )


def em(e_step, m_step, start, *, n_init=1, max_iter=200, tol=1e-10, strict=True):
    """Expectation maximisation with your own steps.

    Parameters
    ----------
    e_step : callable
        ``e_step(parameters)`` gives what the M step needs and the log-likelihood of the parameters.
    m_step : callable
        ``m_step(statistics)`` gives the next parameters.
    start : object or callable
        The first parameters, or ``start(i)`` for the i-th of `n_init` starts.
    n_init : int, default=1
        Number of starts; the best is kept.
    max_iter : int, default=200
        Steps at most, from every start.
    tol : float, default=1e-10
        Relative change of the log-likelihood that is small enough.
    strict : bool, default=True
        Whether a log-likelihood that falls is an error, rather than a warning.

    Returns
    -------
    Result
        `parameters`, `log_likelihood`, `nit`, `success`, `status`, `message`, `history` (the
        log-likelihood at the start and after every step), `start` (which was best) and `starts`
        (the final log-likelihood of each).
    """
    begin = start if callable(start) else lambda _: start
    found = _native.optimize_em(
        e_step,
        m_step,
        begin,
        _count("max_iter", max_iter),
        float(tol),
        _count("n_init", n_init),
        bool(strict),
    )
    return Result(found)


def maximum_likelihood(
    logdensity,
    y,
    theta0,
    *,
    score=None,
    hess=None,
    expected=None,
    bounds=None,
    level=0.95,
    information="observed",
    max_iter=100,
    tol=1e-12,
):
    """Maximise ``sum(logdensity(y, theta))`` over theta.

    Parameters
    ----------
    logdensity : callable
        ``logdensity(y, theta)`` gives the log-density of every observation, shape (n,).
    y : object
        The observations, passed on as they are.
    theta0 : array of shape (k,)
        Where to start.
    score : callable, default=None
        ``score(y, theta)``, the derivatives by theta, shape (n, k); differences if None.
    hess : callable, default=None
        ``hess(y, theta)``, the second derivatives of the sum, shape (k, k); differences if None.
    expected : callable, default=None
        ``expected(y, theta)``, the expected information of all observations, shape (k, k).
    bounds : sequence of (low, high) or scipy.optimize.Bounds, default=None
        A maximum at a bound is a warning, and such a parameter has no standard error (NaN).
    level : float, default=0.95
        Coverage of the intervals.
    information : {"observed", "outer-product", "expected"}, default="observed"
        Where standard errors come from.
    max_iter : int, default=100
        Newton steps at most.
    tol : float, default=1e-12
        Increase of the log-likelihood that is not worth a step.

    Returns
    -------
    Result
        `x`, `log_likelihood`, `score`, `observed_information`, `outer_product`,
        `expected_information`, `covariance`, `standard_errors`, `intervals` (k x 2), `at_bound`,
        `nit`, `success`, `status`, `message`.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1.0, 2.0, 3.0, 6.0])
    >>> fit = maximum_likelihood(lambda y, t: -0.5 * (y - t[0]) ** 2, y, [0.0])
    >>> fit.x.round(6).tolist(), fit.standard_errors.round(6).tolist()
    ([3.0], [0.5])
    """
    theta0 = vector("theta0", theta0)

    def of_theta(function):
        return None if function is None else lambda theta: function(y, theta)

    found = _native.optimize_likelihood(
        of_theta(logdensity),
        theta0,
        of_theta(score),
        of_theta(hess),
        of_theta(expected),
        _bounds(bounds, len(theta0)),
        float(level),
        information,
        _count("max_iter", max_iter),
        float(tol),
    )
    return Result(found)


def _with_arguments(function, args):
    args = args if isinstance(args, tuple) else (args,)
    if function is None or not args:
        return function
    return lambda x: function(x, *args)


def _count(name, value):
    value = operator.index(value)
    if value < 0:
        raise ParameterError(f"`{name}` must be zero or more, got {value}")
    return value


def _motion(method, given):
    first = given["beta1"] if method == "adam" else given["momentum"]
    return method, float(first), float(given["beta2"]), float(given["epsilon"])


def _pace(method, given):
    rate = given["rate"]
    if rate is None:
        rate = 0.001 if method == "adam" else 0.1
    shape = given["power"] if given["schedule"] == "inverse" else given["factor"]
    return given["schedule"], float(rate), float(shape), _count("every", given["every"])


def _rules(given):
    stops = (given[name] for name in ("target", "gtol", "ftol", "xtol"))
    return _count("max_iter", given["max_iter"]), *(None if stop is None else float(stop) for stop in stops)


def _bounds(bounds, n):
    if bounds is None:
        return None
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        return _limit(bounds.lb, -np.inf, n), _limit(bounds.ub, np.inf, n)
    pairs = list(bounds)
    if len(pairs) != n or any(len(pair) != 2 for pair in pairs):
        raise ParameterError(f"`bounds` must be {n} pairs (low, high)")
    low = [-np.inf if low is None else float(low) for low, _ in pairs]
    high = [np.inf if high is None else float(high) for _, high in pairs]
    return low, high


def _limit(values, missing, n):
    values = missing if values is None else values
    return np.broadcast_to(np.asarray(values, dtype=float), (n,)).tolist()

