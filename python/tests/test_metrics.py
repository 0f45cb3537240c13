"""Metrics, curves and distances against scikit-learn, on random inputs with ties and weights."""

import json
import pathlib
import warnings

import numpy as np
import pytest
import sklearn.calibration
import sklearn.metrics as theirs

import learnt.calibration
import learnt.metrics as ours
from learnt import _functions

GOLDEN = pathlib.Path(__file__).parents[2] / "tests" / "golden" / "metrics.json"


def close(a, b):
    """Equal to ten digits, in the same shape."""
    if isinstance(b, tuple):
        assert len(a) == len(b)
        for one, other in zip(a, b):
            close(one, other)
        return
    if b is None:
        assert a is None
        return
    assert np.shape(a) == np.shape(b)
    np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)


def classes(k, seed, names=None, n=200):
    rng = np.random.default_rng(seed)
    y, p = rng.integers(0, k, n), rng.integers(0, k, n)
    p = np.where(rng.random(n) < 0.6, y, p)
    if names is not None:
        y, p = np.array(names)[y], np.array(names)[p]
    return y, p, rng.random(n) + 0.1


CASES = [
    classes(2, 0),
    classes(4, 1),
    classes(3, 2, ["ant", "bee", "cat"]),
    classes(2, 3, [-1, 1]),
]
IDS = ["binary", "four", "texts", "signs"]


@pytest.mark.parametrize("case", CASES, ids=IDS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "name, params",
    [
        ("accuracy_score", {}),
        ("accuracy_score", {"normalize": False}),
        ("zero_one_loss", {}),
        ("zero_one_loss", {"normalize": False}),
        ("balanced_accuracy_score", {}),
        ("balanced_accuracy_score", {"adjusted": True}),
        ("matthews_corrcoef", {}),
        ("cohen_kappa_score", {}),
        ("cohen_kappa_score", {"weights": "linear"}),
        ("cohen_kappa_score", {"weights": "quadratic"}),
        ("confusion_matrix", {}),
        ("confusion_matrix", {"normalize": "true"}),
        ("confusion_matrix", {"normalize": "all"}),
        ("precision_score", {"average": "macro"}),
        ("precision_score", {"average": None}),
        ("recall_score", {"average": "micro"}),
        ("recall_score", {"average": "weighted"}),
        ("f1_score", {"average": "macro"}),
        ("f1_score", {"average": "weighted"}),
        ("fbeta_score", {"beta": 0.5, "average": "macro"}),
        ("fbeta_score", {"beta": 2.0, "average": None}),
        ("precision_recall_fscore_support", {}),
        ("precision_recall_fscore_support", {"average": "macro", "beta": 2.0}),
    ],
)
def test_predicted_classes(name, params, case, weighted):
    y, p, w = case
    w = w if weighted else None
    found = getattr(ours, name)(y, p, sample_weight=w, **params)
    wanted = getattr(theirs, name)(y, p, sample_weight=w, **params)
    close(found, wanted)
    if isinstance(wanted, np.ndarray):
        assert found.dtype == wanted.dtype


@pytest.mark.parametrize("name", ["precision_score", "recall_score", "f1_score"])
def test_the_positive_class_and_zero_division(name):
    y, p, _ = CASES[0]
    close(getattr(ours, name)(y, p), getattr(theirs, name)(y, p))
    close(getattr(ours, name)(y, p, pos_label=0), getattr(theirs, name)(y, p, pos_label=0))
    close(getattr(ours, name)(y == 1, p == 1), getattr(theirs, name)(y == 1, p == 1))
    some = {"labels": [1, 0, 7], "average": None, "zero_division": 1.0}
    close(getattr(ours, name)(y, p, **some), getattr(theirs, name)(y, p, **some))
    nothing = np.zeros_like(y)
    for value in (0.0, 1.0, np.nan):
        for average in ("binary", "macro"):
            given = {"zero_division": value, "average": average}
            close(getattr(ours, name)(y, nothing, **given), getattr(theirs, name)(y, nothing, **given))
    with pytest.raises(ValueError):
        getattr(ours, name)(CASES[1][0], CASES[1][1])
    with pytest.raises(ValueError):
        getattr(ours, name)(*CASES[2][:2], average="binary")


