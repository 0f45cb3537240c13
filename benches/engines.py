#!/usr/bin/env python3
"""What engines cost, and fits on them beside their own learners: results/engines.json and results/engines.md.

    python benches/engines.py overhead          rounds of tasks that do nothing
    python benches/engines.py kmeans            k-means of 1M x 16 rows, 8 clusters, 10 rounds
    python benches/engines.py linear            ridge and logistic regression of 20M x 20 rows (3.5 GB, removed afterwards)
    python benches/engines.py boost             boosting of 1M x 28 rows, 50 trees
    python benches/engines.py linear --rows 2e6 --only 'ridge.*(ray|spark)'
    python benches/engines.py linear --table DIR --only nothing     writes the table into DIR, and leaves it there

Run it with a Python that has the packages of python/requirements-engines.txt, and dask-ml, xgboost-cpu and lightgbm for the
peers; `learnt` is what PYTHONPATH says. Every measurement has a process of its own with two workers. Seconds are those from
the names of the files to the model, without the start of the engine, which is told beside them. The load is that of the
machine just before: on a quiet one it is what the measurement before has left.
"""

import argparse
import hashlib
import json
import os
import pickle
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "engines.json"
WORKERS = 2
MOST_SECONDS = 230
ENGINES = ("threads", "ray", "dask", "spark")
OURS = ("threads", "streamed", "ray", "dask", "spark")

# part: (rows, columns, learners with the peers of each)
TABLES = {
    "kmeans": (1_000_000, 16, {"k-means": ("Spark ML", "dask-ml")}),
    "linear": (20_000_000, 20, {"ridge": ("Spark ML",), "logistic": ("Spark ML", "dask-ml")}),
    "boost": (1_000_000, 28, {"boosting": ("XGBoost on Dask", "LightGBM on Dask")}),
}
FILE_ROWS = 500_000


def write_table(folder, rows, columns):
    """Parquet files of drawn rows: `amount` is a number, `label` 0 or 1."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    draws, weights = np.random.default_rng(0), np.linspace(-1, 1, columns)
    for k, start in enumerate(range(0, rows, min(FILE_ROWS, max(1, rows // 16)))):
        count = min(min(FILE_ROWS, max(1, rows // 16)), rows - start)
        x = draws.normal(size=(count, columns))
        x += 3 * draws.integers(0, 4, size=(count, 1)) * (np.arange(columns) % 3 == 0)
        signal = x @ weights + x[:, 0] * x[:, 1] / 4
        table = {f"x{j}": x[:, j] for j in range(columns)}
        table["amount"] = signal + draws.normal(size=count)
        table["label"] = (signal + 2 * draws.logistic(size=count) > 0).astype(float)
        pq.write_table(pa.table(table), folder / f"part-{k:04}.parquet", compression="none", use_dictionary=False)


def learner_of(name):
    """A learner, its target, and the columns that are left out."""
    from learnt.cluster import KMeans
    from learnt.ensemble import HistGradientBoostingClassifier
    from learnt.linear_model import LogisticRegression, Ridge

    return {
        "k-means": (KMeans(n_clusters=8, max_iter=10, tol=0, n_init=1, random_state=0), None, ["amount", "label"]),
        "ridge": (Ridge(), "amount", ["label"]),
        "logistic": (LogisticRegression(), "label", ["amount"]),
        "boosting": (
            HistGradientBoostingClassifier(max_iter=50, early_stopping=False, random_state=0),
            "label",
            ["amount"],
        ),
    }[name]


class Lent:
    """An engine that is not ended with a fit."""

    def __init__(self, engine):
        self.workers, self.threads, self.round = engine.workers, engine.threads, engine.round

    def close(self):
        """Somebody else ends it."""


def measure_ours(name, where, folder):
    """Fits by rounds on an engine."""
    from learnt import distributed
    from learnt.distributed._engines import choose

    learner, target, ignore = learner_of(name)
    rounds = []
    # Threads share what others keep each.
    keep = {"streamed": 0, "threads": 4_000_000_000 * WORKERS}.get(where, 4_000_000_000)
    begun = time.perf_counter()
    with choose("threads" if where == "streamed" else where, workers=WORKERS) as runner:
        if where != "streamed":
            list(idle_round(runner, WORKERS, 0, 0))
        started = time.perf_counter()
        model = distributed.fit(
            learner, folder, target, ignore=ignore, engine=Lent(runner), memory=keep, progress=rounds.append
        )
        ended = time.perf_counter()
    return {
        "start": started - begun,
        "seconds": ended - started,
        "rounds": len(rounds),
        "round": statistics.median(r["seconds"] for r in rounds),
        "bytes": max(r["bytes"] for r in rounds),
        "model": hashlib.sha256(model.to_bytes()).hexdigest()[:12],
    }


def measure_spark(name, folder):
    """Fits of Spark's own library."""
    from pyspark.ml.classification import LogisticRegression
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.feature import VectorAssembler
    from pyspark.ml.regression import LinearRegression
    from pyspark.sql import SparkSession

    begun = time.perf_counter()
    builder = SparkSession.builder.master(f"local[{WORKERS}]").config("spark.ui.enabled", "false")
    for key in ("spark.driver.host", "spark.driver.bindAddress"):
        builder = builder.config(key, "127.0.0.1")
    spark = builder.config("spark.driver.memory", "6g").config("spark.ui.showConsoleProgress", "false").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    spark.range(10).count()
    started = time.perf_counter()
    table = spark.read.parquet(folder)
    columns = [c for c in table.columns if c.startswith("x")]
    rows = VectorAssembler(inputCols=columns, outputCol="features").transform(table)
    learner = {
        "k-means": lambda: KMeans(k=8, maxIter=10, tol=0.0, seed=0),
        "ridge": lambda: LinearRegression(labelCol="amount", regParam=1e-6, solver="normal", standardization=False),
        "logistic": lambda: LogisticRegression(labelCol="label", regParam=1e-7, maxIter=100),
    }[name]()
    learner.fit(rows)
    seconds = time.perf_counter() - started
    spark.stop()
    return {"start": started - begun, "seconds": seconds}


