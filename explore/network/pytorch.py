"""PyTorch, imported where it is needed and not before: everything else of `explore` works without it."""

from importlib import import_module
from typing import Any


def load_torch() -> Any:
    """The package torch.

    Raises:
        ModuleNotFoundError: it is not installed; the message says how to install it.
    """
    try:
        return import_module("torch")
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ModuleNotFoundError(
            "networks need PyTorch, which is not installed: pip install 'mmau[torch]'", name="torch"
        ) from error
