#!/usr/bin/env python3
"""Every class that learnt and scikit-learn both have, on shapes and memory orders that the bench does not name.

A look for slow places, not a record: each class has a process of its own, in which learnt, scikit-learn and, where it
has the class, scikit-learn-intelex take turns on the same arrays. Rows above the limit are measured a second time.

    python benches/sweep.py                      all classes and shapes; the slow ones last
    python benches/sweep.py --only 'KMeans$'     classes whose name matches
    python benches/sweep.py --shape 'wide'       shapes whose name matches
    python benches/sweep.py --save rows.json     keep every row
"""

import argparse
import gc
import importlib
import json
import re
import selectors
import subprocess
import sys
import time
import warnings
from statistics import median

from learnt_bench import runner

MODULES = (
    "calibration",
    "cluster",
    "decomposition",
    "discriminant_analysis",
    "dummy",
    "ensemble",
    "impute",
    "linear_model",
    "mixture",
    "naive_bayes",
    "neighbors",
    "preprocessing",
    "random_projection",
    "tree",
)
# Wrappers need a learner, and some classes another kind of target.
LEFT_OUT = re.compile("Voting|Stacking|MultiTask|Isotonic|Calibrat|Iterative|Lasso(Lars|Stat)")
PARAMETERS = {
    "AdaBoostClassifier": {"n_estimators": 10},
    "AdaBoostRegressor": {"n_estimators": 10},
    "BaggingClassifier": {"n_estimators": 5},
    "BaggingRegressor": {"n_estimators": 5},
    "BisectingKMeans": {"n_clusters": 8},
    "DBSCAN": {"eps": 0.5},
    "ExtraTreesClassifier": {"n_estimators": 10},
    "ExtraTreesRegressor": {"n_estimators": 10},
    "GaussianMixture": {"n_components": 4, "max_iter": 10, "tol": 0},
    "GaussianRandomProjection": {"n_components": 20},
    "GradientBoostingClassifier": {"n_estimators": 10},
    "GradientBoostingRegressor": {"n_estimators": 10},
    "HistGradientBoostingClassifier": {"max_iter": 20},
    "HistGradientBoostingRegressor": {"max_iter": 20},
    "IncrementalPCA": {"n_components": 5},
    "KBinsDiscretizer": {"encode": "ordinal"},
    "KMeans": {"n_clusters": 8, "n_init": 1},
    "MiniBatchKMeans": {"n_clusters": 8, "n_init": 1},
    "PCA": {"n_components": 5},
    "RandomForestClassifier": {"n_estimators": 10},
    "RandomForestRegressor": {"n_estimators": 10},
    "SparseRandomProjection": {"n_components": 20},
}
THREADED = ("Forest", "ExtraTrees", "Neighbors", "NearestNeighbors", "DBSCAN", "OPTICS", "Bagging")
# Rows, columns, classes.
SHAPES = {
    "tiny": (1000, 10, 2),
    "some": (50_000, 20, 2),
    "float32": (50_000, 20, 2),
    "Fortran order": (50_000, 20, 2),
    "pandas": (50_000, 20, 2),
    "tall": (500_000, 5, 2),
    "hundred columns": (50_000, 100, 2),
    "wide": (300, 3000, 2),
    "very wide": (100, 10_000, 3),
    "square": (2000, 1000, 2),
    "many classes": (20_000, 20, 60),
}
# A square of thousands of columns is no use to anybody.
UNFIT = {"PolynomialFeatures": "wide|square|hundred"}
# The most rows for methods whose time grows with their square.
MOST_ROWS = {
    "AgglomerativeClustering": 5000,
    "DBSCAN": 50_000,
    "HDBSCAN": 5000,
    "KernelDensity": 5000,
    "MeanShift": 1000,
    "OPTICS": 2000,
    "RadiusNeighborsClassifier": 5000,
    "RadiusNeighborsRegressor": 5000,
}
METHODS = ("predict", "predict_proba", "transform", "score_samples")
# Above this a row is measured again, and listed at the end.
LIMIT = 1.05
# A side is not begun on a table whose sixteenth took longer than this.
PATIENCE = 0.4
# Turns go on until a side has used so many seconds.
SPENT = 0.3
MOST_TURNS = 25
# A process without a word for so long is stopped.
SILENCE = 60


