"""Reference cases of learning theory and of model selection through the functions of the package."""

import json
import pathlib

import numpy as np
import pytest

import learnt.stats as stats
import learnt.theory as theory
from learnt.discriminant_analysis import LinearDiscriminantAnalysis
from learnt.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeCV
from learnt.model_selection import (
    GridSearchCV,
    LeaveOneOut,
    cross_val_predict,
    cross_val_score,
    linear_smoother,
)
from learnt.neighbors import KNeighborsClassifier
from learnt.pipeline import Pipeline
from learnt.preprocessing import PolynomialFeatures, StandardScaler

FOLDER = pathlib.Path(__file__).parents[2] / "tests" / "golden"
CASES = {
    name: {case["id"]: case for case in json.loads((FOLDER / f"{name}.json").read_text())}
    for name in ("theory", "select")
}


def theory_case(name):
    case = CASES["theory"][name]
    return case["input"], case["expect"]


def select_case(name):
    case = CASES["select"][name]
    return case["input"], case["expect"], case["params"]


def close(found, wanted, rel=1e-8):
    np.testing.assert_allclose(found, wanted, rtol=rel, atol=1e-12)


def table(name, features, target):
    rows = np.genfromtxt(FOLDER / "data" / f"{name}.csv", delimiter=",", names=True, dtype=None, encoding=None)
    return np.column_stack([rows[f] for f in features]).astype(float), rows[target]


def test_bounds_of_hoeffding():
    given, expect = theory_case("hoeffding-tail")
    close([theory.hoeffding_bound(n=n, eps=eps).delta for n, eps in given["N_eps"]], expect["bound"])
    given, expect = theory_case("finite-m-sample-size")
    sizes = [theory.hoeffding_bound(eps=given["eps"], delta=given["delta"], hypotheses=m).n for m in given["M"]]
    assert sizes == expect["N"]
    given, expect = theory_case("hoeffding-direction")
    bound = theory.hoeffding_bound(n=given["N"], eps=given["eps"]).delta
    close(bound, expect["bound"])
    # More than eps away: at most 39 or at least 61 of 100.
    tail = stats.binomial(39, 100, 0.5) + stats.binomial(60, 100, 0.5, what="sf")
    close(tail, expect["exact_tail"])
    assert tail <= bound
    given, expect = theory_case("hoeffding-exact-vs-bound")
    for (n, mu, eps), exact, bound in zip(given["N_mu_eps"], expect["exact"], expect["bound"]):
        low, high = np.ceil(n * (mu - eps)) - 1, np.floor(n * (mu + eps))
        close(stats.binomial(low, n, mu) + stats.binomial(high, n, mu, what="sf"), exact)
        close(theory.hoeffding_bound(n=n, eps=eps).delta, bound)


def test_dimensions_and_counts():
    _, expect = theory_case("vc-dimensions")
    for name, dimension in expect["d_vc"].items():
        kind, d = (name, 1) if name.startswith("positive") else ("half_spaces", int(name[11:-1]))
        found = theory.vc_dimension(kind, d=d)
        assert (found.vc_dimension, found.break_point) == (dimension, expect["smallest_break_point"][name])
    given, expect = theory_case("B-table")
    rows = range(1, given["N_max"] + 1)
    assert [[theory.sauer_bound(n, k).bound for k in rows] for n in rows] == expect["table"]


