"""The child process of one (workload, library): prepares once, then runs a turn each time it is asked.

Speaks JSON lines: one when ready, one for each line read from standard input. What libraries print goes to
standard error.
"""

import json
import logging
import math
import os
import sys
import time
import warnings

from . import data as datasets
from .table import WORKLOADS
from .workloads import Timed


def busy_seconds():
    """CPU seconds all programs have used on this machine, where the system tells."""
    try:
        with open("/proc/stat") as source:
            ticks = [int(field) for field in source.readline().split()[1:9]]
    except OSError:
        return None
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def measure(run):
    """Seconds of one run, its outcome, and the share of the machine that other programs used meanwhile."""
    before, own = busy_seconds(), sum(os.times()[:4])
    start = time.perf_counter()
    outcome = run()
    seconds = time.perf_counter() - start
    foreign = None
    if before is not None:
        used = busy_seconds() - before - (sum(os.times()[:4]) - own)
        foreign = round(max(0.0, used) / max(seconds, 0.05) / (os.cpu_count() or 1), 3)
    if isinstance(outcome, Timed):
        seconds, outcome = outcome.seconds, outcome.value
    return seconds, outcome, foreign


def head(data, count=2000):
    """The first rows of every array that has more."""
    return {key: value[:count] if hasattr(value, "dtype") else value for key, value in data.items()}


class Messages(logging.Handler):
    """Keeps what scikit-learn-intelex says about taking over, or not."""

    def __init__(self):
        super().__init__()
        self.texts = []

    def emit(self, record):
        """Keep the text of a record."""
        self.texts.append(record.getMessage())

    def note(self):
        """What to show beside the time."""
        fits = [text for text in self.texts if ".fit" in text]
        return "fell back to scikit-learn" if fits and "fallback" in fits[-1] else ""


def prepare(side, data, threads):
    """The run and answer functions, after a small run for imports and thread pools."""
    if "path" not in data:
        run, _ = side(head(data), threads)
        run()
    return side(data, threads)


def serve(arguments):
    """Prepare, say so, then answer each line with a turn until the input ends."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def reply(**message):
        replies.write(json.dumps(message) + "\n")
        replies.flush()

    warnings.simplefilter("ignore")
    messages = Messages()
    logger = logging.getLogger("sklearnex")
    logger.addHandler(messages)
    logger.propagate = False
    try:
        workload = next(entry for entry in WORKLOADS if entry.name == arguments.worker[0])
        data = datasets.load(arguments.cache, workload.recipe, arguments.scale)
        run, answer = prepare(workload.sides[arguments.worker[1]], data, arguments.threads)
        logger.setLevel(logging.INFO)
        reply(ready=True)
        quality = None
        for _ in sys.stdin:
            seconds, outcome, foreign = measure(run)
            if quality is None:
                quality = workload.score(data, answer(outcome))
                if not math.isfinite(quality):
                    raise ValueError(f"{workload.metric} is {quality}")
            del outcome  # freed before the turn of the next library
            reply(seconds=seconds, quality=quality, foreign=foreign, note=messages.note())
    except Exception as error:  # any library may fail in any way: the parent shows it and goes on
        reply(error=f"{type(error).__name__}: {error}".splitlines()[0][:200])
