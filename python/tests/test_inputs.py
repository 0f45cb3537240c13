"""The same numbers give the same model, whatever holds them."""

import io
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from learnt import _native, _validation, errors
from learnt.compose import ColumnTransformer
from learnt.ensemble import VotingRegressor
from learnt.impute import SimpleImputer
from learnt.linear_model import LinearRegression, Ridge
from learnt.naive_bayes import GaussianNB
from learnt.pipeline import Pipeline
from learnt.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from learnt.tree import DecisionTreeClassifier, DecisionTreeRegressor

RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=(60, 4))
NAMES = ["height", "width", "depth", "weight"]
TARGET = VALUES[:, 0] - 2 * VALUES[:, 2]


def frames():
    """The same table in every kind of frame."""
    parts = {name: VALUES[:, j] for j, name in enumerate(NAMES)}
    return {
        "pandas": pd.DataFrame(VALUES, columns=NAMES),
        "polars": pl.DataFrame(parts),
        "pyarrow": pa.table(parts),
    }


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_frames_agree_with_arrays(kind):
    expected = DecisionTreeRegressor(random_state=0).fit(VALUES, TARGET).predict(VALUES)
    learner = DecisionTreeRegressor(random_state=0).fit(frames()[kind], TARGET)
    assert list(learner.feature_names_in_) == NAMES
    for other in frames().values():
        np.testing.assert_array_equal(learner.predict(other), expected)


@pytest.mark.parametrize(
    "convert",
    [
        np.asfortranarray,
        lambda x: x[::-1][::-1],
        lambda x: np.repeat(x, 2, axis=0)[::2],
        lambda x: np.hstack([x, x])[:, :4],
        lambda x: x.tolist(),
        lambda x: x.astype(object),
        lambda x: x.astype(">f8"),
        lambda x: x.astype(str),
        memoryview,
    ],
)
def test_layouts_and_types_agree(convert):
    learner = StandardScaler().fit(convert(VALUES))
    np.testing.assert_array_equal(learner.mean_, StandardScaler().fit(VALUES).mean_)
    np.testing.assert_array_equal(
        learner.transform(convert(VALUES)), StandardScaler().fit_transform(VALUES)
    )


def test_single_precision_is_widened():
    learner = StandardScaler().fit(VALUES.astype(np.float32))
    np.testing.assert_allclose(learner.mean_, VALUES.mean(axis=0), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x,
        np.asfortranarray,
        lambda x: x[10:50],
        lambda x: x[::3],
        lambda x: x[:, 1:3],
        lambda x: np.asfortranarray(x)[::2, ::2],
        lambda x: x.T,
    ],
)
def test_float64_is_read_in_place(view):
    x = view(VALUES)
    before = _native.copied_bytes()
    StandardScaler().fit(x).transform(x)
    assert _native.copied_bytes() == before


def test_frames_of_pandas_are_read_in_place():
    x = pd.DataFrame(VALUES, columns=NAMES)
    before = _native.copied_bytes()
    StandardScaler().fit(x).transform(x)
    assert _native.copied_bytes() == before


def test_other_types_are_copied_once():
    before = _native.copied_bytes()
    StandardScaler().fit(VALUES.astype(np.float32))
    assert _native.copied_bytes() - before == VALUES.nbytes


def test_a_read_only_memory_map_is_read_in_place(tmp_path):
    np.save(tmp_path / "x.npy", VALUES)
    x = np.load(tmp_path / "x.npy", mmap_mode="r")
    before = _native.copied_bytes()
    StandardScaler().fit(x)
    assert _native.copied_bytes() == before


def test_columns_are_matched_by_name():
    x = frames()["pandas"]
    learner = DecisionTreeRegressor(random_state=0).fit(x, TARGET)
    np.testing.assert_array_equal(learner.predict(x[NAMES[::-1]]), learner.predict(x))


def test_extra_columns_are_ignored_with_a_warning():
    x = frames()["pandas"]
    learner = DecisionTreeRegressor(random_state=0).fit(x, TARGET)
    with pytest.warns(errors.LearntWarning, match="colour"):
        found = learner.predict(x.assign(colour=1.0))
    np.testing.assert_array_equal(found, learner.predict(x))


def test_a_missing_column_is_named():
    learner = DecisionTreeRegressor().fit(frames()["pandas"], TARGET)
    with pytest.raises(errors.SchemaError, match="'depth'") as caught:
        learner.predict(frames()["pandas"].drop(columns="depth"))
    assert caught.value.code == "E014"


