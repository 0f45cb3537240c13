"""Tables at addresses: the web, an object store, file://. Whoever reads uses rights of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from learnt import distributed
from learnt.errors import LearntError, ParameterError, SystemFailure
from learnt.linear_model import Ridge

import streaming
from stores import serving

SECRET = "very-secret-key-of-a-test"
COMMAND = Path(__file__).parents[2] / "target" / "debug" / "learnt"


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows") / "parts"
    return streaming.write(folder, (9_000, 20_000), [*streaming.NUMBERS, "amount"])


@pytest.fixture(scope="module")
def expected(parts):
    return distributed.fit(Ridge(), parts, "amount").to_bytes()


@pytest.fixture
def store(parts, monkeypatch):
    """An object store that wants signed requests; the surroundings of this process know the key."""
    with serving(parts.parent, bucket="rows", wants_key=True) as server:
        for name, value in {
            "AWS_ENDPOINT_URL": server.address,
            "AWS_ACCESS_KEY_ID": "somebody",
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }.items():
            monkeypatch.setenv(name, value)
        yield server


def learnt(*words):
    done = subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, timeout=200)
    return done.returncode, done.stderr


def test_files_of_the_web_are_one_table(parts, expected):
    with serving(parts) as server:
        files = [f"{server.address}/part-{k}.parquet" for k in range(2)]
        assert distributed.fit(Ridge(), files, "amount", workers=2).to_bytes() == expected
        code, said = learnt("plan", "ridge", files[0], "-t", "amount")
        assert code == 0, said


def test_a_folder_and_a_pattern_of_a_store_are_one_table(expected, store):
    for address in ("s3://rows/parts", "s3://rows/parts/", "s3://rows/parts/part-*.parquet"):
        assert distributed.fit(Ridge(), address, "amount", workers=2).to_bytes() == expected
    reads = [headers for verb, path, headers in store.seen if verb == "GET" and path.endswith(".parquet")]
    assert reads and all("AWS4-HMAC-SHA256" in headers["authorization"] for headers in reads)


def test_file_addresses_are_files_of_this_machine(parts, expected):
    assert distributed.fit(Ridge(), f"file://{parts}", "amount").to_bytes() == expected


def test_commands_on_other_machines_read_with_rights_of_their_own(tmp_path, expected, store, monkeypatch):
    job, model, cache = tmp_path / "job", tmp_path / "model", tmp_path / "cache"
    words = ("ridge", "s3://rows/parts", "-t", "amount", "--seed", 0, "--tasks", 2)
    code, said = learnt("plan", *words, "-o", job)
    assert code == 0, said
    monkeypatch.setenv("LEARNT_CACHE", str(cache))
    with monkeypatch.context() as poor:
        poor.delenv("AWS_SECRET_ACCESS_KEY")
        poor.delenv("AWS_ACCESS_KEY_ID")
        code, said = learnt("task", job, 0)
        assert code == 3 and "s3://rows/parts/part-0.parquet" in said and "AWS_ACCESS_KEY_ID" in said, said
    before = len(store.seen)
    while code != 0:
        for k in range(2):
            assert learnt("task", job, k)[0] == 0
        code, said = learnt("advance", job, "-o", model)
        assert code in (0, 9), said
    streamed = tmp_path / "streamed"
    code, said = learnt("fit", *words[:-2], "--stream", "-o", streamed)
    assert code == 0, said
    assert model.read_bytes() == streamed.read_bytes()
    assert sorted(path.suffix for path in cache.iterdir()) == [".parquet", ".parquet"]
    gets = [path for verb, path, _ in store.seen[before:] if verb == "GET" and path.endswith(".parquet")]
    assert gets
    copies = len(store.seen)
    store.folder = tmp_path
    assert learnt("plan", *words, "-o", tmp_path / "other")[0] == 3, "a plan looks at the store itself"
    assert len(store.seen) > copies


def test_no_secret_is_in_a_job(tmp_path, store):
    plan = distributed.plan(Ridge(), "s3://rows/parts", "amount")
    assert b"s3://rows/parts/part-0.parquet" in plan
    for word in (SECRET, "somebody", store.address):
        assert word.encode() not in plan
    seen = []

    class Watched:
        workers, threads = 2, 1

        def round(self, job, state, tasks, options):
            from learnt.distributed import _worker

            for index, task in enumerate(tasks):
                answer = _worker.run(job, state, task, options)
                seen.extend([job, state, task, answer, repr(options).encode()])
                yield index, answer

        def close(self):
            pass

    distributed.fit(Ridge(), "s3://rows/parts", "amount", engine=Watched())
    assert seen and not any(SECRET.encode() in message for message in seen)


def test_a_file_of_a_store_that_changes_after_the_plan_is_refused(tmp_path, store):
    store.folder = tmp_path
    streaming.write(tmp_path / "parts", (500,), [*streaming.NUMBERS, "amount"])
    other = streaming.write(tmp_path / "other", (501,), [*streaming.NUMBERS, "amount"])

    class Changing:
        workers, threads = 1, 1

        def round(self, job, state, tasks, options):
            from learnt.distributed import _worker

            os.replace(other / "part-0.parquet", tmp_path / "parts" / "part-0.parquet")
            yield 0, _worker.run(job, state, tasks[0], options)

        def close(self):
            pass

    for keep in (None, tmp_path / "cache"):
        if keep:
            os.environ["LEARNT_CACHE"] = str(keep)
            streaming.write(tmp_path / "other", (502,), [*streaming.NUMBERS, "amount"])
        try:
            with pytest.raises(SystemFailure, match="part-0.parquet.*SHA-256 differs"):
                distributed.fit(Ridge(), "s3://rows/parts", "amount", engine=Changing())
        finally:
            os.environ.pop("LEARNT_CACHE", None)
    assert not list((tmp_path / "cache").iterdir())


@pytest.mark.parametrize("word", ["plan", "fit"])
def test_what_is_refused_and_how_it_is_said(parts, store, monkeypatch, word):
    def refused(address, *said):
        code, text = learnt(word, "ridge", address, "-t", "amount")
        assert code in (2, 3) and all(part in text for part in said), text

    refused("s3://rows/parts/none.parquet", "s3://rows/parts/none.parquet", "no such file")
    refused("s3://key:secret@rows/a.csv", "password or a token")
    refused("https://x.org/a.csv?token=abc", "password or a token")
    refused("ftp://x.org/a.csv", "ftp://x.org/a.csv", "s3://")
    refused("az://box/a.csv", "AZURE_STORAGE_ACCOUNT_NAME")
    with serving(parts) as server:
        refused(f"{server.address}/none.csv", "404")
        server.lose = 10
        refused(f"{server.address}/part-0.parquet", "10 bytes before")
    refused("http://127.0.0.1:1/a.csv", "cannot be read")
    monkeypatch.setenv("LEARNT_PYTHON", "no-such-python")
    refused("s3://rows/parts/part-0.parquet", "pip install learnt pyarrow", "LEARNT_PYTHON", "copy the files")


def test_a_python_without_pyarrow_says_what_to_install():
    script = (
        "import sys\nsys.modules['pyarrow'] = None\nfrom learnt.distributed import _fetch\n"
        "sys.exit(_fetch.main(['copy', 's3://rows/a.csv']))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 3 and "pip install pyarrow" in done.stderr


def test_folders_of_the_web_and_of_nowhere(store):
    with pytest.raises(LearntError, match="name every file"):
        distributed.fit(Ridge(), f"{store.address}/*.csv", "amount")
    with pytest.raises(LearntError, match="holds no CSV, Parquet or Arrow file|no such folder"):
        distributed.fit(Ridge(), "s3://rows/nothing", "amount")
    with pytest.raises(ParameterError, match="password or a token"):
        distributed.fit(Ridge(), "s3://key:secret@rows/x.parquet", "amount")
