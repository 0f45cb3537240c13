"""Dask: a task a submission, tied softly to a worker so that rows it keeps are there in the next round."""

import dask
import distributed
from distributed.scheduler import KilledWorker

from . import _worker
from ._engines import FRUGAL, cores

# How often a task may lose its worker.
TRIES = 5
# Bytes from which on a message goes to every worker once, and not through the scheduler with every task.
LARGE = 1 << 20


class Engine:
    """Tasks on workers of Dask."""

    threads = 1

    def __init__(self, client=None, address=None, workers=None):
        self._cluster, self._own = None, client is None
        if client is None and address:
            client = distributed.Client(address)
        elif client is None:
            self._cluster = self._start(workers or cores())
            client = distributed.Client(self._cluster)
        self._client = client
        self.workers = workers or max(1, len(client.scheduler_info(n_workers=-1)["workers"]))

    @staticmethod
    def _start(workers):
        frugal = {f"distributed.nanny.pre-spawn-environ.{name}": value for name, value in FRUGAL.items()}
        with dask.config.set(frugal):
            return distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                silence_logs=50,
            )

    def _known(self):
        return sorted(self._client.scheduler_info(n_workers=-1)["workers"])

    def _submit(self, index, count, known, arguments):
        place = {"workers": [known[index * len(known) // count]]} if known else {}
        return self._client.submit(
            _worker.run, *arguments, pure=False, allow_other_workers=bool(place), **place
        )

    def _spread(self, data):
        """The same on every worker, if it is large."""
        return self._client.scatter(data, broadcast=True, hash=False) if len(data) >= LARGE else data

    def round(self, job, state, tasks, options):
        """Yields the number of each task with its result."""
        todo = {}
        spread, known = (self._spread(job), self._spread(state)), self._known()

        def give(index, tries):
            # What was spread may have died with a worker.
            first = tries == TRIES
            place, shared = (known, spread) if first else (self._known(), (job, state))
            future = self._submit(index, len(tasks), place, (*shared, tasks[index], options))
            todo[future.key] = (index, tries)
            return future

        queue = distributed.as_completed([give(index, TRIES) for index in range(len(tasks))])
        try:
            for future in queue:
                index, tries = todo.pop(future.key)
                try:
                    yield index, future.result()
                except (KilledWorker, distributed.CancelledError):
                    if tries <= 1:
                        raise
                    queue.add(give(index, tries - 1))
        finally:
            if todo:
                self._client.cancel(list(todo), force=True)

    def close(self):
        """Ends the cluster, if it was started here."""
        if self._own:
            self._client.close()
        if self._cluster is not None:
            self._cluster.close()