def test_bounds_of_vapnik_and_chervonenkis():
    given, expect = theory_case("vc-penalty-polynomial")
    close([theory.vc_bound(n, d, delta=x).penalty for n, d, x in given["N_dvc_delta"]], expect["omega"])
    given, expect = theory_case("vc-penalty-binomial")
    found = [theory.vc_bound(n, d, delta=x, growth="binomial_sum").penalty for n, d, x in given["N_dvc_delta"]]
    close(found, expect["omega"])
    given, expect = theory_case("vc-sample-complexity")
    for d in given["d_vc"]:
        found = theory.vc_sample_size(given["eps"], d, delta=given["delta"], start=given["start"])
        assert found.n == expect["N"][str(d)]
        if d == 3:
            close(found.iterates[:4], expect["iterates_d3"])
            close(found.limit, expect["limit_d3"])
    given, expect = theory_case("vc-sample-complexity-tight")
    close([theory.vc_sample_size(given["eps"], d, delta=given["delta"]).limit for d in given["d_vc"]], expect["limit"])
    given, expect = theory_case("vc-bound-esl")
    found = [theory.vapnik_bound(n, h, given["err"], eta=given["eta"]) for h, n in given["h_N"]]
    for name in ("eps", "classification", "regression"):
        close([getattr(one, name) for one in found], expect[name])
    given, expect = theory_case("pac-sample-size")
    found = [theory.pac_bound(eps=eps, delta=delta) for eps, delta in given["eps_delta"]]
    close([one.rows for one in found], expect["single"])
    assert [one.n for one in found] == expect["single_N"]
    union = given["union"]
    found = theory.pac_bound(eps=union["eps"], delta=union["delta"], hypotheses=union["size"])
    close(found.rows, expect["union"])
    assert found.n == expect["union_N"]


def test_expected_errors():
    given, expect = theory_case("linear-learning-curve")
    found = [theory.linear_expected_error(n, given["p"]) for n in given["N"]]
    close([one.in_sample for one in found], expect["e_in"])
    close([one.out_of_sample for one in found], expect["e_out"])
    close(theory.linear_expected_error(19, given["p"]).out_of_sample, expect["e_cv_expected_at_20"])
    given, expect = theory_case("epe-exact-vs-large-n")
    found = [theory.linear_expected_error(n, p) for p, n in given["p_N"]]
    close([one.out_of_sample for one in found], expect["exact"])
    close([one.many_rows for one in found], expect["large_n"])
    given, expect = theory_case("optimism-linear")
    close(theory.linear_expected_error(given["N"], given["d"]).optimism, expect["optimism"])
    given, expect = theory_case("knn-error-decomposition")
    x = np.array(given["x"])
    found = theory.neighbors_expected_error(
        x[:, None], x**2, x0=[given["x0"]], f0=given["x0"] ** 2, k=given["k"], sigma=given["sigma2"] ** 0.5
    )
    close(found.error, [expect["err"][str(k)] for k in given["k"]])
    _, expect = theory_case("bias-variance-sine")
    found = theory.bias_variance(data_sets=40_000, random_state=0)
    wanted = [[expect[m]["bias"], expect[m]["variance"]] for m in ("constant", "line")]
    np.testing.assert_allclose(np.column_stack([found.bias_squared, found.variance]), wanted, atol=0.03)


def test_the_curse_of_dimension():
    given, expect = theory_case("curse-edge-length")
    close([theory.neighborhood_edge(r, given["p"]) for r in given["r"]], expect["edge"])
    given, expect = theory_case("curse-median-distance")
    close([theory.nearest_point_distance(given["N"], p) for p in given["p"]], expect["distance"])
    given, expect = theory_case("one-nn-collapse")
    found = theory.nearest_neighbor_dimensions(n=given["N"], p=given["p"])
    for name in ("mse", "bias_squared", "variance"):
        wanted = [expect[str(p)][name] for p in given["p"]]
        np.testing.assert_allclose(getattr(found, name), wanted, rtol=0.02, atol=1e-10)