def classes():
    """Names of classes with their module, in order."""
    found = {}
    for module in MODULES:
        ours = importlib.import_module(f"learnt.{module}")
        theirs = importlib.import_module(f"sklearn.{module}")
        for name in sorted(vars(ours)):
            shared = isinstance(getattr(ours, name), type) and isinstance(vars(theirs).get(name), type)
            if shared and hasattr(getattr(ours, name), "fit") and not LEFT_OUT.search(name):
                found[name] = module
    return found


def sides_of(name, module, threads):
    """The constructors by library."""
    options = dict(PARAMETERS.get(name, {}))
    if name.startswith(THREADED):
        options["n_jobs"] = threads
    found = {}
    for library, package in (("learnt", "learnt"), ("scikit-learn", "sklearn"), ("intelex", "sklearnex")):
        try:
            kind = getattr(importlib.import_module(f"{package}.{module}"), name)
        except (ImportError, AttributeError):
            continue
        if kind in found.values():
            continue
        found[library] = kind
    for library, kind in found.items():
        draws = {"random_state": 0} if "random_state" in kind().get_params() else {}
        found[library] = lambda kind=kind, draws=draws: kind(**options, **draws)
    return found


def table(name, shape, rows):
    """Rows with classes around which they lie, and numbers that follow from them."""
    import numpy

    _, columns, classes = SHAPES[shape]
    draw = numpy.random.default_rng(1)
    label = draw.integers(0, classes, rows)
    x = draw.normal(size=(rows, columns)) + 1.5 * draw.normal(size=(classes, columns))[label]
    number = x[:, : min(columns, 10)].sum(axis=1) + draw.normal(size=rows)
    if re.search("Poisson|Gamma|Tweedie", name):
        number = numpy.exp(number / 20)
    if re.search("Encoder", name):
        x = numpy.floor(4 * x)
    if shape == "float32":
        x = x.astype("float32")
    if shape == "Fortran order":
        x = numpy.asfortranarray(x)
    if shape == "pandas":
        import pandas

        x = pandas.DataFrame(x, columns=[f"c{j}" for j in range(columns)])
    return x, label if not name.endswith("Regressor") and name not in NUMBERS else number


NUMBERS = {
    "ARDRegression", "BayesianRidge", "ElasticNet", "ElasticNetCV", "HuberRegressor", "Lars", "Lasso", "LassoCV",
    "LinearRegression", "OrthogonalMatchingPursuit", "Ridge", "RidgeCV",
}  # fmt: skip


def race(calls):
    """Best seconds of each side, in turns there and back."""
    best, spent = dict.fromkeys(calls, float("inf")), dict.fromkeys(calls, 0.0)
    for turn in range(MOST_TURNS):
        for library in list(calls) if turn % 2 == 0 else reversed(calls):
            if turn >= 2 and spent[library] >= SPENT:
                continue
            gc.collect(0)
            time.sleep(0.004)
            start = time.perf_counter()
            kept = calls[library]()
            seconds = time.perf_counter() - start
            del kept
            best[library] = min(best[library], seconds)
            spent[library] += seconds
    return best


def fit_of(make, x, y):
    return lambda: make().fit(x, y)


def row(name, shape, verb, best):
    peer = min((library for library in best if library != "learnt"), key=best.get)
    ratio = best["learnt"] / best[peer]
    return {"class": name, "shape": shape, "verb": verb, "peer": peer, "seconds": best, "ratio": ratio}


