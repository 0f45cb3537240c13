"""The promise of the same bytes with any number of workers."""

import pytest

from learnt import distributed

import streaming
from shared import ENGINES


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("workers", [1, 3, 5])
def test_any_number_of_workers_gives_the_same_bytes(parts, engine, workers):
    cases = streaming.cases()
    _, learner, target, columns, arguments = next(c for c in cases if c[0] == "KMeans")
    arguments = streaming.arguments_of(target, columns, arguments)
    expected = distributed.fit(learner, parts, workers=1, **arguments).to_bytes()
    fitted = distributed.fit(learner, parts, engine=engine, workers=workers, **arguments)
    assert fitted.to_bytes() == expected
