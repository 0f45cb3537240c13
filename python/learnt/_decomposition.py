"""Principal components as a normal law, under scikit-learn's names."""

import numpy as np

from ._params import NO_TABLE

# Numbers of rows that are worked on together: they stay in cache.
AT_ONCE = 1 << 16


class Principal:
    """Components with the covariance that they model: their own, and one variance for the rest.

    Tipping and Bishop (1999), Journal of the Royal Statistical Society B 61, 611-622.
    """

    def _native_params(self, X=None, table=None):
        params = super()._native_params(X, table)
        known = table is not None and table is not NO_TABLE
        if params.get("svd_solver") == "arpack" and params["n_components"] is None and known:
            # As many as this solver can find.
            params["n_components"] = max(1, min(table.values.shape) - 1)
        return params

    def get_covariance(self):
        """The covariance of the columns that the components and the noise variance say."""
        self._fitted()
        extra = np.maximum(self.explained_variance_ - self.noise_variance_, 0.0)
        found = (self.components_.T * extra) @ self.components_
        found.flat[:: len(found) + 1] += self.noise_variance_
        return found

    def get_precision(self):
        """The inverse of the covariance."""
        return np.linalg.inv(self.get_covariance())

    def score_samples(self, X):
        """The logarithm of the normal density at each row; -inf where the covariance is singular."""
        # The gate refuses what the components cannot take.
        along_components = self._call("transform", X, double=True)[0]
        table = self._rows(X)
        rows, known = table.values, self.__dict__.get("feature_names_in_")
        if known is not None and table.names is not None:
            rows = rows[:, [list(table.names).index(name) for name in known]]
        noise, width = self.noise_variance_, rows.shape[1]
        along = np.maximum(self.explained_variance_, noise)
        left = width - len(along)
        variances = np.append(along, noise) if left else along
        if variances.min() <= np.finfo(float).eps * width * variances.max():
            return np.full(len(rows), -np.inf)
        if self.whiten:
            scales = np.maximum(np.sqrt(self.explained_variance_), np.finfo(float).eps)
            along_components = along_components * scales
        constant = width * np.log(2.0 * np.pi) + np.log(along).sum() + (left * np.log(noise) if left else 0.0)
        out = np.empty(len(rows))
        step = max(1, AT_ONCE // width)
        for first in range(0, len(rows), step):
            # What the components leave is subtracted before it is squared, so that nothing cancels.
            inside = along_components[first : first + step]
            squares = inside**2 @ (1.0 / along)
            if left:
                rest = rows[first : first + step] - self.mean_
                rest -= inside @ self.components_
                squares += np.einsum("ij,ij->i", rest, rest) / noise
            out[first : first + step] = squares
        return -0.5 * (out + constant)

    def score(self, X, y=None):
        """The mean logarithm of the normal density over the rows."""
        return float(np.mean(self.score_samples(X)))
