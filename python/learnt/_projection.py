"""Random projections back to where they came from."""

import numpy as np

from . import _validation


class Inverted:
    """A projection with a pseudo-inverse."""

    def _fit(self, X, *args, **kwargs):
        super()._fit(X, *args, **kwargs)
        self.__dict__.pop("inverse_components_", None)
        if self.compute_inverse_components:
            self.inverse_components_ = self._pseudo_inverse()
        return self

    def _pseudo_inverse(self):
        return np.linalg.pinv(np.asarray(self.components_))

    @property
    def n_components_(self):
        """The number of columns of the projected rows."""
        return len(self.components_)

    def inverse_transform(self, X):
        """The rows of least length that are projected to these."""
        self._fitted()
        table = _validation.read_table(X, estimator=type(self).__name__)
        known = self.__dict__.get("inverse_components_")
        back = (self._pseudo_inverse() if known is None else known).T
        return table.values @ (back.astype(np.float32) if self._answers_single(table) else back)
