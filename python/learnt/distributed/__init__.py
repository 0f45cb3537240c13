"""The same fit on threads, Ray, Dask, Spark or any scheduler, with the same bytes and no lost work.

A fit over files is planned once (`learner`, parameters, files with their digests). Its rounds are lists of
tasks in bytes, which an engine runs anywhere, in any order, as often as it takes; the model has the bytes of
a fit on one machine. Nothing but files, plans, states and answers travels: no rows, no pickled models, no
secrets.

    import learnt.distributed as distributed
    from learnt.linear_model import Ridge

    model = distributed.fit(Ridge(), "parts/", "price", engine="ray")
    distributed.predict(model, "new/", "predictions/", engine="ray")
"""

import os
import sys
from functools import partial

from .. import _base, _native
from ..errors import DataError, ParameterError
from . import _sources
from ._drive import Kept, drive, gather
from ._engines import NAMES, choose

# Files of object stores are read by a Python that is like this one.
os.environ.setdefault("LEARNT_PYTHON", sys.executable or "python3")

__all__ = [
    "NAMES",
    "cross_validate",
    "fit",
    "fit_members",
    "plan",
    "predict",
    "score",
    "search",
    "transform",
]


def plan(
    learner,
    source,
    target=None,
    *,
    weight=None,
    sequence=None,
    task=None,
    ignore=(),
    types=None,
    any_processor=False,
):
    """The bytes of a job that fits a learner to files, for a scheduler of your own.

    `learnt._native.Job(plan, 0)` works on it; see `learnt.distributed._drive` for the loop.
    """
    with _sources.opened(source) as files:
        return _plan(
            learner, files, target, weight, sequence, task, ignore, types, any_processor
        )


def _plan(learner, files, target, weight, sequence, task, ignore, types, any_processor):
    if not hasattr(learner, "_path"):
        raise ParameterError(f"{type(learner).__name__} is not a learner of learnt")
    if target is not None and not isinstance(target, str):
        raise DataError("the target of files is the name of a column")
    facts = learner._facts()
    needs = facts["target"]
    if target is None and needs != "none":
        raise DataError(f"{type(learner).__name__} predicts a target: name its column")
    if task is None and target is not None:
        roles = _native.capabilities(learner._path, _params(learner))[0]
        if "classifier" in roles or needs == "classes":
            task = "classify"
        elif "regressor" in roles:
            task = "regress"
    described = _files(files, target, weight, sequence, task, ignore, types)
    return _native.plan_fit(
        learner._path, _params(learner), described, learner._seed(), any_processor
    )


def _params(learner):
    return learner._native_params(None, _sources.ByName())


def _files(files, target=None, weight=None, sequence=None, task=None, ignore=(), types=None):
    return {
        "paths": files,
        "target": target,
        "weight": weight,
        "sequence": sequence,
        "task": task,
        "ignore": list(ignore),
        "types": list(dict(types or {}).items()),
        "threads": _base.default_threads(),
    }


def fit(
    learner,
    source,
    target=None,
    *,
    engine="threads",
    address=None,
    workers=None,
    tasks=None,
    memory=1_000_000_000,
    weight=None,
    sequence=None,
    task=None,
    ignore=(),
    types=None,
    checkpoint=None,
    resume=False,
    log=None,
    progress=None,
    any_processor=False,
):
    """Fits a learner to files, and gives it back fitted.

    Parameters
    ----------
    learner : a learner that is fitted by rounds, a pipeline or a column transformer of such
    source : str, path, list of them, pyarrow dataset, or data frame of Dask, Ray or Spark
        A folder, files or patterns of Parquet, Arrow or CSV; all have the same columns. Addresses such as
        ``s3://bucket/folder`` or ``https://host/table.csv`` are read by every worker with rights of its own. Data frames of
        engines are written to Parquet once, because they have no order of rows.
    target : str
        The column to predict.
    engine : "threads", "ray", "dask", "spark", a client, a session, or an object with `round`
        Without an `address` it is started on this machine, and ended afterwards.
    workers, tasks : int
        Processes, where the engine is started here, and tasks of a round. The model does not depend on them.
    memory : int
        Bytes of rows that a worker keeps between rounds. Beside them it holds a block a thread.
    weight, sequence : str
        Columns with row weights, and with the sequence that a row is part of.
    task : "classify" or "regress"
    ignore : list of columns to leave out
    types : dict of columns to "num", "cat", "skip" or "ord(S<M<L)"
    checkpoint : path
        A folder for the state after each round; with `resume` the fit goes on from it.
    log : path
        A file that gets a line of JSON for every round.
    progress : callable or True
        Called with a dictionary for every round; True prints a line.
    any_processor : bool
        Whether workers may have processors with other vectors: last digits may differ then.
    """
    with _sources.opened(source) as files, choose(engine, address, workers) as runner:
        job = _plan(learner, files, target, weight, sequence, task, ignore, types, any_processor)
        kept = Kept(checkpoint, job, resume, log, progress)
        options = {"keep": int(memory), "threads": runner.threads}
        model = drive(runner, job, options, tasks, kept)
    return _remember(learner, model)


