"""Stubs say what the classes are."""

import ast
import inspect
import pathlib

import pytest

import learnt
from learners import make, paths

PACKAGE = pathlib.Path(learnt.__file__).parent


def arguments(function):
    """Names of the arguments of a parsed function, without self."""
    given = function.args
    named = [a.arg for a in given.posonlyargs + given.args + given.kwonlyargs][1:]
    return named + ([given.kwarg.arg] if given.kwarg else [])


@pytest.mark.parametrize("path", paths())
def test_a_stub_has_the_signature_of_its_class(path):
    module, _, name = path.rpartition(".")
    tree = ast.parse((PACKAGE / f"{module}.pyi").read_text())
    stub = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name)
    methods = {n.name: n for n in stub.body if isinstance(n, ast.FunctionDef)}
    cls = type(make(path))
    for method in ("__init__", "fit"):
        expected = list(inspect.signature(getattr(cls, method)).parameters)[1:]
        assert arguments(methods[method]) == expected


@pytest.mark.parametrize("path", paths())
def test_every_parameter_and_attribute_is_documented(path):
    learner, entry = make(path), learnt.registry()[path]
    names = [*learner.get_params(deep=False), *(f"{a['name']}_" for a in entry["attributes"])]
    for name in names:
        assert f"\n    {name}" in type(learner).__doc__
