"""Promises on real engines, on one machine: no lost work, nothing left behind, other builds refused."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from learnt import distributed
from learnt.cluster import KMeans
from learnt.distributed._engines import choose
from learnt.linear_model import LogisticRegression, Ridge

import streaming
from shared import ENGINES, LIMIT, Lent, workers_of

@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Rows enough that a round takes a moment."""
    folder = tmp_path_factory.mktemp("rows") / "many"
    return streaming.write(folder, (250_000,) * 4, streaming.NUMBERS)


SLOW = dict(n_clusters=6, max_iter=10, tol=0, n_init=1, random_state=2)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_worker_that_is_killed_in_mid_round_costs_nothing_but_time(many, engine):
    expected = distributed.fit(KMeans(**SLOW), many, workers=2).to_bytes()
    before = {p.pid for p in psutil.process_iter()}
    killed = []

    def kill():
        time.sleep(0.15)
        for victim in workers_of(engine)[:1]:
            victim.kill()
            killed.append(victim.pid)

    def watch(facts):
        if facts["round"] == 3:
            threading.Thread(target=kill).start()

    model = distributed.fit(KMeans(**SLOW), many, engine=engine, workers=2, memory=0, progress=watch)
    assert killed, "nothing was killed"
    assert model.to_bytes() == expected
    assert_gone(before)


@pytest.mark.skipif("dask" not in ENGINES, reason="dask is not asked for")
@pytest.mark.parametrize("workers", [1, 2])
def test_large_messages_on_workers_of_dask_that_die_are_sent_again(many, monkeypatch, workers):
    from learnt.distributed import _dask

    monkeypatch.setattr(_dask, "LARGE", 0)
    expected = distributed.fit(KMeans(**SLOW), many, workers=2).to_bytes()
    killed = []

    def watch(facts):
        def kill():
            time.sleep(0.15)
            victim = workers_of("dask")[0]
            victim.kill()
            killed.append(victim.pid)

        if facts["round"] == 3:
            threading.Thread(target=kill).start()

    model = distributed.fit(KMeans(**SLOW), many, engine="dask", workers=workers, memory=0, progress=watch)
    assert killed, "nothing was killed"
    assert model.to_bytes() == expected


def assert_gone(before):
    """No process is left behind."""
    left = []
    for _ in range(100):
        left = [p for p in psutil.Process().children(recursive=True) if p.pid not in before]
        left = [p for p in left if _alive(p) and "resource_tracker" not in " ".join(_words(p))]
        if not left:
            return
        time.sleep(0.1)
    raise AssertionError([_words(p) for p in left])


