"""What a worker does: one function from bytes to bytes."""

import hashlib
import json
import os
import pickle
import socket
import threading
from collections import OrderedDict

from .. import _native
from ..errors import LearntError, from_native

# Jobs that this process works on, newest last: rows that they keep stay between rounds.
_MOST = 2
# Jobs of folds and settings begin so; see `_folds`.
_PYTHON = b"python\0"
_jobs = OrderedDict()
_lock = threading.Lock()


def run(job, state, task, options):
    """The answer to a task behind a byte that says whether it went well."""
    try:
        if job[: len(_PYTHON)] == _PYTHON:
            return b"\1" + pickle.dumps(_opened(job, options)(pickle.loads(task)), protocol=5)
        work = _opened(job, options)
        return b"\1" + work.answer(state, task, options["threads"])
    except LearntError as error:
        hint = getattr(error, "hint", None)
        message = str(error.args[0]) if error.args else type(error).__name__
        if hint and message.endswith(f" ({hint})"):
            message = message[: -len(hint) - 3]
        where = f"{socket.gethostname()}, process {os.getpid()}"
        told = {
            "code": error.code,
            "message": f"{message} [on {where}]",
            "hint": hint,
            "column": error.column,
            "row": error.row,
        }
        return b"\0" + json.dumps(told).encode()


def answer_of(result):
    """The answer that `run` gave, or its error."""
    if result[:1] == b"\1":
        return result[1:]
    told = json.loads(result[1:])
    raise from_native(told["code"], told["message"], told["hint"], told["column"], told["row"])


def _opened(job, options):
    key = (hashlib.sha256(job).digest(), options["keep"])
    with _lock:
        if key not in _jobs:
            _jobs[key] = _open(job, options["keep"])
            while len(_jobs) > _MOST:
                _jobs.popitem(last=False)
        _jobs.move_to_end(key)
        return _jobs[key]


def _open(job, keep):
    if job[: len(_PYTHON)] == _PYTHON:
        return pickle.loads(job[len(_PYTHON) :]).open()
    return _native.Job(job, keep)


def forget():
    """Drops the jobs and the rows that they keep."""
    with _lock:
        _jobs.clear()
