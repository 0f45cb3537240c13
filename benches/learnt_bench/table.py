"""All workloads: by method, by shape, and every family on the same shapes."""

from .clusters import CLUSTERS
from .ensembles import ENSEMBLES
from .families import FAMILY_ROWS
from .selection import SELECTION
from .shapes import SHAPES
from .workloads import WORKLOADS as METHODS

WORKLOADS = METHODS + ENSEMBLES + CLUSTERS + SELECTION + SHAPES + FAMILY_ROWS