def test_codes_and_information():
    given, expect = theory_case("prefix-code")
    found = theory.prefix_code(given["codewords"], probabilities=given["p1"], message=given["bits"])
    close(found.kraft_sum, expect["kraft"])
    close([found.mean_length, found.entropy], [expect["length1"], expect["entropy1"]])
    second = theory.prefix_code(given["codewords"], probabilities=given["p2"])
    close([second.mean_length, second.entropy], [expect["length2"], expect["entropy2"]])
    lengths = sorted(len(word) for word in theory.huffman_code(given["p2"]).codewords)
    assert lengths == expect["huffman_lengths2"]
    given, expect = theory_case("huffman-expected-length")
    found = theory.huffman_code(given["p"])
    close([found.mean_length, found.entropy], [expect["expected_length"], expect["entropy_bits"]])
    given, expect = theory_case("kl-divergence")
    close(stats.entropy(given["P"], given["Q"]), expect["P_from_Q_nats"])
    close(stats.entropy(given["P"], given["Q"], base=2.0), expect["P_from_Q_bits"])
    close(stats.entropy(given["Q"], given["P"]), expect["Q_from_P_nats"])
    given, expect = theory_case("bootstrap-inclusion")
    close([theory.expected_distinct_share(n) for n in given["n"]], expect["p"])


def test_distributions():
    given, expect = theory_case("binomial-region-count")
    close(stats.binomial(given["k"], given["n"], given["P"], what="pdf"), expect["p"])
    given, expect = theory_case("normal-quantiles")
    close(stats.normal(given["p"], what="quantile"), expect["z"])
    given, expect = theory_case("quantiles-t-chi2-f")
    close([stats.student_t(p, df, what="quantile") for p, df in given["t"]], expect["t"])
    close([stats.chi_squared(p, df, what="quantile") for p, df in given["chi2"]], expect["chi2"])
    close([stats.fisher_f(p, a, b, what="quantile") for p, a, b in given["f"]], expect["f"])
    given, expect = theory_case("incomplete-gamma-beta")
    close(stats.gammainc(*np.array(given["gammainc"], dtype=float).T), expect["gammainc"])
    close(stats.betainc(*np.array(given["betainc"], dtype=float).T), expect["betainc"])
    close(stats.gammaln(given["lgamma"]), expect["lgamma"])


def test_leave_one_out_of_linear_smoothers():
    given, expect, _ = select_case("loo-three-points")
    line = linear_smoother(LinearRegression(fit_intercept=False), given["X"], y=given["y"])
    close(line.leverage, expect["leverage"])
    close(line.leave_one_out, expect["e_cv"])
    ridge = linear_smoother(Ridge(alpha=1.0, fit_intercept=False), given["X"], y=given["y"])
    close(ridge.leverage, expect["ridge_leverage"])
    close([ridge.df, ridge.leave_one_out], [expect["ridge_trace"], expect["ridge_e_cv"]])
    given, expect, params = select_case("loo-lambda-scaling")
    powers = np.vander(given["x"], given["degree"] + 1, increasing=True)
    ridge = Ridge(alpha=params["lam"], fit_intercept=False)
    close(linear_smoother(ridge, powers, y=given["y"]).leave_one_out, expect["formula"])
    scores = cross_val_score(ridge, powers, np.array(given["y"]), scoring="mse", cv=LeaveOneOut())
    close(scores.mean(), expect["refits_same_lambda"])
    given, expect, params = select_case("polynomial-degree-cars")
    x, y = table("cars", given["features"], given["target"])
    x = (x - x.mean()) / x.std()
    found = [
        linear_smoother(LinearRegression(), PolynomialFeatures(degree=d, include_bias=False).fit_transform(x), y=y)
        for d in params["degree"]
    ]
    close([one.leave_one_out for one in found], expect["loocv"], 1e-6)
    close([one.gcv for one in found], expect["gcv"], 1e-6)
    given, expect, params = select_case("ridge-loo-gcv-diabetes")
    x, y = table("diabetes", given["features"], given["target"])
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    found = [linear_smoother(Ridge(alpha=a), x, y=y.astype(float)) for a in params["lam"]]
    for name, key in (("leave_one_out", "loocv"), ("gcv", "gcv"), ("df", "df")):
        close([getattr(one, name) for one in found], expect[key], 1e-6)
    best = RidgeCV(alphas=params["lam"]).fit(x, y)
    assert best.alpha_ == params["lam"][int(np.argmin(expect["loocv"]))]


