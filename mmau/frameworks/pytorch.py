"""PyTorch, for the modules of `torch_mode`, with a message where it is missing."""

try:
    import torch
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ModuleNotFoundError(
        "torch_mode needs PyTorch, which is not installed: pip install 'mmau[torch]'", name="torch"
    ) from error

__all__ = ["torch"]
