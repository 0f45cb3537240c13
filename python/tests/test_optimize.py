"""Optimisation of functions written in Python."""

import ast
import doctest
import inspect
import json
import os
import pathlib
import signal
import threading
import time
import warnings

import numpy as np
import pytest

import learnt
from learnt import errors, optimize

GOLDEN = pathlib.Path(__file__).parents[2] / "tests" / "golden" / "optimize.json"
METHODS = ["lbfgs", "newton", "gradient-descent", "momentum", "nesterov", "adam", "coordinate"]


def case(name):
    return next(case for case in json.loads(GOLDEN.read_text()) if case["id"] == name)


def rosenbrock(x):
    return float(np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2))


def rosenbrock_gradient(x):
    gradient = np.zeros_like(x)
    gradient[:-1] = -400 * (x[1:] - x[:-1] ** 2) * x[:-1] - 2 * (1 - x[:-1])
    gradient[1:] += 200 * (x[1:] - x[:-1] ** 2)
    return gradient


def bowl(x):
    return (x[0] - 1) ** 2 + 2 * (x[1] + 2) ** 2 + 0.5 * x[0] * x[1]


def test_examples_hold():
    found = doctest.testmod(learnt._optimize)
    assert found.failed == 0 and found.attempted > 3


@pytest.mark.parametrize("name", optimize.__all__)
def test_a_stub_has_the_arguments_of_its_function(name):
    files = [pathlib.Path(module.__file__) for module in (optimize, learnt._optimize)]
    trees = [ast.parse(file.with_suffix(".pyi").read_text()) for file in files]
    stub = next(n for tree in trees for n in tree.body if getattr(n, "name", None) == name)
    assert getattr(optimize, name).__doc__
    if isinstance(stub, ast.FunctionDef):
        given = stub.args
        names = [a.arg for a in given.posonlyargs + given.args + given.kwonlyargs]
        assert names == list(inspect.signature(getattr(optimize, name)).parameters)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_minimum_of_a_bowl(method):
    rate = {"adam": 0.05}.get(method, 0.05)
    found = optimize.minimize(bowl, [0.0, 0.0], method=method, rate=rate, max_iter=5000)
    exact = np.linalg.solve([[2, 0.5], [0.5, 4]], [2, -8])
    assert found.success, found
    np.testing.assert_allclose(found.x, exact, atol=2e-5)
    assert found.nit >= 1 and found.nfev > found.nit and found.history[0] == bowl([0, 0])
    assert found.status in ("gradient", "change")


def test_given_gradients_and_differences_agree():
    start = [-1.2, 1.0, -0.5, 0.8]
    by_formula = optimize.minimize(rosenbrock, start, jac=rosenbrock_gradient, gtol=1e-8)
    by_difference = optimize.minimize(rosenbrock, start)
    together = optimize.minimize(lambda x: (rosenbrock(x), rosenbrock_gradient(x)), start, jac=True)
    expected = case("rosenbrock-4d-minimum")["expect"]
    np.testing.assert_allclose(by_formula.x, expected["x"], atol=1e-5)
    assert by_formula.fun <= expected["f"]["max"] and by_formula.njev == by_formula.nfev
    np.testing.assert_allclose(by_difference.x, 1, atol=1e-4)
    np.testing.assert_allclose(together.x, 1, atol=1e-4)


def test_agrees_with_scipy_on_a_convex_function():
    scipy_optimize = pytest.importorskip("scipy.optimize")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 4)), rng.integers(0, 2, 80)

    def loss(w):
        return np.logaddexp(0, X @ w).sum() - y @ (X @ w) + 0.5 * w @ w

    theirs = scipy_optimize.minimize(loss, np.zeros(4), tol=1e-9)
    for method in ("lbfgs", "newton"):
        ours = optimize.minimize(loss, np.zeros(4), method=method)
        np.testing.assert_allclose(ours.x, theirs.x, atol=1e-5)