def measure(name, module, shapes, threads):
    """Print a row as a line of JSON for every shape and verb of one class."""
    warnings.simplefilter("ignore")
    sides = sides_of(name, module, threads)
    for shape in shapes:
        rows = min(SHAPES[shape][0], MOST_ROWS.get(name, SHAPES[shape][0]))
        small = min(rows, max(300, rows // 16))
        x, y = table(name, shape, rows)
        some = (x[:small], y[:small])
        able = {}
        for library, make in sides.items():
            try:
                make().fit(*some)
                start = time.perf_counter()
                make().fit(*some)
                if small == rows or time.perf_counter() - start < PATIENCE:
                    able[library] = make
            except Exception as error:  # any library may refuse any table
                print(json.dumps({"class": name, "shape": shape, "refused": library, "why": str(error)[:90]}), flush=True)
        if "learnt" not in able or len(able) < 2:
            able = sides
            x, y = some
        try:
            said = shape if len(x) == SHAPES[shape][0] else f"{shape}, {len(x)} rows"
            measure_shape(name, said, able, x, y)
        except Exception as error:
            print(json.dumps({"class": name, "shape": shape, "refused": "?", "why": str(error)[:90]}), flush=True)


def measure_shape(name, shape, able, x, y):
    """The fit, then the methods of the fitted models."""
    emit(name, shape, "fit", {library: fit_of(make, x, y) for library, make in able.items()})
    models = {library: make().fit(x, y) for library, make in able.items()}
    for method in METHODS:
        if all(hasattr(model, method) for model in models.values()):
            emit(name, shape, method, {library: (lambda m=m: getattr(m, method)(x)) for library, m in models.items()})


def emit(name, shape, verb, calls):
    best = race(calls)
    found = row(name, shape, verb, best)
    if found["ratio"] > LIMIT:
        again = race(calls)
        found = row(name, shape, verb, {library: min(best[library], again[library]) for library in best})
    print(json.dumps(found), flush=True)


def one_class(name, module, arguments):
    """The rows of one class, from a process of its own."""
    words = [sys.executable, __file__, "--measure", name, module, "--shape", arguments.shape]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while selector.select(SILENCE):
            line = process.stdout.readline()
            if not line:
                return
            yield json.loads(line)
    process.kill()
    process.wait()
    yield {"class": name, "shape": "-", "refused": "?", "why": f"nothing for {SILENCE} seconds"}


def shown(found):
    if "refused" in found:
        return f"{found['class']:32} {found['shape']:28} refused by {found['refused']}: {found['why']}"
    seconds = found["seconds"]
    ours, theirs = 1e3 * seconds["learnt"], 1e3 * seconds[found["peer"]]
    return (
        f"{found['class']:32} {found['shape']:28} {found['verb']:14} {ours:10.3f} ms "
        f"{theirs:10.3f} ms {found['ratio']:6.2f} {found['peer']}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="REGEX", default="")
    parser.add_argument("--shape", metavar="REGEX", default="")
    parser.add_argument("--save", metavar="FILE")
    parser.add_argument("--threads", type=int, default=runner.available_cores())
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    runner.restrict(arguments.threads)
    if arguments.measure:
        unfit = UNFIT.get(arguments.measure[0], "^$")
        shapes = [shape for shape in SHAPES if re.search(arguments.shape, shape) and not re.search(unfit, shape)]
        return measure(*arguments.measure, shapes, arguments.threads)
    rows = []
    for name, module in classes().items():
        if re.search(arguments.only, name):
            for found in one_class(name, module, arguments):
                rows.append(found)
                print(shown(found), flush=True)
                if arguments.save:
                    with open(arguments.save, "w") as out:
                        json.dump(rows, out, indent=1)
    timed = sorted((found for found in rows if "ratio" in found), key=lambda found: -found["ratio"])
    slow = [found for found in timed if found["ratio"] > LIMIT]
    if timed:
        middle = median(found["ratio"] for found in timed)
        print(f"\n{len(timed)} rows, median {middle:.2f}, {len(slow)} above {LIMIT}:")
        for found in slow:
            print(shown(found))
    return None


if __name__ == "__main__":
    sys.exit(main())
