"""The data of the workloads: made once from a fixed seed, kept as .npy files, loaded by every worker."""

import os
import shutil
from pathlib import Path

RECIPES = {}


def recipe(function):
    """Register a function of the scale (1.0, or 0.1 for a quick run) that returns a dictionary of arrays."""
    RECIPES[function.__name__] = function
    return function


def rows(count, scale):
    """The number of rows at this scale."""
    return max(1, round(count * scale))


def classification(count, columns, informative, redundant, classes, clusters, flip, seed, apart=1.0):
    """A table of labelled Gaussian clusters with dependent columns."""
    from sklearn.datasets import make_classification

    return make_classification(
        n_samples=count,
        n_features=columns,
        n_informative=informative,
        n_redundant=redundant,
        n_classes=classes,
        n_clusters_per_class=clusters,
        flip_y=flip,
        class_sep=apart,
        random_state=seed,
    )


def split(table, labels, test):
    """The last `test` rows become the queries."""
    train = len(table) - test
    return {"X": table[:train], "y": labels[:train], "queries": table[train:], "truth": labels[train:]}


@recipe
def regression(scale):
    """500,000 x 100, half of the columns matter."""
    from sklearn.datasets import make_regression

    table, target = make_regression(rows(500_000, scale), 100, n_informative=50, noise=10.0, random_state=0)
    return {"X": table, "y": target}


@recipe
def sparse(scale):
    """100,000 x 200, a tenth of the columns matter."""
    from sklearn.datasets import make_regression

    table, target = make_regression(rows(100_000, scale), 200, n_informative=20, noise=50.0, random_state=1)
    return {"X": table, "y": target}


@recipe
def wide(scale):
    """10,000 x 1,000, each column correlated with the one before it; centred."""
    import numpy
    from sklearn.datasets import make_regression

    table, target = make_regression(rows(10_000, scale), 1000, n_informative=50, noise=50.0, random_state=2)
    table = table + 0.5 * numpy.roll(table, 1, axis=1)
    return {"X": table - table.mean(axis=0), "y": target - target.mean()}


@recipe
def counts(scale):
    """500,000 x 20, a target of counts."""
    import numpy

    draw = numpy.random.default_rng(6)
    table = draw.standard_normal((rows(500_000, scale), 20))
    slope = draw.standard_normal(20) / 10
    return {"X": table, "y": draw.poisson(numpy.exp(0.5 + table @ slope)).astype(float)}


@recipe
def margins(scale):
    """200,000 x 50, two classes well apart, standardized."""
    table, labels = classification(rows(200_000, scale), 50, 20, 5, 2, 2, 0.02, seed=5, apart=1.2)
    return {"X": (table - table.mean(axis=0)) / table.std(axis=0), "y": labels}


@recipe
def binary(scale):
    """1,000,000 x 20, two classes."""
    table, labels = classification(rows(1_000_000, scale), 20, 10, 5, 2, 2, 0.01, seed=3)
    return {"X": table, "y": labels}


@recipe
def multinomial(scale):
    """200,000 x 50, ten classes, standardized."""
    table, labels = classification(rows(200_000, scale), 50, 20, 10, 10, 1, 0.01, seed=4)
    return {"X": (table - table.mean(axis=0)) / table.std(axis=0), "y": labels}


@recipe
def neighbours(scale):
    """100,000 x 10 and 10,000 queries, five classes."""
    queries = rows(10_000, scale)
    table, labels = classification(rows(100_000, scale) + queries, 10, 8, 2, 5, 3, 0.01, seed=7)
    return split(table, labels, queries)


@recipe
def tree(scale):
    """100,000 x 20 and 20,000 rows to test on, two classes."""
    test = rows(20_000, scale)
    table, labels = classification(rows(100_000, scale) + test, 20, 10, 5, 2, 4, 0.02, seed=8)
    return split(table, labels, test)


@recipe
def blobs(scale):
    """1,000,000 x 16 around 32 centres, and 32 rows to start from."""
    import numpy
    from sklearn.datasets import make_blobs

    table, _ = make_blobs(rows(1_000_000, scale), 16, centers=32, cluster_std=3.0, random_state=15)
    start = numpy.random.RandomState(15).choice(len(table), 32, replace=False)
    return {"X": table, "start": table[start]}


