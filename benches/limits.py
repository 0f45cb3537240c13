"""How memory limits and interrupts are kept: peak memory over `--max-memory` for each reader and for fits, and the
time from Ctrl-C to the end for each verb and for fits in Python.

    python3 benches/limits.py target/release/learnt memory
    python3 benches/limits.py target/release/learnt interrupts

Linux only: peaks are read from the system while the command runs. Fits in Python are measured where the package
`learnt` can be imported.
"""

import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

READERS = ("csv", "tsv", "csv.gz", "csv.zst", "ndjson", "arff", "arrow", "parquet")
TARGETS = {"y": ["-t", "y", "--ignore", "k"], "k": ["-t", "k", "--ignore", "y"], "": ["--ignore", "y,k"]}
FITS = (
    ("ols", "y"),
    ("ridge", "y"),
    ("lasso", "y"),
    ("logistic", "k"),
    ("tree", "k"),
    ("random-forest-classifier", "k"),
    ("hist-gradient-boosting-classifier", "k"),
    ("k-neighbors-classifier", "k"),
    ("lda", "k"),
    ("gaussian-nb", "k"),
    ("k-means", ""),
    ("pca", ""),
)
VERBS = (
    ("describe", "-"),
    ("convert", "-", "o.csv"),
    ("fit", "tree", "-", "-t", "y"),
    ("fit", "tree", "-", "-t", "y", "--stream"),
    ("cv", "tree", "-", "-t", "y"),
    ("compare", "-", "-t", "y"),
    ("tune", "tree", "-", "-t", "y", "--grid", "max-depth=1,2"),
    ("path", "lasso", "-", "-t", "y"),
    ("cluster", "k-means", "-"),
    ("reduce", "pca", "-"),
    ("predict", "m.learnt", "-"),
    ("score", "m.learnt", "-"),
    ("update", "m.learnt", "-"),
    ("explain", "m.learnt", "-"),
    ("report", "m.learnt", "-", "-o", "r.html"),
    ("plot", "roc", "m.learnt", "-", "-o", "r.svg"),
    ("metric", "accuracy-score", "-"),
    ("make", "blobs", "--n-samples", "5000000", "--n-features", "20", "-o", "o.csv", "-f"),
    ("study", "bias-variance", "--data-sets", "100000000"),
    ("describe", "big.csv"),
    ("convert", "big.csv", "o.parquet", "-f"),
    ("compare", "big.csv", "-t", "k", "--ignore", "y"),
    ("fit", "pca", "wide.csv"),
    ("fit", "lda", "wide.csv", "-t", "k", "--ignore", "y"),
    ("fit", "k-means", "wide.csv", "--n-clusters", "900", "--ignore", "y,k"),
)
PYTHON = (
    ("PCA 20k x 1500", "PCA(svd_solver='full').fit(x)", (20_000, 1500)),
    ("PCA covariance 20k x 1500", "PCA(svd_solver='covariance_eigh').fit(x)", (20_000, 1500)),
    ("LDA 3k x 2000", "LinearDiscriminantAnalysis().fit(x, k)", (3000, 2000)),
    ("LDA eigen 3k x 2000", "LinearDiscriminantAnalysis(solver='eigen').fit(x, k)", (3000, 2000)),
    ("QDA 5k x 1500", "QuadraticDiscriminantAnalysis().fit(x, k)", (5000, 1500)),
    ("eigh 3000", "linalg.eigh(x + x.T)", (3000, 3000)),
    ("svd 3000", "linalg.svd(x)", (3000, 3000)),
    ("qr 3000", "linalg.qr(x)", (3000, 3000)),
    ("pinv 2500", "linalg.pinv(x)", (2500, 2500)),
    ("least squares 20k x 3000", "LinearRegression().fit(x, y)", (20_000, 3000)),
    ("Gaussian mixture 3k x 800", "GaussianMixture(3).fit(x)", (3000, 800)),
    ("iterative imputer", "IterativeImputer().fit(np.where(x > 2, np.nan, x))", (3000, 200)),
    ("kNN predict", "KNeighborsClassifier().fit(x, k).predict(x)", (40_000, 60)),
    ("quantile bins", "KBinsDiscretizer(n_bins=50).fit(x)", (200_000, 200)),
    ("forest", "RandomForestClassifier(500).fit(x, k)", (50_000, 40)),
)
SCRIPT = """
import signal, sys, time
import numpy as np
from learnt import linalg
from learnt.cluster import KMeans
from learnt.decomposition import PCA
from learnt.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from learnt.ensemble import RandomForestClassifier
from learnt.impute import IterativeImputer
from learnt.linear_model import LinearRegression
from learnt.mixture import GaussianMixture
from learnt.neighbors import KNeighborsClassifier
from learnt.preprocessing import KBinsDiscretizer
rng = np.random.default_rng(0)
x = rng.standard_normal(SHAPE)
y, k = x[:, 0] + rng.standard_normal(len(x)), np.arange(len(x)) % 3
# A shell that starts this in the background tells it to ignore interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
print("ready", flush=True)
try:
    CALL
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
else:
    print("finished", time.time(), flush=True)
"""