def test_golden_descents():
    rates = case("gd-square")
    study = optimize.learning_rate_study(
        lambda x: x[0] ** 2, [1.0], rates["input"]["eta"], jac=lambda x: 2 * x, steps=20
    )
    np.testing.assert_allclose(study.x[:, 0], rates["expect"]["x"], rtol=1e-9, atol=1e-12)
    assert study.history.shape == (4, 21)
    golden = case("momentum-quadratic")
    found = optimize.minimize(
        lambda w: (w[0] ** 2, 2 * w), [2.0], jac=True, method="momentum", max_iter=6, gtol=None,
        trace=True,
    )  # fmt: skip
    np.testing.assert_allclose(found.path[1:, 0], golden["expect"]["path"], rtol=1e-9)
    golden = case("rosenbrock-momentum-nesterov")
    for method in ("momentum", "nesterov"):
        found = optimize.minimize(
            rosenbrock, [-1.2, 1.0], jac=rosenbrock_gradient, method=method,
            rate=0.0002, max_iter=50, gtol=None, trace=True,
        )  # fmt: skip
        np.testing.assert_allclose(
            found.path[[1, 2, 5, 50]], golden["expect"][method], rtol=1e-8
        )


def test_adam_follows_its_recursion():
    found = optimize.minimize(
        lambda x: (float(x @ x), 2 * x), [1.0, -3.0], jac=True, method="adam", rate=0.1,
        max_iter=10, gtol=None,
    )  # fmt: skip
    x, m, v = np.array([1.0, -3.0]), 0, 0
    for k in range(1, 11):
        g = 2 * x
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        x = x - 0.1 * (m / (1 - 0.9**k)) / (np.sqrt(v / (1 - 0.999**k)) + 1e-8)
    np.testing.assert_allclose(found.x, x, rtol=1e-12)


def test_the_limit_of_stability():
    golden = case("gd-stability-limit")
    X, y = np.array(golden["input"]["X"]), np.array(golden["input"]["y"])
    limit = optimize.stability_limit(X=X)
    assert limit == pytest.approx(golden["expect"]["alpha_limit"], rel=1e-9)
    Z = np.c_[np.ones(4), X]
    assert optimize.stability_limit(Z.T @ Z / 4) == pytest.approx(limit)

    def cost(theta):
        error = Z @ theta - y
        return error @ error / 8, Z.T @ error / 4

    study = optimize.learning_rate_study(
        cost, [0, 0], [0.95 * limit, 1.05 * limit, 1e3 * limit], jac=True, steps=200
    )
    assert study.history[0, -1] == pytest.approx(golden["expect"]["J_at_1_9"], rel=1e-6)
    assert study.history[1, -1] == pytest.approx(golden["expect"]["J_at_2_1"], rel=1e-6)
    assert study.status[2] == "diverged" and np.isinf(study.history[2, -1])


def test_each_rule_can_fire_alone():
    def run(**rules):
        options = {"gtol": None, "max_iter": 300, **rules}
        return optimize.minimize(
            lambda x: 1 + x[0] ** 2, [1.0], jac=lambda x: 2 * x, method="gradient-descent", **options
        )

    for rules, status in [
        ({"max_iter": 5}, "max_iter"),
        ({"target": 1.1}, "target"),
        ({"gtol": 1e-3}, "gradient"),
        ({"ftol": 1e-3}, "decrease"),
        ({"xtol": 1e-3}, "change"),
    ]:
        found = run(**rules)
        assert found.status == status and found.success == (status != "max_iter")
        assert found.message


def test_options_may_come_as_a_dictionary():
    found = optimize.minimize(bowl, [0, 0], method="momentum", options={"maxiter": 3, "gtol": None})
    assert found.nit == 3
    with pytest.raises(errors.ParameterError, match="no option named 'maxfev'"):
        optimize.minimize(bowl, [0, 0], options={"maxfev": 3})
    with pytest.raises(errors.ParameterError, match="no method"):
        optimize.minimize(bowl, [0, 0], method="nelder-mead")


def test_divergence_is_said_and_nothing_is_nan():
    with pytest.warns(errors.LearntWarning, match="smaller rate"):
        found = optimize.minimize(
            lambda x: x[0] ** 2, [1.0], jac=lambda x: 2 * x, method="gradient-descent", rate=5.0,
            max_iter=5000,
        )  # fmt: skip
    assert found.status == "diverged" and not found.success
    assert np.isfinite(found.x).all() and np.isfinite(found.fun)


