"""Where rows come from: files here, files of an object store, datasets of pyarrow, frames of engines."""

import hashlib
import os
import shutil
import sys
import tempfile
from contextlib import contextmanager

from ..errors import DataError, SystemFailure, UnsupportedError

_ENDINGS = (".parquet", ".pq", ".csv", ".tsv", ".arrow", ".feather", ".ipc", ".csv.gz", ".csv.zst")


class Files:
    """Paths that the native half reads, and addresses that some of them are fetched from."""

    def __init__(self, paths, fetch=None):
        self.paths, self.fetch = paths, fetch or {}


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
    """The files of a source. What was written for it is removed at the end."""
    frame = _frame_writer(source)
    if frame is None:
        yield _listed(source)
        return
    folder = tempfile.mkdtemp(prefix="learnt-rows-")
    try:
        name = type(source).__name__
        print(f"learnt: writing the {name} to Parquet files in {folder}", file=sys.stderr)
        frame(os.path.join(folder, "rows"))
        yield Files([os.path.join(folder, "rows")])
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
    paths, fetch = [], {}
    for item in items:
        if not isinstance(item, (str, os.PathLike)):
            raise DataError(
                f"a source is a folder, files, a dataset of pyarrow or a frame of an engine, not {type(item)}"
            )
        text = os.fspath(item)
        if "://" in text:
            found = _remote(text)
            paths += found
            fetch.update(found)
        else:
            paths.append(text)
    return Files(list(paths), fetch)


def _dataset(dataset):
    """The files of a dataset of pyarrow."""
    filesystem = getattr(dataset, "filesystem", None)
    kind = getattr(filesystem, "type_name", "local")
    if kind == "local":
        return Files(list(dataset.files))
    raise UnsupportedError(
        f"the files of this dataset are on {kind!r}: give their addresses, such as s3://bucket/folder, "
        "so that every worker reads them with rights of its own"
    )


def _remote(address):
    """Files of an object store: where each is kept here, and its address."""
    host = address.partition("://")[2].partition("/")[0]
    if "@" in host or "?" in address:
        raise DataError(
            "an address holds a user name, a password or a token: workers read with rights of their own"
        )
    fs, filesystem, path = _filesystem(address)
    info = filesystem.get_file_info(path)
    if info.type == fs.FileType.NotFound:
        raise SystemFailure(f"there is no file {address}")
    if info.type == fs.FileType.Directory:
        inside = filesystem.get_file_info(fs.FileSelector(path, recursive=False))
        files = [item.path for item in inside if item.is_file and item.path.endswith(_ENDINGS)]
    else:
        files = [path]
    if not files:
        raise DataError(f"{address} holds no Parquet, Arrow or CSV file")
    scheme = address.partition("://")[0]
    found = {}
    for name in sorted(files):
        url = f"{scheme}://{name}"
        local = _place(url)
        if not os.path.exists(local):
            download(url, local)
        found[local] = url
    return found


def _filesystem(address):
    try:
        from pyarrow import fs
    except ImportError as missing:
        raise UnsupportedError(
            "addresses of object stores are read through pyarrow, which is not installed here: "
            "pip install pyarrow"
        ) from missing
    try:
        filesystem, path = fs.FileSystem.from_uri(address)
    except (ValueError, OSError) as error:
        raise SystemFailure(f"{address} cannot be read: {error}") from error
    return fs, filesystem, path


def _place(address):
    """Where a file of an object store is kept: at the same place on every machine."""
    folder = os.environ.get("LEARNT_CACHE", os.path.join(tempfile.gettempdir(), "learnt-cache"))
    word = hashlib.sha256(address.encode()).hexdigest()[:16]
    return os.path.join(folder, word, address.rpartition("/")[2])


def download(address, path):
    """Copies a file of an object store: whole or not at all."""
    _, filesystem, name = _filesystem(address)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    beside = f"{path}.{os.getpid()}"
    try:
        with filesystem.open_input_stream(name) as source, open(beside, "wb") as sink:
            shutil.copyfileobj(source, sink, 1 << 20)
        os.replace(beside, path)
    except (OSError, FileNotFoundError) as error:
        raise SystemFailure(f"{address} cannot be read: {error}") from error
    finally:
        if os.path.exists(beside):
            os.remove(beside)
