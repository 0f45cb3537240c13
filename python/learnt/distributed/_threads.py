"""Threads of this process."""

from concurrent.futures import ThreadPoolExecutor, as_completed

from . import _worker
from ._engines import cores


class Engine:
    """Tasks on threads: each releases the interpreter's lock while it works."""

    threads = 1

    def __init__(self, client=None, address=None, workers=None):
        self.workers = workers or cores()
        self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix="learnt")

    def round(self, job, state, tasks, options):
        """Yields the number of each task with its result."""
        todo = {
            self._pool.submit(_worker.run, job, state, task, options): index
            for index, task in enumerate(tasks)
        }
        for done in as_completed(todo):
            yield todo[done], done.result()

    def close(self):
        """Ends the threads."""
        self._pool.shutdown(cancel_futures=True)
        _worker.forget()
