"""Times and sizes of pictures, pages and answers at 10^3 and 10^6 rows.

    python benches/figures.py [threads]

Run it with a release build of the package installed. Every time is the best of three.
"""

import pathlib
import sys
import tempfile
import time

import numpy as np

import learnt
from learnt import plot
from learnt.linear_model import LinearRegression, LogisticRegression


def best(call, repeats=3):
    """The least seconds of several calls, and the last result."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        found = call()
        times.append(time.perf_counter() - start)
    return min(times), found


def row(what, seconds, size=""):
    print(f"{what:48} {seconds * 1e3:10.1f} ms {size}")


def pictures():
    draw = np.random.default_rng(0)
    x = draw.normal(size=(1_000_000, 4))
    y = x @ [1.0, 2.0, 0.0, -1.0] + draw.normal(size=len(x))
    model = LinearRegression().fit(x, y)
    seconds, picture = best(lambda: plot.plot("predicted-actual", model, x, y))
    row("chart of 10^6 predictions", seconds)
    seconds, svg = best(lambda: picture.svg)
    row("its SVG", seconds, f"{len(svg) / 1e3:.0f} kB")
    seconds, answer = best(lambda: model.influence(x, y))
    row("influence of 10^6 rows", seconds)
    seconds, _ = best(lambda: answer["cook"])
    row("one of its columns as an array", seconds)
    seconds, _ = best(lambda: answer.to_dict())
    row("all of it as arrays", seconds)


def pages():
    for rows in (1_000, 1_000_000):
        draw = np.random.default_rng(1)
        x = draw.normal(size=(rows, 8))
        classes = (x[:, 0] + draw.normal(size=rows) > 0).astype(int)
        model = LogisticRegression().fit(x, classes)
        seconds, page = best(lambda: plot.report(model, x, classes))
        row(f"page of a classifier on {rows:,} rows", seconds, f"{len(page) / 1e3:.0f} kB")
        numbers = x @ np.arange(8.0) + draw.normal(size=rows)
        regression = LinearRegression().fit(x, numbers)
        seconds, page = best(lambda: plot.report(regression, x, numbers))
        row(f"page of a regression on {rows:,} rows", seconds, f"{len(page) / 1e3:.0f} kB")


def surface():
    """Lines of the Python surface that are written by hand, without learners' plumbing."""
    package = pathlib.Path(learnt.__file__).parent
    names = [
        "_compare.py", "_cross_validation.py", "_datasets.py", "_functions.py", "_lagrangian.py",
        "_metrics.py", "_model_selection.py", "_optimize.py", "_scoring.py", "_splitters.py",
        "_utils.py", "answer.py", "plot.py",
    ]  # fmt: skip
    lines = {name: len((package / name).read_text().splitlines()) for name in names}
    print("hand-written lines:", sum(lines.values()), lines)
    print("functions:", sum(len(json_of(m)) for m in ("metrics", "stats", "linalg", "theory", "optimize")))


def json_of(module):
    import importlib

    return importlib.import_module(f"learnt.{module}").__all__


if __name__ == "__main__":
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    with learnt.threads(threads), tempfile.TemporaryDirectory():
        pictures()
        pages()
    surface()
