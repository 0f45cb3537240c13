"""Bundled data and generators, beside scikit-learn's."""

import inspect

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from learnt import datasets


def test_iris_and_wine_are_scikit_learns():
    for name in ["iris", "wine"]:
        ours = getattr(datasets, f"load_{name}")()
        theirs = getattr(sklearn.datasets, f"load_{name}")()
        assert ours.data.shape == theirs.data.shape and ours.data.dtype == np.float64
        assert ours.target.dtype.kind == "i" and len(ours.target_names) == 3
        np.testing.assert_array_equal(np.bincount(ours.target), np.bincount(theirs.target))
        np.testing.assert_allclose(ours.data.mean(axis=0), theirs.data.mean(axis=0), rtol=2e-3)


def test_every_set_loads_in_every_form():
    assert len(datasets.names()) > 40
    for name in datasets.names():
        loader = getattr(datasets, f"load_{name}")
        bunch = loader()
        assert bunch.data.shape == (len(bunch.data), len(bunch.feature_names))
        assert bunch["DESCR"] is bunch.DESCR and "Source" in bunch.DESCR
        framed = loader(as_frame=True)
        assert list(framed.data.columns) == bunch.feature_names
        X, y = loader(return_X_y=True)
        assert (y is None) == (bunch.target is None)
        assert y is None or len(y) == len(X) == len(framed.frame)
        assert len(datasets.load(name).data) == len(X)


def test_text_is_objects_or_categories_and_gaps_stay_gaps():
    penguins = datasets.load_penguins()
    assert penguins.data.dtype == object
    framed = datasets.load_penguins(as_frame=True)
    island = penguins.feature_names.index("island")
    assert set(penguins.data[:, island]) == set(framed.data["island"])
    assert isinstance(framed.data["island"].dtype, pd.CategoricalDtype)
    sex = penguins.feature_names.index("sex")
    missing = [isinstance(v, float) and np.isnan(v) for v in penguins.data[:, sex]]
    np.testing.assert_array_equal(missing, framed.data["sex"].isna())
    assert any(missing)
    assert datasets.load_prices(as_frame=True).data["condition"].cat.ordered


def test_weights_come_along_and_unknown_names_are_refused():
    assert datasets.load_fish().sample_weight.sum() == pytest.approx(1.0)
    with pytest.raises(ValueError, match="iris"):
        datasets.load("irs")


NAMED = ["moons", "blobs", "circles", "classification", "regression", "friedman1"]


@pytest.mark.parametrize("name", NAMED)
def test_generators_take_scikit_learns_arguments(name):
    ours = getattr(datasets, f"make_{name}")
    theirs = getattr(sklearn.datasets, f"make_{name}")
    wanted = inspect.signature(theirs).parameters
    for parameter in inspect.signature(ours).parameters.values():
        assert parameter.name in wanted, parameter.name
        if parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD:
            assert wanted[parameter.name].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    X, y = ours(60, random_state=3)
    A, b = theirs(60, random_state=3)
    assert X.shape[0] == A.shape[0] == len(y) and y.dtype.kind == b.dtype.kind
    again, _ = ours(60, random_state=3)
    np.testing.assert_array_equal(X, again)


def test_every_generator_gives_rows_and_target():
    made = [name for name in datasets.__all__ if name.startswith("make_")]
    assert len(made) == 19
    for name in made:
        X, y = getattr(datasets, name)(n_samples=40, random_state=0)
        assert X.shape[0] == len(y) == 40


def test_noiseless_targets_and_bayes_rules():
    X, y, noiseless = datasets.make_sine(50, noise=0.5, return_noiseless=True, random_state=1)
    np.testing.assert_allclose(noiseless, np.sin(2 * np.pi * X[:, 0]), atol=1e-12)
    again, target = datasets.make_sine(50, noise=0.5, random_state=1)
    assert (again == X).all() and (target == y).all() and not np.allclose(y, noiseless)
    X, y = datasets.make_mixtures(2000, random_state=3)
    rule = datasets.mixtures_bayes_rule(X, random_state=3)
    assert abs(np.mean(rule["class"] != y) - rule.error) < 0.04
    other = datasets.mixtures_bayes_rule(X, random_state=4)
    assert np.mean(other["class"] != y) > np.mean(rule["class"] != y)


def test_tables_of_analysts_are_frames_with_their_texts():
    X, y = datasets.make_churn(300, random_state=2)
    assert list(X.columns[:2]) == ["customerID", "gender"] and X["Contract"].isin(
        ["Month-to-month", "One year", "Two year"]
    ).all()
    assert X["TotalCharges"].isna().any() and set(y) == {"No", "Yes"}
    genes, subtype = datasets.make_genes(50, 30, random_state=2)
    assert genes.shape == (50, 30) and len(set(subtype)) == 3
