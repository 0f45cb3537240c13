"""Functions that are generated from their definition: calls, results, errors and pictures."""

import pickle

import numpy as np
import pytest

import learnt
from learnt import errors, linalg, metrics, theory, tree
from learnt.errors import DataError, ParameterError


def test_results_are_tuples_with_names():
    penalty, bound, vacuous = found = theory.vc_bound(1000, 3)
    assert found.penalty == penalty == pytest.approx(0.466345, abs=1e-6)
    assert bound is None and vacuous is False
    assert found["penalty"] == penalty and found.to_dict()["vacuous"] is False
    assert "penalty=0.466" in repr(found)
    assert pickle.loads(pickle.dumps(found)).penalty == penalty


def test_long_results_are_shown_in_short():
    found = theory.vc_bound(1000, 3)
    curve = metrics.roc_curve(np.arange(4000) % 2, np.arange(4000) * 7919 % 4001)
    assert len(curve.fpr) > 1000 and len(repr(curve)) < 600 and "..." in repr(curve)
    assert "..." not in repr(found)


def test_one_result_is_the_bare_value():
    matrix = metrics.confusion_matrix(["a", "b", "a"], ["a", "a", "a"])
    assert isinstance(matrix, np.ndarray) and matrix.tolist() == [[2, 0], [1, 0]]


def test_labels_of_any_kind_share_one_list_of_classes():
    outlook = ["sunny", "rain", "sunny", "rain"]
    numbers = tree.gain_ratio(outlook, [1, 0, 1, 0]).gain_ratio
    flags = tree.gain_ratio(outlook, [True, False, True, False]).gain_ratio
    texts = tree.gain_ratio(outlook, ["y", "n", "y", "n"]).gain_ratio
    assert numbers == flags == texts == 1.0
    wide = metrics.confusion_matrix([10**12, -5, 10**12], [-5, -5, 10**12])
    assert wide.tolist() == [[1, 0], [1, 1]]


def test_what_cannot_be_computed_is_said():
    with pytest.raises(ParameterError, match="delta"):
        theory.vc_bound(1000, 3, delta=2)
    with pytest.raises(DataError, match="3 rows"):
        metrics.confusion_matrix([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match="weight"):
        metrics.confusion_matrix([1, 2], [1, 2], sample_weight=[0, 0])
    with pytest.raises(TypeError):
        theory.vc_bound()


def test_a_seed_decides_and_threads_do_not():
    study = {"data_sets": 300, "degrees": [1], "noise": 0.1, "points": 5}
    one = theory.bias_variance(**study, random_state=3, n_jobs=1)
    two = theory.bias_variance(**study, random_state=3, n_jobs=2)
    assert one.variance.tobytes() == two.variance.tobytes()
    other = theory.bias_variance(**study, random_state=4)
    assert one.variance[0] != other.variance[0]


def test_pictures_and_frames_of_results():
    found = theory.bias_variance(data_sets=50)
    assert found.plot().svg.startswith("<svg") and found._repr_html_() == found.plot().svg
    assert theory.vc_bound(10, 1).plot() is None
    frame = found.to_pandas()
    assert list(frame.columns)[:2] == ["degree", "bias_squared"] and len(frame) == 2


def test_answers_keep_arrays_and_missing_numbers():
    x = np.arange(24.0).reshape(12, 2) % 7
    model = learnt.linear_model.LinearRegression().fit(x, x[:, 0] ** 2)
    answer = model.influence(x, x[:, 0] ** 2)
    assert isinstance(answer["cook"], np.ndarray) and len(answer["cook"]) == 12
    assert answer.values().keys() == {"PRESS"}
    assert set(answer.to_pandas().columns) >= {"row", "leverage"}
    assert "<table>" in answer._repr_html_()
    with pytest.raises(KeyError, match="leverage"):
        answer["leverages"]
    with pytest.raises(ParameterError, match="level"):
        model.intervals(x, level=1.5)


def test_masked_values_are_missing_in_functions_too():
    masked = np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 0, 1])
    for call in (
        lambda: metrics.mean_squared_error(masked, [1.0, 2.0, 9.0]),
        lambda: metrics.roc_auc_score([0, 1, 1], masked),
        lambda: metrics.roc_auc_score([0, 1, 1], [0.1, 0.2, 0.3], sample_weight=masked),
        lambda: metrics.accuracy_score(masked.astype(int), [1, 2, 3]),
        lambda: linalg.svd(np.ma.masked_array(np.eye(2), mask=[[1, 0], [0, 0]])),
    ):
        with pytest.raises(errors.DataError, match="missing|masked|NaN|weight"):
            call()


def test_dates_and_complex_numbers_are_no_numbers():
    with pytest.raises(errors.DataTypeError, match="dates and times"):
        linalg.svd(np.zeros((3, 2), dtype="M8[s]"))
    with pytest.raises(errors.DataError, match="complex"):
        linalg.svd(np.eye(2) * 1j)


def test_texts_are_not_compared_with_numbers():
    for truth, found in ((["1", "0"], [1, 0]), (["a", 1], [1, 2]), ([None, "a"], ["a", "a"]), ([np.nan, 1.0], [1, 1])):
        with pytest.raises(errors.DataError, match="one type|missing"):
            metrics.accuracy_score(np.array(truth, dtype=object) if "a" in truth else truth, found)
    assert metrics.accuracy_score(np.array([1, 0], dtype=object), [1, 0]) == 1.0
    assert metrics.accuracy_score([1.0, 0.0], [True, False]) == 1.0
    assert metrics.adjusted_rand_score(["a", "a", "b"], [0, 0, 1]) == 1.0
    large = np.array([2**63, 2**63 + 1], dtype=np.uint64)
    assert metrics.accuracy_score(large, large[::-1]) == 0.0
