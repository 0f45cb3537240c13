"""The loop over rounds, and where a fit is kept between them."""

import json
import os
import sys
import time
from pathlib import Path

from .. import _base, _native
from ..errors import ParameterError
from ._worker import answer_of


def drive(engine, job, options, tasks, kept):
    """Runs the rounds of a job on an engine, and gives the model."""
    work = _native.Job(job, 0)
    facts = json.loads(work.facts())
    threads = _base.default_threads()
    found = kept.state()
    state = work.begin(threads) if found is None else work.read(found)
    count = tasks or engine.workers
    while True:
        number = state.round
        if kept.folder is not None:
            kept.put(number, work.to_bytes(state))
        started = time.monotonic()
        todo = work.tasks(number, count)
        answers = answers_of(engine, job, work.for_tasks(state), todo, options)
        state, model = work.advance(state, answers, threads)
        seconds = time.monotonic() - started
        objective = model.loss_curve()[-1:] if model else [state.objective]
        kept.tell(
            {
                "round": number,
                "objective": objective[0] if objective else None,
                "seconds": round(seconds, 6),
                "rows": facts["rows"],
                "rows_per_second": round(facts["rows"] / max(seconds, 1e-9)),
                "tasks": len(todo),
                "workers": engine.workers,
                "bytes": sum(map(len, answers)),
                "done": model is not None,
            }
        )
        if model is not None:
            kept.remove()
            return model


def gather(engine, job, options):
    """Runs the tasks of predictions: rows, parts and score."""
    work = _native.Job(job, 0)
    todo = work.tasks(1, engine.workers)
    return work.finish(answers_of(engine, job, b"", todo, options))


def answers_of(engine, job, state, todo, options):
    """The answers to all tasks, in their order; what comes twice counts once."""
    answers = [None] * len(todo)
    for index, result in engine.round(job, state, todo, options):
        if answers[index] is None:
            answers[index] = answer_of(result)
    return answers


class Kept:
    """The folder of a fit, laid out as that of `learnt plan`, and the log of its rounds."""

    def __init__(self, folder, job, resume, log, progress):
        self.folder = None if folder is None else Path(folder)
        self.log, self.progress, self.job = log, progress, job
        if progress is not None and progress is not True and not callable(progress):
            raise ParameterError("`progress` is a function of a dictionary, or True")
        if self.folder is None:
            if resume:
                raise ParameterError("`resume` needs the folder of a `checkpoint`")
            return
        plan = self.folder / "job"
        if plan.exists():
            if not resume:
                raise ParameterError(
                    f"{self.folder} holds a fit: resume=True goes on with it, or give another folder"
                )
            if plan.read_bytes() != job:
                raise ParameterError(
                    f"{self.folder} holds another fit: learner, parameters, seed (a random_state of None "
                    "draws a new one), files or version of learnt differ"
                )
        else:
            self.folder.mkdir(parents=True, exist_ok=True)
            write(plan, job)

    def rounds(self):
        """The rounds that have a state, in order."""
        found = sorted(self.folder.glob("round-*/state")) if self.folder else []
        return [path.parent for path in found]

    def state(self):
        """The last state, if there is one."""
        rounds = self.rounds()
        return (rounds[-1] / "state").read_bytes() if rounds else None

    def put(self, number, state):
        """Keeps the state of a round instead of the one before."""
        before = self.rounds()
        place = self.folder / f"round-{number:05}"
        place.mkdir(exist_ok=True)
        write(place / "state", state)
        _remove([round_ for round_ in before if round_ != place])

    def tell(self, facts):
        """Writes and shows what is known of a round."""
        if self.log is not None:
            with open(self.log, "a", encoding="utf-8") as file:
                file.write(json.dumps(facts) + "\n")
        if self.progress is True:
            value = facts["objective"]
            value = "" if value is None else f", objective {value:.6e}"
            rate = facts["rows_per_second"]
            text = f"round {facts['round']}: {facts['seconds']:.2f} s, {rate:,} rows a second{value}"
            print(text, file=sys.stderr)
        elif self.progress is not None:
            self.progress(facts)

    def remove(self):
        """The fit is done: nothing is left to go on from."""
        if self.folder is not None:
            _remove(self.rounds())
            (self.folder / "job").unlink(missing_ok=True)
            if not any(self.folder.iterdir()):
                self.folder.rmdir()


def _remove(rounds):
    for round_ in rounds:
        for file in round_.iterdir():
            file.unlink(missing_ok=True)
        round_.rmdir()


def write(path, data):
    """Writes a file whole or not at all."""
    path = Path(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with open(beside, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
