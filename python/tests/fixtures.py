"""Reference cases of `tests/golden`, with their data as arrays."""

import json
import pathlib

import numpy as np

FOLDER = pathlib.Path(__file__).parents[2] / "tests" / "golden"


def cases(family):
    """The cases of a family by name."""
    return {case["id"]: case for case in json.loads((FOLDER / f"{family}.json").read_text())}


def rows_of(given):
    """The rows that a case selects from its data set, as a structured array."""
    table = np.genfromtxt(FOLDER / "data" / f"{given['dataset']}.csv", delimiter=",", names=True, dtype=None, encoding=None)
    chosen = given.get("rows", {})
    for column, values in chosen.get("where", {}).items():
        table = table[np.isin(table[column], values)]
    if "slice" in chosen:
        table = table[slice(*chosen["slice"])]
    if "index" in chosen:
        table = table[chosen["index"]]
    return table


def arrays(given):
    """Inputs and target of a case, scaled as it says."""
    table = rows_of(given)
    names = given["features"]
    if isinstance(names, dict):
        names = [name for name in table.dtype.names if name not in names["all_except"]]
    X = np.column_stack([table[name] for name in names]).astype(float)
    scale = given.get("scale")
    if scale:
        assert scale["method"] == "zscore"
        X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=scale["ddof"])
    y = table[given["target"]] if "target" in given else None
    if "target_map" in given:
        y = np.array([given["target_map"][label] for label in y])
    return X, y


def close(found, wanted, tol):
    """Whether a result is that of the case, by its tolerance."""
    np.testing.assert_allclose(found, np.asarray(wanted, float), rtol=tol.get("rel", 0), atol=tol.get("abs", 0))


def inside(value, wanted):
    """Whether a number is in a closed range."""
    assert wanted.get("min", -np.inf) <= value <= wanted.get("max", np.inf), (value, wanted)
