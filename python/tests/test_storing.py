"""Models survive files, pickles and copies with every bit."""

import copy
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest

import learnt
from learners import make, paths
from learnt import _base, errors
from learnt.decomposition import PCA

RNG = np.random.default_rng(1)
X = pd.DataFrame(RNG.uniform(1, 2, size=(40, 3)), columns=["a", "b", "c"])
Y = np.array(["low", "middle", "high"], dtype=object)[RNG.integers(0, 3, 40)]


def fitted(path):
    learner = make(path)
    if "random_state" in learner.get_params():
        learner.set_params(random_state=0)
    if "regressor" in learner._roles():
        return learner.fit(X, X["a"].to_numpy())
    two = learner._facts().get("two_classes", False)
    return learner.fit(X, np.where(Y == "low", "low", "high") if two else Y)


def outputs(learner):
    methods = ("predict", "predict_proba", "decision_function", "transform")
    return [getattr(learner, m)(X) for m in methods if hasattr(learner, m)]


def same(first, second):
    for a, b in zip(outputs(first), outputs(second), strict=True):
        np.testing.assert_array_equal(a, b)
    return True


@pytest.mark.parametrize("path", paths())
def test_a_file_gives_the_model_back(path, tmp_path):
    learner = fitted(path)
    learner.save(tmp_path / "model.learnt")
    loaded = learnt.load(tmp_path / "model.learnt")
    assert type(loaded) is type(learner)
    assert loaded.to_bytes() == learner.to_bytes() == (tmp_path / "model.learnt").read_bytes()
    assert list(loaded.feature_names_in_) == ["a", "b", "c"]
    assert same(learner, loaded)


@pytest.mark.parametrize("path", paths())
def test_pickles_and_copies_give_the_model_back(path, tmp_path):
    learner = fitted(path)
    joblib.dump(learner, tmp_path / "model.joblib")
    copies = [
        pickle.loads(pickle.dumps(learner)),
        copy.deepcopy(learner),
        joblib.load(tmp_path / "model.joblib"),
    ]
    for other in copies:
        assert other.to_bytes() == learner.to_bytes()
        assert repr(other) == repr(learner)
        assert same(learner, other)


@pytest.mark.parametrize("path", paths())
def test_equal_fits_give_equal_bytes(path):
    assert fitted(path).to_bytes() == fitted(path).to_bytes()


def test_a_damaged_file_is_refused(tmp_path):
    data = bytearray(fitted("dummy.DummyClassifier").to_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "bad").write_bytes(data)
    with pytest.raises(errors.ModelFileError) as caught:
        learnt.load(tmp_path / "bad")
    assert caught.value.code.startswith("E05")
    with pytest.raises(errors.ModelFileError):
        learnt.from_bytes(b"text")
    with pytest.raises(FileNotFoundError):
        learnt.load(tmp_path / "none")


def test_an_error_of_the_system_is_an_os_error(tmp_path):
    with pytest.raises(OSError):
        fitted("dummy.DummyClassifier").save(tmp_path / "none" / "model")


def test_classes_keep_their_kind():
    for classes in ([1, 2], [True, False], ["a", "b"], [0.0, 1.0]):
        learner = learnt.dummy.DummyClassifier().fit([[1.0], [2.0]], classes)
        loaded = learnt.from_bytes(learner.to_bytes())
        assert loaded.classes_.dtype.kind == learner.classes_.dtype.kind
        assert loaded.predict([[1.0]]) == learner.predict([[1.0]])


class Forged:
    """A model whose history names what it likes."""

    def __init__(self, path, params):
        self.path, self.params = path, params

    def history(self):
        return {"path": self.path, "params": self.params, "columns": (["x0"], []), "classes": None, "seed": 0}


@pytest.mark.parametrize(
    "path, params",
    [
        ("_base.load", {"path": "elsewhere.learnt"}),
        ("linalg.svd", {"a": [[1.0]]}),
        ("__main__.main", {}),
        ("linear_model.Ridge", {"alph4": 1.0}),
        ("ensemble.BaggingRegressor", {"estimator": {"learner": "_base.load", "params": {"path": "x"}}}),
        ("ensemble.BaggingRegressor", {"estimator": {"path": "x"}}),
    ],
)
def test_a_forged_history_builds_nothing_but_learners(path, params):
    with pytest.raises(errors.ModelFileError):
        _base.from_model(Forged(path, params))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_the_density_of_components_passes_the_gate(bad):
    rows = np.random.default_rng(0).normal(size=(30, 3))
    components = PCA(2).fit(rows)
    rows[4, 1] = bad
    with pytest.raises(errors.DataError, match="row 5"):
        components.score_samples(rows)
