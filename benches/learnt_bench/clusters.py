"""Workloads of clustering, mixtures, densities, neighbours and projections."""

from . import strong
from .workloads import (
    BOTH,
    OURS,
    PACKAGES,
    SKLEARN,
    Workload,
    centres,
    estimators,
    functions,
    inertia,
    nearest,
    faiss_flat,
    number,
    scipy_tree,
    test_accuracy,
)


def groups_found(data, labels):
    """Agreement with the groups that the data were made of."""
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(data["labels"], labels))


def labels_of(model, _data):
    """The label of every row."""
    return model.labels_


def likelihood(model, data):
    """The mean log-likelihood of a row."""
    import numpy

    return float(numpy.mean(model.score_samples(data["X"])))


def given(_data, value):
    """The answer is the score."""
    return float(value)


def mean_density(_data, densities):
    """The mean log-density of the queries."""
    return float(densities.mean())


def densities(**parameters):
    """Log-densities of queries by a Gaussian kernel."""

    def of(library):
        def side(data, _threads):
            import importlib

            package = {OURS: "learnt", SKLEARN: "sklearn"}[library]
            kernel = importlib.import_module(f"{package}.neighbors").KernelDensity

            def run():
                return kernel(**parameters).fit(data["X"]).score_samples(data["queries"])

            return run, lambda found: found

        return side

    return {library: of(library) for library in BOTH}


def parallel_dbscan(eps, min_samples):
    """The package `dbscan`: parallel over cells."""

    def side(data, _threads):
        from dbscan import DBSCAN

        return lambda: DBSCAN(data["X"], eps=eps, min_samples=min_samples), lambda found: found[0]

    return side


def dbscan(eps, min_samples):
    """DBSCAN by the libraries that have it."""
    return {
        **estimators("cluster.DBSCAN", labels_of, eps=eps, min_samples=min_samples),
        "dbscan": parallel_dbscan(eps, min_samples),
    }


def fast_hdbscan(data, _threads):
    """The package fast-hdbscan."""
    from fast_hdbscan import HDBSCAN

    return lambda: HDBSCAN(min_cluster_size=25).fit(data["X"]), lambda model: model.labels_


def cut_linkage(method):
    """fastcluster's tree, cut at the number of groups."""

    def side(data, _threads):
        import fastcluster
        from scipy.cluster.hierarchy import fcluster

        count = len(set(data["labels"]))
        run = {
            "single": lambda: fastcluster.linkage_vector(data["X"], "single"),
            "ward": lambda: fastcluster.linkage_vector(data["X"], "ward"),
            "average": lambda: fastcluster.linkage(data["X"], "average"),
        }[method]
        return run, lambda tree: fcluster(tree, count, "maxclust")

    return side


def linkage(method, rows):
    """Agglomerative clustering."""
    count = 8
    sides = estimators(
        "cluster.AgglomerativeClustering", labels_of, libraries=BOTH, n_clusters=count, linkage=method
    )
    name = f"{method} linkage"
    return Workload(
        name, f"groups_{rows}", f"{rows} x 10", groups_found, "adjusted Rand", 0.02,
        {**sides, "fastcluster": cut_linkage(method)},
    )


def medoids(data, threads):
    """The package kmedoids: FasterPAM over a matrix of distances, which it needs."""
    import kmedoids
    import numpy
    from sklearn.metrics import euclidean_distances

    def run():
        distances = euclidean_distances(data["X"]).astype(numpy.float32)
        return kmedoids.fasterpam(distances, 8, random_state=0, n_cpu=threads)

    return run, lambda found: found.labels


def recall(data, found):
    """The share of the ten nearest rows that were found, over all queries."""
    import numpy

    table, queries, hits = data["X"], data["queries"], 0
    norms = (table**2).sum(axis=1)
    for start in range(0, len(queries), 500):
        distances = norms - 2 * queries[start : start + 500] @ table.T
        nearest = numpy.argpartition(distances, 10, axis=1)[:, :10]
        hits += sum(len(set(a) & set(b)) for a, b in zip(nearest.tolist(), found[start : start + 500].tolist()))
    return hits / (10 * len(queries))


