"""Reference cases of linear models (R, statsmodels, scikit-learn, worked examples) through the Python classes."""

import numpy as np
import pytest
from fixtures import arrays, cases, close, rows_of

from learnt.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from learnt.linear_model import (
    BestSubsetRegression,
    IndicatorRegression,
    Lasso,
    LinearRegression,
    LogisticRegression,
    MinimumSquaredErrorClassifier,
    Perceptron,
    Ridge,
    StepwiseRegression,
)

CASES = cases("linear")


def of(name):
    case = CASES[name]
    return case["input"], case["params"], case["expect"], case["tol"]


def all_coefficients(model):
    return np.concatenate([[model.intercept_], model.coef_])


def test_least_squares_of_three_points():
    given, _, expect, tol = of("ols-three-points")
    X, y = np.array(given["X"]), np.array(given["y"])
    model = LinearRegression(fit_intercept=False).fit(X, y)
    close(model.coef_, expect["w"], tol)
    close(model.predict(X), expect["fitted"], tol)
    close(y - model.predict(X), expect["residual"], tol)


def test_least_squares_of_four_houses():
    given, _, expect, tol = of("ols-four-houses")
    X, y = np.array(given["X"]), np.array(given["y"])
    model = LinearRegression().fit(X, y)
    close(all_coefficients(model), [expect["intercept"], expect["slope"]], tol)
    close(model.predict(given["query"]), expect["prediction"], tol)
    close(((y - model.predict(X)) ** 2).sum(), expect["rss"], tol)
    close(model.score(X, y), expect["r2"], tol)


def test_one_column_by_least_squares_ridge_and_lasso():
    given, params, expect, tol = of("simple-regression-ridge-lasso")
    X, y = np.array(given["X"]), np.array(given["y"])
    close(all_coefficients(LinearRegression().fit(X, y)), [expect["intercept"], expect["slope"]], tol)
    ridge = Ridge(alpha=params["ridge_lambda"]).fit(X, y)
    close(all_coefficients(ridge), expect["ridge_intercept_free"], tol)
    ones = np.column_stack([np.ones(len(X)), X])
    everything = Ridge(alpha=params["ridge_lambda"], fit_intercept=False).fit(ones, y)
    close(everything.coef_, expect["ridge_all_penalised"], tol)
    # RSS + lam |b| is 2n times RSS / 2n + alpha |b|.
    lasso = Lasso(alpha=params["lasso_lambda"] / (2 * len(y)), tol=1e-14).fit(X, y)
    close(all_coefficients(lasso), expect["lasso"], tol)
    zero = Lasso(alpha=expect["lasso_zero_from"] / (2 * len(y))).fit(X, y)
    assert zero.coef_[0] == 0.0


@pytest.mark.parametrize("name", ["lm-mtcars", "lm-swiss", "ols-stackloss", "wls-mtcars"])
def test_coefficients_with_their_errors(name):
    given, _, expect, tol = of(name)
    X, y = arrays(given)
    weights = rows_of(given)[given["weights"]] if "weights" in given else None
    model = LinearRegression().fit(X, y, sample_weight=weights)
    close(all_coefficients(model), expect["coef"], tol)
    table = model.summary()
    for ours, theirs in (("std. error", "se"), ("t", "t"), ("p", "p")):
        if theirs in expect:
            close(table[ours], expect[theirs], tol)
    if "r2" in expect:
        close(model.score(X, y, sample_weight=weights), expect["r2"], tol)


def test_dependent_columns_have_the_fit_of_least_norm():
    given, _, expect, tol = of("ols-rank-deficient")
    X, y = np.array(given["X"]), np.array(given["y"])
    model = LinearRegression().fit(X, y)
    close(model.predict(X), expect["fitted"], tol)
    assert model.rank_ == expect["rank"] - 1  # without the column of ones


def test_two_targets_at_once():
    given, _, expect, tol = of("multi-output-ols")
    table = rows_of(given)
    X, _ = arrays(given)
    Y = np.column_stack([table[name] for name in given["targets"]])
    model = LinearRegression().fit(X, Y)
    close(np.vstack([model.intercept_, model.coef_.T]), expect["B"], tol)
    residuals = Y - model.predict(X)
    close(residuals.T @ residuals / (len(Y) - 3), expect["residual_covariance"], tol)


@pytest.mark.parametrize("name", ["ridge-diabetes", "lasso-diabetes"])
def test_penalised_fits_of_diabetes(name):
    given, params, expect, tol = of(name)
    X, y = arrays(given)
    learner, values = (Ridge, params["lam"]) if "lam" in params else (Lasso, params["alpha"])
    for value in values:
        more = {} if learner is Ridge else {"tol": 1e-12, "max_iter": 100_000}
        model = learner(alpha=value, **more).fit(X, y)
        wanted = expect[str(float(value))]
        close(model.intercept_, wanted["intercept"], tol)
        close(model.coef_, wanted["coef"], tol)
        if "nonzero" in wanted:
            assert np.count_nonzero(model.coef_) == wanted["nonzero"]


