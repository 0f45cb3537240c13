"""Spark, and whatever speaks its protocol: `mapInArrow` alone, a row a task. Rows are read by the tasks, and
the engine's own reduction, whose order differs from run to run, is not used."""

import os
import sys

from pyspark import SparkContext
from pyspark.sql import SparkSession

from ._engines import cores


class Engine:
    """Tasks on executors of Spark."""

    threads = 1

    def __init__(self, client=None, address=None, workers=None):
        self._own = client is None
        self._had_java = getattr(SparkContext, "_gateway", None) is not None
        self._spark = client or self._start(address, workers)
        self.workers = workers or self._slots()

    @staticmethod
    def _start(address, workers):
        if address and address.startswith("sc://"):
            return SparkSession.builder.remote(address).getOrCreate()
        builder = SparkSession.builder.appName("learnt").config("spark.ui.showConsoleProgress", "false")
        if address:
            return builder.master(address).getOrCreate()
        # Workers here are this Python; a task may lose its worker a few times, also in local mode.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        local = builder.master(f"local[{workers or cores()},4]").config("spark.ui.enabled", "false")
        for name in ("spark.driver.bindAddress", "spark.driver.host"):
            local = local.config(name, "127.0.0.1")
        session = local.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        return session

    def _slots(self):
        try:
            return max(1, self._spark.sparkContext.defaultParallelism)
        except Exception:  # A session over the network has no context.
            return cores()

    def round(self, job, state, tasks, options):
        """Yields the number of each task with its result."""
        count = len(tasks)

        # Spark sends a function of more than a megabyte, with what it holds, to every executor once.
        def work(batches):
            import pyarrow

            from learnt.distributed import _worker

            for batch in batches:
                for index in batch.column(0).to_pylist():
                    result = _worker.run(job, state, tasks[index], options)
                    yield pyarrow.RecordBatch.from_pydict(
                        {"index": pyarrow.array([index], "int64"), "result": pyarrow.array([result], "binary")}
                    )

        rows = self._spark.range(0, count, 1, count).mapInArrow(work, "index long, result binary")
        for row in rows.collect():
            yield row["index"], bytes(row["result"])

    def close(self):
        """Ends the session and its Java, if they were started here."""
        if self._own:
            self._spark.stop()
        if self._own and not self._had_java:
            _end_java()


def _end_java():
    """Spark itself leaves its Java running until this process ends."""
    gateway = getattr(SparkContext, "_gateway", None)
    if gateway is None:
        return
    gateway.shutdown()
    java = getattr(gateway, "proc", None)
    if java is not None:
        java.stdin.close()
        java.wait()
    SparkContext._gateway = SparkContext._jvm = None
