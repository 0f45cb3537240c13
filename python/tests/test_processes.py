"""Forks, signals, and a Python without scikit-learn."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time

import joblib
import numpy as np
import pytest

import learnt
from learnt.tree import DecisionTreeClassifier

RNG = np.random.default_rng(2)
X = RNG.normal(size=(2000, 5))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)


def fit(_):
    return DecisionTreeClassifier(random_state=0).fit(X, Y).to_bytes()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_fits_with_threads_after_its_parent_did():
    with learnt.threads(2):
        expected = fit(0)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            found = pool.map_async(fit, range(4)).get(timeout=120)
    assert set(found) == {expected}


def test_processes_of_joblib():
    assert set(joblib.Parallel(n_jobs=2)(joblib.delayed(fit)(i) for i in range(3))) == {fit(0)}


SLOW = """
import sys, time
import numpy as np
from learnt.tree import DecisionTreeRegressor
rng = np.random.default_rng(0)
x, y = rng.normal(size=(300_000, 20)), rng.normal(size=300_000)
print("ready", flush=True)
try:
    DecisionTreeRegressor(n_jobs=1).fit(x, y)
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
else:
    print("finished", time.time(), flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupt_stops_a_fit_at_once():
    child = subprocess.Popen([sys.executable, "-c", SLOW], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.7)
    sent = time.time()
    child.send_signal(signal.SIGINT)
    word, moment = child.stdout.readline().split()
    assert child.wait(timeout=60) == 0
    assert word == "interrupted"
    # 50 ms between looks for signals, and a learner's own step; the rest is a busy machine.
    assert float(moment) - sent < 1.0


THREADED = SLOW.replace(
    """try:
    DecisionTreeRegressor(n_jobs=1).fit(x, y)
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
else:
    print("finished", time.time(), flush=True)
""",
    """import threading
worker = threading.Thread(target=DecisionTreeRegressor(n_jobs=1).fit, args=(x, y))
worker.start()
worker.join()
""",
)


LAST = """
import threading
import numpy as np
from learnt.cluster import KMeans

x = np.random.default_rng(0).normal(size=(100_000, 20))

def fit():
    model = KMeans(n_clusters=20, n_init=3, max_iter=30, tol=0, n_jobs=1).fit(x)
    print("done", model.n_iter_, flush=True)

threading.Thread(target=fit).start()
"""


def test_a_fit_in_a_thread_outlives_a_main_thread_that_ended_as_it_should():
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LAST], capture_output=True, text=True, timeout=60, check=False
    )
    assert found.stdout == "done 30\n", found.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupt_of_the_main_thread_ends_a_fit_in_another():
    assert "threading" in THREADED
    child = subprocess.Popen(
        [sys.executable, "-c", THREADED],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.7)
    sent = time.time()
    child.send_signal(signal.SIGINT)
    child.wait(timeout=60)
    assert time.time() - sent < 2.0


FACTORED = """
import sys, threading, time
import numpy as np
from learnt import linalg
from learnt.decomposition import PCA
from learnt.discriminant_analysis import LinearDiscriminantAnalysis
side = 2500
rng = np.random.default_rng(0)
x = rng.normal(size=(side, side))
calls = {
    "eigenvalues": lambda: linalg.eigh(x + x.T),
    "svd": lambda: linalg.svd(x),
    "qr": lambda: linalg.qr(x),
    "components": lambda: PCA(svd_solver="full", n_jobs=1).fit(x),
    "discriminant": lambda: LinearDiscriminantAnalysis(n_jobs=1).fit(x, np.arange(side) % 3),
}
print("ready", flush=True)
try:
    calls[sys.argv[1]]()
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
else:
    print("finished", time.time(), flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("call", ["eigenvalues", "svd", "qr", "components", "discriminant"])
def test_an_interrupt_leaves_a_long_factorisation_behind(call):
    child = subprocess.Popen(
        [sys.executable, "-c", FACTORED, call], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "ready\n"
    time.sleep(1.5)
    sent = time.time()
    child.send_signal(signal.SIGINT)
    word, moment = child.stdout.readline().split()
    assert child.wait(timeout=60) == 0
    assert word == "interrupted"
    # Some tenths of a second on a quiet machine; the factorisation itself takes half a minute.
    assert float(moment) - sent < 2.0


BARE = """
import sys


class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("sklearn", "scipy", "pandas", "polars", "pyarrow", "joblib"):
            raise ModuleNotFoundError(name)


sys.meta_path.insert(0, Block())
import numpy as np
import learnt, pickle
from learnt.errors import NotFittedError
from learnt.pipeline import Pipeline
from learnt.preprocessing import StandardScaler
from learnt.tree import DecisionTreeClassifier

x, y = np.random.rand(50, 3), np.arange(50) % 2
model = Pipeline([("scale", StandardScaler()), ("tree", DecisionTreeClassifier())]).fit(x, y)
assert model.score(x, y) == 1.0
assert pickle.loads(pickle.dumps(model)).score(x, y) == 1.0
try:
    DecisionTreeClassifier().predict(x)
except NotFittedError as error:
    assert isinstance(error, (ValueError, AttributeError))
for module in learnt._modules.MODULES:
    getattr(learnt, module)
assert not any(name.partition(".")[0] in ("sklearn", "scipy", "pandas") for name in sys.modules)
print("fine")
"""


def test_numpy_is_all_that_is_needed():
    done = subprocess.run([sys.executable, "-c", BARE], capture_output=True, text=True)
    assert done.stdout == "fine\n", done.stderr


def test_the_version_is_printed():
    done = subprocess.run(
        [sys.executable, "-m", "learnt", "--version"], capture_output=True, text=True
    )
    assert done.stdout == f"learnt {learnt.__version__}\n"


def test_the_package_has_the_command(tmp_path):
    """`pip install` gives the command: the script calls `learnt.__main__.main`."""

    def run(*words):
        line = [sys.executable, "-m", "learnt", *words]
        return subprocess.run(line, capture_output=True, text=True, cwd=tmp_path)

    fit = run("fit", "ridge", "cpu", "-o", "model.learnt")
    assert fit.returncode == 0 and "next: learnt predict" in fit.stderr, fit.stderr
    assert learnt.load(tmp_path / "model.learnt").predict is not None
    wrong = run("fit", "ridge", "nothing.csv", "-t", "y")
    assert wrong.returncode == 2 or wrong.returncode == 3
    assert wrong.stderr.startswith("error[E")
    from learnt.__main__ import main

    assert callable(main)