def test_columns_without_names_are_matched_by_place_with_a_warning():
    learner = DecisionTreeRegressor(random_state=0).fit(frames()["pandas"], TARGET)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        found = learner.predict(VALUES)
    np.testing.assert_array_equal(found, learner.predict(frames()["pandas"]))


def categories():
    """One column of numbers and one of words, with gaps, in every kind of frame."""
    size = [1.0, None, 3.0, 4.0, 5.0, 6.0]
    kind = ["a", "b", None, "b", "a", "c"]
    nullable = pd.DataFrame({"size": pd.array(size, dtype="Float64"), "kind": kind})
    return {
        "pandas": pd.DataFrame({"size": size, "kind": kind}),
        "pandas objects": pd.DataFrame({"size": size, "kind": np.array(kind, dtype=object)}),
        "pandas categories": pd.DataFrame({"size": size, "kind": pd.Categorical(kind)}),
        "pandas nullable": nullable.astype({"kind": "string"}),
        "polars": pl.DataFrame({"size": size, "kind": kind}),
        "polars categories": pl.DataFrame({"size": size, "kind": kind}).cast(
            {"kind": pl.Categorical}
        ),
        "pyarrow": pa.table({"size": size, "kind": kind}),
        "pyarrow dictionary": pa.table({"size": size, "kind": pa.array(kind).dictionary_encode()}),
    }


def test_categories_and_gaps_mean_the_same_in_every_frame():
    y = ["n", "y", "n", "y", "n", "y"]
    fitted = {
        name: DecisionTreeClassifier(random_state=0).fit(x, y) for name, x in categories().items()
    }
    expected = fitted["pandas"].predict_proba(categories()["pandas"])
    for learner in fitted.values():
        for x in categories().values():
            np.testing.assert_array_equal(learner.predict_proba(x), expected)


def test_codes_of_categories_may_differ_between_fit_and_predict():
    y = [0, 1, 0, 1, 0, 1]
    x = categories()["pandas"]
    learner = DecisionTreeClassifier(random_state=0).fit(x, y)
    turned = x.assign(kind=pd.Categorical(x["kind"], categories=["c", "b", "a"]))
    np.testing.assert_array_equal(learner.predict(turned), learner.predict(x))


def test_an_unseen_category_is_named():
    x = categories()["pandas"]
    learner = DecisionTreeClassifier().fit(x, [0, 1, 0, 1, 0, 1])
    with pytest.raises(errors.SchemaError, match="'z'") as caught:
        learner.predict(x.assign(kind="z"))
    assert caught.value.code == "E022"
    assert caught.value.column == "kind"


def test_words_are_refused_by_learners_of_numbers():
    with pytest.raises(errors.DataError, match="'kind' is categorical") as caught:
        StandardScaler().fit(categories()["pandas"])
    assert caught.value.code == "E024"


def test_gaps_are_refused_by_learners_that_cannot_take_them():
    learner = Pipeline([("encode", OneHotEncoder())]).fit(categories()["pandas"])
    assert learner.transform(categories()["polars"]).shape[0] == 6
    with pytest.raises(errors.DataError, match="missing"):
        from learnt.preprocessing import PolynomialFeatures

        PolynomialFeatures().fit(categories()["pandas"][["size"]])


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_rows_that_are_read_without_the_native_gate_name_what_is_wrong(value, word):
    rows = VALUES.copy()
    rows[[7, 9], 2] = value
    votes = VotingRegressor([("a", Ridge()), ("b", LinearRegression())])
    plain = votes.fit(VALUES, TARGET)
    with pytest.raises(errors.DataError, match=f"contains {word}: column 'x2', first in row 8"):
        plain.transform(rows)
    named = votes.fit(pd.DataFrame(VALUES, columns=NAMES), TARGET)
    with pytest.raises(errors.DataError, match=f"contains {word}: column 'depth', first in row 8"):
        named.transform(pd.DataFrame(rows, columns=NAMES))


def test_a_pipeline_prepares_mixed_columns():
    prepare = ColumnTransformer(
        [
            ("numbers", SimpleImputer(), ["size"]),
            ("words", OneHotEncoder(), lambda x: ["kind"]),
        ]
    )
    y = [0, 1, 0, 1, 0, 1]
    learner = Pipeline([("prepare", prepare), ("tree", DecisionTreeClassifier(random_state=0))])
    expected = learner.fit(categories()["pandas"], y).predict(categories()["pandas"])
    for x in categories().values():
        np.testing.assert_array_equal(learner.predict(x), expected)


def test_categories_come_back_from_an_encoder():
    x = np.array([["u", "1"], ["v", "2"], ["u", "2"]], dtype=object)
    encoder = OrdinalEncoder().fit(x[:, :1])
    back = encoder.inverse_transform(encoder.transform(x[:, :1]))
    assert back.tolist() == x[:, :1].tolist()