def texts(path):
    """Rows of which every one has a text of its own."""
    with open(path, "w") as out:
        out.write("a,b,c,d,id\n")
        for i in range(150_000):
            x = (i * 7919) % 1000
            out.write(f"{x}.125,{i},{x * 3},{i % 17},name{i}\n")


def numbers(path, rows, columns):
    draw = random.Random(1)
    with open(path, "w") as out:
        out.write(",".join(f"x{j}" for j in range(columns)) + ",y,k\n")
        for _ in range(rows):
            x = [round(draw.gauss(0, 1), 3) for _ in range(columns)]
            y = sum(x[:5]) + draw.gauss(0, 1)
            out.write(",".join(map(str, x)) + f",{y:.4f},{'ab'[x[0] + draw.gauss(0, 1) > 0]}\n")


def peak(words, folder, limit, source=None):
    """The largest resident set over the limit, and the exit code."""
    stream = open(source, "rb") if source else subprocess.DEVNULL
    words = [*words, "--max-memory", f"{limit}MB"]
    quiet = subprocess.DEVNULL
    child = subprocess.Popen(words, cwd=folder, stdin=stream, stdout=quiet, stderr=quiet)
    most = 0
    while child.poll() is None:
        try:
            with open(f"/proc/{child.pid}/status") as lines:
                found = [int(line.split()[1]) for line in lines if line.startswith("VmHWM")]
            most = max([most, *found])
        except OSError:
            pass
        time.sleep(0.002)
    return most * 1024 / (limit * 1e6), child.returncode


def memory(command, folder):
    texts(folder / "t.csv")
    for ending in READERS[1:]:
        subprocess.run([command, "convert", "t.csv", f"t.{ending}", "-q"], cwd=folder, check=True)
    limits = (40, 60, 100, 400)
    print("| reader | " + " | ".join(f"{limit} MB" for limit in limits) + " |")
    print("|---|" + "---|" * len(limits))
    for ending in (*READERS, "standard input"):
        source = folder / "t.csv" if ending == "standard input" else None
        name = "-" if source else f"t.{ending}"
        found = [peak([command, "describe", name], folder, limit, source) for limit in limits]
        print(f"| {ending} | " + " | ".join(f"{share:.2f} (exit {code})" for share, code in found) + " |", flush=True)
    numbers(folder / "f.csv", 50_000, 20)
    limits = (40, 60, 80, 200)
    print("\n| fit of 50,000 x 20 | " + " | ".join(f"{limit} MB" for limit in limits) + " |")
    print("|---|" + "---|" * len(limits))
    for learner, target in FITS:
        words = [command, "fit", learner, "f.csv", *TARGETS[target], "-q"]
        found = [peak(words, folder, limit) for limit in limits]
        print(f"| {learner} | " + " | ".join(f"{share:.2f} (exit {code})" for share, code in found) + " |", flush=True)


def interrupted(child, wait):
    time.sleep(wait)
    sent = time.time()
    child.send_signal(signal.SIGINT)
    child.wait()
    return time.time() - sent


def interrupts(command, folder):
    subprocess.run([command, "fit", "tree", "iris", "-o", "m.learnt", "-q"], cwd=folder, check=True)
    numbers(folder / "big.csv", 300_000, 20)
    numbers(folder / "wide.csv", 3000, 1000)
    print("| verb | seconds from Ctrl-C to the end | exit |\n|---|---|---|")
    pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
    for verb in VERBS:
        child = subprocess.Popen([command, *verb], cwd=folder, stdin=pipe, stdout=quiet, stderr=quiet)
        took = interrupted(child, 0.25)
        ended = child.returncode if child.returncode == 130 else f"{child.returncode}: was done before"
        print(f"| {' '.join(verb)} | {took:.2f} | {ended} |", flush=True)
    print("\n| in Python | seconds from Ctrl-C to KeyboardInterrupt | to the end |\n|---|---|---|")
    for name, call, shape in PYTHON:
        script = SCRIPT.replace("SHAPE", str(shape)).replace("CALL", call)
        child = subprocess.Popen([sys.executable, "-c", script], stdout=pipe, text=True)
        if child.stdout.readline() != "ready\n":
            print(f"| {name} | the package cannot be imported | |")
            continue
        time.sleep(1.5)
        sent = time.time()
        child.send_signal(signal.SIGINT)
        word, moment = child.stdout.readline().split()
        child.wait()
        raised = f"{float(moment) - sent:.2f}" if word == "interrupted" else "was done before"
        print(f"| {name} | {raised} | {time.time() - sent:.2f} |", flush=True)


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in ("memory", "interrupts"):
        sys.exit(__doc__)
    command = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        (memory if sys.argv[2] == "memory" else interrupts)(command, pathlib.Path(folder))
    print(f"\nload of the machine at the end: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
