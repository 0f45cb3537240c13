"""All workloads: by method, then by shape."""

from .clusters import CLUSTERS
from .ensembles import ENSEMBLES
from .selection import SELECTION
from .shapes import SHAPES
from .workloads import WORKLOADS as METHODS

WORKLOADS = METHODS + ENSEMBLES + CLUSTERS + SELECTION + SHAPES
