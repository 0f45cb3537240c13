"""The gate, and the roles beyond predicting: densities, detectors, decoders, clusters, traces."""

import pickle

import numpy as np
import pytest
from sklearn.cluster import DBSCAN as TheirDBSCAN
from sklearn.datasets import load_iris, make_moons

import learnt
from learnt.cluster import DBSCAN, KMeans
from learnt.density import GaussianDensity, GaussianDetector
from learnt.impute import IterativeImputer
from learnt.linear_model import (
    ElasticNetCV,
    LassoCV,
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeCV,
    SGDClassifier,
)
from learnt.neighbors import KNeighborsClassifier
from learnt.pipeline import Pipeline
from learnt.preprocessing import StandardScaler
from learnt.sequence import SupervisedHMM

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("hole", [np.nan, np.inf])
def test_rows_that_a_learner_cannot_take_are_refused_by_row_and_column(hole):
    model = LogisticRegression().fit(X, Y)
    rows = X[:5].copy()
    rows[3, 2] = hole
    with pytest.raises(ValueError, match="x2.*row 4"):
        model.predict(rows)


def test_a_density_is_the_normal_density_and_draws_from_it():
    scipy = pytest.importorskip("scipy.stats")
    model = GaussianDensity(reg_covar=0.0).fit(X)
    expected = scipy.multivariate_normal(X.mean(axis=0), np.cov(X.T, bias=True)).logpdf(X)
    np.testing.assert_allclose(model.score_samples(X), expected, rtol=1e-9)
    assert model.score(X) == pytest.approx(expected.sum())
    drawn = model.sample(5000, random_state=0)
    np.testing.assert_allclose(drawn.mean(axis=0), X.mean(axis=0), atol=0.1)
    np.testing.assert_array_equal(drawn, model.sample(5000, random_state=0))


def test_a_detector_finds_the_share_of_outliers_that_it_was_told():
    model = GaussianDetector(contamination=0.1).fit(X)
    found = model.predict(X)
    assert set(found) == {-1, 1} and (found == -1).sum() == 15
    np.testing.assert_array_equal(found == -1, model.decision_function(X) < 0)
    np.testing.assert_array_equal(GaussianDetector(contamination=0.1).fit_predict(X), found)


def test_a_decoder_reads_sequences_by_their_lengths():
    states = np.array(["R", "R", "S", "S", "R", "S", "R", "R"])
    seen = np.array([["U"], ["U"], ["N"], ["N"], ["U"], ["N"], ["U"], ["N"]], dtype=object)
    model = SupervisedHMM(pseudocount=0.5).fit(seen, states, lengths=[5, 3])
    np.testing.assert_allclose(model.startprob_, [0.5, 0.5])
    apart = np.concatenate([model.predict(seen[:5]), model.predict(seen[5:])])
    np.testing.assert_array_equal(model.predict(seen, lengths=[5, 3]), apart)
    log_probability, path = model.decode(seen, lengths=[5, 3])
    assert log_probability < model.score(seen, lengths=[5, 3]) < 0
    assert set(path) <= {"R", "S"}
    posteriors = model.predict_proba(seen, lengths=[5, 3])
    np.testing.assert_allclose(posteriors.sum(axis=1), 1.0)
    with pytest.raises(ValueError, match="lengths"):
        model.predict(seen, lengths=[5, 4])
    again = learnt.from_bytes(model.to_bytes())
    np.testing.assert_array_equal(again.predict(seen, lengths=[5, 3]), apart)


@pytest.mark.parametrize("eps", [0.1, 0.2, 0.5])
def test_dbscan_has_the_labels_of_scikit_learn(eps):
    rows, _ = make_moons(400, noise=0.08, random_state=0)
    ours, theirs = DBSCAN(eps=eps).fit(rows), TheirDBSCAN(eps=eps).fit(rows)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_array_equal(ours.core_sample_indices_, theirs.core_sample_indices_)
    assert not hasattr(ours, "predict")


@pytest.mark.parametrize("learner", [KMeans(3, random_state=0), DBSCAN(eps=0.8)])
def test_labels_of_training_rows_are_in_pickles_and_not_in_model_files(learner):
    model = learner.fit(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).labels_, model.labels_)
    assert not hasattr(learnt.from_bytes(model.to_bytes()), "labels_")