@pytest.mark.parametrize("name", ["logit-pima-768", "logit-pima"])
def test_unpenalised_logistic_regression(name):
    given, _, expect, tol = of(name)
    X, y = arrays(given)
    model = LogisticRegression(penalty=None, tol=1e-12, max_iter=1000).fit(X, y)
    close(np.concatenate([model.intercept_, model.coef_[0]]), expect["coef"], tol)


def test_softmax_with_a_penalty():
    given, params, expect, tol = of("softmax-l2-iris")
    X, y = arrays(given)
    model = LogisticRegression(C=params["C"], tol=1e-12, max_iter=1000).fit(X, y)
    assert list(model.classes_) == expect["classes"]
    close(model.coef_, expect["coef"], tol)
    close(model.intercept_ - model.intercept_.mean(), np.array(expect["intercept"]) - np.mean(expect["intercept"]), tol)


def test_two_classes_with_a_penalty():
    given, params, expect, tol = of("logit-l2-breast-cancer")
    X, y = arrays(given)
    model = LogisticRegression(C=params["C"], tol=1e-12, max_iter=1000).fit(X, y)
    close(model.coef_[0], expect["coef"], tol)


@pytest.mark.parametrize("name", ["lda-iris", "lda-wine-priors", "qda-iris"])
def test_discriminants(name):
    given, params, expect, tol = of(name)
    X, y = arrays(given)
    learner = QuadraticDiscriminantAnalysis if name == "qda-iris" else LinearDiscriminantAnalysis
    model = learner(priors=params.get("priors")).fit(X, y)
    close(model.predict_proba(X[given["posterior_rows"]]), expect["posterior"], {**tol, "abs": 1e-8})
    if "means" in expect:
        close(model.means_, expect["means"], tol)
    if "training_errors" in expect:
        assert (model.predict(X) != y).sum() == expect["training_errors"]


def test_indicator_regression():
    given, _, expect, tol = of("indicator-regression-iris")
    X, y = arrays(given)
    model = IndicatorRegression().fit(X, y)
    close(np.vstack([model.intercept_, model.coef_.T]), expect["B"], tol)
    found = model.predict(X)
    counts = [[((y == a) & (found == b)).sum() for b in model.classes_] for a in model.classes_]
    assert counts == expect["confusion"]


def test_best_subsets():
    given, _, expect, tol = of("best-subset-swiss")
    X, y = arrays(given)
    names = given["features"]
    for size, (rss, subset) in enumerate(zip(expect["rss"], expect["subsets"]), start=1):
        model = BestSubsetRegression(n_features=size).fit(X, y)
        assert [name for name, kept in zip(names, model.support_) if kept] == subset
        close(((y - model.predict(X)) ** 2).sum(), rss, tol)


@pytest.mark.parametrize("name", ["step-forward-mtcars", "step-backward-mtcars"])
def test_steps_by_the_criterion_of_akaike(name):
    given, params, expect, tol = of(name)
    X, y = arrays(given)
    model = StepwiseRegression(direction=params["direction"]).fit(X, y)
    kept = [column for column, taken in zip(given["features"], model.support_) if taken]
    assert sorted(kept) == sorted(expect["final"])
    found = dict(zip(kept, model.coef_[model.support_]))
    for column, value in expect["coef"].items():
        close(model.intercept_ if column == "(Intercept)" else found[column], value, tol)


def test_minimum_squared_error_separates_where_it_should():
    given, _, expect, tol = of("mse-separating")
    one, two = np.array(given["set"]["class1"], float), np.array(given["set"]["class2"], float)
    X, y = np.vstack([one, two]), np.array([1, 1, 0, 0])
    model = MinimumSquaredErrorClassifier().fit(X, y)
    a = np.concatenate([np.ravel(model.intercept_), np.ravel(model.coef_)])
    close(a, expect["a"], tol)
    assert (model.predict(X) == y).all() == expect["separates"]


@pytest.mark.parametrize(("rule", "name"), [("mistake", "zero_is_wrong"), ("positive", "zero_is_plus"), ("negative", "zero_is_minus")])
def test_the_perceptron_learns_the_gate(rule, name):
    given, params, expect, _ = of("perceptron-and-gate")
    X, y = np.array(given["X"])[:, 1:], np.array(given["y"])
    model = Perceptron(zero_is=rule, shuffle=False, eta0=params["eta"], tol=None, max_iter=50).fit(X, y)
    assert [model.intercept_[0], *model.coef_[0]] == expect[name]["w"]
