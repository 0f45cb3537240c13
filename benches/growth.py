#!/usr/bin/env python3
"""How time and memory grow with the number of rows: 10^4, 10^5, 10^6 and 10^7 rows of 10 columns.

    python benches/growth.py                    every learner, to the screen and to results/growth.md
    python benches/growth.py --only 'tree'      learners whose name matches
    python benches/growth.py --most 1e6         fewer rows

The exponent is the slope of log time over log rows from 10^5 rows on: below that the overhead of a call counts. Every
fit has a process of its own. Memory is what the fit adds to the table, at its peak (Linux only).
"""

import argparse
import json
import math
import re
import subprocess
import sys
import time
from pathlib import Path

from learnt_bench import report

HERE = Path(__file__).resolve().parent
COLUMNS = 10
QUERIES = 1000

# name: module, class, parameters, and what is timed
LEARNERS = {
    "standard scaler": ("preprocessing", "StandardScaler", {}, "fit"),
    "quantile bins": ("preprocessing", "KBinsDiscretizer", {"encode": "ordinal"}, "fit"),
    "least squares": ("linear_model", "LinearRegression", {}, "fit"),
    "ridge": ("linear_model", "Ridge", {}, "fit"),
    "lasso": ("linear_model", "Lasso", {"alpha": 0.1}, "fit"),
    "logistic regression": ("linear_model", "LogisticRegression", {}, "fit"),
    "naive Bayes": ("naive_bayes", "GaussianNB", {}, "fit"),
    "linear discriminants": ("discriminant_analysis", "LinearDiscriminantAnalysis", {}, "fit"),
    "principal components": ("decomposition", "PCA", {"n_components": 3}, "fit"),
    "k-means": ("cluster", "KMeans", {"n_clusters": 8, "n_init": 1, "max_iter": 10, "tol": 0, "random_state": 0}, "fit"),
    "tree of depth 8": ("tree", "DecisionTreeClassifier", {"max_depth": 8}, "fit"),
    "forest of 10 trees of depth 8": (
        "ensemble",
        "RandomForestClassifier",
        {"n_estimators": 10, "max_depth": 8, "random_state": 0, "n_jobs": -1},
        "fit",
    ),
    "histogram boosting, 20 rounds": (
        "ensemble",
        "HistGradientBoostingClassifier",
        {"max_iter": 20, "early_stopping": False},
        "fit",
    ),
    "neighbours of 1,000 rows": ("neighbors", "KNeighborsClassifier", {}, "predict"),
}


def measure(name, rows):
    """Fit once, and print seconds and bytes."""
    import importlib

    import numpy as np

    module, kind, parameters, verb = LEARNERS[name]
    draw = np.random.default_rng(0)
    x = draw.normal(size=(rows, COLUMNS))
    y = (x[:, 0] + x[:, 1] * x[:, 2] + draw.normal(size=rows) > 0).astype(float)
    learner = getattr(importlib.import_module(f"learnt.{module}"), kind)(**parameters)
    learner.fit(x[:500], y[:500])
    if verb == "predict":
        learner.fit(x, y)
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    start = time.perf_counter()
    if verb == "predict":
        learner.predict(draw.normal(size=(QUERIES, COLUMNS)))
    else:
        learner.fit(x, y)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "bytes": resident("VmHWM") - before}))


def resident(field):
    """Bytes of memory that this process has, or had at its peak."""
    found = re.search(rf"{field}:\s+(\d+)", Path("/proc/self/status").read_text())
    return 1024 * int(found.group(1))


def exponent(times):
    """The slope of log time over log rows, from 10^5 rows on."""
    points = [(math.log(rows), math.log(seconds)) for rows, seconds in times if rows >= 1e5]
    if len(points) < 2:
        return math.nan
    (x0, y0), (x1, y1) = points[0], points[-1]
    return (y1 - y0) / (x1 - x0)


def in_a_process(name, rows):
    words = [sys.executable, __file__, "--measure", name, str(rows)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def line(name, sizes):
    """One row of the table."""
    cells, times, memory = [], [], 0
    for rows in sizes:
        found = in_a_process(name, rows)
        if found is None:
            cells.append("failed")
            continue
        times.append((rows, found["seconds"]))
        cells.append(f"{found['seconds']:.3g}")
        memory = found["bytes"]
    table = sizes[-1] * COLUMNS * 8
    return f"| {name} | {' | '.join(cells)} | {exponent(times):.2f} | {memory / table:.2f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="REGEX", default="")
    parser.add_argument("--most", type=float, default=1e7)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        return measure(arguments.measure[0], int(arguments.measure[1]))
    sizes = [n for n in (10**4, 10**5, 10**6, 10**7) if n <= arguments.most]
    head = " | ".join(f"{n:.0e} rows, s".replace("e+0", "e") for n in sizes)
    lines = [f"| learner | {head} | exponent | memory of the fit / table |", "| --- |" + " ---: |" * (len(sizes) + 2)]
    for name in LEARNERS:
        if re.search(arguments.only, name):
            lines.append(line(name, sizes))
            print(lines[-1], flush=True)
    if not arguments.only:
        head = ["# Growth with rows", "", f"{report.processor()}, one fit each; `python benches/growth.py`.", ""]
        (HERE / "results" / "growth.md").write_text("\n".join([*head, *lines, ""]))
    return None


if __name__ == "__main__":
    sys.exit(main())
