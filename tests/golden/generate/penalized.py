"""Writes tests/golden/penalized.json: elastic net, its path and penalties by cross-validation.

Run with scikit-learn of requirements.txt: python tests/golden/generate/penalized.py
The diabetes table is standardised with divisor n once, on all rows. Weights are 1, 2, 3, 1, 2, 3, ...
"""

import json
import pathlib
import warnings

import numpy as np
import sklearn
from sklearn.linear_model import ElasticNet, ElasticNetCV, LassoCV, RidgeCV, enet_path

HERE = pathlib.Path(__file__).resolve().parent.parent
TIGHT = dict(tol=1e-14, max_iter=1_000_000)
FEATURES = ["age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6"]
INPUT = {
    "dataset": "diabetes",
    "features": FEATURES,
    "target": "progression",
    "scale": {"method": "zscore", "ddof": 0},
}


def digits(x):
    return np.vectorize(lambda v: float(f"{v:.12g}"))(np.asarray(x, float)).tolist()


def case(name, what, params, expect, rel=1e-6):
    return {
        "id": name,
        "what": what,
        "source": f"scikit-learn {sklearn.__version__}",
        "input": INPUT,
        "params": params,
        "expect": {key: digits(value) for key, value in expect.items()},
        "tol": {"rel": rel, "abs": 1e-6},
        "how": "tests/golden/generate/penalized.py",
    }


def main():
    warnings.simplefilter("ignore")
    lines = (HERE / "data" / "diabetes.csv").read_text().split()
    head = [name.strip('"') for name in lines[0].split(",")]
    table = np.array([[float(v) for v in line.split(",")] for line in lines[1:]])
    x = table[:, [head.index(name) for name in FEATURES]]
    y = table[:, head.index("progression")]
    x = (x - x.mean(0)) / x.std(0)
    weights = 1.0 + np.arange(len(y)) % 3

    cases = []
    fit = ElasticNet(alpha=0.5, l1_ratio=0.3, **TIGHT).fit(x, y, sample_weight=weights)
    expect = {"coef": fit.coef_, "intercept": fit.intercept_}
    params = {"alpha": 0.5, "l1_ratio": 0.3, "weights": True}
    cases.append(case("elastic-net-weighted", "Elastic net with weights.", params, expect))

    fit = ElasticNet(alpha=0.5, l1_ratio=0.9, positive=True, **TIGHT).fit(x, y)
    expect = {"coef": fit.coef_, "intercept": fit.intercept_}
    params = {"alpha": 0.5, "l1_ratio": 0.9, "positive": True}
    cases.append(case("elastic-net-positive", "Elastic net, no negative coefficient.", params, expect))

    alphas, coefs, _ = enet_path(x, y - y.mean(), l1_ratio=0.7, alphas=12, eps=1e-3, **TIGHT)
    params = {"l1_ratio": 0.7, "n_alphas": 12, "eps": 1e-3}
    expect = {"alphas": alphas, "coefs": coefs}
    cases.append(case("elastic-net-path", "Twelve points of a path.", params, expect))

    for name, w in [("lasso-cv", None), ("lasso-cv-weighted", weights)]:
        fit = LassoCV(alphas=20, **TIGHT).fit(x, y, sample_weight=w)
        expect = {
            "alpha": fit.alpha_,
            "alphas": fit.alphas_,
            "mse_path": fit.mse_path_,
            "coef": fit.coef_,
            "intercept": fit.intercept_,
        }
        cases.append(case(name, "Lasso, penalty by five folds.", {"weights": w is not None}, expect))

    fit = ElasticNetCV(alphas=10, l1_ratio=[0.1, 0.5, 0.9], cv=4, **TIGHT).fit(x, y)
    expect = {
        "alpha": fit.alpha_,
        "l1_ratio": fit.l1_ratio_,
        "alphas": fit.alphas_,
        "mse_path": fit.mse_path_,
        "coef": fit.coef_,
    }
    params = {"l1_ratio": [0.1, 0.5, 0.9], "alphas": 10, "cv": 4}
    cases.append(case("elastic-net-cv", "Elastic net, ratio and penalty by four folds.", params, expect))

    grid = [0.01, 1.0, 10.0, 30.0, 100.0]
    for cv in [None, 5]:
        for w in [None, weights]:
            fit = RidgeCV(alphas=grid, cv=cv).fit(x, y, sample_weight=w)
            name = f"ridge-cv{'' if cv is None else '-folds'}{'' if w is None else '-weighted'}"
            expect = {
                "alpha": fit.alpha_,
                "best_score": fit.best_score_,
                "coef": fit.coef_,
                "intercept": fit.intercept_,
            }
            params = {"alphas": grid, "cv": cv, "weights": w is not None}
            cases.append(case(name, "Ridge, penalty by cross-validation.", params, expect))

    text = ",\n".join(json.dumps(one) for one in cases)
    (HERE / "penalized.json").write_text(f"[\n{text}\n]\n")


if __name__ == "__main__":
    main()