def _remember(learner, model):
    """Puts a model into its learner."""
    history = model.history()
    names, _ = history["columns"]
    classes = _base._class_array(history["classes"]) if history["classes"] else None
    learner._remember(model, names, len(names), classes, True)
    return learner


def predict(model, source, out, **arguments):
    """Writes a model's predictions for every row of files to Parquet parts in the folder `out`.

    Arguments beside those of `fit`: `method` (such as "predict" or "probabilities"), `proba` (probabilities
    beside the prediction), `missing` ("error", "skip", "impute") and `part_rows`, the rows of a part. Gives
    the number of rows and the paths of the parts, in the order of the rows.
    """
    return _apply(model, source, out=out, **arguments)[:2]


def transform(model, source, out, **arguments):
    """Writes the transformed rows of files to Parquet parts in the folder `out`; see `predict`."""
    return _apply(model, source, out=out, method="transform", **arguments)[:2]


def score(model, source, target=None, **arguments):
    """The accuracy of a classifier or R² of a regressor on files; see `predict`."""
    history = model._fitted().history()
    target = target or (history["targets"] or [None])[0]
    if target is None:
        raise DataError("the model does not know its target's name: name the column")
    task = "classify" if history["classes"] else "regress"
    return _apply(model, source, target=target, task=task, wants_score=True, **arguments)[2]


def _apply(
    model,
    source,
    *,
    out=None,
    target=None,
    task=None,
    method="predict",
    proba=False,
    wants_score=False,
    missing=None,
    part_rows=1_000_000,
    engine="threads",
    address=None,
    workers=None,
    weight=None,
    ignore=(),
    types=None,
    any_processor=False,
):
    history = model._fitted().history()
    # Columns of categories are read as those of training were.
    names, levels = history["columns"]
    types = {**dict.fromkeys(_categorical(names, levels), "cat"), **dict(types or {})}
    with _sources.opened(source) as files, choose(engine, address, workers) as runner:
        described = _files(files, target, weight, None, task, ignore, types)
        asked = {
            "method": method,
            "proba": proba,
            "out": None if out is None else os.fspath(out),
            "score": wants_score,
            "missing": missing,
            "part_rows": int(part_rows),
            "any_processor": any_processor,
        }
        job = _native.plan_predict(model.to_bytes(), described, asked)
        options = {"keep": 0, "threads": runner.threads}
        rows, parts, value = gather(runner, job, options)
    return rows, [os.path.join(asked["out"], part) for part in parts], value


def _categorical(names, levels):
    """The columns that were categories in training."""
    return [name for name, own in zip(names, levels) if own is not None]


def cross_validate(
    estimator, X, y=None, *, groups=None, cv=None, engine="threads", address=None, workers=None, **more
):
    """`learnt.model_selection.cross_validate` with a task a split.

    `X` and `y` are arrays or frames, or a folder of Parquet files and the name of a column, which every worker
    reads itself; `more` goes to `cross_validate`.
    """
    from . import _folds

    with choose(engine, address, workers) as runner:
        return _folds.cross_validate(runner, estimator, X, y, groups, cv, more)


def fit_members(
    learner, X, y, *, sample_weight=None, engine="threads", address=None, workers=None, tasks=None
):
    """Fits a forest or bagging with a task for some of its members; gives it back fitted.

    Every worker holds the whole table: arrays or frames, or a folder of Parquet files and the name of the
    target's column, which it reads itself. The model has the bytes of a fit on one machine. Scores of rows
    that members did not draw (`oob_score`) need all members beside the rows and are not made.
    """
    from . import _members

    with choose(engine, address, workers) as runner:
        return _members.fit(runner, learner, X, y, sample_weight, tasks)


def search(search, X, y=None, *, engine="threads", address=None, workers=None, **params):
    """Fits a search such as `GridSearchCV`, with a task for each setting and split; gives it back fitted."""
    from . import _folds

    with choose(engine, address, workers) as runner:
        search._spread = partial(_folds.Spread, runner)
        try:
            return search.fit(X, y, **params)
        finally:
            del search._spread