def dask_arrays(folder):
    """Rows and labels of the files, a chunk a file."""
    import dask
    import dask.array as da
    import numpy as np
    import pyarrow.parquet as pq

    def load(path, names):
        table = pq.read_table(path, columns=names)
        return np.column_stack([table[name].to_numpy() for name in names])

    def array(names):
        files = [(str(path), pq.read_metadata(path).num_rows) for path in sorted(Path(folder).iterdir())]
        parts = [da.from_delayed(dask.delayed(load)(path, names), (rows, len(names)), float) for path, rows in files]
        return da.concatenate(parts)

    columns = [name for name in pq.read_schema(next(Path(folder).iterdir())).names if name.startswith("x")]
    return array(columns), array(["label"])[:, 0]


def measure_dask(name, where, folder):
    """Fits of libraries on Dask."""
    from distributed import Client, LocalCluster

    begun = time.perf_counter()
    with LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        started = time.perf_counter()
        x, y = (array.persist() for array in dask_arrays(folder))
        if name == "k-means":
            from dask_ml.cluster import KMeans

            KMeans(n_clusters=8, max_iter=10, tol=0, random_state=0).fit(x)
        elif name == "logistic":
            from dask_ml.linear_model import LogisticRegression

            LogisticRegression(solver="lbfgs", C=1.0).fit(x, y)
        elif where.startswith("XGBoost"):
            from xgboost import dask as xgb

            data = xgb.DaskQuantileDMatrix(client, x, y)
            wanted = {"tree_method": "hist", "objective": "binary:logistic", "max_leaves": 31, "max_depth": 0}
            xgb.train(client, {**wanted, "grow_policy": "lossguide"}, data, num_boost_round=50)
        else:
            from lightgbm import DaskLGBMClassifier

            DaskLGBMClassifier(client=client, n_estimators=50, num_leaves=31, verbose=-1).fit(x, y)
        seconds = time.perf_counter() - started
    return {"start": started - begun, "seconds": seconds}


def idle_round(runner, tasks, state, answer):
    """A round of tasks that do nothing."""
    from learnt.distributed._folds import MARK
    from learnt_bench.nothing import Nothing

    job = MARK + pickle.dumps(Nothing(answer), protocol=5)
    return runner.round(job, bytes(state), [pickle.dumps(k) for k in range(tasks)], {"keep": 0, "threads": 1})


def measure_overhead(engine):
    """Milliseconds of idle rounds: by tasks, bytes of the state, bytes of an answer."""
    from learnt.distributed._engines import choose

    found = {}
    begun = time.perf_counter()
    with choose(engine, workers=WORKERS) as runner:
        list(idle_round(runner, WORKERS, 0, 0))
        found["start"] = time.perf_counter() - begun
        for name, tasks, state, answer in (
            ("2 tasks", 2, 0, 0),
            ("16 tasks", 16, 0, 0),
            ("state of 1 MB", 2, 10**6, 0),
            ("state of 10 MB", 2, 10**7, 0),
            ("answers of 1 MB", 2, 0, 10**6),
        ):
            times = []
            for _ in range(15):
                started = time.perf_counter()
                assert len(list(idle_round(runner, tasks, state, answer))) == tasks
                times.append(1000 * (time.perf_counter() - started))
            found[name] = statistics.median(times[3:])
    return found


