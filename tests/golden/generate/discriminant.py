"""Writes tests/golden/discriminant.json with scikit-learn: scores, coordinates, shrunk covariances.

Its covariances are divided by the number of rows, not by that less the number of classes.
"""

import json
from pathlib import Path

import numpy as np
import sklearn
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

GOLDEN = Path(__file__).resolve().parent.parent
FEATURES = ["sepal_length", "sepal_width", "petal_length", "petal_width"]


def rounded(values):
    return np.vectorize(lambda v: float(f"{v:.12g}"))(values).tolist()


def case(name, what, params, expect):
    return {
        "id": name,
        "what": what,
        "source": f"scikit-learn {sklearn.__version__}",
        "input": {"dataset": "iris", "features": FEATURES, "target": "species"},
        "params": params,
        "expect": expect,
        "tol": {"rel": 1e-9, "abs": 1e-11},
        "how": "generate/discriminant.py",
    }


def main():
    rows = [line.split(",") for line in (GOLDEN / "data/iris.csv").read_text().split()]
    places = [rows[0].index(name) for name in FEATURES]
    x = np.array([[float(row[j]) for j in places] for row in rows[1:]])
    y = np.array([row[rows[0].index("species")] for row in rows[1:]])
    cases = []
    for shrinkage in ["auto", 0.3]:
        model = LinearDiscriminantAnalysis(solver="eigen", shrinkage=shrinkage).fit(x, y)
        what = "Covariance within classes, divisor N, with shrinkage."
        expect = {"covariance": rounded(model.covariance_)}
        cases.append(case(f"lda-shrinkage-{shrinkage}", what, {"shrinkage": shrinkage}, expect))
    model = LinearDiscriminantAnalysis().fit(x, y)
    expect = {
        "coef": rounded(model.coef_),
        "intercept": rounded(model.intercept_),
        "explained_variance_ratio": rounded(model.explained_variance_ratio_),
        "transformed_abs": rounded(abs(model.transform(x[:3]))),
    }
    cases.append(case("lda-svd", "Scores and coordinates.", {"solver": "svd"}, expect))
    model = LinearDiscriminantAnalysis().fit(x[:100], y[:100])
    expect = {"coef": rounded(model.coef_), "intercept": rounded(model.intercept_)}
    cases.append(case("lda-two-classes", "The first two classes.", {"rows": 100}, expect))
    model = QuadraticDiscriminantAnalysis(reg_param=0.2).fit(x, y)
    expect = {"scalings": rounded(model.scalings_)}
    cases.append(case("qda-reg-param", "With a share of the identity.", {"reg_param": 0.2}, expect))
    (GOLDEN / "discriminant.json").write_text(json.dumps(cases, indent=1) + "\n")


if __name__ == "__main__":
    main()
