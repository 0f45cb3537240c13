"""Distributions, summaries, special functions and linear algebra, beside SciPy and NumPy."""

import numpy as np
import pytest
import scipy.special
import scipy.stats
import sklearn.dummy
import sklearn.preprocessing
from sklearn.utils.stats import _weighted_percentile

from learnt import dummy, linalg, preprocessing, stats

rng = np.random.default_rng(0)
x = rng.normal(size=40)
w = rng.uniform(0.1, 2.0, size=40)

DISTRIBUTIONS = {
    "normal": (scipy.stats.norm(1.0, 2.0), {"loc": 1.0, "scale": 2.0}),
    "student_t": (scipy.stats.t(4.5), {"df": 4.5}),
    "chi_squared": (scipy.stats.chi2(3.0), {"df": 3.0}),
    "fisher_f": (scipy.stats.f(3.0, 9.0), {"dfn": 3.0, "dfd": 9.0}),
    "gamma": (scipy.stats.gamma(2.5, scale=0.7), {"a": 2.5, "scale": 0.7}),
    "beta": (scipy.stats.beta(2.0, 3.0), {"a": 2.0, "b": 3.0}),
    "exponential": (scipy.stats.expon(scale=3.0), {"scale": 3.0}),
    "uniform": (scipy.stats.uniform(-1.0, 4.0), {"loc": -1.0, "scale": 4.0}),
    "binomial": (scipy.stats.binom(7, 0.3), {"n": 7, "p": 0.3}),
    "poisson": (scipy.stats.poisson(2.5), {"mu": 2.5}),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions_are_scipys(name):
    theirs, params = DISTRIBUTIONS[name]
    discrete = name in ("binomial", "poisson")
    places = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, 3.5, 6.0])
    if not discrete:
        places = places + 0.01
    ours = lambda at, what: getattr(stats, name)(at, what=what, **params)  # noqa: E731
    methods = {"pdf": "pmf" if discrete else "pdf", "cdf": "cdf", "sf": "sf"}
    methods |= {"log_cdf": "logcdf", "log_sf": "logsf"}
    methods["log_pdf"] = "logpmf" if discrete else "logpdf"
    for what, method in methods.items():
        wanted = getattr(theirs, method)(places)
        np.testing.assert_allclose(ours(places, what), wanted, rtol=1e-9, atol=1e-300, err_msg=what)
    shares = np.array([0.001, 0.2, 0.5, 0.9, 0.9999])
    np.testing.assert_allclose(
        ours(shares, "quantile"), theirs.ppf(shares), rtol=1e-9, atol=1e-15
    )
    np.testing.assert_allclose(
        ours(shares, "upper_quantile"), theirs.isf(shares), rtol=1e-9, atol=1e-15
    )
    mean, variance = stats.distribution_moments(name, list(params.values()))
    assert mean == pytest.approx(theirs.mean()) and variance == pytest.approx(theirs.var())
    drawn = stats.random_sample(name, list(params.values()), size=20000, random_state=0)
    assert drawn.mean() == pytest.approx(theirs.mean(), abs=5 * theirs.std() / np.sqrt(20000))


def test_one_number_gives_one_number():
    assert stats.normal(1.96) == pytest.approx(scipy.stats.norm.cdf(1.96))
    assert stats.erf(0.5) == pytest.approx(scipy.special.erf(0.5))
    with pytest.raises(ValueError):
        stats.normal(np.zeros((2, 2)))


def test_summaries_are_numpys():
    assert stats.mean(x) == pytest.approx(x.mean())
    assert stats.mean(x, sample_weight=w) == pytest.approx(np.average(x, weights=w))
    assert stats.variance(x) == pytest.approx(x.var(ddof=1))
    assert stats.sd(x, ddof=0) == pytest.approx(x.std())
    assert stats.median(x) == pytest.approx(np.median(x))
    assert stats.range(x) == pytest.approx(np.ptp(x))
    q = [0.0, 0.1, 0.5, 0.77, 1.0]
    np.testing.assert_allclose(stats.quantile(x, q), np.quantile(x, q))
    assert stats.gmean(np.exp(x)) == pytest.approx(scipy.stats.gmean(np.exp(x)))
    two = np.column_stack([x, x**2 + w])
    np.testing.assert_allclose(stats.covariance(two), np.cov(two.T))
    np.testing.assert_allclose(stats.correlation(two), np.corrcoef(two.T))
    ours, theirs = stats.pearsonr(x, w), scipy.stats.pearsonr(x, w)
    assert tuple(ours) == pytest.approx((theirs.statistic, theirs.pvalue))