def test_a_limit_that_is_reached_is_a_convergence_warning():
    with pytest.warns(errors.ConvergenceWarning, match="raise max_iter"):
        optimize.minimize(bowl, [0, 0], method="gradient-descent", rate=1e-4, max_iter=3)


def test_schedules_and_backtracking():
    for schedule in ("constant", "inverse", "exponential", "stairs", "backtracking"):
        found = optimize.minimize(
            bowl, [0, 0], method="gradient-descent", schedule=schedule, power=0.1, max_iter=3000
        )
        assert found.success, schedule
    with pytest.raises(errors.UnsupportedError, match="no line search"):
        optimize.minimize(bowl, [0, 0], method="adam", schedule="backtracking")
    with pytest.raises(errors.ParameterError, match="schedule"):
        optimize.minimize(bowl, [0, 0], method="adam", schedule="cosine")


def test_bounds_hold():
    for method in ("newton", "coordinate"):
        found = optimize.minimize(bowl, [1, 1], method=method, bounds=[(None, None), (0, None)])
        np.testing.assert_allclose(found.x, [1, 0], atol=1e-5)
    with pytest.raises(errors.UnsupportedError, match="takes no bounds"):
        optimize.minimize(bowl, [1, 1], bounds=[(0, 1), (0, 1)])


def test_coordinates_one_after_the_other():
    golden = case("coordinate-ascent")

    def negative(x):
        return x[0] ** 2 + x[1] ** 2 + x[0] * x[1] - 3 * x[0]

    found = optimize.minimize(negative, [0, 0], method="coordinate", trace=True)
    np.testing.assert_allclose(found.path[1:5], golden["expect"]["path"], atol=1e-6)
    np.testing.assert_allclose(found.x, golden["expect"]["limit"], atol=1e-6)
    found = optimize.minimize(
        negative, [0, 0], method="coordinate", xtol=1e-12, trace=True,
        step=lambda x, j: (3 - x[1]) / 2 if j == 0 else -x[0] / 2,
    )  # fmt: skip
    np.testing.assert_allclose(found.path[1:5], golden["expect"]["path"], atol=1e-10)
    assert -found.fun == pytest.approx(golden["expect"]["value"], abs=1e-10)
    with pytest.raises(errors.UnsupportedError, match="ties coordinates 0 and 1"):
        optimize.minimize(negative, [0, 0], method="coordinate", equalities=[[1, 1]])


class Custom(Exception):
    pass


@pytest.mark.parametrize("method", METHODS)
def test_what_the_function_raises_comes_out_unchanged(method):
    raised = Custom("from inside")
    calls = []

    def fails(x):
        calls.append(x)
        if len(calls) > 2:
            raise raised
        return bowl(x)

    with pytest.raises(Custom) as caught:
        optimize.minimize(fails, [0, 0], method=method)
    assert caught.value is raised


def test_exceptions_come_out_of_every_function():
    def fails(*_):
        raise Custom

    problem = optimize.Problem(fails)
    for call in (
        lambda: optimize.minimize(bowl, [0, 0], jac=fails),
        lambda: optimize.minimize(bowl, [0, 0], method="newton", hess=fails),
        lambda: optimize.minimize_stochastic(fails, [0.0], 10),
        lambda: optimize.learning_rate_study(fails, [0.0], [0.1]),
        lambda: optimize.em(fails, fails, 0),
        lambda: optimize.em(lambda p: (p, 0.0), fails, 0),
        lambda: optimize.maximum_likelihood(fails, [1], [0.0]),
        lambda: optimize.kkt(problem, [0.0]),
        lambda: optimize.dual(problem, [0.0]),
    ):
        with pytest.raises(Custom):
            call()