def test_an_undefined_score_warns_as_scikit_learn_does():
    with pytest.warns(sklearn.exceptions.UndefinedMetricWarning):
        assert ours.precision_score([0, 1], [0, 0]) == 0.0
    with pytest.warns(sklearn.exceptions.UndefinedMetricWarning):
        assert np.isnan(ours.roc_auc_score([1, 1], [0.1, 0.2]))
    with pytest.warns(sklearn.exceptions.UndefinedMetricWarning):
        assert np.isnan(ours.r2_score([1.0], [1.0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        close(ours.r2_score([2.0, 2.0], [2.0, 1.0]), theirs.r2_score([2.0, 2.0], [2.0, 1.0]))
        close(ours.roc_curve([0, 0], [1.0, 2.0]), theirs.roc_curve([0, 0], [1.0, 2.0]))


def test_the_report_has_the_numbers_of_scikit_learn():
    y, p, w = CASES[2]
    found = ours.classification_table(y, p, sample_weight=w)
    wanted = theirs.classification_report(y, p, sample_weight=w, output_dict=True)
    close(found.accuracy, wanted.pop("accuracy"))
    assert found["class"] == list(wanted)
    for column, key in [("precision", "precision"), ("recall", "recall"), ("f1_score", "f1-score")]:
        close(found[column], [row[key] for row in wanted.values()])


def test_the_report_is_scikit_learns_text_and_dictionary():
    rng = np.random.default_rng(3)
    y, p = rng.integers(0, 3, 50), rng.integers(0, 3, 50)
    names = ["setosa", "a very long name of a class", "c"]
    cases = [
        {}, {"digits": 4}, {"target_names": names}, {"labels": [2, 0]}, {"labels": [0, 1, 2]},
        {"sample_weight": rng.integers(1, 9, 50) / 4}, {"labels": [2, 0], "target_names": ["x", "y"]},
    ]
    for given in cases:
        assert ours.classification_report(y, p, **given) == theirs.classification_report(y, p, **given)
        found = ours.classification_report(y, p, output_dict=True, **given)
        wanted = theirs.classification_report(y, p, output_dict=True, **given)
        assert list(found) == list(wanted)
        for name, row in wanted.items():
            close(list(found[name].values()) if isinstance(row, dict) else found[name],
                  list(row.values()) if isinstance(row, dict) else row)
    with pytest.raises(ValueError, match="target_names"):
        ours.classification_report(y, p, target_names=["a"])


def ranking(seed, n=300, ties=True):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    s = rng.normal(size=n) + y
    return y, np.round(s, 1) if ties else s, rng.random(n) + 0.1


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(
    "name, params",
    [
        ("roc_curve", {}),
        ("roc_curve", {"drop_intermediate": False}),
        ("roc_curve", {"pos_label": 0}),
        ("roc_auc_score", {}),
        ("roc_auc_score", {"max_fpr": 0.3}),
        ("precision_recall_curve", {}),
        ("precision_recall_curve", {"drop_intermediate": True}),
        ("average_precision_score", {}),
        ("average_precision_score", {"pos_label": 0}),
        ("hinge_loss", {}),
    ],
)
def test_rankings(name, params, ties, weighted):
    y, s, w = ranking(4, ties=ties)
    w = w if weighted else None
    found = getattr(ours, name)(y, s, sample_weight=w, **params)
    close(found, getattr(theirs, name)(y, s, sample_weight=w, **params))
    if name == "average_precision_score":
        return
    named = np.array(["no", "yes"])[y]
    if name in ("roc_auc_score", "hinge_loss"):
        close(getattr(ours, name)(named, s, **params), getattr(theirs, name)(named, s, **params))


def probabilities(k, seed, n=250):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    p = rng.random((n, k)) + 2.0 * np.eye(k)[y] * rng.random((n, 1))
    return y, np.round(p / p.sum(axis=1, keepdims=True), 12), rng.random(n) + 0.1


@pytest.mark.parametrize("average", ["macro", "weighted", "micro", None])
def test_areas_of_several_classes(average):
    y, p, w = probabilities(4, 5)
    p = p / p.sum(axis=1, keepdims=True)
    given = {"multi_class": "ovr", "average": average}
    close(ours.roc_auc_score(y, p, **given), theirs.roc_auc_score(y, p, **given))
    weighted = given | {"sample_weight": w}
    close(ours.roc_auc_score(y, p, **weighted), theirs.roc_auc_score(y, p, **weighted))
    close(
        ours.average_precision_score(y, p, average=average),
        theirs.average_precision_score(y, p, average=average),
    )
    if average in ("macro", "weighted"):
        pairs = {"multi_class": "ovo", "average": average}
        close(ours.roc_auc_score(y, p, **pairs), theirs.roc_auc_score(y, p, **pairs))
    with pytest.raises(ValueError):
        ours.roc_auc_score(y, p)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [2, 3])
def test_probabilities(k, weighted):
    y, p, w = probabilities(k, 6)
    w = w if weighted else None
    close(ours.log_loss(y, p, sample_weight=w), theirs.log_loss(y, p, sample_weight=w))
    close(
        ours.log_loss(y, p, sample_weight=w, normalize=False),
        theirs.log_loss(y, p, sample_weight=w, normalize=False),
    )
    close(ours.brier_score_loss(y, p, sample_weight=w), theirs.brier_score_loss(y, p, sample_weight=w))
    if k == 2:
        one = p[:, 1]
        close(ours.log_loss(y, one, sample_weight=w), theirs.log_loss(y, one, sample_weight=w))
        close(ours.brier_score_loss(y, one, sample_weight=w), theirs.brier_score_loss(y, one, sample_weight=w))
        for strategy in ("uniform", "quantile"):
            given = {"n_bins": 7, "strategy": strategy}
            close(
                learnt.calibration.calibration_curve(y, one, **given),
                sklearn.calibration.calibration_curve(y, one, **given),
            )
    else:
        labels = [0, 1, 2, 5]
        wide = np.hstack([p, np.zeros((len(p), 1))])
        close(ours.log_loss(y, wide, labels=labels), theirs.log_loss(y, wide, labels=labels))
        scores = np.log(p + 1e-3)
        close(ours.hinge_loss(y, scores, sample_weight=w), theirs.hinge_loss(y, scores, sample_weight=w))
    with pytest.raises(ValueError):
        ours.log_loss(np.zeros(3, dtype=int), [0.1, 0.2, 0.3])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(
    "name",
    [
        "mean_squared_error",
        "root_mean_squared_error",
        "mean_absolute_error",
        "median_absolute_error",
        "mean_absolute_percentage_error",
        "r2_score",
        "explained_variance_score",
    ],
)
def test_predicted_numbers(name, outputs, weighted):
    rng = np.random.default_rng(7)
    shape = (101,) if outputs == 1 else (101, outputs)
    y = rng.normal(size=shape)
    p = y + 0.5 * rng.normal(size=shape)
    w = rng.random(101) + 0.1 if weighted else None
    averages = ["uniform_average", "raw_values"]
    if outputs > 1:
        averages.append([0.2, 0.3, 0.5])
        if name in ("r2_score", "explained_variance_score"):
            averages.append("variance_weighted")
    for multioutput in averages:
        given = {"multioutput": multioutput, "sample_weight": w}
        close(getattr(ours, name)(y, p, **given), getattr(theirs, name)(y, p, **given))


def test_deviances_and_the_largest_error():
    rng = np.random.default_rng(8)
    y, p, w = rng.gamma(2.0, size=80), rng.gamma(2.0, size=80), rng.random(80) + 0.1
    close(ours.max_error(y, p), theirs.max_error(y, p))
    for weights in (None, w):
        for name in ("mean_poisson_deviance", "mean_gamma_deviance"):
            found = getattr(ours, name)(y, p, sample_weight=weights)
            close(found, getattr(theirs, name)(y, p, sample_weight=weights))
        for power in (-1.5, 0, 1, 1.5, 2, 3):
            given = {"power": power, "sample_weight": weights}
            for name in ("mean_tweedie_deviance", "d2_tweedie_score"):
                close(getattr(ours, name)(y, p, **given), getattr(theirs, name)(y, p, **given))
    with pytest.raises(ValueError):
        ours.mean_gamma_deviance([0.0, 1.0], [1.0, 1.0])


@pytest.mark.parametrize("case", CASES, ids=IDS)
@pytest.mark.parametrize(
    "name",
    [
        "rand_score",
        "adjusted_rand_score",
        "fowlkes_mallows_score",
        "mutual_info_score",
        "normalized_mutual_info_score",
        "adjusted_mutual_info_score",
        "homogeneity_score",
        "completeness_score",
        "v_measure_score",
        "homogeneity_completeness_v_measure",
    ],
)
def test_agreement(name, case):
    y, p, _ = case
    close(getattr(ours, name)(y, p), getattr(theirs, name)(y, p))
    close(getattr(ours, name)(y, y), getattr(theirs, name)(y, y))
    one = np.zeros(len(y), dtype=int)
    coded = np.unique(y, return_inverse=True)[1]
    close(getattr(ours, name)(coded, one), getattr(theirs, name)(coded, one))


def test_agreement_by_its_table_and_other_means():
    y, p, _ = CASES[1]
    found = ours.contingency_matrix(y, p[::-1])
    wanted = theirs.cluster.contingency_matrix(y, p[::-1])
    np.testing.assert_array_equal(found, wanted)
    assert found.dtype == wanted.dtype
    for method in ("min", "geometric", "arithmetic", "max"):
        for name in ("normalized_mutual_info_score", "adjusted_mutual_info_score"):
            found = getattr(ours, name)(y, p, average_method=method)
            close(found, getattr(theirs, name)(y, p, average_method=method))
    close(ours.v_measure_score(y, p[::-1], beta=0.3), theirs.v_measure_score(y, p[::-1], beta=0.3))


def test_columns_of_scores_are_one_a_class():
    y, scores = np.array([0, 1, 2, 2]), np.eye(3)[[0, 1, 2, 1]]
    with pytest.raises(ValueError, match="each class once"):
        ours.roc_auc_score(y, scores, multi_class="ovr", labels=[0, 1, 1])
    with pytest.raises(ValueError, match="class '2', which rows have"):
        ours.roc_auc_score(y, scores, multi_class="ovr", labels=[0, 1, 3])
    turned = ours.roc_auc_score(y, scores[:, ::-1], multi_class="ovr", labels=[2, 1, 0])
    close(turned, ours.roc_auc_score(y, scores, multi_class="ovr"))


def clusters(seed=9, n=240, d=3):
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, 4, n)
    return rng.normal(size=(n, d)) + labels[:, None], labels


@pytest.mark.parametrize("dtype", [float, np.float32])
def test_clusters(dtype):
    X, labels = clusters()
    X = X.astype(dtype).astype(float)
    for name in ("silhouette_score", "silhouette_samples", "davies_bouldin_score", "calinski_harabasz_score"):
        close(getattr(ours, name)(X, labels), getattr(theirs, name)(X, labels))
    for metric in ("manhattan", "chebyshev", "cosine"):
        close(
            ours.silhouette_samples(X, labels, metric=metric),
            theirs.silhouette_samples(X, labels, metric=metric),
        )
    drawn = [ours.silhouette_score(X, labels, sample_size=50, random_state=0) for _ in range(2)]
    assert drawn[0] == drawn[1]
    for bad in (np.zeros(len(X), dtype=int), np.arange(len(X))):
        with pytest.raises(ValueError):
            ours.silhouette_score(X, bad)


@pytest.mark.parametrize(
    "metric", ["euclidean", "l2", "sqeuclidean", "manhattan", "l1", "cityblock", "chebyshev", "cosine"]
)
def test_distances(metric):
    rng = np.random.default_rng(10)
    X, Y = rng.normal(size=(37, 5)), rng.normal(size=(20, 5))
    close(ours.pairwise_distances(X, Y, metric), theirs.pairwise_distances(X, Y, metric))
    close(ours.pairwise_distances(X, metric=metric), theirs.pairwise_distances(X, metric=metric))
    given = {"metric": "minkowski", "p": 3}
    close(ours.pairwise_distances(X, Y, **given), theirs.pairwise_distances(X, Y, **given))
    close(ours.cosine_similarity(X, Y), theirs.pairwise.cosine_similarity(X, Y))


def test_the_area_of_a_curve_goes_either_way():
    x, y = np.array([0.0, 0.5, 2.0]), np.array([1.0, 3.0, 2.0])
    close(ours.auc(x, y), theirs.auc(x, y))
    close(ours.auc(x[::-1], y[::-1]), theirs.auc(x[::-1], y[::-1]))
    with pytest.raises(ValueError):
        ours.auc([0.0, 2.0, 1.0], y)


def golden(name):
    return next(case for case in json.loads(GOLDEN.read_text()) if case["id"] == name)


def labelings(table):
    pairs = [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    return np.array(pairs).T


def near(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["external-iris-good", "external-iris-bad"])
def test_kept_external_measures(name):
    case = golden(name)
    found, wanted = labelings(case["input"]["table"]), case["expect"]
    given = found[1], found[0]
    near(ours.purity_score(*given), wanted["purity"])
    near(ours.maximum_matching_score(*given), wanted["max_matching"])
    near(ours.cluster_f_score(*given).score, wanted["F"])
    near(ours.cluster_f_score(*given).f, wanted["F_i"])
    near(ours.variation_of_information(*given), wanted["vi_bits"])
    near(ours.pair_jaccard_score(*given), wanted["jaccard"])
    near(ours.normalized_mutual_info_score(*given, average_method="geometric"), wanted["nmi_sqrt"])


def test_kept_internal_measures():
    case = golden("internal-six-points")
    X, labels, wanted = case["input"]["X"], case["input"]["labels"], case["expect"]
    near(ours.silhouette_samples(X, labels), wanted["silhouettes"])
    near(ours.dunn_score(X, labels), wanted["dunn"])
    near(ours.beta_cv_score(X, labels), wanted["beta_cv"])
    near(ours.inertia(X, labels), wanted["sse"])
    near(ours.davies_bouldin_score(X, labels, spread="root_mean_square"), wanted["davies_bouldin"])
    parts = ours.scatter_decomposition(X, labels)
    near([parts.within, parts.between], [wanted["W_in"], wanted["W_out"]])
    assert (parts.pairs_within, parts.pairs_between) == (wanted["N_in"], wanted["N_out"])


def test_kept_losses_and_curves():
    case = golden("margin-losses")
    for loss in ("hinge", "logistic", "exponential", "squared", "zero_one"):
        near(ours.margin_loss(case["input"]["z"], loss), case["expect"][loss])
    case = golden("roc-pr-with-ties")
    y, score, wanted = case["input"]["y"], case["input"]["score"], case["expect"]
    curve = ours.roc_curve(y, score, drop_intermediate=False)
    near(curve.fpr, wanted["fpr"])
    near(curve.tpr, wanted["tpr"])
    near(ours.roc_auc_score(y, score), wanted["auc"])
    near(ours.average_precision_score(y, score), wanted["average_precision"])
    case = golden("lift-chart")
    y, wanted = case["input"]["sorted_labels"], case["expect"]
    curve = ours.lift_curve(y, np.arange(len(y))[::-1])
    near(curve.lift, wanted["lift"])
    near(curve.gain, wanted["gain"])
    case = golden("confusion-two-tables")
    for name in ("t1", "t2"):
        # The file lists the positive class first.
        y, p = 1 - labelings(case["input"][name])
        wanted = case["expect"][name]
        near(ours.specificity_score(y, p), wanted["specificity"])
        near(ours.precision_score(y, p), wanted["precision"])
    case = golden("regression-metrics")
    y, p = case["input"]["y"], case["input"]["prediction"]
    near(ours.sum_squared_error(y, p), case["expect"]["mse"] * len(y))
    near(ours.huber_loss([0.0] * 4, [0.5, 1.0, -2.0, 5.0], full=True), np.mean([0.25, 1, 3, 9]))


def test_curves_draw_themselves():
    y, s, _ = ranking(11)
    for name in ("roc_curve", "precision_recall_curve", "lift_curve"):
        assert getattr(ours, name)(y, s).plot() is not None
    assert ours.loss_curves().plot() is not None


def test_areas_have_delongs_interval():
    y, s, *_ = ranking(5)
    found = ours.roc_auc_interval(y, s)
    close(found.auc, theirs.roc_auc_score(y, s))
    # The bootstrap over rows of each class has nearly the same spread.
    rng = np.random.default_rng(0)
    ones, zeros = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    areas = []
    for _ in range(400):
        rows = np.r_[rng.choice(ones, len(ones)), rng.choice(zeros, len(zeros))]
        areas.append(theirs.roc_auc_score(y[rows], s[rows]))
    assert found.standard_error == pytest.approx(np.std(areas), rel=0.15)
    assert found.lower < found.auc < found.upper
    against = ours.roc_auc_interval(y, s, y_other=rng.normal(size=len(y)))
    assert against.p_value < 1e-3 and against.other_auc < found.auc


def test_the_parts_of_the_brier_score_sum_to_it():
    y, s, *_ = ranking(6, ties=False)
    p = 1 / (1 + np.exp(-s))
    found = ours.brier_decomposition(y, p)
    close(found.brier, theirs.brier_score_loss(y, p))
    close(found.reliability - found.resolution + found.uncertainty + found.within_bins, found.brier)
    share, mean = sklearn.calibration.calibration_curve(y, p, n_bins=10)
    counts = np.histogram(p, np.linspace(0, 1, 11))[0]
    counts = counts[counts > 0]
    close(found.expected_error, np.average(np.abs(share - mean), weights=counts))


def test_cross_entropy_of_scores_is_scikit_learns_of_probabilities():
    rng = np.random.default_rng(7)
    scores, y = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    found = ours.cross_entropy(y, scores)
    close(found.mean, theirs.log_loss(y, p))
    close(found.slope, p - np.eye(3)[y])
    close(ours.multinomial_deviance(y, p), 2 * 40 * theirs.log_loss(y, p))
    weights = np.array([1.0, 2.0, 5.0])
    close(ours.cross_entropy(y, scores, class_weight=weights).mean, np.mean(weights[y] * found.loss))


def test_thresholds_of_least_cost_are_found_by_trying_all():
    y, s, *_ = ranking(8)
    found = ours.cost_threshold(y, s, 1.0, 4.0)
    costs = [np.mean(np.where(y == 1, 4.0 * (s < t), 1.0 * (s >= t))) for t in [np.inf, *s]]
    close(found.cost, min(costs))
    called = s >= found.threshold
    close(found.cost, np.mean(np.where(y == 1, 4.0 * ~called, 1.0 * called)))


def test_entropies_are_scipys():
    scipy_stats = pytest.importorskip("scipy.stats")
    from learnt import stats

    p, q = [0.2, 0.3, 0.5], [0.5, 0.25, 0.25]
    close(stats.entropy(p), scipy_stats.entropy(p))
    close(stats.entropy(p, q, base=2), scipy_stats.entropy(p, q, base=2))
    assert stats.entropy(p, [1, 0, 0]) == np.inf


@pytest.mark.parametrize("letters", ["abc", "aé", "a☃𝄞"])
@pytest.mark.parametrize("width", [1, 2, 3, 8, 9, 20])
def test_texts_are_coded_as_sorting_codes_them(letters, width):
    draw = np.random.default_rng(width)
    pool = ["".join(draw.choice(list(letters), draw.integers(0, width + 1))) for _ in range(50)]
    texts = np.array([*pool, letters[0] * width])[draw.integers(0, 51, 300)]
    classes, codes = np.unique(texts, return_inverse=True)
    for given in (texts, texts.astype(object), texts[::-1][::-1]):
        found, own = _functions._distinct(given)
        assert list(found) == list(classes) and (own == codes).all()
    # The narrower array of a pair is widened, and a swapped byte order read as numpy does.
    assert ours.accuracy_score(texts, texts.astype(f"U{width + 3}")) == 1
    assert ours.accuracy_score(texts, texts.astype(texts.dtype.newbyteorder())) == 1