def neighbours_of(library):
    """The ten nearest rows of each query, exactly."""

    def side(data, threads):
        import importlib

        kind = importlib.import_module(f"{PACKAGES[library]}.neighbors").NearestNeighbors

        def run():
            learner = kind(n_neighbors=10, n_jobs=threads).fit(data["X"])
            return learner.kneighbors(data["queries"], return_distance=False)

        return run, lambda found: found

    return side


# Graphs of near neighbours give most of the nearest rows, not all: they are shown with their recall and not raced.
APPROXIMATE = {"usearch (approximate)": strong.usearch, "hnswlib (approximate)": strong.hnswlib}


CLUSTERS = [
    Workload(
        "Gaussian mixture", "groups_100k", "100k x 8, k=8, full", given, "mean log-likelihood", 0.01,
        estimators("mixture.GaussianMixture", likelihood, libraries=BOTH, n_components=8, random_state=0),
    ),
    Workload(
        "k-medoids", "groups_5k", "5k x 8, k=8", groups_found, "adjusted Rand", 0.02,
        {
            **estimators("cluster.KMedoids", labels_of, libraries=(OURS,), n_clusters=8, random_state=0),
            "kmedoids": medoids,
        },
    ),
    Workload("DBSCAN 3-D", "points_3d", "100k x 3", groups_found, "adjusted Rand", 1e-3, dbscan(0.1, 10)),
    Workload("DBSCAN 2-D", "points_2d", "1M x 2", groups_found, "adjusted Rand", 1e-3, dbscan(0.02, 10)),
    Workload(
        "HDBSCAN", "points_3d", "100k x 3", groups_found, "adjusted Rand", 0.05,
        {
            **estimators("cluster.HDBSCAN", labels_of, libraries=BOTH, min_cluster_size=25),
            "fast-hdbscan": fast_hdbscan,
        },
    ),
    linkage("single", "20k"),
    linkage("average", "20k"),
    linkage("ward", "20k"),
    Workload(
        "kernel density 2-D", "queries_2d", "50k x 2, 10k queries", mean_density, "mean log-density", 1e-3,
        densities(bandwidth=0.1, rtol=1e-4),
    ),
    Workload(
        "kernel density 4-D", "queries_4d", "100k x 4, 2k queries", mean_density, "mean log-density", 1e-3,
        densities(bandwidth=0.3, rtol=1e-4),
    ),
    Workload(
        "neighbours 3-D", "neighbours_3d", "100k x 3, 10k queries, k=10", test_accuracy, "test accuracy", 0.001,
        {**nearest("auto"), "scipy cKDTree": scipy_tree},
    ),
    Workload(
        "neighbours 64-D", "neighbours_64d", "50k x 64, 5k queries, k=10", test_accuracy, "test accuracy", 0.001,
        {**nearest("auto"), "faiss (float32)": faiss_flat}, informative=("faiss (float32)",),
    ),
    Workload(
        "neighbours 64-D, approximate beside exact", "neighbours_64d", "50k x 64, 5k queries, k=10", recall, "recall",
        0.0, {**{library: neighbours_of(library) for library in BOTH}, **APPROXIMATE}, informative=tuple(APPROXIMATE),
    ),
    Workload(
        "k-means many clusters", "blobs_64d", "200k x 64, k=256, 20 iterations", inertia, "inertia a row", 1e-3,
        estimators(
            "cluster.KMeans", centres, n_clusters=256, init=lambda data, _threads: data["start"], n_init=1,
            max_iter=20, tol=0.0,
        ),
        higher=False, relative=True,
    ),
    Workload(
        "mini-batch k-means", "blobs", "1M x 16, k=32", inertia, "inertia a row", 0.05,
        estimators(
            "cluster.MiniBatchKMeans", centres, libraries=BOTH, n_clusters=32, n_init=1, random_state=0
        ),
        higher=False, relative=True,
    ),
    Workload(
        "random projection", "wide_points", "10k x 5,000 to 500", number, "rows", 1e9,
        estimators(
            "random_projection.GaussianRandomProjection",
            lambda model, data: model.transform(data["X"]).shape[0],
            libraries=BOTH, n_components=500, random_state=0,
        ),
    ),
    Workload(
        "silhouette_score, many rows", "groups_50k", "50k x 8", number, "value", 1e-9,
        functions("metrics.silhouette_score", "X", "labels", libraries=BOTH), relative=True,
    ),
]
