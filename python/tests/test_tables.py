"""Dates, texts and rare levels as inputs."""

import numpy as np
import pandas as pd
from sklearn.preprocessing import OneHotEncoder as TheirEncoder

from learnt.compose import ColumnTransformer
from learnt.datasets import make_churn
from learnt.linear_model import LinearRegression
from learnt.pipeline import Pipeline
from learnt.preprocessing import DateEncoder, OneHotEncoder, TextHasher


def test_dates_are_the_numbers_of_pandas():
    dates = pd.date_range("1999-12-25", periods=900, freq="D")
    frame = pd.DataFrame({"day": dates.strftime("%Y-%m-%d").astype("category")})
    parts = ["year", "month", "day", "weekday", "yearday"]
    table = np.asarray(DateEncoder(parts=parts).fit_transform(frame))
    theirs = np.column_stack([dates.year, dates.month, dates.day, dates.weekday + 1, dates.dayofyear])
    np.testing.assert_array_equal(table, theirs)


def test_new_dates_and_texts_pass_through_a_pipeline():
    X, _ = make_churn(400, random_state=0)
    other, _ = make_churn(100, random_state=1)
    prepare = ColumnTransformer(
        [
            ("date", DateEncoder(parts=["elapsed"]), ["SignupDate"]),
            ("text", TextHasher(n_features=8), ["Note"]),
        ]
    )
    y = X["MonthlyCharges"].to_numpy()
    model = Pipeline([("prepare", prepare), ("model", LinearRegression())]).fit(X, y)
    assert np.isfinite(model.predict(other)).all()


def test_rare_levels_share_the_column_that_they_share_in_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.choice(list("abcdefgh"), p=[0.3, 0.3, 0.2, 0.1, 0.04, 0.03, 0.02, 0.01], size=(500, 2))
    for params in [
        {"min_frequency": 20},
        {"min_frequency": 0.05},
        {"max_categories": 4},
        {"max_categories": 3, "drop": "first"},
        {"min_frequency": 10, "max_categories": 5},
    ]:
        ours = OneHotEncoder(**params).fit(X)
        theirs = TheirEncoder(sparse_output=False, **params).fit(X)
        np.testing.assert_array_equal(np.asarray(ours.transform(X)), theirs.transform(X))
        assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
