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


def make(path):
    """A learner with the parameters that its own file says for checks, or with parts."""
    return PARTS[path]() if path in PARTS else build(path, registry()[path]["check_with"])


def paths(role=None):
    """The names of all learners, or of those with a role."""
    return [p for p, entry in registry().items() if role is None or role in entry["roles"]]