def test_answers_of_the_wrong_kind_are_refused():
    with pytest.raises(TypeError, match="must return a number"):
        optimize.minimize(lambda x: "high", [0.0])
    with pytest.raises(errors.DataError, match="jac"):
        optimize.minimize(lambda x: 0.0, [0.0], jac=lambda x: [1.0, 2.0])
    with pytest.raises(errors.NumericError, match="not finite at the start"):
        optimize.minimize(lambda x: np.nan, [0.0])
    with pytest.raises(errors.ParameterError, match="max_iter"):
        optimize.minimize(bowl, [0.0, 1.0], max_iter=-1)
    with pytest.raises(errors.ParameterError, match="one dimension"):
        optimize.minimize(bowl, [[0.0, 1.0]])


def test_arrays_given_to_the_function_may_be_kept_and_changed():
    kept = []

    def spoils(x):
        value = float(x @ x)
        kept.append(x)
        x[:] = 99.0
        return value

    found = optimize.minimize(spoils, [1.0, 2.0])
    np.testing.assert_allclose(found.x, 0, atol=1e-4)
    assert all((x == 99.0).all() for x in kept)


@pytest.mark.skipif(os.name == "nt", reason="signals are sent another way there")
def test_ctrl_c_stops_a_search():
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        optimize.minimize(
            lambda x: x[0] ** 2, [1.0], jac=lambda x: 2 * x, method="gradient-descent",
            rate=1e-12, max_iter=10**9, gtol=None,
        )  # fmt: skip
    assert time.perf_counter() - begin < 10
    timer.join()


