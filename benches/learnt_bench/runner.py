"""Runs the workers of a workload in turn: A B C, C B A, A B C, ... and keeps each one's best."""

import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from .workloads import OURS

PROGRAM = Path(__file__).parents[1] / "peers.py"
ROOT = Path(__file__).parents[2]
THREAD_VARIABLES = (
    "LEARNT_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "POLARS_MAX_THREADS",
    "LOKY_MAX_CPU_COUNT",
)
# Thread pools of the last library go on spinning for a moment; it must not cost the next one.
PAUSE = 0.25
# Turns beyond the least number go on until a side has used this many seconds, or had this many turns.
BUDGET = 3.0
MOST_TURNS = 15
# A side so much slower than the fastest, and so long, is not repeated.
HOPELESS_FACTOR = 3.0
HOPELESS_SECONDS = 8.0


def available_cores():
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def restrict(threads):
    """Hold this process, and all it starts, to a number of threads by every means there is."""
    for variable in THREAD_VARIABLES:
        os.environ[variable] = str(threads)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def without_paths(text):
    """Take the places of this machine out of a message."""
    for place, name in ((sys.prefix, "<venv>"), (str(ROOT), "<root>"), (str(Path.home()), "~")):
        if len(place) > 1:
            text = text.replace(place, name)
    return text


@dataclass
class Side:
    """One library on one workload: its process and what it has done so far."""

    name: str
    process: subprocess.Popen
    errors: object
    seconds: list = field(default_factory=list)
    foreign: list = field(default_factory=list)
    quality: float = None
    note: str = ""
    alive: bool = True

    def receive(self, timeout):
        """The next reply, or None after marking the side as lost."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            if not selector.select(timeout):
                return self.lose(f"no answer in {timeout:.0f} s")
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            return self.lose(f"ended with status {self.process.returncode}: {self.last_error()}")
        try:
            reply = json.loads(line)
        except ValueError:
            return self.lose(f"half an answer: {self.last_error()}")
        if "error" in reply:
            return self.lose(reply["error"])
        return reply

    def last_error(self):
        """The last line the process wrote to standard error."""
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:200] if lines else "it said nothing"

    def lose(self, reason):
        """Give the side up, with a note."""
        self.note = without_paths(reason)
        self.close()

    def close(self):
        """End the process."""
        self.alive = False
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.errors.close()

    def turn(self, timeout):
        """Run once more."""
        time.sleep(PAUSE)
        try:
            self.process.stdin.write(b"turn\n")
            self.process.stdin.flush()
        except OSError:
            return self.lose(f"ended: {self.last_error()}")
        reply = self.receive(timeout)
        if reply:
            self.seconds.append(reply["seconds"])
            self.foreign.append(reply["foreign"])
            self.quality, self.note = reply["quality"], reply["note"]

    def result(self):
        """What is kept: the best turn, and how disturbed it was."""
        outcome = {"name": self.name, "seconds": None, "quality": self.quality, "note": self.note}
        if self.seconds:
            best = min(range(len(self.seconds)), key=self.seconds.__getitem__)
            outcome |= {"seconds": self.seconds[best], "foreign": self.foreign[best], "turns": self.seconds}
        return outcome


def child_command(arguments, *rest):
    """The command line of this program as a child."""
    shared = ["--cache", str(arguments.cache), "--scale", str(arguments.scale)]
    return [sys.executable, str(PROGRAM), *shared, "--threads", str(arguments.threads), *rest]


def start(workload, name, arguments):
    """Start a worker and wait until it is ready: preparations of two libraries never overlap."""
    errors = tempfile.TemporaryFile()
    process = subprocess.Popen(
        child_command(arguments, "--worker", workload.name, name),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
    )
    side = Side(name, process, errors)
    side.receive(arguments.timeout)
    return side


def wants_turn(side, fastest, least, informative):
    """Whether a side should run again."""
    if not side.alive:
        return False
    if not side.seconds:
        return True
    best, spent, turns = min(side.seconds), sum(side.seconds), len(side.seconds)
    if informative or (best > HOPELESS_SECONDS and best > HOPELESS_FACTOR * fastest):
        return False
    return turns < least or (spent < BUDGET and turns < MOST_TURNS)


def make_data(recipe, arguments):
    """Make the data of a workload in a process of its own; the reason if that failed."""
    command = child_command(arguments, "--make", recipe)
    finished = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if finished.returncode:
        return without_paths((finished.stderr.strip().splitlines() or ["data could not be made"])[-1])
    return None


def run(workload, arguments):
    """Measure every side of a workload."""
    failure = make_data(workload.recipe, arguments)
    if failure:
        return [{"name": name, "seconds": None, "quality": None, "note": failure} for name in workload.sides]
    sides = []
    try:
        for name in workload.sides:
            sides.append(start(workload, name, arguments))
        while True:
            fastest = min((min(side.seconds) for side in sides if side.seconds), default=float("inf"))
            waiting = [
                side
                for side in sides
                if wants_turn(side, fastest, arguments.repeat, side.name in workload.informative)
            ]
            if not waiting:
                break
            # While any peer still has turns to take, ours goes along, and the other way round.
            racing = [side for side in sides if side.alive and (side in waiting or side.name == OURS)]
            for side in racing:
                side.turn(arguments.timeout)
            sides.reverse()
        results = {side.name: side.result() for side in sides}
        return [results[name] for name in workload.sides]
    finally:
        for side in sides:
            if side.alive:
                side.close()
