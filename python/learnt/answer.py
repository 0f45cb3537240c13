"""Answers: values, tables, charts and notes, as arrays, frames, text or HTML."""

import numpy as np

from .plot import Picture


ROWS_SHOWN = 60


class Answer:
    """What summaries, questions and comparisons give."""

    def __init__(self, native):
        self._native = native

    @property
    def title(self):
        """What it is about."""
        return self._native.title()

    @property
    def notes(self):
        """Sentences about it."""
        return self._native.notes()

    def values(self):
        """Single values by name."""
        return self._native.values()

    def tables(self):
        """The tables in their order: for each its columns by name, as arrays."""
        return [{k: np.asarray(v) for k, v in columns.items()} for _, columns in self._native.tables()]

    def to_dict(self):
        """Title, values, tables (columns by name) and notes; numbers that do not exist are NaN."""
        tables = [
            {"title": title, "columns": {k: np.asarray(v) for k, v in columns.items()}}
            for title, columns in self._native.tables()
        ]
        return {
            "title": self.title, "values": self.values(), "tables": tables, "notes": self.notes,
        }  # fmt: skip

    def to_json(self):
        """The same as JSON text, one object a row."""
        return self._native.json()

    def to_text(self, rows=None):
        """As text with at most this many rows of each table; all of them if None."""
        return self._native.text(rows)

    def to_markdown(self):
        """As Markdown."""
        return self._native.markdown()

    def __getitem__(self, name):
        """A column of the tables as an array, or a value."""
        tables = self._native.tables()
        for _, columns in tables:
            if name in columns:
                return np.asarray(columns[name])
        values = self.values()
        if name in values:
            return values[name]
        known = [key for _, columns in tables for key in columns]
        raise KeyError(f"{name!r} is none of {known + list(values)}")

    def to_pandas(self, table=None):
        """All tables in their order, as frames of pandas; one frame if there is one table."""
        import pandas

        return self._frames(pandas.DataFrame, table)

    def to_polars(self, table=None):
        """All tables in their order, as frames of polars; one frame if there is one table."""
        import polars

        return self._frames(polars.DataFrame, table)

    def _frames(self, frame, table):
        frames = [frame(dict(columns)) for _, columns in self._native.tables()]
        if table is not None:
            return frames[table]
        return frames[0] if len(frames) == 1 else frames

    def charts(self):
        """The pictures."""
        return [Picture(chart) for chart in self._native.charts()]

    def __repr__(self):
        return self.to_text(ROWS_SHOWN)

    def _repr_html_(self):
        return self._native.html(ROWS_SHOWN) + "".join(picture.svg for picture in self.charts())


__all__ = ["Answer"]
