"""Arrays in a GPU's memory."""

import sys
from typing import Any


def is_device_array(array: Any) -> bool:
    """Whether it is a CuPy array. CuPy is not imported for the question: whoever has one of its arrays has imported it."""
    cupy: Any = sys.modules.get("cupy")
    return cupy is not None and isinstance(array, cupy.ndarray)
