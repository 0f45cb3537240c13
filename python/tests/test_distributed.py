"""Fits over files on threads, on engines that misbehave, and what is refused."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import learnt
from learnt import distributed, ensemble
from learnt.distributed import _worker
from learnt.errors import (
    DataError,
    LearntError,
    ModelFileError,
    ParameterError,
    SchemaError,
    SystemFailure,
    UnsupportedError,
)
from learnt.cluster import KMeans
from learnt.linear_model import LogisticRegression, Ridge
from learnt.neighbors import KNeighborsClassifier

import streaming

CASES = list(streaming.cases())


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    return streaming.write(tmp_path_factory.mktemp("rows") / "parts")


class Hostile:
    """Runs tasks in any order, some of them twice, and forgets what workers keep."""

    workers, threads = 5, 1

    def __init__(self, seed):
        self.draws = np.random.default_rng(seed)

    def round(self, job, state, tasks, options):
        order = list(range(len(tasks))) + [int(self.draws.integers(len(tasks)))]
        self.draws.shuffle(order)
        for index in order:
            if self.draws.random() < 0.3:
                _worker.forget()
            yield index, _worker.run(job, state, tasks[index], options)

    def close(self):
        _worker.forget()


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_every_streaming_learner_has_the_same_bytes_whoever_runs_it(parts, case):
    _, learner, target, columns, arguments = case
    arguments = streaming.arguments_of(target, columns, arguments)

    def fitted(engine, **more):
        return distributed.fit(learner, parts, engine=engine, **arguments, **more).to_bytes()

    expected = fitted("threads", workers=1)
    assert fitted("threads", workers=2, tasks=3) == expected
    assert fitted(Hostile(1)) == expected
    assert fitted(Hostile(2), memory=0, tasks=2) == expected


def test_all_streaming_learners_are_tried():
    tried = {case[0] for case in CASES}
    known = learnt.registry().items()
    assert tried == {path.rpartition(".")[2] for path, f in known if f["uses"]["streaming"]}


def test_a_fit_over_files_is_the_fit_of_the_same_rows_in_memory(parts):
    import pyarrow.parquet as pq

    frame = pq.read_table(parts).to_pandas()
    ignore = [c for c in frame.columns if c not in (*streaming.NUMBERS, "amount")]
    files = distributed.fit(Ridge(), parts, "amount", ignore=ignore)
    memory = Ridge().fit(frame[streaming.NUMBERS], frame["amount"])
    np.testing.assert_array_equal(files.coef_, memory.coef_)
    assert list(files.feature_names_in_) == streaming.NUMBERS
    np.testing.assert_array_equal(
        files.predict(frame[streaming.NUMBERS]), memory.predict(frame[streaming.NUMBERS])
    )


def test_fit_of_an_estimator_takes_files(tmp_path):
    parts = streaming.write(tmp_path / "parts", columns=[*streaming.NUMBERS, "label"])
    model = LogisticRegression(max_iter=15).fit(str(parts), "label", engine="threads")
    assert list(model.classes_) == ["blue", "green", "red"]
    named = sorted(str(path) for path in parts.iterdir())
    again = LogisticRegression(max_iter=15).fit(named, "label", engine="threads")
    assert again.to_bytes() == model.to_bytes()
    import pyarrow.dataset as ds

    third = distributed.fit(LogisticRegression(max_iter=15), ds.dataset(parts), "label")
    assert third.to_bytes() == model.to_bytes()
    fourth = distributed.fit(LogisticRegression(max_iter=15), parts / "part-*.parquet", "label")
    assert fourth.to_bytes() == model.to_bytes()


def test_predictions_and_scores_over_files(tmp_path):
    import pyarrow.parquet as pq

    parts = streaming.write(tmp_path / "parts", columns=[*streaming.NUMBERS, "kind", "label"])
    frame = pq.read_table(parts).to_pandas()
    columns = [*streaming.NUMBERS]
    model = LogisticRegression(max_iter=15).fit(frame[columns], frame["label"])
    rows, found = distributed.predict(
        model, parts, tmp_path / "out", proba=True, part_rows=20_000, workers=2
    )
    assert rows == len(frame) and len(found) == 3
    table = pq.read_table(found).to_pandas()
    assert list(table["prediction"]) == list(model.predict(frame[columns]))
    np.testing.assert_array_equal(table.iloc[:, 1:], model.predict_proba(frame[columns]))
    value = distributed.score(model, parts, "label", workers=2)
    assert value == pytest.approx(model.score(frame[columns], frame["label"]), abs=1e-12)
    other = distributed.score(model, parts, "label", engine=Hostile(3))
    assert other == value
    scaler = distributed.fit(
        learnt.preprocessing.StandardScaler(), parts, ignore=["kind", "label"]
    )
    rows, found = distributed.transform(scaler, parts, tmp_path / "scaled")
    table = pq.read_table(found)
    np.testing.assert_array_equal(
        np.column_stack([c.to_numpy() for c in table.columns]), scaler.transform(frame[columns])
    )


def test_score_of_a_regression_over_files(parts):
    import pyarrow.parquet as pq

    frame = pq.read_table(parts).to_pandas()
    x, y = frame[streaming.NUMBERS], frame["amount"]
    model = Ridge().fit(x, y)
    assert distributed.score(model, parts, "amount") == pytest.approx(model.score(x, y), abs=1e-12)


def test_a_driver_that_is_killed_goes_on(tmp_path):
    parts = streaming.write(tmp_path / "parts", (60_000, 60_000), streaming.NUMBERS)
    fit = (
        "import sys, time\nfrom learnt import distributed\nfrom learnt.cluster import KMeans\n"
        "def slow(facts):\n    print(facts['round'], flush=True)\n    time.sleep(0.2)\n"
        "model = distributed.fit(KMeans(n_clusters=5, max_iter=12, tol=0, random_state=1), sys.argv[1], workers=2,"
        " checkpoint=sys.argv[2], progress=slow, log=sys.argv[3], resume=True)\n"
        "open(sys.argv[4], 'wb').write(model.to_bytes())\n"
    )
    kept, log, out = tmp_path / "kept", tmp_path / "log.ndjson", tmp_path / "model"
    words = [sys.executable, "-c", fit, str(parts), str(kept), str(log), str(out)]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    for line in child.stdout:
        if int(line) >= 4:
            break
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert not out.exists() and (kept / "job").exists()
    with pytest.raises(ParameterError, match="resume=True"):
        distributed.fit(KMeans(n_clusters=5, max_iter=12, tol=0, random_state=1), parts, checkpoint=kept)
    with pytest.raises(ParameterError, match="another fit"):
        distributed.fit(KMeans(n_clusters=4, random_state=1), parts, checkpoint=kept, resume=True)
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, timeout=300)
    assert int(done.stdout.splitlines()[0]) > 3
    whole = distributed.fit(KMeans(n_clusters=5, max_iter=12, tol=0, random_state=1), parts)
    assert out.read_bytes() == whole.to_bytes()
    assert not kept.exists()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert lines[-1]["done"] and lines[-1]["rows_per_second"] > 0
    assert [x["objective"] for x in lines if x["objective"] is not None]


def test_memory_of_a_worker_stays_below_its_bound(tmp_path):
    parts = streaming.write(tmp_path / "parts", (200_000,) * 4, streaming.NUMBERS)
    work = (
        "import sys, json, resource\nfrom learnt import distributed, _native\n"
        "from learnt.preprocessing import StandardScaler\nfrom learnt.cluster import KMeans\n"
        "small = sys.argv[2]\n"
        "distributed.fit(StandardScaler(), small, workers=1, memory=0)\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024\n"
        "before, limit = peak(), int(sys.argv[3])\n"
        "distributed.fit(KMeans(n_clusters=3, max_iter=4), sys.argv[1], workers=1, tasks=4, memory=limit)\n"
        "plan = distributed.plan(KMeans(n_clusters=3, max_iter=4), sys.argv[1])\n"
        "facts = json.loads(_native.Job(plan, 0).facts())\n"
        "print(json.dumps([peak() - before, limit + facts['working_bytes'], 8 * 4 * facts['rows']]))\n"
    )
    small = streaming.write(tmp_path / "small", (100,), streaming.NUMBERS)
    words = [sys.executable, "-c", work, str(parts), str(small), "1000000"]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    grown, bound, table = json.loads(done.stdout)
    assert table > 25e6
    assert grown < bound, (grown, bound, table)


def _fails(error, match, learner=None, source=None, target=None, **arguments):
    with pytest.raises(error, match=match):
        distributed.fit(learner or Ridge(), source, target, **arguments)


def test_what_is_refused_and_how_it_is_said(tmp_path):
    parts = streaming.write(tmp_path / "parts", (500, 20), [*streaming.NUMBERS, "amount"])
    _fails(SystemFailure, "nowhere", source=tmp_path / "nowhere.parquet", target="amount")
    _fails(DataError, "name its column", source=parts)
    _fails(ParameterError, "did you mean 'amount'", source=parts, target="amout")
    _fails(UnsupportedError, "whole table at once.*logistic", KNeighborsClassifier(), parts, "x0")
    _fails(ParameterError, "'threads', 'ray', 'dask', 'spark'", source=parts, target="amount", engine="mpi")
    _fails(ParameterError, ">= 1", source=parts, target="amount", workers=0)
    with pytest.raises(UnsupportedError, match="whole table at once"):
        KNeighborsClassifier().fit(str(parts), "amount")
    odd = streaming.write(tmp_path / "parts" / "odd", (10,), [*streaming.NUMBERS[:3], "amount"])
    os.replace(odd / "part-0.parquet", parts / "part-9.parquet")
    _fails(SchemaError, "part-9.parquet has no column 'x3', and part-0.parquet has", source=parts, target="amount")
    (parts / "part-9.parquet").write_bytes(b"")
    _fails(DataError, "part-9.parquet", source=parts, target="amount")
    _fails(ParameterError, "password or a token", source="s3://key:secret@bucket/x.parquet", target="amount")


def test_engines_that_are_not_installed_say_what_to_install(tmp_path, monkeypatch):
    parts = streaming.write(tmp_path / "parts", (50,), [*streaming.NUMBERS, "amount"])
    for name, package in (("ray", "ray"), ("dask", "distributed"), ("spark", "pyspark")):
        monkeypatch.setitem(sys.modules, package, None)
        _fails(UnsupportedError, rf"pip install 'learnt\[{name}\]'", Ridge(), parts, "amount", engine=name)


def test_a_file_that_changes_between_rounds_is_refused(tmp_path):
    parts = streaming.write(tmp_path / "parts", (30_000, 30_000), streaming.NUMBERS)
    other = streaming.write(tmp_path / "other", (30_001, 30_000), streaming.NUMBERS)

    class Changing(Hostile):
        rounds = 0

        def round(self, job, state, tasks, options):
            self.rounds += 1
            if self.rounds == 3:
                time.sleep(0.01)
                os.replace(other / "part-0.parquet", parts / "part-0.parquet")
                _worker.forget()
            yield from super().round(job, state, tasks, options)

    _fails(
        SystemFailure, "part-0.parquet.*SHA-256 differs", KMeans(n_clusters=4, tol=0), parts,
        engine=Changing(1), memory=0,
    )


def test_another_build_and_forged_bytes_are_refused(tmp_path):
    parts = streaming.write(tmp_path / "parts", (500,), [*streaming.NUMBERS, "amount"])
    plan = distributed.plan(Ridge(), parts, "amount")
    options = {"keep": 0, "threads": 1}
    job = learnt._native.Job(plan, 0)
    begun = job.begin(1)
    state = job.for_tasks(begun)
    (task,) = job.tasks(1, 1)
    assert _worker.run(plan, state, task, options)[:1] == b"\1"

    def signed(data):
        return data[:-32] + hashlib.sha256(data[:-32]).digest()

    at = plan.index(b'\\"sources\\":\\"') + len(b'\\"sources\\":\\"')
    other = signed(plan[:at] + b"0" * 32 + plan[at + 32 :])
    with pytest.raises(ModelFileError, match="planned by learnt .* \\(00000000\\)"):
        _worker.answer_of(_worker.run(other, state, task, options))
    draws = np.random.default_rng(1)
    for place, data in (("plan", plan), ("state", state), ("task", task)):
        for _ in range(30):
            cut = int(draws.integers(len(data)))
            damaged = bytearray(data)
            damaged[cut] ^= 1 << int(draws.integers(8))
            for bad in (bytes(damaged), data[:cut]):
                given = {"plan": plan, "state": state, "task": task, place: bad}
                result = _worker.run(given["plan"], given["state"], given["task"], options)
                assert result[:1] == b"\0", (place, cut)
    with pytest.raises(ModelFileError):
        job.read(state)
    with pytest.raises(ModelFileError):
        job.advance(begun, [state], 1)
    second = distributed.plan(Ridge(alpha=2), parts, "amount")
    with pytest.raises(ModelFileError, match="another"):
        _worker.answer_of(_worker.run(second, state, task, options))


def test_ctrl_c_ends_a_fit(tmp_path):
    parts = streaming.write(tmp_path / "parts", (60_000, 60_000), streaming.NUMBERS)

    def interrupt(facts):
        if facts["round"] == 3:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        distributed.fit(KMeans(n_clusters=5, tol=0), parts, progress=interrupt)


def test_cross_validation_and_search_have_the_scores_of_one_machine():
    from learnt.model_selection import GridSearchCV, HalvingGridSearchCV, cross_validate

    draws = np.random.default_rng(2)
    x = draws.normal(size=(400, 5))
    y = np.where(x[:, 0] + 0.5 * x[:, 1] + draws.normal(size=400) > 0, "a", "b")
    learner = LogisticRegression(max_iter=50)
    here = cross_validate(learner, x, y, cv=4, scoring=["accuracy", "neg_log_loss"])
    for engine in ("threads", Hostile(5)):
        there = distributed.cross_validate(
            learner, x, y, cv=4, scoring=["accuracy", "neg_log_loss"], engine=engine
        )
        assert there.keys() == here.keys()
        for name in ("test_accuracy", "test_neg_log_loss"):
            np.testing.assert_array_equal(there[name], here[name])
    grid = {"C": [0.01, 0.1, 1.0, 10.0]}
    for kind in (GridSearchCV, HalvingGridSearchCV):
        more = {"random_state": 3} if kind is HalvingGridSearchCV else {}
        alone = kind(learner, grid, cv=3, **more).fit(x, y)
        spread = distributed.search(kind(learner, grid, cv=3, **more), x, y, engine=Hostile(6))
        assert spread.best_params_ == alone.best_params_
        np.testing.assert_array_equal(
            spread.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"]
        )
        assert spread.best_estimator_.to_bytes() == alone.best_estimator_.to_bytes()
    alone = GridSearchCV(learner, grid, cv=3, scoring=_own_score).fit(x, y)
    spread = GridSearchCV(learner, grid, cv=3, scoring=_own_score)
    distributed.search(spread, x, y, workers=2)
    assert spread.best_params_ == alone.best_params_


def _own_score(model, x, y):
    return model.score(x, y)


def test_cross_validation_reads_files(tmp_path):
    from learnt.model_selection import cross_validate

    import pyarrow.parquet as pq

    parts = streaming.write(tmp_path / "parts", (400, 300), [*streaming.NUMBERS, "amount"])
    found = distributed.cross_validate(Ridge(), parts, "amount", cv=3, workers=2)
    frame = pq.read_table(parts).to_pandas()
    here = cross_validate(Ridge(), frame[streaming.NUMBERS], frame["amount"], cv=3)
    np.testing.assert_array_equal(found["test_score"], here["test_score"])


@pytest.mark.parametrize(
    "learner",
    [
        ensemble.RandomForestClassifier(n_estimators=7, random_state=3),
        ensemble.ExtraTreesRegressor(n_estimators=5, random_state=3),
        ensemble.BaggingClassifier(n_estimators=4, random_state=3),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_members_that_are_fitted_apart_have_the_bytes_of_one_fit(tmp_path, learner):
    target = "flag" if hasattr(learner, "predict_proba") else "amount"
    parts = streaming.write(tmp_path / "parts", (300, 200), [*streaming.NUMBERS, target])
    frame = pd.concat(pd.read_parquet(path) for path in sorted(parts.glob("*.parquet")))
    whole = clone(learner).fit(frame[streaming.NUMBERS], frame[target])
    for tasks in (1, 3, 50):
        apart = distributed.fit_members(clone(learner), os.fspath(parts), target, tasks=tasks)
        assert apart.to_bytes() == whole.to_bytes()
        np.testing.assert_array_equal(
            apart.predict(frame[streaming.NUMBERS]), whole.predict(frame[streaming.NUMBERS])
        )


def test_what_has_no_members_or_scores_their_rows_is_refused(tmp_path):
    x, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    with pytest.raises(LearntError, match="forests and bagging"):
        distributed.fit_members(Ridge(), x, y)
    forest = ensemble.RandomForestClassifier(n_estimators=4, oob_score=True)
    with pytest.raises(LearntError, match="oob_score"):
        distributed.fit_members(forest, x, y)
