"""All workloads: by method, then by shape."""

from .shapes import SHAPES
from .workloads import WORKLOADS as METHODS

WORKLOADS = METHODS + SHAPES
