"""Arrays in a GPU's memory."""

import sys
from typing import Any


def is_device_array(array: Any) -> bool:
    """Whether the array is a CuPy array. CuPy is not imported to find out: a caller with a CuPy array already has."""
    cupy: Any = sys.modules.get("cupy")
    return cupy is not None and isinstance(array, cupy.ndarray)
