"""Writes tests/golden/online.json: stochastic descent in listed order by scikit-learn.

Run with scikit-learn installed: python tests/golden/generate/online.py
"""

import json
import math
import pathlib
import warnings

import numpy as np
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor

PASSES = {"shuffle": False, "tol": None, "max_iter": 7}
REAL_LOSSES = ["squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"]
CLASS_LOSSES = ["hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron", *REAL_LOSSES]


def data():
    """Thirty rows of three columns, with two classes, three classes, a number and weights."""
    rows = [[round(2 * math.sin(7 * i + 5 * j + 1), 3) for j in range(3)] for i in range(30)]
    scores = [x[0] - 2.0 * x[1] + 0.5 * x[2] + 0.3 for x in rows]
    return {
        "X": rows,
        "two": [int(s > 0) ^ (i % 7 == 0) for i, s in enumerate(scores)],
        "three": [int(s > -1) + int(s > 1) for s in scores],
        "real": [round(s + 0.1 * math.cos(i), 3) for i, s in enumerate(scores)],
        "weights": [1.0 + (i % 3) * 0.5 for i in range(30)],
    }


def learners():
    """Target, learner, and whether the rows have weights."""
    for loss in CLASS_LOSSES:
        rate = {"learning_rate": "invscaling", "eta0": 0.05}
        yield "two", SGDClassifier(loss=loss, alpha=0.01, **rate, **PASSES), False
    for penalty in ["l2", "l1", "elasticnet", None]:
        yield "two", SGDClassifier(penalty=penalty, alpha=0.02, **PASSES), False
    log = {"loss": "log_loss", "alpha": 0.01, **PASSES}
    yield "three", SGDClassifier(**log), False
    yield "two", SGDClassifier(average=True, **log), False
    yield "two", SGDClassifier(average=20, **log), False
    for rate in ["pa1", "pa2"]:
        yield "two", SGDClassifier(learning_rate=rate, eta0=0.5, penalty=None, **PASSES), False
    for target in ["two", "three"]:
        yield target, SGDClassifier(class_weight="balanced", alpha=0.01, **PASSES), False
    yield "two", SGDClassifier(alpha=0.01, **PASSES), True
    yield "two", SGDClassifier(alpha=0.01, fit_intercept=False, **PASSES), False
    for loss in REAL_LOSSES:
        yield "real", SGDRegressor(loss=loss, **PASSES), False
    yield "real", SGDRegressor(penalty="l1", alpha=0.05, **PASSES), False
    yield "real", SGDRegressor(learning_rate="optimal", alpha=0.5, **PASSES), False
    yield "real", SGDRegressor(average=True, **PASSES), True
    yield "real", SGDRegressor(learning_rate="adaptive", shuffle=False, max_iter=200), False
    yield "real", SGDRegressor(learning_rate="constant", **PASSES), False
    yield "two", Perceptron(**PASSES), False
    yield "three", Perceptron(**PASSES), False
    yield "two", Perceptron(penalty="l2", alpha=0.01, **PASSES), False
    yield "two", SGDClassifier(shuffle=False, alpha=0.01), False
    yield "real", SGDRegressor(shuffle=False), False
    yield "two", Perceptron(shuffle=False), False


def digits(values):
    """Twelve significant digits."""
    return [float(f"{v:.12g}") for v in np.ravel(values)]


def fitted(target, learner, weighted, rows):
    """One fit: parameters that are not defaults, and what came out."""
    weights = rows["weights"] if weighted else None
    learner.fit(np.array(rows["X"]), rows[target], sample_weight=weights)
    defaults = type(learner)().get_params()
    params = {k: v for k, v in learner.get_params().items() if v != defaults[k]}
    return {
        "learner": type(learner).__name__,
        "params": params,
        "target": target,
        "weighted": weighted,
        "coef": digits(learner.coef_),
        "intercept": digits(learner.intercept_),
        "t": float(learner.t_),
    }


def main():
    warnings.simplefilter("ignore")
    rows = data()
    case = {
        "id": "descent-in-listed-order",
        "what": "Weights and intercepts after passes in listed order: every loss, penalty, rate "
        "and stopping rule.",
        "source": "scikit-learn 1.9.1",
        "input": rows,
        "params": {},
        "expect": {"fits": [fitted(*learner, rows) for learner in learners()]},
        "tol": {"rel": 1e-9, "abs": 1e-9},
        "how": "fit with shuffle=False",
    }
    path = pathlib.Path(__file__).parents[1] / "online.json"
    path.write_text(json.dumps([case], indent=1) + "\n")


if __name__ == "__main__":
    main()
