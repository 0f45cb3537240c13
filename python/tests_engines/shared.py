"""What the tests on engines share."""

import os

import psutil

ENGINES = os.environ.get("LEARNT_ENGINES", "ray dask spark").split()
# Seconds that a test may take, whatever happens.
LIMIT = 240


class Lent:
    """An engine that is not ended with a fit."""

    def __init__(self, engine):
        self.workers, self.threads, self.round = engine.workers, engine.threads, engine.round

    def close(self):
        pass


def workers_of(engine):
    """Processes that run tasks now: by their names below this one, or below the session's."""
    mark = {"ray": "ray::_Actor", "dask": "multiprocessing.spawn", "spark": "pyspark.daemon"}[engine]
    found = []
    for child in psutil.Process().children(recursive=True):
        try:
            if mark in " ".join(child.cmdline()) or mark in child.name():
                found.append(child)
        except psutil.Error:
            pass
    if engine == "ray":
        everyone = psutil.process_iter()
        found = [p for p in everyone if _named(p, "ray::_Actor")]
    if engine == "spark":
        # The daemon forks one process a task.
        found = [c for daemon in found for c in daemon.children()] or found
    return found


def _named(process, mark):
    try:
        return " ".join(process.cmdline()).startswith(mark)
    except psutil.Error:
        return False
