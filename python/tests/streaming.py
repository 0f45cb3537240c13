"""Every learner that is fitted by rounds, with files that it can be fitted to."""

import numpy as np

import learnt
from learnt._base import build

ROWS = (20_000, 1, 31_000)


def write(folder, rows=ROWS, columns=None):
    """Writes a table in several Parquet files: their levels and rows differ."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    draws = np.random.default_rng(3)
    folder.mkdir(parents=True, exist_ok=True)
    for k, count in enumerate(rows):
        x = draws.normal(size=(count, 4)).round(3)
        group = draws.integers(0, 3, count)
        x[:, 0] += 2 * group
        names = np.array(["red", "green", "blue"])[group]
        table = {f"x{j}": x[:, j] for j in range(4)}
        table["positive"] = np.exp(x[:, 1] / 3)
        table["kind"] = np.where(draws.random(count) < 0.1, f"only-{k}", names)
        table["day"] = [f"2024-0{1 + m}-1{m}" for m in draws.integers(0, 9, count)]
        table["words"] = [f"some {a} {b}" for a, b in zip(names, group)]
        table["run"] = np.arange(count) // 700 + 1000 * k
        table["amount"] = x @ [1.0, -2.0, 0.5, 0.0] + draws.normal(size=count)
        table["count"] = draws.poisson(np.exp(0.3 * x[:, 1]) + 0.1).astype(float) + 0.5
        table["label"] = np.where(draws.random(count) < 0.05, "green", names)
        table["flag"] = np.where(x[:, 2] + draws.normal(size=count) > 0, "yes", "no")
        kept = {name: table[name] for name in columns or table}
        pq.write_table(pa.table(kept), folder / f"part-{k}.parquet", row_group_size=7_000)
    return folder


ALL = [*[f"x{j}" for j in range(4)], "positive", "kind", "day", "words", "run"]
TARGETS = ["amount", "count", "label", "flag"]
NUMBERS = ["x0", "x1", "x2", "x3"]
POSITIVE = ("GammaRegressor", "PoissonRegressor", "TweedieRegressor", "GeneralizedLinearModel")
COLUMNS = {
    "OneHotEncoder": ["kind", "label"],
    "OrdinalEncoder": ["kind", "label"],
    "DateEncoder": ["day"],
    "TextHasher": ["words"],
}


def cases():
    """(name, learner, target, columns, other arguments) for every learner."""
    for path, facts in learnt.registry().items():
        if not facts["uses"]["streaming"] or path in ("pipeline.Pipeline", "compose.ColumnTransformer"):
            continue
        name = path.rpartition(".")[2]
        params, arguments = {}, {}
        if name == "FormulaTransformer":
            params["formula"] = "x0 + x1:x2"
        if name == "GaussianMixture":
            params.update(n_components=3, max_iter=8)
        if name == "KMeans":
            params["n_clusters"] = 3
        if name.startswith("HistGradientBoosting"):
            params.update(max_iter=3, max_leaf_nodes=6)
        if "Forest" in name or name.startswith("ExtraTrees"):
            params["n_estimators"] = 3
        learner = build(path, params)
        if "random_state" in learner._defaults():
            learner.random_state = 7
        target = {"classes": "label", "numbers": "amount"}.get(facts["target"])
        if name in POSITIVE:
            target = "count"
        if facts.get("two_classes"):
            target = "flag"
        if facts["accepts"]["sequences"]:
            arguments["sequence"] = "run"
        columns = COLUMNS.get(name, NUMBERS)
        if name == "SupervisedHMM":
            columns = ["kind"]
        yield name, learner, target, columns, arguments
    yield from composed()


def composed():
    """Pipelines and column transformers."""
    from learnt.compose import ColumnTransformer
    from learnt.impute import SimpleImputer
    from learnt.linear_model import LogisticRegression
    from learnt.pipeline import Pipeline
    from learnt.preprocessing import OneHotEncoder, StandardScaler

    columns = ColumnTransformer(
        [("scale", StandardScaler(), ["x0", "x1"]), ("code", OneHotEncoder(), ["kind"])],
        remainder="passthrough",
    )
    columns.random_state = 7
    yield "ColumnTransformer", columns, None, [*NUMBERS, "kind"], {}
    steps = [
        ("columns", columns),
        ("fill", SimpleImputer(strategy="median")),
        ("model", LogisticRegression(max_iter=20)),
    ]
    pipeline = Pipeline(steps)
    pipeline.random_state = 7
    yield "Pipeline", pipeline, "flag", [*NUMBERS, "kind"], {}


def arguments_of(target, columns, arguments):
    """The arguments of `learnt.distributed.fit` that leave the other columns out."""
    used = {*columns, target, *arguments.values()}
    ignore = [name for name in ALL + TARGETS if name not in used]
    return {"target": target, "ignore": ignore, **arguments}
