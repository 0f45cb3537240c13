"""Runs scikit-learn's checks and counts them.

`python tests/sklearn_checks.py` writes the counts to `sklearn_checks.json`, which the tests compare
with: a learner that is checked less than before is an error even if all its checks pass.
"""

import json
import os
import pathlib
import warnings

os.environ.setdefault("SCIPY_ARRAY_API", "1")

from sklearn.utils import estimator_checks as checks  # noqa: E402

from learners import make, paths  # noqa: E402
from learnt._base import registry  # noqa: E402

COUNTS = pathlib.Path(__file__).with_suffix(".json")
# Checks that scikit-learn runs on its own estimators only. `check_dataframe_column_names_consistency`
# is not among them: it wants an error for columns in another order, and learnt matches them by name.
MORE = [
    checks.check_estimators_overwrite_params,
    checks.check_inplace_ensure_writeable,
    checks.check_fit_score_takes_y,
]
FOR_TRANSFORMERS = [
    checks.check_transformer_get_feature_names_out,
    checks.check_transformer_get_feature_names_out_pandas,
    checks.check_get_feature_names_out_error,
    checks.check_set_output_transform,
    checks.check_set_output_transform_pandas,
    checks.check_set_output_transform_polars,
    checks.check_global_output_transform_pandas,
    checks.check_global_set_output_transform_polars,
]
FOR_CLUSTERERS = [checks.check_clusterer_compute_labels_predict, checks.check_clustering]


def exempt(path):
    """Checks that are expected to fail, with the reasons in the learner's own file."""
    reasons = registry()[path]["exempt"].items()
    return {k.removeprefix("sklearn:"): v for k, v in reasons if k.startswith("sklearn:")}


def run(path):
    """The results of all checks on one learner: a list of (check, status, exception)."""
    expected = exempt(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = checks.check_estimator(
            make(path), expected_failed_checks=expected, on_fail=None, on_skip=None
        )
        out = [(r["check_name"], r["status"], r["exception"]) for r in results]
        more = MORE + (FOR_TRANSFORMERS if hasattr(make(path), "transform") else [])
        more += FOR_CLUSTERERS if "clusterer" in registry()[path]["roles"] else []
        for check in more:
            out.append((check.__name__, *_single(check, path, expected)))
    return out


def _single(check, path, expected):
    try:
        learner = make(path)
        check(type(learner).__name__, learner)
    except checks.SkipTest as skipped:
        return "skipped", skipped
    except Exception as error:
        return ("xfail" if check.__name__ in expected else "failed"), error
    return "passed", None


def count(results):
    """How many checks ran."""
    return sum(status != "skipped" for _, status, _ in results)


if __name__ == "__main__":
    table = {path: count(run(path)) for path in paths()}
    COUNTS.write_text(json.dumps(table, indent=2) + "\n")
