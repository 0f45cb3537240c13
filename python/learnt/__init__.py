"""Machine learning as one library: scikit-learn's names and contract, and the learners it lacks.

Learners are in modules named as scikit-learn's: `learnt.linear_model.Ridge`. `learnt.optimize` works
on functions of your own. Functions that give one value have more to say: `learnt.whole(function, ...)`
gives all of it.
"""

import importlib

from . import errors
from ._base import from_bytes, load, missing, registry, threads
from ._functions import whole
from ._modules import MODULES
from ._native import __version__

_LAZY = (*MODULES, "distributed", "inspection", "plot")
__all__ = [
    "__version__",
    "anova",
    "compare",
    "errors",
    "fit_formula",
    "from_bytes",
    "load",
    "missing",
    "registry",
    "threads",
    "whole",
    *_LAZY,
]


def __getattr__(name):
    if name in _LAZY:
        return importlib.import_module(f"learnt.{name}")
    if name in ("anova", "fit_formula"):
        return getattr(importlib.import_module("learnt._formula"), name)
    if name == "compare":
        return importlib.import_module("learnt.model_selection").compare
    raise AttributeError(f"module 'learnt' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