@recipe
def low_rank(scale):
    """100,000 x 200 of effective rank 20, with noise."""
    import numpy
    from sklearn.datasets import make_low_rank_matrix

    count = rows(100_000, scale)
    table = make_low_rank_matrix(count, 200, effective_rank=20, tail_strength=0.3, random_state=13) * 1000
    return {"X": table + numpy.random.RandomState(13).normal(0, 0.1, table.shape)}


def linear_target(table, seed, informative, noise):
    """A sum of some columns, with noise."""
    import numpy

    draw = numpy.random.default_rng(seed)
    slope = numpy.zeros(table.shape[1])
    slope[:informative] = 10 * draw.standard_normal(informative)
    return table @ slope + noise * draw.standard_normal(len(table))


def normal(count, columns, seed):
    """Independent standard normal columns."""
    import numpy

    return numpy.random.default_rng(seed).standard_normal((count, columns))


@recipe
def wide_regression(scale):
    """2,000 x 3,000."""
    table = normal(rows(2000, scale), 3000, 30)
    return {"X": table, "y": linear_target(table, 31, 100, 10.0)}


@recipe
def tiny_regression(_scale):
    """1,000 x 10."""
    table = normal(1000, 10, 32)
    return {"X": table, "y": linear_target(table, 33, 5, 1.0)}


@recipe
def sparse_tall(scale):
    """20,000 x 2,000, thirty columns matter."""
    table = normal(rows(20_000, scale), 2000, 34)
    return {"X": table, "y": linear_target(table, 35, 30, 10.0)}


@recipe
def sparse_wide(scale):
    """2,000 x 20,000, thirty columns matter."""
    table = normal(rows(2000, scale), 20_000, 36)
    return {"X": table, "y": linear_target(table, 37, 30, 10.0)}


def labelled(table, seed, noise=1.0):
    """Two classes by a noisy sum of all columns."""
    import numpy

    draw = numpy.random.default_rng(seed)
    score = table @ draw.standard_normal(table.shape[1]) / numpy.sqrt(table.shape[1])
    return {"X": table, "y": (score + noise * draw.logistic(size=len(table)) > 0).astype(int)}


@recipe
def binary_wide(scale):
    """50,000 x 500, two classes."""
    return labelled(normal(rows(50_000, scale), 500, 38), 39)


@recipe
def wide_binary(_scale):
    """200 x 5,000, two classes."""
    return labelled(normal(200, 5000, 40), 41)


@recipe
def tiny_binary(_scale):
    """1,000 x 10, two classes."""
    return labelled(normal(1000, 10, 42), 43)


@recipe
def binary_scaled(scale):
    """200,000 x 30, two classes, columns from a thousandth to a thousand."""
    import numpy

    data = labelled(normal(rows(200_000, scale), 30, 44), 45, noise=0.3)
    return {"X": data["X"] * numpy.logspace(-3, 3, 30), "y": data["y"]}


@recipe
def wide_classes(_scale):
    """200 x 5,000, three classes."""
    import numpy

    table = normal(200, 5000, 46)
    labels = numpy.random.default_rng(47).integers(0, 3, 200)
    table[:, :20] += labels[:, None]
    return {"X": table, "y": labels}


def factors(count, columns, seed):
    """Thirty factors of falling size, with noise."""
    import numpy

    draw = numpy.random.default_rng(seed)
    scores = draw.standard_normal((count, 30)) * numpy.linspace(5, 0.5, 30)
    return scores @ draw.standard_normal((30, columns)) + draw.standard_normal((count, columns))


@recipe
def factors_wide(scale):
    """2,000 x 5,000."""
    return {"X": factors(rows(2000, scale), 5000, 48)}


@recipe
def factors_tall(scale):
    """20,000 x 2,000."""
    return {"X": factors(rows(20_000, scale), 2000, 49)}


@recipe
def normal_columns(scale):
    """1,000,000 x 10."""
    return {"X": normal(rows(1_000_000, scale), 10, 50)}


@recipe
def levels(scale):
    """1,000,000 x 5 codes below 50."""
    import numpy

    return {"X": numpy.random.default_rng(51).integers(0, 50, (rows(1_000_000, scale), 5))}


@recipe
def tiny_blobs(_scale):
    """1,000 x 10 around 8 centres."""
    from sklearn.datasets import make_blobs

    return {"X": make_blobs(1000, 10, centers=8, cluster_std=3.0, random_state=52)[0]}


@recipe
def numbers(scale):
    """The binary table as text, every digit written: table.csv beside the arrays."""
    return {"X": binary(scale)["X"]}


