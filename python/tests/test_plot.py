"""Pictures of fitted models, in notebooks and in files."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import confusion_matrix, roc_auc_score

import learnt
from learnt import plot
from learnt.cluster import HDBSCAN, OPTICS, AgglomerativeClustering, KMeans
from learnt.decomposition import PCA
from learnt.discriminant_analysis import LinearDiscriminantAnalysis
from learnt.linear_model import LassoCV, LinearRegression, LogisticRegression, Ridge
from learnt.mixture import GaussianMixture
from learnt.pipeline import Pipeline
from learnt.preprocessing import StandardScaler
from learnt.tree import DecisionTreeClassifier

FLOWERS, SPECIES = load_iris(return_X_y=True)
PATIENTS, PROGRESS = load_diabetes(return_X_y=True)


def models():
    return [
        (LogisticRegression().fit(FLOWERS, SPECIES), FLOWERS, SPECIES),
        (DecisionTreeClassifier().fit(FLOWERS, SPECIES), FLOWERS, SPECIES),
        (LinearRegression().fit(PATIENTS, PROGRESS), PATIENTS, PROGRESS),
        (Ridge().fit(PATIENTS, PROGRESS), PATIENTS, PROGRESS),
        (PCA().fit(FLOWERS), FLOWERS, None),
        (LinearDiscriminantAnalysis().fit(FLOWERS, SPECIES), FLOWERS, SPECIES),
        (KMeans(3, random_state=0).fit(FLOWERS), FLOWERS, None),
        (OPTICS().fit(FLOWERS), FLOWERS, None),
        (HDBSCAN().fit(FLOWERS), FLOWERS, None),
        (AgglomerativeClustering(3).fit(FLOWERS), FLOWERS, None),
        (GaussianMixture(3, random_state=0).fit(FLOWERS), FLOWERS, None),
    ]


def test_every_picture_is_drawn_for_a_model_that_has_it():
    for name in plot.names():
        drawn = 0
        for model, x, y in models():
            try:
                picture = plot.plot(name, model, x, y)
            except (learnt.errors.LearntError, ValueError):
                continue
            assert picture.svg.startswith("<svg") and picture._repr_svg_() == picture.svg
            assert picture.to_vega_lite()["$schema"].endswith("v5.json")
            drawn += 1
        assert drawn, name


def test_pictures_hold_the_numbers_of_scikit_learn():
    model = LogisticRegression().fit(FLOWERS, SPECIES == 1)
    cells = plot.confusion(model, FLOWERS, SPECIES == 1).to_dict()["panels"][0]["marks"][0]
    counts = [float(label.split("\n")[0]) for label in cells["labels"]]
    expected = confusion_matrix(SPECIES == 1, model.predict(FLOWERS))
    np.testing.assert_array_equal(np.reshape(counts, (2, 2)), expected)
    area = roc_auc_score(SPECIES == 1, model.predict_proba(FLOWERS)[:, 1])
    curve = plot.roc(model, FLOWERS, SPECIES == 1).to_dict()["panels"][0]["marks"][1]
    assert curve["series"].endswith(f"AUC {area:.3f}")


def test_a_picture_is_saved_in_the_form_of_its_ending(tmp_path):
    picture = plot.roc(LogisticRegression().fit(FLOWERS, SPECIES), FLOWERS, SPECIES)
    for ending, start in [(".svg", "<svg"), (".html", "<!doctype"), (".json", "{"), (".txt", "ROC")]:
        path = tmp_path / f"roc{ending}"
        picture.save(path)
        assert path.read_text(encoding="utf-8").startswith(start)
    json.loads((tmp_path / "roc.json").read_text())
    with pytest.raises(ValueError, match=r"\.svg"):
        picture.save(tmp_path / "roc.bmp")
    assert "ROC" in str(picture) and "ROC" in repr(picture)


def test_the_path_of_a_pipeline_marks_its_own_penalty():
    model = Pipeline([("scale", StandardScaler()), ("lasso", LassoCV())]).fit(PATIENTS, PROGRESS)
    marks = plot.path(model, PATIENTS, PROGRESS).to_dict()["panels"][0]["marks"]
    chosen = [mark for mark in marks if mark["series"] == "this model"]
    assert chosen[0]["x"] == [pytest.approx(model.alpha_)]


def test_a_picture_that_does_not_fit_is_refused():
    model = LogisticRegression().fit(FLOWERS, SPECIES)
    with pytest.raises(learnt.errors.LearntError, match="no tree"):
        plot.tree(model)
    with pytest.raises(learnt.errors.LearntError, match="needs rows"):
        plot.roc(model)
    with pytest.raises(AttributeError, match="rock"):
        plot.rock


def test_results_of_functions_are_drawn():
    from learnt import metrics
    from learnt.cluster import KMeans

    labels = KMeans(3, random_state=0).fit(FLOWERS).labels_
    confusion = plot.draw(metrics.confusion_matrix, SPECIES, SPECIES[::-1])
    assert confusion.to_dict()["title"] == "Confusion matrix"
    names = {panel["x"]["categories"][0] for panel in confusion.to_dict()["panels"]}
    assert names == {"0"}
    silhouette = plot.draw(metrics.silhouette_samples, FLOWERS, labels)
    assert silhouette.svg.startswith("<svg")
    assert isinstance(metrics.silhouette_samples(FLOWERS, labels), np.ndarray)
    costs = metrics.cost_threshold((SPECIES == 1).astype(int), FLOWERS[:, 0], 1.0, 5.0)
    assert costs.plot().to_dict()["title"] == "Cost of thresholds"
    with pytest.raises(learnt.errors.UnsupportedError, match="no picture"):
        plot.draw(metrics.accuracy_score, SPECIES, SPECIES)


def test_sphered_rows_are_drawn_by_their_classes():
    from learnt.discriminant_analysis import sphered_centroids

    found = sphered_centroids(FLOWERS, SPECIES)
    expected = LinearDiscriminantAnalysis().fit(FLOWERS, SPECIES).predict(FLOWERS)
    np.testing.assert_array_equal(found.nearest, expected)
    marks = found.plot().to_dict()["panels"][0]["marks"]
    assert [len(mark["x"]) for mark in marks[:3]] == [50, 49, 51] and len(marks[3]["x"]) == 3


def test_pictures_of_clusterings_hold_their_numbers():
    from sklearn.metrics import silhouette_samples

    model = KMeans(3, random_state=0).fit(FLOWERS)
    marks = plot.clusters(model, FLOWERS).to_dict()["panels"][0]["marks"]
    assert sorted(len(mark["x"]) for mark in marks) == sorted(np.bincount(model.labels_))
    bars = plot.silhouette(model, FLOWERS).to_dict()["panels"][0]["marks"][:3]
    drawn = np.sort(np.concatenate([mark["y"] for mark in bars]))
    np.testing.assert_allclose(drawn, np.sort(silhouette_samples(FLOWERS, model.labels_)), atol=1e-9)
    order = OPTICS().fit(FLOWERS)
    reach = plot.reachability(order, FLOWERS).to_dict()["panels"][0]["marks"]
    heights = [y for mark in reach for y in mark["y"] if y is not None]
    expected = order.reachability_
    finite = expected[np.isfinite(expected)]
    np.testing.assert_allclose(np.sort(heights)[: 2 * len(finite) : 2], np.sort(finite), atol=1e-9)
    tree = plot.dendrogram(AgglomerativeClustering(3).fit(FLOWERS), FLOWERS).to_dict()
    assert [mark["series"] for mark in tree["panels"][0]["marks"]] == ["mergers", "cut into 3 clusters"]
    mixture = GaussianMixture(3, random_state=0).fit(FLOWERS)
    marks = plot.ellipses(mixture, FLOWERS).to_dict()["panels"][0]["marks"]
    assert sum(mark["mark"] == "line" for mark in marks) == 6
    with pytest.raises(learnt.errors.LearntError, match="no condensed tree"):
        plot.condensed_tree(model, FLOWERS)