def test_sparse_matrices_are_refused():
    with pytest.raises(TypeError, match="Sparse"):
        StandardScaler().fit(sparse.csr_array(VALUES))


@pytest.mark.parametrize(
    "bad, error",
    [
        (None, TypeError),
        ("text", TypeError),
        (3.0, ValueError),
        ([1.0, 2.0], ValueError),
        ([[1.0], [2.0, 3.0]], ValueError),
        (np.zeros((2, 2, 2, 2, 2)), ValueError),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), TypeError),
        ([[{}]], TypeError),
        (np.array([[1 + 2j]]), ValueError),
        (io.StringIO("x"), ValueError),
    ],
)
def test_what_is_no_table_is_refused(bad, error):
    with pytest.raises(error):
        StandardScaler().fit(bad)


def test_names_must_differ():
    with pytest.raises(errors.DataError, match="both named 'a'") as caught:
        StandardScaler().fit(pd.DataFrame(VALUES[:, :2], columns=["a", "a"]))
    assert caught.value.code == "E015"


@pytest.mark.parametrize(
    "y",
    [
        ["b", "a", "b", "a", "c", "a"],
        [2, 1, 2, 1, 3, 1],
        [2.0, 1.0, 2.0, 1.0, 3.0, 1.0],
        [True, False, True, False, True, False],
        np.array(["b", "a", "b", "a", "c", "a"], dtype=object),
        pd.Series(["b", "a", "b", "a", "c", "a"], dtype="category"),
        pl.Series(["b", "a", "b", "a", "c", "a"]),
        pa.array(["b", "a", "b", "a", "c", "a"]),
    ],
)
def test_classes_keep_their_values(y):
    learner = DecisionTreeClassifier(random_state=0).fit(VALUES[:6], y)
    assert sorted(set(np.asarray(y).tolist())) == learner.classes_.tolist()
    assert learner.predict(VALUES[:6]).tolist() == np.asarray(y).tolist()


def test_weights_of_classes_are_weights_of_rows():
    y = (TARGET > 0).astype(int)
    by_class = DecisionTreeClassifier(max_depth=2, random_state=0, class_weight={0: 3, 1: 0.5})
    by_row = DecisionTreeClassifier(max_depth=2, random_state=0)
    found = by_class.fit(VALUES, y).predict_proba(VALUES)
    expected = by_row.fit(VALUES, y, np.where(y == 0, 3, 0.5)).predict_proba(VALUES)
    np.testing.assert_array_equal(found, expected)


def test_words_that_are_one_object_or_many_have_the_same_levels():
    draw = np.random.default_rng(0)
    names = ["b", "a", None, "ccc", float("nan"), 1.0, 2]
    codes = draw.integers(0, len(names), 1000)
    same = np.array([names[code] for code in codes], dtype=object)
    # Texts that are equal and stand in different places of memory.
    other = np.array([str(names[c]) + "" if isinstance(names[c], str) else names[c] for c in codes], dtype=object)
    other[0], other[1] = "".join(["cc", "c"]), "".join(["b", ""])
    same[0], same[1] = "ccc", "b"
    found = [OrdinalEncoder().fit(column[:, None]) for column in (same, other)]
    for encoder in found:
        assert list(encoder.categories_[0])[:5] == ["1", "2", "a", "b", "ccc"]
    assert np.array_equal(*[e.transform(c[:, None]) for e, c in zip(found, (same, other))], equal_nan=True)


@pytest.mark.parametrize("count", [1, 7, 5_000, 70_000])
def test_levels_of_texts_are_those_of_python_whichever_objects_hold_them(count):
    draw = np.random.default_rng(count)
    names = [f"a common beginning {k:x}é" for k in range(count)] + ["", "a", "Z", "ü", "a\0", "𝄞", "\uffff"]
    picked = [names[k] for k in draw.integers(0, len(names), 100_000)]
    picked[3], picked[5] = None, float("nan")
    expected = sorted({name for name in picked if isinstance(name, str)})
    code = {name: k for k, name in enumerate(expected)}
    wanted = np.array([code.get(name, np.nan) for name in picked])
    # One object a text, and one a row.
    apart = [name if not isinstance(name, str) else "".join([name[:1], name[1:]]) for name in picked]
    for column in (picked, apart):
        codes, levels = _native.text_levels(np.array(column, dtype=object))
        assert levels == expected
        np.testing.assert_array_equal(codes, wanted)


