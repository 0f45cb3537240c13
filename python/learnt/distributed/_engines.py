"""From a name, a client or a session to what runs tasks."""

import importlib
import os
from contextlib import contextmanager

from .. import _base, _native
from ..errors import ParameterError, UnsupportedError

NAMES = ("threads", "ray", "dask", "spark")
_PACKAGES = {"ray": "ray", "dask": "distributed", "spark": "pyspark"}


def cores():
    """The number of workers that are started on this machine, if nobody says it."""
    return _base.default_threads() or _native.threads_available()


# What processes that are started here are told of memory: the allocator of Linux would keep a heap for every thread
# that ever worked, and a worker's tasks come on many.
FRUGAL = {"MALLOC_ARENA_MAX": "1"}


@contextmanager
def frugal():
    """Processes that are started meanwhile give memory back."""
    before = {name: os.environ.get(name) for name in FRUGAL}
    os.environ.update({name: before[name] or value for name, value in FRUGAL.items()})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]


@contextmanager
def choose(engine, address=None, workers=None):
    """The engine by name, client or session. What is started here is ended here, whatever happens."""
    runner = _make(engine, address, workers)
    try:
        yield runner
    finally:
        runner.close()


def _make(engine, address, workers):
    if workers is not None and (not isinstance(workers, int) or workers < 1):
        raise ParameterError(f"`workers` is a whole number >= 1, got {workers!r}")
    if hasattr(engine, "round") and hasattr(engine, "workers"):
        return engine
    kind = type(engine).__module__.partition(".")[0]
    if isinstance(engine, str):
        name, client = engine, None
    elif kind == "distributed":
        name, client = "dask", engine
    elif kind == "pyspark":
        name, client = "spark", engine
    elif getattr(engine, "__name__", None) == "ray":
        name, client = "ray", engine
    else:
        raise ParameterError(_unknown(engine))
    if name not in NAMES:
        raise ParameterError(_unknown(engine))
    if name in _PACKAGES:
        try:
            importlib.import_module(_PACKAGES[name])
        except ImportError as missing:
            raise UnsupportedError(
                f"engine {name!r} needs the package {_PACKAGES[name]}, which is not installed here: "
                f"pip install 'learnt[{name}]'"
            ) from missing
    module = importlib.import_module(f"learnt.distributed._{name}")
    return module.Engine(client, address, workers)


def _unknown(engine):
    return (
        f"engine is one of {', '.join(map(repr, NAMES))}, a client of Dask, a session of Spark, the module "
        f"ray, or an object with `round` and `workers`; got {engine!r}"
    )
