"""Fits by formula, comparisons by fit and questions of likelihoods, against statsmodels' and R's numbers."""

import json
from pathlib import Path

import numpy as np
import pytest

import learnt
from learnt.compose import TransformedTargetRegressor
from learnt.errors import LearntError
from learnt.linear_model import GeneralizedLinearModel, LinearRegression, LogisticRegression

pandas = pytest.importorskip("pandas")
GOLDEN = Path(__file__).parents[2] / "tests" / "golden"
EXPECTED = json.loads((GOLDEN / "statistics.json").read_text())


def table(name):
    return pandas.read_csv(GOLDEN / "data" / f"{name}.csv")


def coefficients(model):
    answer = model.ask("coefficients")
    return dict(zip(answer["term"], answer["coefficient"], strict=True))


def close(found, expected, tolerance=1e-8):
    for name, value in expected.items():
        name = name.replace("(Intercept)", "(intercept)")
        assert found[name] == pytest.approx(value, rel=tolerance), name


def test_every_kind_of_term_and_a_logarithm_are_those_of_r():
    cars = table("mtcars")
    formula = "log(mpg) ~ poly(hp, 2) + I(wt/2) + log(disp + 1) + factor(cyl)"
    model = learnt.fit_formula(formula, cars)
    close(coefficients(model), EXPECTED["terms_coefficients"])
    predicted = model.predict(cars.iloc[:4])
    np.testing.assert_allclose(predicted, list(EXPECTED["terms_predicted"].values()), rtol=1e-8)
    np.testing.assert_allclose(np.log(predicted), model.predict_link(cars.iloc[:4]), rtol=1e-12)
    again = learnt.from_bytes(model.to_bytes())
    own = cars[list(model.feature_names_in_)].iloc[:4]
    np.testing.assert_array_equal(again.predict(own), predicted)


def test_rows_with_holes_are_dropped_with_a_count():
    with pytest.warns(learnt.errors.LearntWarning, match="42 rows"):
        model = learnt.fit_formula("Ozone ~ Solar.R + Wind + Temp", table("airquality"))
    assert model.n_dropped_ == EXPECTED["air_dropped"][0]
    close(coefficients(model), EXPECTED["air_coefficients"])
    assert "***" in str(model.summary(marks=True))


def test_nested_models_are_compared():
    cars = table("mtcars")
    formulas = ["mpg ~ wt", "mpg ~ wt + hp", "mpg ~ wt * hp + qsec"]
    models = [learnt.fit_formula(formula, cars) for formula in formulas]
    answer = learnt.anova(*models)
    np.testing.assert_allclose(answer["F"][1:], EXPECTED["compared_f"], rtol=1e-8)
    assert list(answer["model"]) == formulas
    with pytest.raises(LearntError):
        learnt.anova(models[0])


def test_offsets_of_rates_and_of_least_squares():
    breaks = table("warpbreaks").assign(days=lambda d: 11 + np.arange(len(d)))
    formula = "breaks ~ wool + tension + offset(log(days))"
    model = learnt.fit_formula(formula, breaks, GeneralizedLinearModel("poisson"))
    close(coefficients(model), EXPECTED["rate_coefficients"], 1e-7)
    np.testing.assert_allclose(model.predict(breaks.iloc[:3]), EXPECTED["rate_predicted"], rtol=1e-7)
    model = learnt.fit_formula("mpg ~ wt + offset(0.1 * qsec)", table("mtcars"))
    close(coefficients(model), EXPECTED["offset_coefficients"])


def test_logistic_regression_with_an_offset():
    births = table("birthwt").assign(known=lambda d: d["age"] / 40 - 0.5)
    free = LogisticRegression(penalty=None, tol=1e-9)
    model = learnt.fit_formula("low ~ lwt + factor(race) + smoke + offset(known)", births, free)
    found = {name.replace("factor(race)", "race"): value for name, value in coefficients(model).items()}
    close(found, EXPECTED["logit_offset_coefficients"], 1e-7)
    chances = model.predict_proba(births.iloc[:4])[:, 1]
    np.testing.assert_allclose(chances, EXPECTED["logit_offset_predicted"], rtol=1e-7)
    by_name = LogisticRegression(penalty=None, offset="known").fit(births[["lwt", "known"]], births["low"])
    assert by_name.coef_[0, 1] == 1.0
    assert list(by_name.coefficients()["term"]) == ["(intercept)", "lwt"]
    moved = births[["lwt"]].assign(known=births["known"] + 1)
    shift = by_name.decision_function(moved) - by_name.decision_function(births[["lwt", "known"]])
    np.testing.assert_allclose(shift, 1.0, rtol=1e-12)


def test_intervals_of_new_observations():
    breaks = table("warpbreaks")
    model = learnt.fit_formula("breaks ~ wool * tension", breaks, GeneralizedLinearModel("poisson", tol=1e-14))
    ends = model.ask("intervals", breaks.iloc[[0, 9, 49]], kind="observation")
    assert list(ends["lower"]) == list(EXPECTED["new_counts_lower"].values())
    assert list(ends["upper"]) == list(EXPECTED["new_counts_upper"].values())
    means = model.ask("intervals", breaks.iloc[[0, 9, 49]])
    assert np.all(np.asarray(means["upper"]) < np.asarray(ends["upper"]))


def test_logistic_regression_answers_with_arrays():
    births = table("birthwt")
    X, y = births[["age", "lwt", "smoke"]], births["low"]
    model = LogisticRegression(penalty=None, tol=1e-8).fit(X, y)
    odds = model.ratios(level=0.9)
    np.testing.assert_allclose(odds["odds ratio"][1:], np.exp(model.coef_[0]), rtol=1e-6)
    clustered = model.robust(X, y, groups=births["ftv"], kind="cluster")
    assert np.all(np.asarray(clustered["std. error"]) > 0)
    profile = model.profile(X, y)
    assert np.all(np.asarray(profile["lower"]) < np.asarray(profile["coefficient"]))
    residuals = model.residuals(X, y)
    np.testing.assert_allclose(residuals["response"], y - model.predict_proba(X)[:, 1], atol=1e-9)


def test_a_changed_target_with_any_regressor():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.exp(X @ [0.5, -0.25] + 0.01 * rng.normal(size=200))
    model = TransformedTargetRegressor(LinearRegression(), func="log(y)").fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, rtol=0.05)
    np.testing.assert_allclose(np.exp(model.predict_link(X)), model.predict(X), rtol=1e-12)
    with pytest.raises(LearntError):
        TransformedTargetRegressor(func="abs(y)").fit(X, y)