def test_columns_that_hold_more_than_texts_have_no_levels_of_texts():
    class Word(str):
        __slots__ = ()

    for column in ([], [None], ["a", 1], ["a", 1.5], ["a", b"a"], ["a", Word("a")], ["a", ["b"]], ["a", "\udc80"]):
        objects = np.empty(len(column), dtype=object)
        objects[:] = column
        assert _native.text_levels(objects) is None


@pytest.mark.parametrize("kind", ["U", object])
def test_classes_that_are_texts_are_those_of_numpy(kind):
    words = np.array([f"class {k}" for k in range(300)])
    y = words[np.random.default_rng(0).integers(0, 300, 20_000)].astype(kind)
    codes, classes = _validation.encode_classes(y)
    expected, places = np.unique(y, return_inverse=True)
    assert classes.dtype == expected.dtype and classes.tolist() == expected.tolist()
    assert codes.dtype == np.uint32 and np.array_equal(codes, places)


def test_classes_of_many_rows_are_read_in_pieces_and_checked_to_the_last():
    y = np.random.default_rng(0).integers(-3, 40, 100_001).astype(float)
    codes, classes = _validation.encode_classes(y)
    expected, places = np.unique(y, return_inverse=True)
    assert np.array_equal(classes, expected) and np.array_equal(codes, places)
    for wrong, word in ((0.5, "continuous"), (np.nan, "NaN"), (np.inf, "NaN or infinity")):
        spoilt = y.copy()
        spoilt[-1] = wrong
        with pytest.raises(errors.DataError, match=word):
            _validation.encode_classes(spoilt)


def test_more_words_than_are_worth_remembering_are_read_too():
    words = np.array([f"w{k:06d}" for k in range(70_000)], dtype=object)
    assert _native.repeated_objects(words) is None
    encoder = OrdinalEncoder().fit(words[:, None])
    assert np.array_equal(encoder.transform(words[::-1, None]).ravel(), np.arange(70_000.0)[::-1])


def test_classes_of_repeated_words_keep_their_order():
    labels = np.array(["no", "yes", "maybe"], dtype=object)[[0, 1, 2, 1, 0, 2] * 10]
    model = GaussianNB().fit(np.arange(60.0)[:, None], labels)
    assert model.classes_.tolist() == ["maybe", "no", "yes"]
    with pytest.raises(errors.DataError, match="NaN"):
        GaussianNB().fit(np.arange(60.0)[:, None], np.where(np.arange(60) == 7, None, labels))


@pytest.mark.parametrize("kind", ["int8", "uint8", "int32", "int64", "uint64", "float32", "float64", "bool"])
@pytest.mark.parametrize("scale", [1, 100_000])
def test_classes_that_are_numbers_are_those_of_numpy(kind, scale):
    draw = np.random.default_rng(0)
    low = 0 if kind in ("uint8", "uint64", "bool") else -100
    y = draw.integers(low, 27, 500).astype(kind)
    if kind in ("int32", "int64", "float64"):
        y *= np.array(scale, dtype=kind)
    codes, classes = _validation.encode_classes(y)
    expected, places = np.unique(y, return_inverse=True)
    assert classes.dtype == expected.dtype and np.array_equal(classes, expected)
    assert np.array_equal(codes, places)


def test_masked_values_are_missing_and_never_read():
    masked = np.ma.masked_array(VALUES, mask=VALUES > 2)
    assert masked.mask.any()
    with pytest.raises(errors.DataError, match="missing values"):
        Ridge().fit(masked, TARGET)
    with pytest.raises(errors.DataError, match="missing|NaN"):
        Ridge().fit(VALUES, TARGET).predict(masked)
    holes = np.where(masked.mask, np.nan, VALUES)
    expected = DecisionTreeRegressor(random_state=0).fit(holes, TARGET).predict(holes)
    found = DecisionTreeRegressor(random_state=0).fit(masked, TARGET).predict(masked)
    np.testing.assert_array_equal(found, expected)
    whole = np.ma.masked_array(VALUES, mask=False)
    np.testing.assert_array_equal(Ridge().fit(whole, TARGET).coef_, Ridge().fit(VALUES, TARGET).coef_)
    for rest in ({"y": np.ma.masked_less(TARGET, 0)}, {"y": TARGET, "sample_weight": np.ma.masked_less(TARGET, 0)}):
        with pytest.raises(errors.DataError, match="masked values"):
            Ridge().fit(VALUES, **rest)


DAYS = np.datetime64("2020-01-01") + np.arange(60)