def remainders(rows, folds):
    places = np.arange(rows)
    return [(places[places % folds != k], places[places % folds == k]) for k in range(folds)]


def test_cross_validation_with_given_folds():
    given, expect, _ = select_case("cross-validation-glm")
    x, y = table("mtcars", given["mtcars"]["features"], given["mtcars"]["target"])
    close(cross_val_score(LinearRegression(), x, y, scoring="mse", cv=LeaveOneOut()).mean(), expect["loocv_mtcars"], 1e-6)
    x, y = table("birthwt", given["birthwt"]["features"], given["birthwt"]["target"])
    logistic = LogisticRegression(penalty=None, tol=1e-10)
    p = cross_val_predict(logistic, x, y, cv=LeaveOneOut(), method="predict_proba")[:, 1]
    close(np.mean((p - y) ** 2), expect["loocv_birthwt_brier"], 1e-6)
    close(np.mean((p > 0.5) != y), expect["loocv_birthwt_error"], 1e-6)
    p = cross_val_predict(logistic, x, y, cv=remainders(len(y), 5), method="predict_proba")[:, 1]
    close(np.mean((p > 0.5) != y), expect["fivefold_birthwt_error"], 1e-6)
    close(-np.mean(np.where(y == 1, np.log(p), np.log(1 - p))), expect["fivefold_birthwt_nll"], 1e-6)


def test_a_search_of_neighbours_scales_inside_the_folds():
    given, expect, params = select_case("knn-cv-scaling-inside")
    rows = np.genfromtxt(FOLDER / "data" / "wine.csv", delimiter=",", names=True, dtype=None, encoding=None)
    names = [name for name in rows.dtype.names if name != "cultivar"]
    x, y = np.column_stack([rows[name] for name in names]).astype(float), rows["cultivar"]
    pipeline = Pipeline([("scale", StandardScaler()), ("knn", KNeighborsClassifier())])
    folds = remainders(len(y), 6)
    search = GridSearchCV(pipeline, {"knn__n_neighbors": params["k"]}, scoring="error", cv=folds).fit(x, y)
    sizes = [len(test) for _, test in folds]
    wrong = [
        sum(search.cv_results_[f"split{k}_test_score"][i] * size for k, size in enumerate(sizes))
        for i in range(len(params["k"]))
    ]
    assert np.abs(np.round(wrong) - expect["errors"]).max() <= 1


def test_more_rows_of_iris_teach_more():
    given, expect, params = select_case("learning-curve-lda")
    x, y = table("iris", given["features"], given["target"])
    order = 47 * np.arange(150) % 150
    x, y = x[order], y[order]
    for size, (train, test) in zip(params["sizes"], expect["train_test_errors"]):
        model = LinearDiscriminantAnalysis().fit(x[:size], y[:size])
        assert np.sum(model.predict(x[:size]) != y[:size]) == train
        assert np.sum(model.predict(x[100:]) != y[100:]) == test


def test_studies_reproduce_their_figures():
    _, expect, _ = select_case("overfit-catalysts")
    found = theory.overfitting_study(noise=[0.5, 2.0], data_sets=600, random_state=0)
    for n, s2, overfit in zip(found.points, found.noise, found.overfit):
        limits = expect[f"N={n},s2={s2:g}"]
        assert limits["min"] <= overfit <= limits["max"]
    _, expect, params = select_case("too-little-regularisation")
    found = theory.regularization_study(penalties=params["lam"], data_sets=400, random_state=0)
    for penalty, error in zip(found.penalty, found.uniform):
        limits = expect["e_out"][f"{penalty:g}"]
        assert limits["min"] <= error <= limits["max"]
    _, expect, params = select_case("bic-consistent-aic-not")
    found = theory.criteria_study(rows=params["N"], data_sets=600, random_state=0)
    for k, n in enumerate(params["N"]):
        for name in ("aic", "bic"):
            limits = expect[str(n)][name]
            assert limits["min"] <= getattr(found, name)[k] <= limits["max"]