def test_weighted_quantiles_are_scikit_learns_and_know_no_scale():
    for values, weights in [(x, w), (np.arange(1.0, 102.0), np.full(101, 1 / 101))]:
        for q in [0.1, 0.25, 0.5, 0.9]:
            wanted = _weighted_percentile(values, weights, 100 * q, average=True)
            for scale in [1.0, 7.3, 0.001]:
                got = stats.quantile(values, [q], sample_weight=weights * scale)
                assert got[0] == pytest.approx(wanted)
    y = np.arange(1.0, 102.0)
    fit = dummy.DummyRegressor(strategy="median").fit(y[:, None], y, np.full(101, 1 / 101))
    assert fit.predict([[0.0]])[0] == 51.0


def test_quantile_bins_are_scikit_learns():
    data = rng.normal(size=(57, 2))
    weights = rng.uniform(0.1, 2.0, size=57)
    for method, given in [("averaged_inverted_cdf", None), ("averaged_inverted_cdf", weights), ("linear", None)]:
        args = {"n_bins": 4, "encode": "ordinal", "quantile_method": method}
        ours = preprocessing.KBinsDiscretizer(**args).fit(data, sample_weight=given)
        theirs = sklearn.preprocessing.KBinsDiscretizer(**args, subsample=None).fit(data, sample_weight=given)
        for a, b in zip(ours.bin_edges_, theirs.bin_edges_):
            np.testing.assert_allclose(a, b)
    y = data[:, 0]
    for strategy, quantile in [("median", None), ("quantile", 0.3)]:
        args = {"strategy": strategy, "quantile": quantile}
        ours = dummy.DummyRegressor(**args).fit(data, y, weights).predict(data[:1])
        theirs = sklearn.dummy.DummyRegressor(**args).fit(data, y, weights).predict(data[:1])
        assert abs(np.sum(y <= ours) - np.sum(y <= theirs)) <= 1


def test_a_table_is_described():
    found = stats.describe(np.column_stack([x, w]))
    frame = found.to_pandas()
    np.testing.assert_allclose(frame["mean"], [x.mean(), w.mean()])
    np.testing.assert_allclose(frame["sd"], [x.std(ddof=1), w.std(ddof=1)])
    np.testing.assert_allclose(frame["upper_quartile"], np.quantile([x, w], 0.75, axis=1))


def test_special_functions_are_scipys():
    places = np.array([-800.0, -3.0, -0.2, 0.0, 0.7, 4.0, 700.0])
    np.testing.assert_allclose(stats.expit(places), scipy.special.expit(places), rtol=1e-12)
    shares = np.array([0.0, 0.2, 0.5, 1.0])
    np.testing.assert_allclose(stats.logit(shares), scipy.special.logit(shares), rtol=1e-12)
    np.testing.assert_allclose(stats.softmax(x), scipy.special.softmax(x), rtol=1e-12)
    np.testing.assert_allclose(stats.log_softmax(x), scipy.special.log_softmax(x), rtol=1e-12)
    assert stats.logsumexp(places) == pytest.approx(scipy.special.logsumexp(places))
    np.testing.assert_allclose(stats.softplus(places), np.logaddexp(0, places), rtol=1e-12)
    p = scipy.special.softmax(x)
    np.testing.assert_allclose(stats.softmax_jacobian(x), np.diag(p) - np.outer(p, p), atol=1e-15)
    positive = np.array([0.1, 1.0, 2.5, 30.0])
    for name in ["gammaln", "digamma", "erf", "erfc"]:
        wanted = getattr(scipy.special, name)(positive)
        np.testing.assert_allclose(getattr(stats, name)(positive), wanted, rtol=1e-11, atol=1e-15)
    np.testing.assert_allclose(stats.betaln(positive, positive[::-1]), scipy.special.betaln(positive, positive[::-1]))
    at = np.array([0.0, 0.3, 0.9, 1.0])
    np.testing.assert_allclose(stats.betainc(positive, positive, at), scipy.special.betainc(positive, positive, at))
    np.testing.assert_allclose(stats.gammainc(positive, at), scipy.special.gammainc(positive, at))


