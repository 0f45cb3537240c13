#!/usr/bin/env python3
"""The first hour: four tables from file to model, by the command, by a scikit-learn script and by R, side by side.

    python benches/first_hour.py                              all tables, with target/release/learnt
    python benches/first_hour.py --only churn,genes           some of them
    python benches/first_hour.py --quick                      a hundredth of the rows of the largest table

The tables are drawn by `learnt make`: churn (7,000 x 20, an identifier, dates, free text, holes), housing
(3,000 x 25, many levels), genes (200 x 5,000) and 2,000,000 x 20 numbers as Parquet. Each step of the command is a process
of its own, so its seconds hold reading the file again; the script reads once. Peaks are of resident memory. The
walks do the same work: look, cross-validate the same six kinds of model in five folds, fit one, score it. Needs pandas,
pyarrow and scikit-learn; Rscript is used where it is found. Nothing is written but to the folder of `--cache`.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent

# What is made, its target, and the learners that both sides compare.
TABLES = {
    "churn": (["churn"], "Churn", "logistic,tree,forest,boost,gaussian-nb,knn"),
    "housing": (["housing"], "SalePrice", "ridge,tree,forest,boost,lasso,knn"),
    "genes": (["genes"], None, "logistic,tree,forest,lda,gaussian-nb,knn"),
    "large": (["regression", "--n-samples", "2000000", "--n-features", "20", "--noise", "10"], None, "ridge,tree"),
}

SCRIPT = '''
import json, sys, time
import pandas as pd
path, target, names = sys.argv[1:4]
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier,
                              RandomForestRegressor)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
seconds, at = {}, time.perf_counter()

def done(step):
    global at
    seconds[step], at = time.perf_counter() - at, time.perf_counter()

data = pd.read_parquet(path) if path.endswith(".parquet") else pd.read_csv(path)
data.describe(include="all")
done("describe")
y = data.pop(target)
# What an analyst leaves out by hand: identifiers, dates and free text have nearly as many levels as rows.
texts = data.select_dtypes(exclude="number").columns
data = data.drop(columns=[c for c in texts if data[c].nunique() > 0.2 * len(data)])
numbers = data.select_dtypes("number").columns
words = [c for c in data.columns if c not in numbers]
classify = not pd.api.types.is_numeric_dtype(y)
hot = make_pipeline(SimpleImputer(strategy="most_frequent"),
                    OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=31, sparse_output=False))
ready = ColumnTransformer([("n", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers), ("c", hot, words)])
kinds = {
    "logistic": lambda: LogisticRegression(max_iter=1000), "ridge": Ridge, "lasso": lambda: Lasso(max_iter=10000),
    "lda": LinearDiscriminantAnalysis, "gaussian-nb": GaussianNB,
    "tree": DecisionTreeClassifier if classify else DecisionTreeRegressor,
    "forest": lambda: (RandomForestClassifier if classify else RandomForestRegressor)(n_jobs=-1),
    "boost": HistGradientBoostingClassifier if classify else HistGradientBoostingRegressor,
    "knn": KNeighborsClassifier if classify else KNeighborsRegressor,
}
for name in names.split(","):
    cross_val_score(make_pipeline(ready, kinds[name]()), data, y, cv=5)
done("compare")
model = make_pipeline(ready, kinds[names.split(",")[0]]()).fit(data, y)
done("fit")
print(model.score(data, y), file=sys.stderr)
done("score")
print(json.dumps(seconds))
'''

R_SCRIPT = '''
args <- commandArgs(TRUE); at <- proc.time()[["elapsed"]]; steps <- list()
done <- function(step) { now <- proc.time()[["elapsed"]]; steps[[step]] <<- now - at; at <<- now }
data <- read.csv(args[1], stringsAsFactors = TRUE); invisible(summary(data)); done("describe")
few <- sapply(data, function(x) is.numeric(x) || nlevels(x) < 0.2 * nrow(data))
data <- na.omit(data[, few]); data <- data[, sapply(data, function(x) length(unique(x)) > 1)]
formula <- as.formula(paste0("`", args[2], "` ~ ."))
fit <- if (is.factor(data[[args[2]]])) glm(formula, binomial, data) else lm(formula, data)
invisible(summary(fit)); done("fit")
invisible(predict(fit, data, type = "response")); done("score")
cat(paste0("{", paste0('"', names(steps), '": ', unlist(steps), collapse = ", "), "}"))
'''


def run(words):
    """Seconds, peak of memory in megabytes and standard output of a process."""
    start = time.perf_counter()
    errors = tempfile.TemporaryFile()
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 8):
        errors.seek(0)
        sys.exit(f"{' '.join(map(str, words))}\n{errors.read().decode()}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024, output.decode()


def make(learnt, name, arguments):
    """Draw a table once; its path and its target."""
    words, target, _ = TABLES[name]
    rows = ["--n-samples", "20000"] if name == "large" and arguments.quick else []
    path = arguments.cache / f"{name}{'-quick' if rows else ''}.{'parquet' if name == 'large' else 'csv'}"
    if not path.exists():
        words = [word for word in words if not rows or word not in ("--n-samples", "2000000")]
        run([learnt, "make", *words, *rows, "-o", path])
    if target is None:
        target = json.loads(run([learnt, "describe", path, "--json"])[2])["columns"][-1]["name"]
    return path, target


def by_command(learnt, path, target, names, cache):
    """Steps of the command: seconds and peak of each."""
    model, page = cache / "model.learnt", cache / "report.html"
    first = names.split(",")[0]
    walk = {
        "describe": [learnt, "describe", path, "-t", target],
        "compare": [learnt, "compare", path, "-t", target, "--only", names, "--folds", "5"],
        "fit": [learnt, "fit", first, path, "-t", target, "-f", "-o", model],
        "score": [learnt, "score", model, path],
        "report": [learnt, "report", model, path, "-f", "-o", page],
    }
    return {step: run(words)[:2] for step, words in walk.items()}


def table(name, own, peers):
    """A table of Markdown: a row a step."""
    heads = " | ".join(f"{peer}, s" for peer in peers)
    print(f"\n### {name}\n\n| step | learnt, s | learnt, MB | {heads} |\n|---|---|---|{'---|' * len(peers)}")
    steps = list(own) + ["total"]
    total = (sum(seconds for seconds, _ in own.values()), max(peak for _, peak in own.values()))
    for step in steps:
        seconds, peak = own.get(step, total)
        others = [times.get(step, sum(times.values()) if step == "total" else None) for times, _ in peers.values()]
        cells = " | ".join("" if other is None else f"{other:.2f}" for other in others)
        print(f"| {step} | {seconds:.2f} | {peak:.0f} | {cells} |")
    for peer, (_, (whole, peak)) in peers.items():
        print(f"\n{peer}: the whole process {whole:.2f} s, {peak:.0f} MB")
    sys.stdout.flush()


def main():
    """Walk through the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learnt", default=HERE.parent / "target" / "release" / "learnt", help="the command")
    parser.add_argument("--only", default=",".join(TABLES), help="tables, with commas")
    parser.add_argument("--quick", action="store_true", help="20,000 rows in the largest table")
    parser.add_argument("--cache", type=Path, default=HERE.parent / "target" / "first-hour", help="where files are kept")
    parser.add_argument("--without", default="", help="peers to leave out: scikit-learn, R")
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    learnt = str(arguments.learnt)
    for name in arguments.only.split(","):
        path, target = make(learnt, name, arguments)
        names = TABLES[name][2]
        own = by_command(learnt, path, target, names, arguments.cache)
        if name == "churn":
            own["compare, every learner"] = run([learnt, "compare", path, "-t", target])[:2]
        peers = {}
        if "scikit-learn" not in arguments.without:
            *cost, text = run([sys.executable, "-W", "ignore", "-c", SCRIPT, path, target, names])
            peers["scikit-learn"] = (json.loads(text), cost)
        small = path.suffix == ".csv" and name != "genes"
        if small and shutil.which("Rscript") and "R" not in arguments.without.split(","):
            *cost, text = run(["Rscript", "-e", R_SCRIPT, path, target])
            peers["R"] = (json.loads(text), cost)
        table(f"{name} ({path.stat().st_size / 1e6:.1f} MB)", own, peers)


if __name__ == "__main__":
    main()
