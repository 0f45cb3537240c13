"""Tables of `float32`: read block by block, the bits of doubles, and answered in `float32` where they are transformed."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer

import learnt
from learnt import _native
from learnt.cluster import KMeans
from learnt.compose import make_column_transformer
from learnt.decomposition import PCA
from learnt.impute import SimpleImputer
from learnt.linear_model import LinearRegression, LogisticRegression, Ridge
from learnt.naive_bayes import GaussianNB
from learnt.pipeline import make_pipeline
from learnt.preprocessing import OneHotEncoder, OrdinalEncoder, PolynomialFeatures, StandardScaler
from learnt.random_projection import GaussianRandomProjection


@pytest.mark.parametrize("learner", [StandardScaler(), GaussianNB(), LogisticRegression(max_iter=5)])
def test_large_tables_of_float32_are_converted_block_by_block_with_the_same_bits(learner):
    draw = np.random.default_rng(0)
    x = draw.normal(size=(70_000, 16)).astype(np.float32)
    y = x[:, 0] - x[:, 3] > draw.normal(size=len(x))
    before = _native.copied_bytes()
    single = clone(learner).fit(x, y)
    assert _native.copied_bytes() == before
    double = clone(learner).fit(x.astype(float), y)
    for name in ("coef_", "mean_", "theta_"):
        assert np.array_equal(getattr(single, name, 0), getattr(double, name, 0)), name


@pytest.mark.parametrize("learner", [LinearRegression(), Ridge(), Ridge(fit_intercept=False)])
@pytest.mark.parametrize("scale", [1.0, 1e30])
def test_least_squares_of_float32_are_refined_to_double_precision(learner, scale):
    draw = np.random.default_rng(0)
    x = (5 + draw.normal(size=(70_000, 16)) * np.geomspace(1, 100, 16)).astype(np.float32)
    y = scale * (x.astype(float) @ draw.normal(size=16) + draw.normal(size=len(x)))
    before = _native.copied_bytes()
    single = clone(learner).fit(x, y)
    assert _native.copied_bytes() == before
    double = clone(learner).fit(x.astype(float), y)
    np.testing.assert_allclose(single.coef_, double.coef_, rtol=1e-11)
    np.testing.assert_allclose(single.intercept_, double.intercept_, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-25, 1e-19, 1e25])
def test_squares_that_single_precision_cannot_hold_are_taken_in_double(scale):
    draw = np.random.default_rng(0)
    x = draw.normal(size=(70_000, 16)).astype(np.float32)
    x[:, 3] *= np.float32(scale)
    y = x.astype(float) @ (draw.normal(size=16) / x.std(axis=0, dtype=float))
    single, double = (LinearRegression().fit(table, y) for table in (x, x.astype(float)))
    assert single.rank_ == 16
    assert np.array_equal(single.coef_, double.coef_)


def test_columns_that_depend_on_each_other_are_found_in_float32_too():
    draw = np.random.default_rng(0)
    x = draw.integers(0, 1000, size=(70_000, 16)).astype(np.float32)
    x[:, 3] = x[:, 4] + x[:, 5]
    single = LinearRegression().fit(x, x[:, 0] + x[:, 3])
    double = LinearRegression().fit(x.astype(float), x[:, 0] + x[:, 3])
    assert single.rank_ == double.rank_ == 15
    assert np.array_equal(single.coef_, double.coef_)


def test_rows_of_weight_zero_are_left_out_of_float32_too():
    x = np.random.default_rng(0).normal(size=(70_000, 16)).astype(np.float32)
    weights = np.repeat([0.0, 1.0], 35_000)
    found = [Ridge().fit(table, x[:, 3], sample_weight=weights) for table in (x, x.astype(float))]
    assert np.array_equal(found[0].coef_, found[1].coef_)


def test_a_hole_in_a_large_table_of_float32_is_named():
    x = np.zeros((70_000, 16), dtype=np.float32)
    x[69_000, 3] = np.nan
    with pytest.raises(ValueError, match="x3|NaN"):
        Ridge().fit(x, np.arange(70_000.0))


@pytest.mark.parametrize("order", ["C", "F"])
def test_answers_about_large_tables_of_float32_are_those_about_the_same_doubles(order):
    draw = np.random.default_rng(0)
    x = draw.normal(size=(70_000, 16)).astype(np.float32, order=order)
    y = x[:, 0] - x[:, 3] > draw.normal(size=len(x))
    double = x.astype(float)
    asked = [(LinearRegression(), "predict"), (LogisticRegression(max_iter=5), "predict_proba")]
    asked += [(GaussianNB(), "predict"), (StandardScaler(), "transform")]
    for learner, method in asked:
        model = clone(learner).fit(double[:1000], y[:1000])
        single, wide = (getattr(model, method)(table) for table in (x, double))
        assert np.array_equal(single, wide.astype(single.dtype)), (learner, method)
    x[69_000, 3] = np.nan
    with pytest.raises(ValueError, match="row 69001"):
        model = LinearRegression().fit(double[:1000], y[:1000])
        model.predict(x)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("rows", [40, 70_000])
def test_transformed_rows_of_float32_are_float32(rows, order):
    x = np.random.default_rng(0).normal(size=(rows, 16)).astype(np.float32, order=order)
    double = x.astype(float)
    learners = [StandardScaler(), PCA(n_components=3), PCA(), KMeans(n_clusters=3, random_state=0)]
    learners.append(make_pipeline(StandardScaler(), SimpleImputer()))
    for learner in learners:
        model = clone(learner).fit(double)
        single, wide = model.transform(x), model.transform(double)
        assert (single.dtype, wide.dtype) == (np.float32, np.float64), learner
        assert np.array_equal(single, wide.astype(np.float32)), learner
        if hasattr(model, "inverse_transform"):
            back, wide = model.inverse_transform(single), model.inverse_transform(single.astype(float))
            assert (back.dtype, wide.dtype) == (np.float32, np.float64), learner
            assert np.array_equal(back, wide.astype(np.float32)), learner


def test_frames_of_float32_give_frames_of_float32():
    x = pd.DataFrame(np.eye(4, dtype=np.float32), columns=["a", "b", "c", "d"])
    found = StandardScaler().fit(x).set_output(transform="pandas").transform(x)
    assert list(found.dtypes) == [np.float32] * x.shape[1]
    assert list(found.columns) == list(x.columns)
    for frame in (pl.from_pandas(x), pa.Table.from_pandas(x)):
        assert np.array_equal(StandardScaler().fit(frame).transform(frame), found.to_numpy())
        assert StandardScaler().fit(frame).transform(frame).dtype == np.float32


def test_a_composite_keeps_float32_where_all_its_parts_do():
    x = np.arange(40, dtype=np.float32).reshape(20, 2) % 3
    scaled = make_pipeline(SimpleImputer(), StandardScaler())
    coded = make_pipeline(SimpleImputer(), OneHotEncoder())
    foreign = make_pipeline(StandardScaler(), FunctionTransformer())
    beside = make_column_transformer((StandardScaler(), [0]), (OneHotEncoder(), [1]))
    for model, dtype in ((scaled, np.float32), (coded, np.float64), (beside, np.float64)):
        assert model.fit(x).transform(x).dtype == dtype
        assert (dtype == np.float32) == ("float32" in model.__sklearn_tags__().transformer_tags.preserves_dtype)
    assert foreign.__sklearn_tags__().transformer_tags.preserves_dtype == ["float64"]
    back = GaussianRandomProjection(n_components=1, random_state=0).fit(x)
    assert back.inverse_transform(back.transform(x)).dtype == np.float32


def test_rows_that_components_score_need_not_fit_float32_when_projected():
    x = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    model = PCA(n_components=2).fit(x.astype(float) * 1e-30)
    far = np.full((1, 3), 3e38, dtype=np.float32)
    assert np.isfinite(model.score_samples(x)).all()
    assert model.score_samples(far) == model.score_samples(far.astype(float))


@pytest.mark.parametrize("threads", [1, 2])
def test_parts_of_a_large_table_are_answered_and_refused_like_the_whole(threads):
    x = np.random.default_rng(0).normal(size=(70_000, 4)).astype(np.float32)
    model = make_pipeline(StandardScaler(with_std=False), PolynomialFeatures(2)).fit(x.astype(float))
    with learnt.threads(threads):
        assert np.array_equal(model.transform(x), model.transform(x.astype(float)).astype(np.float32))
        for value, message in ((np.nan, "row 69001"), (1e30, r"'x1\^2'.*row 69001 is too large for float32")):
            wrong = x.copy()
            wrong[69_000, 1] = value
            with pytest.raises(ValueError, match=message):
                model.transform(wrong)


def test_answers_of_float32_that_are_larger_than_memory_are_refused():
    x = np.ones((2_000_000, 2), dtype=np.float32)
    model = GaussianRandomProjection(n_components=1_000_000, random_state=0).fit(x[:4])
    with pytest.raises(MemoryError, match="memory"):
        model.transform(x)


def test_codes_of_categories_are_float64_whatever_the_rows_are():
    x = np.arange(12, dtype=np.float32).reshape(6, 2) % 3
    for learner in (OneHotEncoder(), OrdinalEncoder()):
        model = learner.fit(x)
        assert model.transform(x).dtype == np.float64
        assert model.inverse_transform(model.transform(x)).dtype == np.float64


@pytest.mark.parametrize("rows", [5, 70_000])
def test_a_transformed_number_that_float32_cannot_hold_is_named(rows):
    model = PolynomialFeatures(degree=2).fit(np.ones((2, 3)))
    x = np.ones((rows, 3), dtype=np.float32)
    x[rows - 2, 1] = 1e30
    with pytest.raises(ValueError, match=rf"'x1\^2'.*row {rows - 1} is too large for float32.*astype"):
        model.transform(x)
    assert model.transform(x.astype(float)).max() == np.float32(1e30).astype(float) ** 2


def test_holes_stay_holes_in_float32():
    x = np.ones((9, 2), dtype=np.float32)
    x[3, 1] = np.nan
    found = StandardScaler().fit(x).transform(x)
    assert found.dtype == np.float32 and np.isnan(found[3, 1]) and np.isfinite(found).sum() == 17
