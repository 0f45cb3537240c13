"""Where rows come from: files here, files of an object store, datasets of pyarrow, frames of engines."""

import os
import shutil
import sys
import tempfile
from contextlib import contextmanager

from ..errors import DataError, UnsupportedError


class ByName:
    """In place of a table: columns of files are given by name."""

    @property
    def names(self):
        return self

    def __getitem__(self, place):
        raise DataError("columns of files are given by name, not by place")

    index = __getitem__


def is_files(X):
    """Whether something is files rather than a table in memory."""
    if isinstance(X, (str, os.PathLike)):
        return True
    if isinstance(X, (list, tuple)) and X:
        return all(isinstance(item, (str, os.PathLike)) for item in X)
    return hasattr(X, "files") and type(X).__module__.startswith("pyarrow")


@contextmanager
def opened(source):
    """The paths and addresses of a source. What was written for it is removed at the end."""
    frame = _frame_writer(source)
    if frame is None:
        yield _listed(source)
        return
    folder = tempfile.mkdtemp(prefix="learnt-rows-")
    try:
        name = type(source).__name__
        print(f"learnt: writing the {name} to Parquet files in {folder}", file=sys.stderr)
        frame(os.path.join(folder, "rows"))
        yield [os.path.join(folder, "rows")]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _frame_writer(source):
    """How a data frame of an engine is written; None for others."""
    module, name = type(source).__module__, type(source).__name__
    if module.startswith("pyspark.sql") and name == "DataFrame":
        return lambda path: source.write.parquet(path)
    if module.startswith("dask") and name == "DataFrame":
        return lambda path: source.to_parquet(path, write_index=False)
    if module.startswith("ray.data"):
        return lambda path: source.write_parquet(path)
    return None


def _listed(source):
    if hasattr(source, "files") and type(source).__module__.startswith("pyarrow"):
        return _dataset(source)
    items = source if isinstance(source, (list, tuple)) else [source]
    if not items:
        raise DataError("no files are named")
    for item in items:
        if not isinstance(item, (str, os.PathLike)):
            raise DataError(
                f"a source is a folder, files, a dataset of pyarrow or a frame of an engine, not {type(item)}"
            )
    return [os.fspath(item) for item in items]


def _dataset(dataset):
    """The files of a dataset of pyarrow."""
    filesystem = getattr(dataset, "filesystem", None)
    kind = getattr(filesystem, "type_name", "local")
    if kind == "local":
        return list(dataset.files)
    raise UnsupportedError(
        f"the files of this dataset are on {kind!r}: give their addresses, such as s3://bucket/folder, "
        "so that every worker reads them with rights of its own"
    )
