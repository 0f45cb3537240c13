"""`python -m learnt.distributed._fetch copy ADDRESS`: writes a file of an object store or of the web to standard output,
and `list ADDRESS` the addresses of the files in a folder.

The only part of learnt that opens connections: to an address that somebody named, with the rights of this process.
Stores are spoken to by pyarrow, the web by the standard library.
"""

import fnmatch
import os
import shutil
import sys

ENDINGS = (".parquet", ".pq", ".csv", ".tsv", ".txt", ".tab", ".arrow", ".feather", ".ipc", ".arrows")
PACKED = ("", ".gz", ".zst")
# Seconds without a byte until a server of the web is given up.
PATIENCE = 60


class Refused(Exception):
    """Words for the user, and what to do instead."""

    def __init__(self, message, hint=""):
        super().__init__(message)
        self.hint = hint


def copy(address, sink):
    """Writes the bytes of a file."""
    if address.startswith(("http://", "https://")):
        _copy_web(address, sink)
        return
    filesystem, path = _store(address)
    try:
        with filesystem.open_input_stream(path, compression=None) as source:
            shutil.copyfileobj(source, sink, 1 << 20)
    except BrokenPipeError:
        raise
    except FileNotFoundError as error:
        raise Refused("there is no such file") from error
    except OSError as error:
        raise _unread(error) from error


def listed(address):
    """The addresses of the files in a folder, or of those that match a pattern, in the order of their names."""
    if address.startswith(("http://", "https://")):
        raise Refused("the web has no folders to look into", "name every file")
    folder, _, name = address.rpartition("/")
    if "*" not in name:
        folder, name = address.rstrip("/"), ""
    filesystem, path = _store(folder)
    from pyarrow import fs

    try:
        inside = filesystem.get_file_info(fs.FileSelector(path, recursive=False))
    except FileNotFoundError as error:
        raise Refused("there is no such folder") from error
    except OSError as error:
        raise _unread(error) from error
    names = [item.base_name for item in inside if item.is_file]
    wanted = sorted(n for n in names if _is_wanted(n, name))
    if not wanted:
        raise Refused("holds no CSV, Parquet or Arrow file")
    return [f"{folder}/{n}" for n in wanted]


def _is_wanted(name, pattern):
    if name.startswith((".", "_")):
        return False
    if pattern:
        return fnmatch.fnmatchcase(name, pattern)
    return name.lower().endswith(tuple(a + b for a in ENDINGS for b in PACKED))


def _store(address):
    """The file system of an address, and the path in it."""
    try:
        from pyarrow import fs
    except ImportError as missing:
        raise Refused(
            f"object stores are read through pyarrow, which {sys.executable} has not", "pip install pyarrow"
        ) from missing
    scheme, _, rest = address.partition("://")
    try:
        if scheme == "az":
            account = os.environ.get("AZURE_STORAGE_ACCOUNT_NAME")
            if not account:
                raise Refused("the account of an az:// address is not known", "set AZURE_STORAGE_ACCOUNT_NAME")
            key = os.environ.get("AZURE_STORAGE_ACCOUNT_KEY")
            return fs.AzureFileSystem(account_name=account, account_key=key), rest
        return fs.FileSystem.from_uri(address)
    except (ValueError, OSError, AttributeError) as error:
        raise _unread(error) from error


def _unread(error):
    text = " ".join(str(error).split())
    hint = "credentials are those of this process, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    return Refused(f"cannot be read: {text[:400]}", hint)


def _copy_web(address, sink):
    import urllib.request

    try:
        with urllib.request.urlopen(address, timeout=PATIENCE) as source:
            expected = source.headers.get("Content-Length")
            shutil.copyfileobj(source, sink, 1 << 20)
            if expected is not None and source.length:
                raise Refused(f"the connection ended {source.length} bytes before the file did", "try again")
    except (BrokenPipeError, Refused):
        raise
    except Exception as error:  # What servers of the web do wrong has many classes.
        raise Refused(f"cannot be read: {' '.join(str(error).split())[:400]}") from error


def main(words):
    """Does what the words say; a refusal is a line on standard error behind a mark."""
    try:
        verb, address = words
        if verb == "list":
            for found in listed(address):
                print(found)
        else:
            copy(address, sys.stdout.buffer)
        sys.stdout.flush()
    except Refused as refused:
        hint = f" || {refused.hint}" if refused.hint else ""
        print(f"learnt-fetch: {refused}{hint}", file=sys.stderr)
        return 3
    except BrokenPipeError:
        # Whoever read has enough; nothing is left to be flushed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