def test_golden_batches():
    golden = case("batch-sgd-minibatch-step")
    X, y = np.array(golden["input"]["X"]), np.array(golden["input"]["y"])
    Z = np.c_[np.ones(4), X]

    def rows(theta, rows):
        return (Z[rows] @ theta - y[rows])[:, None] * Z[rows]

    def total(theta, rows_):
        return rows(theta, rows_).sum(axis=0)

    def mean(theta, rows_):
        return rows(theta, rows_).mean(axis=0)

    for size, name in [(4, "batch"), (1, "sgd"), (2, "minibatch")]:
        for gradient, averaged in [(rows, False), (rows, True), (total, False), (mean, True)]:
            found = optimize.minimize_stochastic(
                gradient, [0, 0], 4, batch_size=size, order="listed", rate=1e-7, max_iter=1,
                mean=averaged,
            )  # fmt: skip
            np.testing.assert_allclose(found.x, golden["expect"][name]["theta"], rtol=1e-9)
            assert found.steps == -(-4 // size)


def test_stochastic_descent_repeats_and_averages():
    rng = np.random.default_rng(1)
    y = rng.normal(3.0, 1.0, 203)

    def gradient(w, rows):
        return (w[0] - y[rows])[:, None]

    def run(seed, **options):
        return optimize.minimize_stochastic(gradient, [0.0], 203, random_state=seed, **options)

    assert run(1).x == run(1).x and run(1).x != run(2).x
    assert run(0).steps == 500
    averaged = run(0, batch_size=1, average_from=5, max_iter=50)
    assert abs(averaged.x[0] - y.mean()) < 0.02 and averaged.last != averaged.x
    found = run(0, fun=lambda w: float(np.mean((w[0] - y) ** 2)), target=1.5)
    assert found.status == "target" and found.history[-1] <= 1.5
    with pytest.raises(errors.LearntError, match="need an objective"):
        run(0, target=1.5)
    with pytest.raises(errors.ParameterError, match="batch_size"):
        run(0, batch_size=0)


def mixture(data):
    def e_step(means):
        density = 0.5 * np.exp(-0.5 * (data[:, None] - means) ** 2)
        return density / density.sum(1, keepdims=True), np.log(density.sum(1)).sum()

    def m_step(shares):
        return (shares * data[:, None]).sum(0) / shares.sum(0)

    return e_step, m_step


def test_em_never_falls_and_keeps_the_best_start():
    rng = np.random.default_rng(2)
    data = np.r_[rng.normal(-2, 1, 60), rng.normal(2, 1, 60)]
    e_step, m_step = mixture(data)
    starts = [np.zeros(2), np.array([-1.0, 1.0])]
    fit = optimize.em(e_step, m_step, lambda i: starts[i], n_init=2)
    assert fit.start == 1 and fit.success and fit.starts[1] > fit.starts[0]
    assert (np.diff(fit.history) > -1e-9).all()
    np.testing.assert_allclose(fit.parameters, [-2, 2], atol=0.4)
    with pytest.raises(errors.NumericError, match="fell from"):
        optimize.em(e_step, lambda s: m_step(s) + 0.5, np.array([-2.0, 2.0]))
    with pytest.warns(errors.LearntWarning, match="fell from"):
        optimize.em(e_step, lambda s: m_step(s) + 0.5, np.array([-2.0, 2.0]), strict=False)
    with pytest.raises(TypeError, match="e_step must return 2 values"):
        optimize.em(lambda p: p, m_step, 0.0)


def log_normal(y, theta):
    mean, deviation = theta
    return -0.5 * ((y - mean) / deviation) ** 2 - np.log(deviation) - 0.5 * np.log(2 * np.pi)


def test_likelihood_of_a_normal_sample():
    y = np.random.default_rng(3).normal(10, 3, 200)
    fit = optimize.maximum_likelihood(log_normal, y, [5, 5], bounds=[(None, None), (1e-6, None)])
    np.testing.assert_allclose(fit.x, [y.mean(), y.std()], rtol=1e-6)
    errors_ = y.std() / np.sqrt([200, 400])
    np.testing.assert_allclose(fit.standard_errors, errors_, rtol=1e-5)
    np.testing.assert_allclose(
        fit.intervals, fit.x[:, None] + 1.959963984540054 * np.outer(errors_, [-1, 1]), rtol=1e-5
    )
    assert fit.log_likelihood == pytest.approx(log_normal(y, fit.x).sum())
    assert fit.success and not fit.at_bound.any() and abs(fit.score).max() < 1e-4
    outer = optimize.maximum_likelihood(
        log_normal, y, [5, 5], bounds=[(None, None), (1e-6, None)], information="outer-product"
    )
    np.testing.assert_allclose(outer.standard_errors, errors_, rtol=0.3)


def test_the_error_of_a_known_spread_is_sigma_over_root_n():
    y = np.random.default_rng(4).normal(1, 2, 50)
    fit = optimize.maximum_likelihood(lambda y, t: log_normal(y, (t[0], 2.0)), y, [0.0])
    assert fit.standard_errors[0] == pytest.approx(2 / np.sqrt(50), rel=1e-6)


def test_a_maximum_at_a_bound_is_a_warning():
    y = np.random.default_rng(5).normal(-3, 1, 40)
    with pytest.warns(errors.LearntWarning, match="at a bound of parameter 0"):
        fit = optimize.maximum_likelihood(
            lambda y, t: log_normal(y, (t[0], 1.0)), y, [1.0], bounds=[(0, None)]
        )
    assert fit.x[0] == 0 and np.isnan(fit.standard_errors[0]) and fit.at_bound[0]


def test_quadratic_programmes_agree_with_scipy():
    scipy_optimize = pytest.importorskip("scipy.optimize")
    rng = np.random.default_rng(6)
    for n in (3, 8):
        root = rng.normal(size=(n + 1, n))
        Q, c = root.T @ root, rng.normal(size=n)
        A_ub, b_ub = rng.normal(size=(4, n)), np.full(4, 0.4)
        A_eq, b_eq = np.ones((1, n)), [1.0]
        ours = optimize.quadratic_program(Q, c, A_eq, b_eq, 0, 0.9, A_ub, b_ub)
        theirs = scipy_optimize.minimize(
            lambda x: x @ Q @ x / 2 + c @ x,
            np.full(n, 1 / n),
            jac=lambda x: Q @ x + c,
            method="SLSQP",
            bounds=[(0, 0.9)] * n,
            constraints=[
                {"type": "eq", "fun": lambda x: A_eq @ x - b_eq},
                {"type": "ineq", "fun": lambda x: b_ub - A_ub @ x},
            ],
            options={"ftol": 1e-14, "maxiter": 500},
        )
        if not ours.success:
            assert not theirs.success
            continue
        assert ours.fun == pytest.approx(theirs.fun, abs=1e-7)
        np.testing.assert_allclose(ours.x, theirs.x, atol=1e-5)
        gradient = Q @ ours.x + c + A_eq.T @ ours.equalities + A_ub.T @ ours.inequalities
        np.testing.assert_allclose(gradient - ours.lower + ours.upper, 0, atol=1e-9)


def test_programmes_without_a_solution_say_so():
    nothing = optimize.quadratic_program(np.eye(2), [0, 0], [[1, 1]], [-1], lower=0)
    assert not nothing.success and nothing.status == "infeasible" and nothing.x is None
    falling = optimize.quadratic_program(np.zeros((2, 2)), [-1, 0], lower=0)
    assert falling.status == "unbounded" and falling.direction[0] > 0
    with pytest.raises(errors.NumericError, match="not convex"):
        optimize.quadratic_program([[1, 0], [0, -1]], [0, 0])
    with pytest.raises(errors.ParameterError, match="come together"):
        optimize.quadratic_program(np.eye(2), [0, 0], A_eq=[[1, 1]])


def test_nonnegative_least_squares():
    scipy_optimize = pytest.importorskip("scipy.optimize")
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(40, 9)), rng.normal(size=40)
    coef, residual = optimize.nnls(X, y)
    expected, length = scipy_optimize.nnls(X, y)
    np.testing.assert_allclose(coef, expected, atol=1e-9)
    assert residual == pytest.approx(length)


