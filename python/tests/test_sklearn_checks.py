"""scikit-learn's own checks hold for every learner, and none is skipped in silence."""

import json

import pytest
import sklearn_checks
from learners import paths

COUNTS = json.loads(sklearn_checks.COUNTS.read_text())


@pytest.mark.parametrize("path", paths())
def test_all_checks_pass_and_expected_failures_still_fail(path):
    results = sklearn_checks.run(path)
    failed = [f"{name}: {error}" for name, status, error in results if status == "failed"]
    assert not failed, "\n".join(failed)
    assert sklearn_checks.count(results) >= COUNTS.get(path, 0) > 40
    for check in sklearn_checks.exempt(path):
        outcomes = [status for name, status, _ in results if name == check]
        assert "xfail" in outcomes, f"{path} exempts {check}, which is {outcomes}"
