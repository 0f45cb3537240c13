"""Tables about a fitted model, as text, HTML, dictionaries or a frame."""

import json
from html import escape

import numpy as np


class Summary:
    """What `summary()` of a fitted model gives."""

    def __init__(self, text, as_json):
        self._text, self._content = text, json.loads(as_json)

    def to_dict(self):
        """Title, tables (one dictionary a row), figures and notes."""
        return self._content

    def __getitem__(self, name):
        """A column of the tables as an array, or a figure."""
        for table in self._content["tables"]:
            if table["rows"] and name in table["rows"][0]:
                return np.array([row[name] for row in table["rows"]])
        figures = self._content["figures"]
        if name in figures:
            return figures[name]
        known = [key for table in self._content["tables"] for key in (table["rows"] or [{}])[0]]
        raise KeyError(f"{name!r} is none of {known + list(figures)}")

    def to_pandas(self, table=0):
        """One of the tables as a frame of pandas."""
        import pandas

        return pandas.DataFrame(self._content["tables"][table]["rows"])

    def to_polars(self, table=0):
        """One of the tables as a frame of polars."""
        import polars

        return polars.DataFrame(self._content["tables"][table]["rows"])

    def __repr__(self):
        return self._text

    def _repr_html_(self):
        return f"<pre>{escape(self._text)}</pre>"