def test_undefined_values_are_said():
    with pytest.raises(ValueError, match="leverage 1"):
        linear_smoother(LinearRegression(), [[0.0], [1.0]], y=[1.0, 2.0])
    with pytest.raises(Exception, match="no linear smoother"):
        from learnt.tree import DecisionTreeRegressor

        linear_smoother(DecisionTreeRegressor(max_depth=2), np.arange(20.0)[:, None])


def test_errors_of_fixed_resamples():
    """The naive, leave-one-out, .632 and .632+ errors of discriminants fitted to given resamples."""
    given, expect, params = select_case("bootstrap-632-lda")
    X, y = table("iris", given["features"], given["target"])
    kept = np.isin(y, given["rows"]["where"]["species"])
    X, y = X[kept], y[kept]
    n, state, drawn = len(y), given["resamples"]["seed"], []
    for _ in range(given["resamples"]["B"] * n):
        state = (1103515245 * state + 12345) % 2**31
        drawn.append(state // 65536 % n)
    wrong, out = [], []
    for rows in np.reshape(drawn, (-1, n)):
        wrong.append(LinearDiscriminantAnalysis().fit(X[rows], y[rows]).predict(X) != y)
        out.append(~np.isin(np.arange(n), rows))
    wrong, out = np.array(wrong), np.array(out)
    training = (LinearDiscriminantAnalysis().fit(X, y).predict(X) != y).mean()
    counted = out.sum(axis=0)
    assert (counted == 0).sum() == expect["never_left_out"]
    left_out = ((wrong & out).sum(axis=0)[counted > 0] / counted[counted > 0]).mean()
    np.testing.assert_allclose(
        [training, wrong.mean(), left_out],
        [expect["training_error"], expect["naive"], expect["leave_one_out"]],
        atol=1e-6,
    )
    one, two = params["weights"]
    assert one * training + two * left_out == pytest.approx(expect["err632"], abs=1e-6)
    excess = (left_out - training) / (expect["gamma"] - training)
    share = two / (1 - one * excess)
    assert (1 - share) * training + share * left_out == pytest.approx(expect["err632_plus"], abs=1e-6)


def test_retraining_beats_the_model_without_the_validation_points():
    """At K = 3 the gap cannot be told from none: -0.0006 with a standard error of 0.0008 over 600,000 data sets of an
    independent simulation, while the mean of 1,000 has one of 0.02. From K = 7 on it is plain."""
    _, expect, params = select_case("validation-retrain-wins")
    found = theory.validation_study(validation=params["K"], data_sets=1000, random_state=1)
    gaps = found.kept - found.retrained
    assert abs(gaps[0]) < 0.03
    assert (gaps[1:] > 0).tolist() == expect["retrained_better"][1:]
    assert (np.diff(gaps) > 0).all() == expect["gap_grows_with_K"]


def test_the_shrunken_mean():
    """Bias and variance of half the mean, as a study of samples finds them for the mean itself."""
    given, expect = theory_case("shrunken-mean")
    found = theory.sampling_study("mean", sizes=[given["n"]], samples=200_000, random_state=0)
    variance = given["c"] ** 2 * given["sigma"] ** 2 * found.variance[0]
    bias = given["c"] * (given["f"] + given["sigma"] * found.bias[0]) - given["f"]
    assert variance == pytest.approx(expect["variance"], rel=0.02)
    assert bias**2 == pytest.approx(expect["bias_squared"], rel=0.02)
    assert bias**2 + variance + given["sigma"] ** 2 == pytest.approx(expect["total"], rel=0.01)
