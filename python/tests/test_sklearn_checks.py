"""scikit-learn's own checks hold for every learner, and none is skipped in silence."""

import json

import pytest
import sklearn_checks
from learners import paths


@pytest.mark.parametrize("path", paths())
def test_all_checks_pass(path):
    results = sklearn_checks.run(path)
    failed = [f"{name}: {error}" for name, status, error in results if status == "failed"]
    assert not failed, "\n".join(failed)
    expected = json.loads(sklearn_checks.COUNTS.read_text()).get(path, 0)
    assert sklearn_checks.count(results) >= expected > 40


def test_expected_failures_are_still_failures():
    for path in paths():
        for check in sklearn_checks.exempt(path):
            known = hasattr(sklearn_checks.checks, check)
            assert known, f"{path} exempts {check}, which scikit-learn does not have"