def test_tests_of_residuals():
    ours, theirs = stats.jarque_bera(x), scipy.stats.jarque_bera(x)
    assert tuple(ours) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert stats.durbin_watson(x) == pytest.approx(np.sum(np.diff(x) ** 2) / np.sum(x**2))
    (osm, osr), (slope, intercept, r) = scipy.stats.probplot(x)
    found = stats.probplot(x)
    np.testing.assert_allclose(found.theoretical, osm, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.ordered, osr)
    assert (found.slope, found.intercept, found.r) == pytest.approx((slope, intercept, r))


@pytest.mark.parametrize("method", ["percentile", "basic", "bca"])
@pytest.mark.parametrize("statistic", ["mean", "median", "sd", "correlation"])
def test_bootstrap_intervals_are_near_scipys(statistic, method):
    two = statistic == "correlation"
    functions = {"mean": np.mean, "median": np.median, "correlation": lambda a, b: np.corrcoef(a, b)[0, 1]}
    functions["sd"] = lambda a: np.std(a, ddof=1)
    y = x + w
    data = (x, y) if two else (x,)
    extra = {"paired": True, "vectorized": False} if two else {"vectorized": False}
    if method == "bca" and statistic == "median":
        pytest.skip("the jackknife of a median is too coarse to compare")
    theirs = scipy.stats.bootstrap(
        data, functions[statistic], n_resamples=2000, method=method, random_state=0, **extra
    )
    ours = stats.bootstrap(x, statistic, y=y if two else None, n_resamples=2000, method=method, random_state=0)
    assert ours.statistic == pytest.approx(functions[statistic](*data))
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=0.12 * width)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=0.12 * width)
    assert ours.standard_error == pytest.approx(theirs.standard_error, rel=0.12)


def test_linear_algebra_is_numpys():
    a = rng.normal(size=(6, 4))
    square = a.T @ a + np.eye(4)
    b = rng.normal(size=6)
    np.testing.assert_allclose(linalg.cholesky(square), np.linalg.cholesky(square))
    q, r, p = linalg.qr(a)
    np.testing.assert_allclose(q @ r, a[:, p], atol=1e-12)
    np.testing.assert_allclose(q.T @ q, np.eye(4), atol=1e-12)
    _, theirs, order = scipy.linalg.qr(a, mode="economic", pivoting=True)
    np.testing.assert_array_equal(p, order)
    np.testing.assert_allclose(np.abs(np.diag(r)), np.abs(np.diag(theirs)))
    u, s, vh = linalg.svd(a)
    np.testing.assert_allclose(u * s @ vh, a, atol=1e-12)
    np.testing.assert_allclose(s, np.linalg.svd(a, compute_uv=False))
    values, vectors = linalg.eigh(square)
    np.testing.assert_allclose(values, np.linalg.eigh(square).eigenvalues)
    np.testing.assert_allclose(vectors * values @ vectors.T, square, atol=1e-11)
    np.testing.assert_allclose(linalg.pinv(a), np.linalg.pinv(a), atol=1e-12)
    assert linalg.matrix_rank(np.column_stack([a, a[:, 0]])) == 4
    assert linalg.cond(a) == pytest.approx(np.linalg.cond(a))
    found, wanted = linalg.lstsq(a, b), np.linalg.lstsq(a, b)
    np.testing.assert_allclose(found.x, wanted[0], atol=1e-12)
    assert found.residual == pytest.approx(wanted[1][0]) and found.rank == wanted[2]
    np.testing.assert_allclose(linalg.solve(square, b[:4]), np.linalg.solve(square, b[:4]))
    with pytest.raises(ValueError, match="singular"):
        linalg.solve(np.ones((2, 2)), [1.0, 1.0])


def test_preparation_without_a_model():
    assert preprocessing.polynomial_feature_count(3, 2) == 9
    table = np.array([[1.0, np.nan], [2.0, 3.0]])
    kept, dropped = preprocessing.drop_missing_rows(table)
    assert kept.tolist() == [1] and dropped.tolist() == [0]
    np.testing.assert_array_equal(preprocessing.label_signs(["b", "a", "b"]), [1, -1, 1])
    cuts = preprocessing.entropy_cuts(np.arange(40.0), np.arange(40) >= 12)
    np.testing.assert_array_equal(cuts, [11.5])
