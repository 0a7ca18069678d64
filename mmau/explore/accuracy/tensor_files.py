"""Tensors of real models, from .npz and .safetensors files and PyTorch's state dicts; nothing is unpickled but by PyTorch's
own reader of weights alone.

safetensors' reader for NumPy has neither bfloat16 nor FP8 (0.8.0), so its format is read here: a length of 8 bytes, a JSON
header with each tensor's dtype, shape and place, and the data (github.com/huggingface/safetensors, README).
"""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import numpy.typing as npt

from golden.checks import unknown
from golden.recordings.npz import read_npz

MOST_HEADER = 100_000_000
"""Longest header of a .safetensors file (bytes), the limit of the format's own readers."""

DTYPES: dict[str, Any] = {
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "BF16": ml_dtypes.bfloat16,
    "F8_E4M3": ml_dtypes.float8_e4m3fn,
    "F8_E5M2": ml_dtypes.float8_e5m2,
}
"""Floating-point dtypes of .safetensors."""


class Tensor(NamedTuple):
    """A tensor in a file.

    Attributes:
        path: a .npz or .safetensors file, or PyTorch's (.pt, .pth, .bin). name: of the tensor in it.
    """

    path: Path
    name: str

    def rows(self) -> npt.NDArray[np.float64]:
        """Its numbers, [rows, K]: the last axis holds what a dot product sums, all others are rows.

        Raises:
            ValueError: another kind of file, a damaged one, no such tensor, or one without finite numbers. OSError: the
                file cannot be read. ModuleNotFoundError: PyTorch is not installed, for its files.
        """
        return _rows(self, self.path.stat().st_mtime_ns)


def tensor_of(where: str, given: Any, folder: Path = Path()) -> Tensor:
    """The tensor of a text PATH:NAME; the path is meant from the folder.

    Raises:
        TypeError, ValueError: another text. FileNotFoundError: there is no such file.
    """
    rule = f"{where} must name a tensor as PATH:NAME, such as model.safetensors:layers.0.weight"
    if not isinstance(given, str):
        raise TypeError(f"{rule}; got {given!r}")
    path, colon, name = given.rpartition(":")
    if not colon or not path or not name:
        raise ValueError(f"{rule}; got {given!r}")
    found = (folder / path).absolute()
    if found.suffix not in READERS:
        raise ValueError(f"{where} must be a file {', '.join(READERS)}, got {path}")
    if not found.is_file():
        raise FileNotFoundError(f"{where}: there is no file {found}")
    return Tensor(found, name)


@lru_cache(maxsize=4)
def _rows(tensor: Tensor, _changed: int) -> npt.NDArray[np.float64]:
    array = READERS[tensor.path.suffix](tensor.path, tensor.name)
    if array.ndim < 1 or not array.size or array.dtype.kind not in "fV":
        raise ValueError(
            f"{tensor.path}: {tensor.name} must be a tensor of floating-point numbers, got {array.dtype}{list(array.shape)}"
        )
    numbers = array.reshape(-1, array.shape[-1]).astype(np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError(f"{tensor.path}: {tensor.name} must be finite, and holds infinities or NaN")
    return numbers


def _of_npz(path: Path, name: str) -> npt.NDArray[Any]:
    return read_npz(path, (name,))[name]


def _of_safetensors(path: Path, name: str) -> npt.NDArray[Any]:
    with open(path, "rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        size = path.stat().st_size
        if not 2 <= length <= min(MOST_HEADER, size - 8):
            raise ValueError(
                f"{path} must be a .safetensors file: its header cannot have {length} bytes in a file of {size}"
            )
        try:
            header = json.loads(stream.read(length))
            names = [key for key in header if key != "__metadata__"]
            if name not in names:
                raise ValueError(unknown("tensor", name, names, shown=8))
            kind, shape, (start, end) = (header[name][key] for key in ("dtype", "shape", "data_offsets"))
            if kind not in DTYPES:
                raise ValueError(f"{name} must have a dtype of {', '.join(DTYPES)}, got {kind}")
            dtype = np.dtype(DTYPES[kind])
            count = int(np.prod(shape, dtype=object))
            if min(shape, default=1) < 0 or start < 0 or end - start != count * dtype.itemsize or 8 + length + end > size:
                raise ValueError(
                    f"{name} has the shape {shape} of {kind}, and bytes {start} to {end} of {size - 8 - length}"
                )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"{path}: {error}") from error
        stream.seek(8 + length + start)
        return np.frombuffer(stream.read(end - start), dtype).reshape(shape)


def _of_torch(path: Path, name: str) -> npt.NDArray[Any]:
    import torch

    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise ValueError(f"{path} must be a state dict that PyTorch loads with weights_only: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{path} must hold a state dict, got {type(found).__name__}")
    if not isinstance(found.get(name), torch.Tensor):
        raise ValueError(f"{path}: {unknown('tensor', name, [str(key) for key in found], shown=8)}")
    return np.asarray(found[name].detach().to(torch.float64).numpy())


READERS = {".npz": _of_npz, ".safetensors": _of_safetensors, ".pt": _of_torch, ".pth": _of_torch, ".bin": _of_torch}
"""Reader of each kind of file, by its suffix."""
