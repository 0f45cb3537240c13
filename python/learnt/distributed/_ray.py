"""Ray: an actor a worker, which keeps rows between rounds. An actor that dies is not restarted, because
a restart waits for a node that may be gone for good: its task goes to a living one, and a new actor joins
when there is room for it."""

import os
import shutil
import tempfile

import ray
from ray.exceptions import RayActorError, WorkerCrashedError

from ..errors import SystemFailure
from ._engines import cores, frugal

# Seconds without any living actor until the fit gives up.
PATIENCE = 60


class _Actor:
    def run(self, job, state, task, options):
        from learnt.distributed import _worker

        return _worker.run(job, state, task, options)

    def ready(self):
        return os.getpid()


class Engine:
    """Tasks on actors."""

    threads = 1

    def __init__(self, client=None, address=None, workers=None):
        self._own, self._folder = not ray.is_initialized(), None
        if self._own:
            self._start(address, workers or cores())
        self.workers = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._class = ray.remote(num_cpus=1, max_restarts=0, scheduling_strategy="SPREAD")(_Actor)
        self._actors, self._joining = [], {}
        for _ in range(self.workers):
            self._hire()
        self._job = (None, None)

    def _start(self, address, workers):
        quiet = {"include_dashboard": False, "log_to_driver": False, "logging_level": "warning"}
        if address or os.environ.get("RAY_ADDRESS"):
            ray.init(address=address or "auto", log_to_driver=False, logging_level="warning")
            return
        self._folder = tempfile.mkdtemp(prefix="learnt-ray-", dir="/tmp" if os.name == "posix" else None)
        with frugal():
            ray.init(address="local", num_cpus=workers, _temp_dir=self._folder, **quiet)

    def _hire(self):
        actor = self._class.remote()
        self._joining[actor.ready.remote()] = actor

    def _living(self, wait):
        """Actors that can work; those that are ready join."""
        if self._joining:
            ready, _ = ray.wait(list(self._joining), num_returns=len(self._joining), timeout=wait)
            for ref in ready:
                actor = self._joining.pop(ref)
                try:
                    ray.get(ref)
                    self._actors.append(actor)
                except RayActorError:
                    pass
        return self._actors

    def _wait_for_one(self):
        for _ in range(PATIENCE * 2):
            if self._living(0.5 if not self._actors else 0):
                return
            if not self._joining:
                self._hire()
        raise SystemFailure(
            f"Ray gave no worker in {PATIENCE} seconds: all have died, or others have its cores"
        )

    def _shared(self, job, state):
        if self._job[0] != job:
            self._job = (job, ray.put(job))
        return self._job[1], ray.put(state)

    def round(self, job, state, tasks, options):
        """Yields the number of each task with its result."""
        self._wait_for_one()
        shared = self._shared(job, state)
        todo = {}

        def give(index):
            self._wait_for_one()
            actor = self._actors[index * len(self._actors) // len(tasks) % len(self._actors)]
            todo[actor.run.remote(*shared, tasks[index], options)] = (index, actor)

        for index in range(len(tasks)):
            give(index)
        while todo:
            for ref in ray.wait(list(todo), timeout=None)[0]:
                index, actor = todo.pop(ref)
                try:
                    yield index, ray.get(ref)
                except (RayActorError, WorkerCrashedError):
                    if actor in self._actors:
                        self._actors.remove(actor)
                        self._hire()
                    give(index)

    def close(self):
        """Ends the actors, and Ray if it was started here."""
        for actor in [*self._actors, *self._joining.values()]:
            ray.kill(actor)
        self._actors, self._joining = [], {}
        if self._own:
            ray.shutdown()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
