"""Every learner of the registry, ready to fit."""

from learnt._base import build, registry
from learnt.compose import ColumnTransformer
from learnt.dummy import DummyClassifier
from learnt.pipeline import Pipeline
from learnt.preprocessing import StandardScaler

# Learners that are nothing without parts.
PARTS = {
    "pipeline.Pipeline": lambda: Pipeline(
        [("scale", StandardScaler()), ("classify", DummyClassifier())]
    ),
    "compose.ColumnTransformer": lambda: ColumnTransformer(
        [("scale", StandardScaler(), slice(None))]
    ),
}
# Learners whose defaults refuse data that the checks use: classes that lie on a line.
SETTINGS = {
    "discriminant_analysis.QuadraticDiscriminantAnalysis": {"reg_param": 0.1},
    "discriminant_analysis.RegularizedDiscriminantAnalysis": {"gamma": 0.1},
}


def make(path):
    """A learner with its defaults, or with parts or settings where it needs them."""
    return PARTS[path]() if path in PARTS else build(path, SETTINGS.get(path, {}))


def paths(role=None):
    """The names of all learners, or of those with a role."""
    return [p for p, entry in registry().items() if role is None or role in entry["roles"]]
