"""Python's start with this folder on PYTHONPATH: the stand-in is in place, in the command as in its workers."""

import cupy  # noqa: F401
