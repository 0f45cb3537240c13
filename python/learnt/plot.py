"""Pictures of fitted models: `plot("roc", model, X, y)`, or `roc(model, X, y)`.

A picture draws itself in a notebook; `save` writes .svg, .html, .json (Vega-Lite), .txt or .png.
`names()` lists them all. `report(model, X, y)` is one page with all that fit. `draw` is the picture of
what a function gives: `draw(metrics.confusion_matrix, y_true, y_pred)`.
"""

import json
import os

from . import _native

__all__ = ["Picture", "draw", "names", "plot", "report"]


class Picture:
    """A picture of a model."""

    def __init__(self, native):
        self._native = native

    @property
    def svg(self):
        """The picture as SVG, light or dark as the reader's system is."""
        return self._native.svg()

    def to_vega_lite(self):
        """The picture as a Vega-Lite 5 specification."""
        return json.loads(self._native.vega_lite())

    def to_dict(self):
        """Title, panels and marks with their numbers; None where a number is missing."""
        return json.loads(self._native.data())

    def to_text(self, width=80, height=18, unicode=True, colour=False):
        """The picture as lines of text for a terminal."""
        return self._native.text(width, height, unicode, colour)

    def save(self, path):
        """Writes the picture; the ending of `path` chooses the form."""
        path = os.fspath(path)
        ending = os.path.splitext(path)[1].lower()
        forms = {
            ".svg": lambda: self.svg.encode(),
            ".json": lambda: self._native.vega_lite().encode(),
            ".html": lambda: self._native.page().encode(),
            ".txt": lambda: self.to_text(100, 24).encode(),
            ".png": lambda: bytes(self._native.png()),
        }
        if ending not in forms:
            raise ValueError(f"{path!r} must end in one of {', '.join(forms)}")
        content = forms[ending]()
        with open(path, "wb") as file:
            file.write(content)

    def _repr_svg_(self):
        return self.svg

    def __str__(self):
        return self.to_text()

    def __repr__(self):
        return f"Picture({self._native.title()!r})"


def names():
    """What each picture needs and shows, by name."""
    return {name: {"data": data, "shows": doc} for name, data, doc in _native.plots()}


def plot(name, model, X=None, y=None, sample_weight=None):
    """The picture `name` of a fitted model, over rows `X` with their target `y` where it needs them."""
    rows = model._rows_and_target(X, y, sample_weight)
    return Picture(model._fitted().plot(name, *rows))


def draw(function, *args, **kwargs):
    """The picture of what a function of this package gives for these arguments.

    Results with several fields draw themselves too: `metrics.roc_curve(y, scores).plot()`.
    """
    from ._functions import Result, whole
    from .errors import UnsupportedError

    found = whole(function, *args, **kwargs)
    picture = found.plot() if isinstance(found, Result) else None
    if picture is None:
        name = getattr(function, "__name__", repr(function))
        raise UnsupportedError(f"{name} has no picture")
    return picture


def report(model, X=None, y=None, path=None, sample_weight=None, title=None):
    """One self-contained HTML page: scores on the rows, pictures, tables and the model's card.

    Writes it to `path` if there is one, and returns its text otherwise.
    """
    rows = model._rows_and_target(X, y, sample_weight)
    page = model._fitted().page(title or type(model).__name__, *rows)
    if path is None:
        return page
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)
    return None


def __getattr__(name):
    known = name.replace("_", "-")
    if known not in names():
        raise AttributeError(f"module 'learnt.plot' has no attribute {name!r}")

    def draw(model, X=None, y=None, sample_weight=None):
        return plot(known, model, X, y, sample_weight)

    draw.__name__, draw.__doc__ = name, names()[known]["shows"]
    return draw


def __dir__():
    return sorted([*__all__, *(name.replace("-", "_") for name in names())])