def measure(part, name, where, folder):
    """One measurement, in this process."""
    if part == "overhead":
        return measure_overhead(where)
    if where in OURS:
        return measure_ours(name, where, folder)
    return measure_spark(name, folder) if where == "Spark ML" else measure_dask(name, where, folder)


def in_a_process(part, name, where, folder):
    """The same in a process of its own, which has so many seconds."""
    place = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    surroundings = {**os.environ, "PYTHONPATH": place, "PYSPARK_PYTHON": sys.executable, "OMP_NUM_THREADS": "1"}
    surroundings["PYSPARK_DRIVER_PYTHON"] = sys.executable
    words = [sys.executable, __file__, part, "--measure", name, where, folder]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=MOST_SECONDS, env=surroundings)
    except subprocess.TimeoutExpired:
        return {"failed": f"more than {MOST_SECONDS} s"}
    if done.returncode != 0:
        return {"failed": (done.stderr.strip().splitlines() or ["without a word"])[-1][:200]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def run(part, rows, only, table):
    """All measurements of a part."""
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    size, columns, learners = TABLES.get(part, (0, 0, {"": ()}))
    size = int(rows or size)
    places = [("", e) for e in ENGINES] if part == "overhead" else []
    for name, peers in learners.items():
        places += [(name, where) for where in (*OURS, *peers) if part != "overhead"]
    places = [(n, w) for n, w in places if re.search(only, f"{n} {w}")]
    folder = Path(table or tempfile.mkdtemp(prefix="learnt-engines-"))
    folder.mkdir(exist_ok=True)
    try:
        if part != "overhead" and not any(folder.iterdir()):
            write_table(folder, size, columns)
        for name, where in places:
            load = os.getloadavg()[0]
            result = {**in_a_process(part, name, where, str(folder)), "load": round(load, 1)}
            print(part, name, where, json.dumps(result), flush=True)
            key = part if part == "overhead" else f"{name}, {size:,} x {columns}"
            found.setdefault(key, {})[where] = result
            RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    finally:
        if not table:
            shutil.rmtree(folder, ignore_errors=True)
    write_page(found)


def write_page(found):
    """The tables as Markdown."""
    from learnt_bench import report

    lines = ["# Engines", "", f"{report.processor()}, {WORKERS} workers; `python benches/engines.py`. One run of each.", ""]
    idle = found.get("overhead", {})
    if idle:
        names = [n for n in next(iter(idle.values())) if n not in ("start", "load")]
        lines += ["## Rounds of tasks that do nothing, milliseconds", ""]
        lines += [f"| engine | {' | '.join(names)} | start, s | load |", "| --- |" + " ---: |" * (len(names) + 2)]
        for where, row in idle.items():
            cells = [f"{row[n]:.1f}" for n in names] if "failed" not in row else [row["failed"]]
            lines.append(f"| {where} | {' | '.join(cells)} | {row.get('start', 0):.1f} | {row['load']} |")
        lines.append("")
    for key, rows in found.items():
        if key == "overhead":
            continue
        lines += [f"## {key}", "", "| where | seconds | rounds | a round, s | model | start, s | load |"]
        lines.append("| --- | ---: | ---: | ---: | --- | ---: | ---: |")
        for where, row in rows.items():
            if "failed" in row:
                lines.append(f"| {where} | {row['failed']} | | | | | {row['load']} |")
                continue
            a_round = f"{row['round']:.3f}" if "round" in row else ""
            cells = [f"{row['seconds']:.1f}", row.get("rounds", ""), a_round, row.get("model", ""), f"{row['start']:.1f}"]
            lines.append(f"| {where} | " + " | ".join(map(str, [*cells, row["load"]])) + " |")
        lines.append("")
    (HERE / "results" / "engines.md").write_text("\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["overhead", *TABLES, "page"])
    parser.add_argument("--rows", type=float)
    parser.add_argument("--only", metavar="REGEX", default="")
    parser.add_argument("--table", metavar="DIR")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.part, *arguments.measure)))
    elif arguments.part == "page":
        write_page(json.loads(RESULTS.read_text()))
    else:
        run(arguments.part, arguments.rows, arguments.only, arguments.table)


if __name__ == "__main__":
    main()
