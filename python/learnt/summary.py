"""Tables about a fitted model, as text, HTML, dictionaries or a frame."""

import json
from html import escape


class Summary:
    """What `summary()` of a fitted model gives."""

    def __init__(self, text, as_json):
        self._text, self._content = text, json.loads(as_json)

    def to_dict(self):
        """Title, tables (one dictionary a row), figures and notes."""
        return self._content

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
