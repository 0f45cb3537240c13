"""The promise of the same bytes on real engines: every learner that is fitted by rounds."""

import pytest

from learnt import distributed
from learnt.distributed._engines import choose

import streaming
from shared import ENGINES, Lent

CASES = list(streaming.cases())


@pytest.fixture(scope="module", params=ENGINES)
def running(request):
    """An engine that is started once for many fits."""
    with choose(request.param, workers=2) as engine:
        yield engine


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_the_same_bytes_as_threads(parts, running, case):
    _, learner, target, columns, arguments = case
    arguments = streaming.arguments_of(target, columns, arguments)
    expected = distributed.fit(learner, parts, workers=1, **arguments).to_bytes()
    for tasks in (2, 5):
        fitted = distributed.fit(learner, parts, engine=Lent(running), tasks=tasks, **arguments)
        assert fitted.to_bytes() == expected, tasks
