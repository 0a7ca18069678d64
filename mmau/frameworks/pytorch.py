"""PyTorch, for the modules that need it, with a message where it is missing."""

try:
    import torch
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ModuleNotFoundError(
        "this needs PyTorch, which is not installed: pip install 'mmau[torch]'", name="torch"
    ) from error

__all__ = ["torch"]
