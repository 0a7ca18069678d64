"""Raw tiles that a device computed with an instruction outside the catalogue, in a file: `<instruction>.npz`, never pickled.

a [tiles, m, stored k], b [tiles, n, k], c, d [tiles, m, n]
                bit patterns
selection [tiles]
                uint8, the metadata nibble of each tile; 0 where the instruction is dense
header          uint8, JSON in UTF-8: instruction, device, machine_code, sha256 of the kernel's binary
"""

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from golden.files import write_atomically
from golden.npz import read_npz
from golden.stimulus import Tiles
from hwtests.device import unexpected_code
from hwtests.nvidia.disassembly import expected_outside
from hwtests.nvidia.sparse_and_integer import MatrixInstruction, by_name

_ARRAYS = ("a", "b", "c", "d", "selection", "header")


@dataclass(frozen=True, kw_only=True)
class RecordedTiles:
    """Operands and results, and where they come from.

    Attributes:
        device: the device's own name, its driver, UUID and versions. machine_code: of the kernel; empty where unknown.
        sha256: of the kernel's binary.
    """

    instruction: MatrixInstruction
    tiles: Tiles
    selection: npt.NDArray[np.uint8]
    d: npt.NDArray[Any]
    device: dict[str, str]
    machine_code: dict[str, int]
    sha256: str

    @property
    def unexpected_code(self) -> dict[str, int]:
        """The machine code, where it is not what the instruction must become."""
        return unexpected_code(self.machine_code, expected_outside(self.instruction))


def path_of(folder: Path, instruction: MatrixInstruction) -> Path:
    """The file of an instruction."""
    return folder / f"{instruction.arch}.{instruction.name}.npz"


def write(folder: Path, recorded: RecordedTiles) -> Path:
    """Write a file; it appears whole or not at all."""
    i, tiles = recorded.instruction, recorded.tiles
    header = {
        "arch": i.arch, "instruction": i.name, "device": recorded.device, "machine_code": recorded.machine_code,
        "sha256": recorded.sha256,
    }  # fmt: skip
    stream = io.BytesIO()
    np.savez_compressed(
        stream, a=tiles.a, b=tiles.b, c=tiles.c, d=recorded.d, selection=recorded.selection,
        header=np.frombuffer(json.dumps(header, sort_keys=True).encode(), np.uint8),
    )  # fmt: skip
    path = path_of(folder, i)
    write_atomically(path, stream.getvalue())
    return path


def read(path: Path) -> RecordedTiles:
    """Read a file.

    Raises:
        ValueError: it is no recording of tiles. OSError: it cannot be read.
    """
    arrays = read_npz(path, _ARRAYS)
    try:
        header = json.loads(arrays["header"].tobytes())
        instruction = by_name(header["arch"], header["instruction"])
        device = {str(key): str(value) for key, value in header["device"].items()}
        machine_code = {str(key): int(value) for key, value in header["machine_code"].items()}
        sha256 = str(header["sha256"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} is no recording of tiles: {error}") from error
    m, n, k = instruction.shape
    count = len(arrays["d"])
    shapes = {
        "a": (count, m, instruction.stored_k), "b": (count, n, k), "c": (count, m, n), "d": (count, m, n),
        "selection": (count,),
    }  # fmt: skip
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise ValueError(
                f"{path} is no recording of tiles: {name} must have the shape {shape}, got {arrays[name].shape}"
            )
    return RecordedTiles(
        instruction=instruction, tiles=Tiles(arrays["a"], arrays["b"], arrays["c"]), selection=arrays["selection"],
        d=arrays["d"], device=device, machine_code=machine_code, sha256=sha256,
    )  # fmt: skip