def _alive(process):
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _words(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@pytest.mark.skipif("ray" not in ENGINES, reason="ray is not asked for")
def test_a_node_of_ray_that_is_gone_for_good_is_done_without(many):
    import ray
    from ray.cluster_utils import Cluster

    expected = distributed.fit(KMeans(**SLOW), many, workers=2).to_bytes()
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    node = cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
    try:
        seen = []

        def watch(facts):
            seen.append(facts["round"])
            if facts["round"] == 3:
                threading.Timer(0.1, lambda: cluster.remove_node(node, allow_graceful=False)).start()

        model = distributed.fit(KMeans(**SLOW), many, engine=ray, workers=2, memory=0, progress=watch)
        assert model.to_bytes() == expected
        assert seen[-1] > 4
    finally:
        ray.shutdown()
        cluster.shutdown()


DRIVER = """
import sys
from learnt import distributed
from learnt.cluster import KMeans

def told(facts):
    print(facts["round"], flush=True)

if __name__ == "__main__":
    parts, kept, out, engine = sys.argv[1:]
    learner = KMeans(n_clusters=6, max_iter=10, tol=0, n_init=1, random_state=2)
    model = distributed.fit(learner, parts, engine=engine, workers=2, memory=0, checkpoint=kept,
                            resume=True, progress=told)
    open(out, "wb").write(model.to_bytes())
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_driver_that_is_killed_goes_on(many, tmp_path, engine):
    script, kept, out = tmp_path / "driver.py", tmp_path / "kept", tmp_path / "model"
    script.write_text(DRIVER)
    words = [sys.executable, str(script), str(many), str(kept), str(out), engine]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL)
    for line in child.stdout:
        if line.strip().isdigit() and int(line) >= 3:
            break
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert not out.exists()
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT
    )
    assert done.returncode == 0, done.stderr
    rounds = [int(line) for line in done.stdout.split() if line.isdigit()]
    assert rounds[0] >= 3, rounds
    assert out.read_bytes() == distributed.fit(KMeans(**SLOW), many).to_bytes()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_worker_with_another_build_refuses_in_words(parts, engine, monkeypatch):
    import hashlib

    from learnt import _native
    from learnt.distributed import _drive
    from learnt.errors import ModelFileError

    plan = distributed.plan(Ridge(), parts, "amount", ignore=_others("amount"))
    at = plan.index(b'\\"sources\\":\\"') + len(b'\\"sources\\":\\"')
    other = plan[:at] + b"0" * 32 + plan[at + 32 : -32]
    other += hashlib.sha256(other).digest()
    job = _native.Job(plan, 0)
    state = job.for_tasks(job.begin(1))
    options = {"keep": 0, "threads": 1}
    with choose(engine, workers=1) as runner:
        with pytest.raises(ModelFileError, match=r"planned by learnt .* \(00000000\).*on .*process"):
            _drive.answers_of(runner, other, state, job.tasks(1, 1), options)
        with pytest.raises(ModelFileError):
            _drive.answers_of(runner, plan, state[:-1], job.tasks(1, 1), options)


def _others(target):
    return [c for c in streaming.ALL + streaming.TARGETS if c not in (*streaming.NUMBERS, target)]


@pytest.mark.parametrize("engine", ENGINES)
def test_predictions_and_scores_on_the_engine(parts, tmp_path, engine):
    learner = LogisticRegression(max_iter=15)
    model = distributed.fit(learner, parts, "label", ignore=_others("label"))
    with choose(engine, workers=2) as runner:
        lent = Lent(runner)
        rows, found = distributed.predict(model, parts, tmp_path / engine, engine=lent, part_rows=9_000)
        value = distributed.score(model, parts, "label", engine=lent)
    again_rows, again = distributed.predict(model, parts, tmp_path / "here", part_rows=9_000, workers=2)
    assert (rows, len(found)) == (again_rows, len(again))
    for one, other in zip(found, again):
        assert open(one, "rb").read() == open(other, "rb").read()
    assert value == distributed.score(model, parts, "label")


@pytest.mark.skipif("dask" not in ENGINES, reason="dask is not asked for")
def test_a_client_of_dask_is_an_engine(parts):
    from distributed import Client, LocalCluster

    expected = distributed.fit(Ridge(), parts, "amount", ignore=_others("amount")).to_bytes()
    with LocalCluster(n_workers=1, processes=True, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            model = distributed.fit(Ridge(), parts, "amount", ignore=_others("amount"), engine=client)
            assert model.to_bytes() == expected
            assert client.submit(sum, [1, 2]).result() == 3


@pytest.mark.skipif("spark" not in ENGINES, reason="spark is not asked for")
def test_a_session_and_a_frame_of_spark_are_taken(parts):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
    try:
        ignore = _others("amount")
        frame = spark.read.parquet(str(parts)).select(*streaming.NUMBERS, "amount").coalesce(1)
        model = distributed.fit(Ridge(), frame, "amount", engine=spark)
        files = distributed.fit(Ridge(), parts, "amount", ignore=ignore)
        assert abs(model.coef_ - files.coef_).max() < 1e-9
        assert spark.range(3).count() == 3
    finally:
        spark.stop()


@pytest.mark.parametrize("engine", ENGINES)
def test_cross_validation_and_search_on_the_engine(engine):
    import numpy as np

    from learnt.model_selection import GridSearchCV, cross_validate

    draws = np.random.default_rng(2)
    x = draws.normal(size=(300, 4))
    y = np.where(x[:, 0] + draws.normal(size=300) > 0, "a", "b")
    learner, grid = LogisticRegression(max_iter=50), {"C": [0.01, 1.0]}
    here = cross_validate(learner, x, y, cv=3)
    alone = GridSearchCV(learner, grid, cv=3).fit(x, y)
    with choose(engine, workers=2) as runner:
        lent = Lent(runner)
        there = distributed.cross_validate(learner, x, y, cv=3, engine=lent)
        spread = distributed.search(GridSearchCV(learner, grid, cv=3), x, y, engine=lent)
    np.testing.assert_array_equal(there["test_score"], here["test_score"])
    scores = [s.cv_results_["mean_test_score"] for s in (spread, alone)]
    np.testing.assert_array_equal(*scores)
    assert spread.best_estimator_.to_bytes() == alone.best_estimator_.to_bytes()


COMMAND = Path(__file__).parents[2] / "target" / "debug" / "learnt"


@pytest.mark.skipif(not COMMAND.exists(), reason="the command is not built")
@pytest.mark.parametrize("engine", ENGINES)
def test_the_command_fits_on_the_engine(parts, tmp_path, engine):
    ignore = ",".join(_others("amount"))
    words = [str(COMMAND), "fit", "ridge", str(parts), "-t", "amount", "--ignore", ignore]
    surroundings = {**os.environ, "LEARNT_PYTHON": sys.executable}
    for more, out in ((["--stream"], "stream"), (["--engine", engine, "--workers", "2"], engine)):
        line = [*words, *more, "-o", str(tmp_path / out)]
        subprocess.run(line, check=True, env=surroundings, stdout=subprocess.DEVNULL, timeout=LIMIT)
    assert (tmp_path / engine).read_bytes() == (tmp_path / "stream").read_bytes()
