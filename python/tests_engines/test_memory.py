"""The promise that a worker stays below its stated bound, on a table of ten times that size."""

import json
import os
import re
from pathlib import Path

import pytest

from learnt import _native, distributed
from learnt.cluster import KMeans
from learnt.distributed._engines import choose
from learnt.linear_model import LogisticRegression

import streaming
from shared import ENGINES, Lent, workers_of

# Bytes of rows that a worker may keep between rounds.
KEPT = 8_000_000
LEARNERS = {
    "clusters": (lambda: KMeans(n_clusters=3, max_iter=3, tol=0, n_init=1, random_state=1), None, ["flag"]),
    "classes": (lambda: LogisticRegression(max_iter=4), "flag", []),
}


def bound_of(learner, source, target, ignore):
    """What is said of a worker's memory beforehand: rows that it keeps, and what it works with."""
    plan = distributed.plan(learner, source, target, ignore=ignore)
    return KEPT + json.loads(_native.Job(plan, 0).facts())["working_bytes"]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A small table, and one of many files: one file under many names."""
    place = tmp_path_factory.mktemp("memory")
    columns = [*streaming.NUMBERS, "flag"]
    small = streaming.write(place / "small", (40_000,), columns)
    one = streaming.write(place / "one", (1_000_000,), columns) / "part-0.parquet"
    bound = max(bound_of(make(), one, target, ignore) for make, target, ignore in LEARNERS.values())
    large = place / "large"
    large.mkdir()
    for k in range(10 * bound // (8 * len(streaming.NUMBERS) * 1_000_000) + 1):
        os.link(one, large / f"part-{k:02}.parquet")
    return small, large


def memory_of(process, field):
    """Bytes that a process has, or had at its peak."""
    text = Path(f"/proc/{process.pid}/status").read_text()
    return 1024 * int(re.search(rf"{field}:\s+(\d+)", text).group(1))


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is read from Linux")
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("engine", [name for name in ENGINES if name in ("ray", "dask")])
def test_a_worker_stays_below_its_bound_on_ten_times_that_size(tables, engine, learner):
    small, large = tables
    make, target, ignore = LEARNERS[learner]
    bound = bound_of(make(), large, target, ignore)
    rows = json.loads(_native.Job(distributed.plan(make(), large, target, ignore=ignore), 0).facts())["rows"]
    assert 8 * len(streaming.NUMBERS) * rows >= 10 * bound
    with choose(engine, workers=2) as runner:
        # Code that is loaded when it is first used is no part of what rows take.
        distributed.fit(make(), small, target, ignore=ignore, engine=Lent(runner), tasks=2, memory=0)
        before = {}
        for worker in workers_of(engine):
            Path(f"/proc/{worker.pid}/clear_refs").write_text("5")
            before[worker] = memory_of(worker, "VmRSS")
        assert len(before) >= 2
        distributed.fit(make(), large, target, ignore=ignore, engine=Lent(runner), memory=KEPT)
        grown = [memory_of(worker, "VmHWM") - had for worker, had in before.items()]
    assert max(grown) > KEPT, "nobody worked"
    assert max(grown) < bound, (grown, bound)