def write_csv(table, path):
    """Write numbers with a header, shortest digits that read back the same."""
    import pyarrow
    from pyarrow import csv

    columns = {f"x{column}": table[:, column] for column in range(table.shape[1])}
    csv.write_csv(pyarrow.table(columns), path)


def folder(cache, name, scale):
    """Where the arrays of a recipe are kept."""
    return Path(cache) / f"{name}-{scale:g}"


def drawn_scores(count):
    """Scores of two classes, with the probabilities and classes they stand for."""
    import numpy

    draw = numpy.random.default_rng(11)
    labels = draw.integers(0, 2, count)
    found = draw.normal(size=len(labels)) + labels
    share = 1 / (1 + numpy.exp(0.5 - found))
    return {"y": labels, "s": found, "p": share, "predicted": (share > 0.5).astype(labels.dtype)}


@recipe
def scores(scale):
    """A million scores."""
    return drawn_scores(rows(1_000_000, scale))


@recipe
def many_scores(scale):
    """Ten million scores."""
    return drawn_scores(rows(10_000_000, scale))


@recipe
def few_scores(scale):
    """A hundred thousand scores."""
    return drawn_scores(rows(100_000, scale))


@recipe
def groups(scale):
    """10,000 x 8 in five groups."""
    import numpy

    draw = numpy.random.default_rng(12)
    labels = draw.integers(0, 5, rows(10_000, scale))
    return {"X": draw.normal(size=(len(labels), 8)) + 2.0 * labels[:, None], "labels": labels}


def boosting_table(count, test, seed):
    """Columns of which some matter through products and waves, as in tables of physics; two classes."""
    import numpy

    draw = numpy.random.default_rng(seed)
    table = draw.standard_normal((count + test, 28))
    wave = numpy.sin(2 * table[:, 0]) + table[:, 1] * table[:, 2] + 0.5 * table[:, 3] ** 2
    score = wave + 0.3 * table[:, 4:10].sum(axis=1) - 0.5 + draw.logistic(size=len(table))
    return split(table, (score > 0).astype(int), test)


@recipe
def boosting(scale):
    """1,000,000 x 28 and 100,000 rows to test on."""
    return boosting_table(rows(1_000_000, scale), rows(100_000, scale), seed=20)


def with_levels(count, test, columns, levels, seed, effect):
    """Columns of numbers after columns of categories, each level with an effect of its own; two classes."""
    import numpy

    draw = numpy.random.default_rng(seed)
    table = draw.standard_normal((count + test, columns))
    first = len(levels)
    score = table[:, first] * table[:, first + 1] + numpy.sin(2 * table[:, first + 2])
    score += draw.logistic(size=len(table))
    for column, number in enumerate(levels):
        table[:, column] = draw.integers(0, number, len(table))
        score += effect * draw.standard_normal(number)[table[:, column].astype(int)]
    return split(table, (score > 0).astype(int), test)


@recipe
def boosting_levels(scale):
    """500,000 x 28, of which 20 are categories of 10 to 1,000 levels, and 50,000 rows to test on."""
    import numpy

    levels = numpy.geomspace(10, 1000, 20).astype(int)
    return with_levels(rows(500_000, scale), rows(50_000, scale), 28, levels, 21, 0.4)


@recipe
def tree_levels(scale):
    """200,000 x 20, of which 10 are categories of 5 to 200 levels, and 20,000 rows to test on."""
    import numpy

    levels = numpy.geomspace(5, 200, 10).astype(int)
    return with_levels(rows(200_000, scale), rows(20_000, scale), 20, levels, 60, 1.0)


@recipe
def boosting_classes(scale):
    """200,000 x 50, ten classes, and 20,000 rows to test on."""
    test = rows(20_000, scale)
    table, labels = classification(rows(200_000, scale) + test, 50, 20, 10, 10, 1, 0.01, seed=22)
    return split(table, labels, test)


@recipe
def tree_half(scale):
    """50,000 x 20 and 20,000 rows to test on, two classes."""
    test = rows(20_000, scale)
    table, labels = classification(rows(50_000, scale) + test, 20, 10, 5, 2, 4, 0.02, seed=8)
    return split(table, labels, test)


@recipe
def tree_many(scale):
    """500,000 x 20 and 20,000 rows to test on, two classes."""
    test = rows(20_000, scale)
    table, labels = classification(rows(500_000, scale) + test, 20, 10, 5, 2, 4, 0.02, seed=8)
    return split(table, labels, test)


