"""What the tests on engines share."""

import os

ENGINES = os.environ.get("LEARNT_ENGINES", "ray dask spark").split()
# Seconds that a test may take, whatever happens.
LIMIT = 240


class Lent:
    """An engine that is not ended with a fit."""

    def __init__(self, engine):
        self.workers, self.threads, self.round = engine.workers, engine.threads, engine.round

    def close(self):
        pass
