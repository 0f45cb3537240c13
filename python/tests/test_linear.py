"""Functions and questions of linear models, as Python meets them."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import enet_path as reference_path
from sklearn.linear_model import lasso_path as reference_lasso

from learnt.linear_model import (
    LinearRegression,
    Perceptron,
    constrained_least_squares,
    enet_path,
    lasso_path,
    linear_separability,
    masking_report,
    regularization_path,
    simple_regression,
)
from learnt.errors import LearntWarning
from learnt.pipeline import Pipeline
from learnt.preprocessing import FormulaTransformer


def five():
    x = np.array([[1, 2], [2, 1], [3, 5], [4, 3], [5, 8]], dtype=float)
    return x, np.array([1.0, 3, 2, 5, 4])


@pytest.mark.parametrize("l1_ratio", [0.3, 1.0])
def test_a_path_is_that_of_scikit_learn(l1_ratio):
    x, y = load_diabetes(return_X_y=True)
    y = y - y.mean()
    alphas, coefs, gaps = enet_path(x, y, l1_ratio=l1_ratio, alphas=20, tol=1e-10)
    expected = reference_path(x, y, l1_ratio=l1_ratio, alphas=20, tol=1e-10)
    np.testing.assert_allclose(alphas, expected[0], rtol=1e-9)
    np.testing.assert_allclose(coefs, expected[1], rtol=1e-4, atol=1e-3)
    assert (gaps <= 1e-10 * (y @ y)).all()


def test_paths_of_several_targets_and_their_passes_have_scikit_learns_shapes():
    x, y = load_diabetes(return_X_y=True)
    both = np.column_stack([y - y.mean(), -y + y.mean()])
    ours = lasso_path(x, both[:, 0], alphas=[0.5, 1.0], return_n_iter=True)
    theirs = reference_lasso(x, both[:, 0], alphas=[0.5, 1.0], return_n_iter=True)
    assert len(ours) == len(theirs) == 4
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-3, atol=0.1)
    several = lasso_path(x, both, alphas=3)
    assert several.coefs.shape == (2, 10, 3) and len(several) == 3
    np.testing.assert_allclose(several.coefs[0], -several.coefs[1])


def test_a_path_shrinks_and_draws_itself():
    x, y = load_diabetes(return_X_y=True)
    path = regularization_path(x, y, eps=1e-6, tol=1e-8)
    assert path.shrinkage[0] == 0 and 0.99 < path.shrinkage[-1] <= 1
    assert path.plot().svg.startswith("<svg") and path.alpha_bic in path.alphas
    assert path.to_pandas().shape[0] == 100
    ridge = regularization_path(x, y, l1_ratio=0)
    assert (np.diff(ridge.df) > 0).all() and ridge.df[-1] <= 10


def test_questions_to_least_squares_have_answers():
    x, y = five()
    model = LinearRegression().fit(x, y)
    test = model.test_columns(columns=["x1"])
    assert test["F"][0] == pytest.approx(40.8936170213)
    assert model.coefficients(level=0.9)["t"][1] == pytest.approx(10.367147934)
    narrow, wide = model.intervals(x), model.band(x)
    assert (narrow["upper"] < wide["upper"]).all()
    assert model.influence(x, y)["leverage"].sum() == pytest.approx(3)
    assert "Durbin" in repr(model.diagnostics(x, y))
    with pytest.raises(ValueError, match="level"):
        model.intervals(x, level=2)
    with pytest.raises(ValueError, match="x9"):
        model.test_columns(columns=["x9"])


def test_a_formula_in_a_pipeline_answers_in_its_own_columns():
    pandas = pytest.importorskip("pandas")
    iris = load_iris(as_frame=True)
    frame = pandas.DataFrame({
        "length": iris.data.iloc[:, 2],
        "species": iris.target_names[iris.target],
    })
    pipeline = Pipeline([("f", FormulaTransformer("length * species")), ("m", LinearRegression())])
    pipeline.fit(frame, iris.data.iloc[:, 0])
    assert "length:speciesvirginica" in repr(pipeline.summary())
    assert len(pipeline.ask("intervals", frame)["fit"]) == 150


@pytest.mark.parametrize("name, parameters", [
    ("PoissonRegressor", {}),
    ("GammaRegressor", {}),
    ("TweedieRegressor", {"power": 1.5}),
    ("TweedieRegressor", {"power": 0}),
])
def test_scores_of_deviance_are_scikit_learns(name, parameters):
    import sklearn.linear_model

    import learnt.linear_model

    draw = np.random.default_rng(0)
    x = draw.normal(size=(200, 3))
    y = draw.gamma(2, np.exp(x @ [0.3, -0.2, 0.1])) + 0.1
    scores = [
        getattr(package, name)(alpha=0.01, **parameters).fit(x, y).score(x, y)
        for package in (learnt.linear_model, sklearn.linear_model)
    ]
    assert scores[0] == pytest.approx(scores[1], rel=1e-4)


def test_separability_comes_with_its_proof():
    x = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
    both = linear_separability(x, [0, 0, 0, 1])
    assert both.separable and (np.sign(x @ both.coef + both.intercept) == [-1, -1, -1, 1]).all()
    xor = np.array([0, 1, 1, 0])
    neither = linear_separability(x, xor)
    assert not neither.separable and neither.multipliers.sum() == pytest.approx(1)
    reflected = np.column_stack([np.ones(4), x]) * np.where(xor == 1, 1, -1)[:, None]
    total = neither.multipliers @ reflected[neither.rows]
    np.testing.assert_allclose(total, 0, atol=1e-12)


def test_masking_is_reported():
    middle = np.repeat([-4.0, 0.0, 4.0], 50) + np.tile(np.linspace(-0.5, 0.5, 50), 3)
    report = masking_report(middle[:, None], np.repeat([0, 1, 2], 50))
    assert report["indicators"].tolist() == [75, 0, 75]
    assert report["discriminant"].tolist() == [50, 50, 50]


def test_bounded_coefficients():
    x, y = np.array([[1.0, 0], [1, 1], [1, 2]]), np.array([6.0, 0, 0])
    fit = constrained_least_squares(x, y, 7.2, intercept="absent")
    np.testing.assert_allclose(fit.coef, [2.4, -1.2], atol=1e-8)
    assert fit.lambda_ == pytest.approx(1, abs=1e-8)
    free = constrained_least_squares(x, y, 40, intercept="absent")
    assert free.lambda_ == 0
    lasso = constrained_least_squares(*five(), 1.0, norm="l1")
    assert np.abs(lasso.coef).sum() == pytest.approx(1)
    with pytest.raises(ValueError, match="norm"):
        constrained_least_squares(x, y, 1, norm="l3")


def test_a_line_through_points():
    line = simple_regression([1, 2, 3, 4, 5], [2, 4, 5, 4, 5])
    assert (line.slope, line.intercept, line.rss) == pytest.approx((0.6, 2.2, 2.4))
    with pytest.raises(ValueError, match="constant|same"):
        simple_regression([1, 1], [2, 3])


def test_a_perceptron_says_that_classes_overlap():
    x, y = load_iris(return_X_y=True)
    with pytest.warns(LearntWarning, match="rows misclassified: no line separates") as caught:
        Perceptron(random_state=0).fit(x[50:], y[50:])
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Perceptron(random_state=0).fit(x[:100], y[:100])


def test_a_table_that_is_cut_says_what_python_has():
    x = np.random.default_rng(0).normal(size=(300, 100))
    report = LinearRegression().fit(x, x[:, 0] - x[:, 1]).summary()
    assert "101 rows in all; to_text() has them all" in str(report) and "--all" not in str(report)
    assert report.to_text().count("\n") > 100 and "in all" not in report.to_text()