@recipe
def smooth(scale):
    """20,000 x 10 with a smooth target, and 5,000 rows to test on."""
    from sklearn.datasets import make_friedman1

    test = rows(5_000, scale)
    table, target = make_friedman1(rows(20_000, scale) + test, 10, noise=1.0, random_state=23)
    return split(table, target, test)


def gaussian_groups(count, columns, groups, apart, seed):
    """Rows around centres."""
    import numpy

    draw = numpy.random.default_rng(seed)
    middles = apart * draw.standard_normal((groups, columns))
    labels = draw.integers(0, groups, count)
    return {"X": draw.standard_normal((count, columns)) + middles[labels], "labels": labels}


@recipe
def groups_100k(scale):
    """100,000 x 8 in eight groups."""
    return gaussian_groups(rows(100_000, scale), 8, 8, 2.0, 24)


@recipe
def groups_50k(scale):
    """50,000 x 8 in five groups."""
    return gaussian_groups(rows(50_000, scale), 8, 5, 2.0, 25)


@recipe
def groups_20k(scale):
    """20,000 x 10 in eight groups far apart."""
    return gaussian_groups(rows(20_000, scale), 10, 8, 8.0, 26)


@recipe
def groups_5k(scale):
    """5,000 x 8 in eight groups."""
    return gaussian_groups(rows(5_000, scale), 8, 8, 4.0, 27)


@recipe
def points_3d(scale):
    """100,000 x 3: ten dense groups in thin noise."""
    return noisy_points(rows(100_000, scale), 3, 28)


@recipe
def points_2d(scale):
    """1,000,000 x 2: ten dense groups in thin noise."""
    return noisy_points(rows(1_000_000, scale), 2, 29)


def noisy_points(count, columns, seed):
    """Nine points of ten around ten centres, the others anywhere."""
    import numpy

    found = gaussian_groups(count, columns, 10, 20.0, seed)
    draw = numpy.random.default_rng(seed + 100)
    anywhere = draw.random(count) < 0.1
    found["X"] = 0.3 * found["X"]
    low, high = found["X"].min(axis=0), found["X"].max(axis=0)
    found["X"][anywhere] = draw.uniform(low, high, (anywhere.sum(), columns))
    found["labels"][anywhere] = -1
    return found


def with_queries(count, queries, columns, seed):
    """Rows in groups, and rows to ask about."""
    found = gaussian_groups(count + queries, columns, 8, 2.0, seed)
    return split(found["X"], found["labels"], queries)


@recipe
def queries_2d(scale):
    """50,000 x 2 and 10,000 queries."""
    return with_queries(rows(50_000, scale), rows(10_000, scale), 2, 30)


@recipe
def queries_4d(scale):
    """100,000 x 4 and 2,000 queries."""
    return with_queries(rows(100_000, scale), rows(2_000, scale), 4, 31)


@recipe
def neighbours_3d(scale):
    """100,000 x 3 and 10,000 queries."""
    return with_queries(rows(100_000, scale), rows(10_000, scale), 3, 32)


@recipe
def neighbours_64d(scale):
    """50,000 x 64 and 5,000 queries."""
    return with_queries(rows(50_000, scale), rows(5_000, scale), 64, 33)


@recipe
def blobs_64d(scale):
    """200,000 x 64 in 256 groups, with a start."""
    found = gaussian_groups(rows(200_000, scale), 64, 256, 1.0, 34)
    return {"X": found["X"], "start": found["X"][:256].copy()}


@recipe
def wide_points(scale):
    """10,000 x 5,000 without structure."""
    return {"X": normal(rows(10_000, scale), 5000, 35)}


def make(cache, name, scale):
    """Make the arrays of a recipe unless they are there; complete or not at all."""
    import numpy

    target = folder(cache, name, scale)
    if target.exists():
        return
    unfinished = target.with_name(f"{target.name}.{os.getpid()}")
    unfinished.mkdir(parents=True)
    try:
        arrays = RECIPES[name](scale)
        for key, array in arrays.items():
            numpy.save(unfinished / f"{key}.npy", numpy.ascontiguousarray(array))
        if name == "numbers":
            write_csv(arrays["X"], unfinished / "table.csv")
        unfinished.rename(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def load(cache, name, scale):
    """The arrays of a recipe; for text, the path of the file instead of its numbers."""
    import numpy

    source = folder(cache, name, scale)
    if name == "numbers":
        return {"path": str(source / "table.csv"), "shape": numpy.load(source / "X.npy", mmap_mode="r").shape}
    return {path.stem: numpy.load(path) for path in sorted(source.glob("*.npy"))}