def test_clusters_at_the_end_of_a_pipeline_have_labels():
    from learnt.pipeline import Pipeline
    from learnt.preprocessing import StandardScaler

    pipe = Pipeline([("scale", StandardScaler()), ("k", KMeans(3))], random_state=0).fit(X)
    np.testing.assert_array_equal(pipe.labels_, pipe.predict(X))


def test_the_trace_of_objectives_falls():
    losses = LogisticRegression().fit(X, Y).loss_curve_
    assert len(losses) > 1 and losses[-1] < losses[0]
    assert not hasattr(Ridge().fit(X, Y), "loss_curve_")


@pytest.mark.parametrize(
    "learner", [SGDClassifier(), Perceptron(), LogisticRegression(penalty="l1", C=1.0)]
)
def test_iterative_classifiers_of_several_classes_have_one_curve(learner):
    losses = learner.fit(X, Y).loss_curve_
    assert len(losses) >= 1 and np.isfinite(losses).all()


def test_the_curve_of_k_means_falls_to_its_inertia():
    model = KMeans(3, random_state=0).fit(X)
    assert len(model.loss_curve_) == model.n_iter_
    assert (np.diff(model.loss_curve_) <= 1e-9 * model.loss_curve_[0]).all()
    assert model.loss_curve_[-1] >= model.inertia_ - 1e-9


def test_images_are_flattened_in_order_and_keep_their_sides():
    rng = np.random.default_rng(0)
    images = rng.normal(size=(40, 3, 2, 4))
    y = np.arange(40) % 2
    images[y == 1, 1, 1, 2] += 9
    flat = images.reshape(40, -1)
    for rows, table in ((images, flat), (images[..., 0], images[..., 0].reshape(40, -1))):
        model = KNeighborsClassifier(3).fit(rows, y)
        np.testing.assert_array_equal(
            model.predict(rows), KNeighborsClassifier(3).fit(table, y).predict(table)
        )
        np.testing.assert_array_equal(model.predict(rows), model.predict(table))
        again = learnt.from_bytes(model.to_bytes())
        np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
        with pytest.raises(ValueError, match="volumes of"):
            again.predict(table.reshape(40, 1, -1))
    with pytest.raises(ValueError, match="dim 4"):
        Ridge().fit(images, y)
    scaled = Pipeline([("scale", StandardScaler()), ("knn", KNeighborsClassifier(3))])
    assert scaled.fit(images, y).predict(images).shape == (40,)


@pytest.mark.parametrize("learner", [LassoCV(cv=3), ElasticNetCV(cv=3), RidgeCV(cv=3)])
def test_groups_stay_together_in_the_folds_of_learners(learner):
    rng = np.random.default_rng(1)
    inputs, people = rng.normal(size=(60, 3)), np.repeat(["ann", "bob", "cid"], 20)
    target = inputs[:, 0] + 5 * (people == "bob")
    grouped = learner.fit(inputs, target, groups=people)
    assert np.isfinite(grouped.coef_).all()
    with pytest.raises(ValueError, match="group"):
        type(learner)(cv=4).fit(inputs, target, groups=people)
    with pytest.raises(ValueError, match="inconsistent"):
        learner.fit(inputs, target, groups=people[:-1])


def test_the_models_of_an_imputer_can_be_reached():
    rows = np.column_stack([X[:, :2], X[:, 0] * 2])
    rows[::7, 2] = np.nan
    imputer = IterativeImputer(skip_complete=True).fit(rows)
    assert len(imputer.estimators_) == imputer.n_iter_
    assert type(imputer.estimators_[0]).__name__ == "LinearRegression"


def test_a_pipeline_shows_one_output_as_its_last_step_does():
    target = X @ np.arange(4.0)
    alone = Ridge().fit(X, target)
    inside = Pipeline([("ridge", Ridge())]).fit(X, target)
    np.testing.assert_array_equal(inside.coef_, alone.coef_)
    assert inside.intercept_ == alone.intercept_ and alone.coef_.shape == (4,)
    both = Ridge().fit(X, np.column_stack([target, -target]))
    assert both.coef_.shape == (2, 4) and both.intercept_.shape == (2,)
