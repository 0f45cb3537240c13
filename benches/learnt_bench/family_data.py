"""Tables of the families of learners: one of some size, tiny, wide and tall, for each kind of target."""

from .data import classification, gaussian_groups, labelled, linear_target, noisy_points, normal, recipe, rows


@recipe
def numbers_50k(scale):
    """50,000 x 20, numbers to predict."""
    table = normal(rows(50_000, scale), 20, 53)
    return {"X": table, "y": linear_target(table, 54, 10, 1.0)}


@recipe
def classes_50k(scale):
    """50,000 x 20, two classes."""
    return labelled(normal(rows(50_000, scale), 20, 55), 56, noise=0.3)


@recipe
def rows_50k(scale):
    """50,000 x 20 around 8 centres."""
    from sklearn.datasets import make_blobs

    return {"X": make_blobs(rows(50_000, scale), 20, centers=8, cluster_std=3.0, random_state=57)[0]}


@recipe
def wide_rows(scale):
    """1,000 x 2,000 around 8 centres."""
    return {"X": gaussian_groups(1000, rows(2000, scale), 8, 2.0, 61)["X"]}


@recipe
def tall_rows(scale):
    """500,000 x 5 around 8 centres."""
    return {"X": gaussian_groups(rows(500_000, scale), 5, 8, 4.0, 62)["X"]}


@recipe
def tall_numbers(scale):
    """500,000 x 5, numbers to predict."""
    table = normal(rows(500_000, scale), 5, 63)
    return {"X": table, "y": linear_target(table, 64, 5, 1.0)}


@recipe
def tall_classes(scale):
    """500,000 x 5, two classes."""
    return labelled(normal(rows(500_000, scale), 5, 65), 66, noise=0.3)


def counted(count, columns, seed):
    """Counts whose logarithm is a sum of all columns."""
    import numpy

    draw = numpy.random.default_rng(seed)
    table = draw.standard_normal((count, columns))
    rate = numpy.exp(0.5 + table @ draw.standard_normal(columns) / (2 * numpy.sqrt(columns)))
    return {"X": table, "y": draw.poisson(rate).astype(float)}


@recipe
def tiny_counts(_scale):
    """1,000 x 10, counts."""
    return counted(1000, 10, 67)


@recipe
def counts_50k(scale):
    """50,000 x 20, counts."""
    return counted(rows(50_000, scale), 20, 68)


@recipe
def wide_counts(_scale):
    """500 x 1,000, counts."""
    return counted(500, 1000, 69)


@recipe
def tall_counts(scale):
    """500,000 x 5, counts."""
    return counted(rows(500_000, scale), 5, 70)


def codes(count, columns, seed):
    """Codes below 50, as numbers."""
    import numpy

    return {"X": numpy.random.default_rng(seed).integers(0, 50, (count, columns)).astype(float)}


@recipe
def tiny_levels(_scale):
    """1,000 x 10 codes."""
    return codes(1000, 10, 71)


@recipe
def levels_50k(scale):
    """50,000 x 20 codes."""
    return codes(rows(50_000, scale), 20, 72)


@recipe
def wide_levels(scale):
    """1,000 x 2,000 codes."""
    return codes(1000, rows(2000, scale), 73)


@recipe
def tall_levels(scale):
    """500,000 x 5 codes."""
    return codes(rows(500_000, scale), 5, 74)


def with_gaps(count, columns, seed):
    """Normal columns; a value of ten is missing."""
    import numpy

    table = normal(count, columns, seed)
    table[numpy.random.default_rng(seed + 100).random(table.shape) < 0.1] = numpy.nan
    return {"X": table}


@recipe
def tiny_missing(_scale):
    """1,000 x 10 with gaps."""
    return with_gaps(1000, 10, 75)


@recipe
def missing_50k(scale):
    """50,000 x 20 with gaps."""
    return with_gaps(rows(50_000, scale), 20, 76)


@recipe
def wide_missing(scale):
    """1,000 x 2,000 with gaps."""
    return with_gaps(1000, rows(2000, scale), 77)


@recipe
def tall_missing(scale):
    """500,000 x 5 with gaps."""
    return with_gaps(rows(500_000, scale), 5, 78)


@recipe
def tiny_points(_scale):
    """1,000 x 3: ten dense groups in thin noise."""
    return {"X": noisy_points(1000, 3, 79)["X"]}


@recipe
def points_20k(scale):
    """20,000 x 3: ten dense groups in thin noise."""
    return {"X": noisy_points(rows(20_000, scale), 3, 80)["X"]}


@recipe
def points_200k(scale):
    """200,000 x 2: ten dense groups in thin noise."""
    return {"X": noisy_points(rows(200_000, scale), 2, 81)["X"]}


@recipe
def hundred_classes(scale):
    """20,000 x 20, a hundred classes."""
    table, labels = classification(rows(20_000, scale), 20, 15, 0, 100, 1, 0.01, seed=58, apart=2.0)
    return {"X": table, "y": labels}


@recipe
def many_levels(scale):
    """500,000 x 2 codes below 20,000, a few of them common."""
    import numpy

    draw = numpy.random.default_rng(59).random((rows(500_000, scale), 2))
    return {"X": (20_000 * draw**3).astype(int)}