def test_a_ball_on_a_line():
    golden = case("lagrange-equality")["expect"]
    x, multipliers = optimize.equality_quadratic(2 * np.eye(2), [0, 0], [[1, 2]], [4])
    np.testing.assert_allclose(x, golden["x"], atol=1e-8)
    assert multipliers[0] == pytest.approx(golden["beta"])
    problem = optimize.Problem(lambda x: x @ x, eq=lambda x: x[0] + 2 * x[1] - 4)
    assert optimize.kkt(problem, x, eq_multipliers=multipliers).success
    assert optimize.lagrangian(problem, x, (), multipliers).fun == pytest.approx(golden["value"])
    assert abs(optimize.dual_gap(problem, x, (), multipliers)) < 1e-7
    assert optimize.dual_gap(problem, x, (), [0.0]) == pytest.approx(golden["value"])
    assert optimize.dual(problem, [1, 1], (), [-2.0]).fun == pytest.approx(3.0)
    with pytest.raises(errors.NumericError, match="depend on each other"):
        optimize.equality_quadratic(np.eye(2), [0, 0], [[1, 1], [2, 2]], [1, 2])


def test_the_dual_solution_of_a_margin_passes_and_a_perturbed_one_fails():
    rng = np.random.default_rng(8)
    y = np.repeat([1.0, -1.0], 10)
    X = rng.normal(size=(20, 2)) + 1.2 * y[:, None]
    Q = (X * y[:, None]) @ (X * y[:, None]).T
    found = optimize.quadratic_program(Q, -np.ones(20), y[None], [0], 0, 1)
    problem = optimize.Problem(
        lambda a: a @ Q @ a / 2 - a.sum(),
        jac=lambda a: Q @ a - 1,
        ineq=lambda a: np.r_[-a, a - 1],
        ineq_jac=lambda a: np.r_[-np.eye(20), np.eye(20)],
        eq=lambda a: y @ a,
        eq_jac=lambda a: y[None],
    )
    multipliers = np.r_[found.lower, found.upper], found.equalities
    passed = optimize.kkt(problem, found.x, *multipliers)
    assert passed.success and "convex problems only" in passed.message
    failed = optimize.kkt(problem, found.x + 0.05 * (np.arange(20) == 3), *multipliers)
    assert not failed.success


def test_results_read_as_dictionaries_and_as_objects():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = optimize.minimize(bowl, [0.0, 0.0])
    assert found["x"] is found.x and "status: 'gradient'" in repr(found)
    with pytest.raises(AttributeError):
        found.nothing
    assert learnt.optimize is optimize