@pytest.mark.parametrize(
    "times",
    [DAYS, DAYS - DAYS[0], pd.Series(DAYS), pd.Series(DAYS).dt.tz_localize("UTC"), pl.Series(DAYS.tolist())],
    ids=["days", "spans", "pandas", "zones", "polars"],
)
def test_times_are_no_targets_and_no_inputs(times):
    with pytest.raises((errors.DataTypeError, errors.DataError), match="dates and times|numeric"):
        Ridge().fit(VALUES, times)
    frame = pl.DataFrame({"t": times}) if isinstance(times, pl.Series) else pd.DataFrame({"t": times})
    with pytest.raises(errors.DataTypeError, match="column 't': dates and times"):
        Ridge().fit(frame, TARGET)


def test_fields_of_an_array_are_no_target():
    with pytest.raises(errors.DataTypeError, match="one of its fields"):
        Ridge().fit(VALUES, np.zeros(60, dtype=[("a", "f8")]))


LARGE = np.array([2**53 + 1, 2**53 + 2, 2**53 + 3] * 20)


@pytest.mark.parametrize(
    "table",
    [
        LARGE[:, None],
        LARGE.astype(np.uint64)[:, None],
        pd.DataFrame({"id": LARGE}),
        pd.DataFrame({"id": LARGE, "x": 0.5}),
        pd.DataFrame({"id": pd.array(LARGE, dtype="Int64")}),
        pl.DataFrame({"id": LARGE}),
        pa.table({"id": LARGE}),
    ],
)
def test_whole_numbers_that_lose_digits_are_counted(table):
    with pytest.warns(errors.DataConversionWarning, match="40 whole numbers beyond"):
        StandardScaler().fit(table)


def test_whole_numbers_that_lose_nothing_are_not_mentioned():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        StandardScaler().fit(np.array([[2**53], [-(2**53)], [0]]))
        StandardScaler().fit(np.array([[2**60], [2**62], [0]]))
    with pytest.warns(errors.DataConversionWarning, match="y: 40 whole"):
        Ridge().fit(VALUES, LARGE)
    classes = LARGE.astype(np.uint64) + np.uint64(2**63)
    tree = DecisionTreeClassifier(random_state=0).fit(np.arange(60.0)[:, None], classes)
    np.testing.assert_array_equal(tree.predict(np.arange(60.0)[:, None]), classes)


@pytest.mark.parametrize("cell", [[1, 2], (1,), {"a": 1}, np.zeros(2)], ids=["list", "tuple", "dict", "array"])
def test_nested_cells_are_refused_by_name(cell):
    cells = np.empty(60, dtype=object)
    for i in range(60):
        cells[i] = cell
    with pytest.raises(errors.DataTypeError, match="column 'a': cells that hold a"):
        OneHotEncoder().fit(pd.DataFrame({"a": cells}))
    if isinstance(cell, (list, dict)):
        with pytest.raises(errors.DataTypeError, match="column 'a': cells that hold a"):
            OneHotEncoder().fit(pl.DataFrame({"a": [cell] * 60}))
        with pytest.raises(errors.DataTypeError, match="column 'a': cells that hold a"):
            OneHotEncoder().fit(pa.table({"a": [cell] * 60}))


def test_numbers_beyond_any_float_and_seeds_beyond_64_bits_are_refused():
    with pytest.raises(errors.DataError, match="too large"):
        Ridge().fit([[10**400], [1]] * 30, TARGET)
    with pytest.raises(errors.ParameterError, match=r"below 2\*\*64"):
        DecisionTreeRegressor(random_state=2**64).fit(VALUES, TARGET)
    DecisionTreeRegressor(random_state=2**64 - 1).fit(VALUES, TARGET)


def test_columns_that_are_numbers_keep_their_order():
    frame = pd.DataFrame(VALUES, columns=[3, 1, 2, 0])
    learner = Ridge().fit(frame, TARGET)
    with pytest.raises(errors.SchemaError, match="into that order"):
        learner.predict(frame[[0, 1, 2, 3]])
    expected = learner.predict(frame)
    np.testing.assert_array_equal(learner.predict(VALUES), expected)
    np.testing.assert_array_equal(learner.predict(pd.DataFrame(VALUES, columns=range(10, 14))), expected)


def test_what_a_fit_found_cannot_be_changed_apart_from_the_model():
    learner = Ridge().fit(VALUES, TARGET)
    with pytest.raises(ValueError, match="read-only"):
        learner.coef_[:] = 0.0
    with pytest.raises(AttributeError, match="predictions would not follow"):
        learner.coef_ = np.ones(4)
    learner.note_ = "mine"
    learner.fit(VALUES, -TARGET)
    np.testing.assert_allclose(learner.coef_, -Ridge().fit(VALUES, TARGET).coef_)
