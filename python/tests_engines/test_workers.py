"""The promise of the same bytes with any number of workers."""

import pytest

from learnt import distributed
from learnt.distributed._engines import choose

import streaming
from shared import ENGINES, Lent

NAMES = ("KMeans", "LogisticRegression", "RandomForestClassifier", "ExtraTreesRegressor", "HistGradientBoostingRegressor")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("workers", [1, 2, 3, 4, 5])
def test_any_number_of_workers_gives_the_same_bytes(parts, engine, workers):
    cases = [case for case in streaming.cases() if case[0] in NAMES]
    assert len(cases) == len(NAMES)
    with choose(engine, workers=workers) as runner:
        for name, learner, target, columns, arguments in cases:
            arguments = streaming.arguments_of(target, columns, arguments)
            expected = distributed.fit(learner, parts, workers=1, **arguments).to_bytes()
            fitted = distributed.fit(learner, parts, engine=Lent(runner), **arguments)
            assert fitted.to_bytes() == expected, name
