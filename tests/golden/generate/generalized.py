"""Writes tests/golden/generalized.json: generalised linear models and L1 logistic regression.

Run with statsmodels and scikit-learn installed: python tests/golden/generate/generalized.py

Tables of families and links are statsmodels' with a tolerance of 1e-14; log-likelihoods with an
unknown dispersion are evaluated at deviance / n. Penalised fits are scikit-learn's with the Newton
solver, and saga for L1 and elastic-net penalties, polished until the objective is stationary.
"""

import csv
import json
import math
import pathlib
import warnings

import numpy as np
import sklearn
import statsmodels
import statsmodels.api as sm
from sklearn.linear_model import (
    GammaRegressor,
    LogisticRegression,
    PoissonRegressor,
    TweedieRegressor,
)

warnings.simplefilter("ignore")
GOLDEN = pathlib.Path(__file__).resolve().parent.parent


def table(name):
    with open(GOLDEN / "data" / f"{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


def numeric(name, columns):
    return np.array([[float(row[c]) for c in columns] for row in table(name)])


def digits(value):
    if isinstance(value, (list, tuple, np.ndarray)):
        return [digits(v) for v in value]
    if isinstance(value, (int, np.integer)):
        return int(value)
    return float(f"{float(value):.12g}")


def case(identifier, what, source, data, params, expect, tol, how):
    return {
        "id": identifier,
        "what": what,
        "source": source,
        "input": data,
        "params": params,
        "expect": {key: digits(value) for key, value in expect.items()},
        "tol": tol,
        "how": how,
    }


FAMILIES = sm.families
LINKS = sm.families.links


def wald(identifier, what, name, features, target, family, family_name, link_name):
    x = sm.add_constant(numeric(name, features))
    y = numeric(name, [target])[:, 0]
    fit = sm.GLM(y, x, family=family).fit(tol=1e-14, maxiter=200)
    known = family_name in ("binomial", "poisson")
    scale = 1.0 if known else fit.deviance / len(y)
    loglik = fit.model.loglike(fit.params, scale=scale)
    parameters = len(fit.params) + (0 if known else 1)
    fit_t = sm.GLM(y, x, family=family).fit(tol=1e-14, maxiter=200, use_t=not known)
    expect = {
        "coef": fit.params,
        "se": fit.bse,
        "statistic": fit.tvalues,
        "p": fit_t.pvalues,
        "interval": fit_t.conf_int(),
        "dispersion": fit.scale,
        "deviance": fit.deviance,
        "null_deviance": fit.null_deviance,
        "loglik": loglik,
        "aic": 2 * parameters - 2 * loglik,
        "bic": math.log(len(y)) * parameters - 2 * loglik,
        "fitted_first5": fit.fittedvalues[:5],
    }
    return case(
        identifier,
        what,
        f"statsmodels {statsmodels.__version__} GLM",
        {"dataset": name, "features": features, "target": target},
        {"family": family_name, "link": link_name, "fit_intercept": True},
        expect,
        {"rel": 1e-6, "abs": 1e-8},
        "sm.GLM(y, add_constant(X), family).fit(tol=1e-14); log-likelihood at deviance / n",
    )


def penalised(identifier, learner, name, features, target, params):
    x, y = numeric(name, features), numeric(name, [target])[:, 0]
    weights = 1.0 + np.arange(len(y)) % 3
    fits = {}
    for key, w in (("plain", None), ("weighted", weights)):
        fit = learner(solver="newton-cholesky", tol=1e-12, max_iter=1000, **params)
        fit.fit(x, y, sample_weight=w)
        fits[f"coef_{key}"] = fit.coef_
        fits[f"intercept_{key}"] = fit.intercept_
    return case(
        identifier,
        "Half the mean deviance plus alpha |b|^2 / 2, with weights 1, 2, 3, 1, ... or without.",
        f"scikit-learn {sklearn.__version__} {learner.__name__}",
        {"dataset": name, "features": features, "target": target},
        params,
        fits,
        {"rel": 1e-6, "abs": 1e-8},
        "newton-cholesky, tol=1e-12",
    )


def soft(v, t):
    return np.sign(v) * np.maximum(np.abs(v) - t, 0)


def polish(x, onehot, coef, intercept, l1, l2, steps):
    """Accelerated proximal gradient with restarts from saga's answer, to the last digits."""
    n = len(x)
    step = 1.0 / (0.5 * np.linalg.norm(np.c_[x, np.ones(n)], 2) ** 2 + l2)
    w, b = coef.copy(), intercept.copy()
    v, c, t = w.copy(), b.copy(), 1.0

    def objective(w, b):
        s = x @ w.T + b
        if len(w) == 1:
            y = onehot[:, 0]
            loss = np.sum(np.logaddexp(0, s[:, 0]) - y * s[:, 0])
        else:
            top = s.max(axis=1)
            lse = top + np.log(np.exp(s - top[:, None]).sum(axis=1))
            loss = np.sum(lse - (s * onehot).sum(axis=1))
        return loss + l1 * np.abs(w).sum() + 0.5 * l2 * (w**2).sum()

    for _ in range(steps):
        s = x @ v.T + c
        if len(w) == 1:
            p = 1 / (1 + np.exp(-s))
        else:
            p = np.exp(s - s.max(axis=1)[:, None])
            p /= p.sum(axis=1)[:, None]
        r = p - onehot
        w_next = soft(v - step * (r.T @ x + l2 * v), step * l1)
        b_next = c - step * r.sum(axis=0)
        t_next = (1 + math.sqrt(1 + 4 * t * t)) / 2
        if np.sum((v - w_next) * (w_next - w)) + np.sum((c - b_next) * (b_next - b)) > 0:
            t_next, ratio = 1.0, 0.0
        else:
            ratio = (t - 1) / t_next
        v, c = w_next + ratio * (w_next - w), b_next + ratio * (b_next - b)
        w, b, t = w_next, b_next, t_next
    return w, b, objective(w, b)


def sparse_logistic(identifier, name, features, target, classes, c, ratio):
    x = numeric(name, features)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    labels = np.array([row[target] for row in table(name)])
    y = np.searchsorted(np.array(classes), labels)
    fit = LogisticRegression(C=c, l1_ratio=ratio, solver="saga", tol=1e-10, max_iter=20000)
    fit.fit(x, y)
    onehot = (y[:, None] == np.arange(len(classes))).astype(float)
    if len(classes) == 2:
        onehot = onehot[:, 1:]
    l1, l2 = ratio / c, (1 - ratio) / c
    w, b, objective = polish(x, onehot, fit.coef_, fit.intercept_, l1, l2, 60000)
    assert np.abs(w - fit.coef_).max() < 1e-3, np.abs(w - fit.coef_).max()
    if len(classes) > 2:
        b = b - b.mean()
    return case(
        identifier,
        "Logistic regression with an elastic-net penalty on standardised columns.",
        f"scikit-learn {sklearn.__version__} LogisticRegression",
        {
            "dataset": name,
            "features": features,
            "target": target,
            "scale": {"method": "zscore", "ddof": 0},
        },
        {"C": c, "l1_ratio": ratio},
        {
            "coef": w,
            "intercept": b,
            "objective": objective,
            "nonzero": int((w != 0).sum()),
        },
        {"rel": 1e-6, "abs": 1e-7},
        "saga, tol=1e-10, then 60000 accelerated proximal gradient steps; intercepts sum to zero",
    )


def main():
    log, inverse = LINKS.Log(), LINKS.InversePower()
    birth = ["age", "lwt", "smoke"]
    cars = ["wt", "hp"]
    breast = [c for c in table("breast_cancer")[0] if c != "diagnosis"]
    iris = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
    species = ["setosa", "versicolor", "virginica"]
    sides = ["benign", "malignant"]
    cases = [
        wald("probit-birthwt", "Probit regression.", "birthwt", birth, "low",
             FAMILIES.Binomial(LINKS.Probit()), "binomial", "probit"),
        wald("gamma-log-mtcars", "Gamma regression, log link.", "mtcars", cars, "mpg",
             FAMILIES.Gamma(log), "gamma", "log"),
        wald("gamma-inverse-mtcars", "Gamma regression, canonical link.", "mtcars", cars, "mpg",
             FAMILIES.Gamma(inverse), "gamma", "inverse"),
        wald("inverse-gaussian-mtcars", "Inverse Gaussian regression, canonical link.", "mtcars",
             cars, "mpg", FAMILIES.InverseGaussian(), "inverse-gaussian", "inverse-squared"),
        wald("gaussian-log-mtcars", "Gaussian regression, log link.", "mtcars", cars, "mpg",
             FAMILIES.Gaussian(log), "gaussian", "log"),
        wald("poisson-identity-mtcars", "Poisson regression, identity link.", "mtcars", cars,
             "carb", FAMILIES.Poisson(LINKS.Identity()), "poisson", "identity"),
        penalised("poisson-l2-mtcars", PoissonRegressor, "mtcars", ["wt", "qsec"], "carb",
                  {"alpha": 0.3}),
        penalised("gamma-l2-mtcars", GammaRegressor, "mtcars", ["wt", "qsec"], "mpg",
                  {"alpha": 0.3}),
        penalised("tweedie-l2-mtcars", TweedieRegressor, "mtcars", ["wt", "qsec"], "mpg",
                  {"alpha": 0.3, "power": 1.5}),
        penalised("tweedie-identity-mtcars", TweedieRegressor, "mtcars", ["wt", "qsec"], "mpg",
                  {"alpha": 0.3, "power": 0}),
        sparse_logistic("logit-l1-breast-cancer", "breast_cancer", breast, "diagnosis", sides,
                        0.1, 1.0),
        sparse_logistic("logit-elasticnet-breast-cancer", "breast_cancer", breast, "diagnosis",
                        sides, 0.05, 0.5),
        sparse_logistic("softmax-l1-iris", "iris", iris, "species", species, 0.5, 1.0),
        sparse_logistic("softmax-elasticnet-iris", "iris", iris, "species", species, 1.0, 0.3),
    ]
    with open(GOLDEN / "generalized.json", "w") as file:
        json.dump(cases, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
