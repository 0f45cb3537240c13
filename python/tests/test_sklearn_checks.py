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


@pytest.mark.parametrize("path", [path for path in paths() if sklearn_checks.exempt(path)])
def test_expected_failures_are_still_failures(path):
    results = sklearn_checks.run(path)
    for check in sklearn_checks.exempt(path):
        outcomes = [status for name, status, _ in results if name == check]
        assert "xfail" in outcomes, f"{path} exempts {check}, which is {outcomes}"
