"""Record the results of sparse and integer instructions.

    python -m studies.sparse_and_integer FOLDER

runs every instruction of `hwtests.nvidia.sparse_and_integer` that fits this machine's GPU and writes its raw tiles into a
separate file as soon as it has run (recorded_tiles.py). An instruction that has its file is skipped, so that
the same command resumes after an interruption. Hypotheses are tested on these files afterwards, on any machine:
`python -m studies.sparse_and_integer.hypotheses FOLDER`.
"""

import hashlib
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from golden.native.cubins import cubin
from golden.stimulus import Tiles
from hwtests.inputs import tiles_of
from hwtests.nvidia.cupy_device import CudaDevice
from hwtests.nvidia.disassembly import known_machine_code
from hwtests.nvidia.kernel import ENTRY
from hwtests.nvidia.launch import cuda_errors, loaded, unwritten
from hwtests.nvidia.sparse_and_integer import (
    INTEGER,
    SPARSE,
    SPARSE_FP8,
    SPARSE_WGMMA,
    MatrixInstruction,
    kernel_of_instruction,
    metadata_word,
)
from studies.sparse_and_integer.hypotheses import dense
from studies.sparse_and_integer.recorded_tiles import RecordedTiles, path_of, write

TILES = 128
"""Tiles of each selection, of all classes and corners; of a dense instruction, in all."""


class Ran(NamedTuple):
    """A run's result: NumPy bits of d [tiles, m, n], the matrix instructions of the kernel, the SHA-256 of its binary."""

    d: Any
    machine_code: dict[str, int]
    sha256: str


Run = Callable[[MatrixInstruction, Tiles, Any], Ran]
"""(instruction, tiles with a [tiles, m, stored k] and b [tiles, n, k], metadata words uint32 [tiles]) → what came out."""


def instructions_of(arch: str) -> list[MatrixInstruction]:
    """The instructions outside the catalogue that an architecture has."""
    return [i for i in SPARSE_FP8 + SPARSE + SPARSE_WGMMA + INTEGER if i.arch == arch]


def operands_of(instruction: MatrixInstruction, seed: int) -> tuple[Tiles, Any]:
    """Tiles, and the metadata nibble of each."""
    if not instruction.sparse:
        return integer_operands(instruction, TILES, seed), np.zeros(TILES, np.uint8)
    nibbles = np.repeat(np.array(list(instruction.selections), np.uint8), TILES)
    return sparse_operands(instruction, len(nibbles), seed), nibbles


def sparse_operands(instruction: MatrixInstruction, tiles: int, seed: int) -> Tiles:
    """Tiles of the dense instruction, with columns of B as long as the sparse K."""
    base = dense(instruction)
    (first, _), (second, _) = (tiles_of(base, seed + turn, 0, tiles) for turn in (0, 1))
    b = np.concatenate([first.b, second.b], axis=2)
    # The two halves interleave, so that every group along K has elements of both.
    return Tiles(first.a, b.reshape(*b.shape[:2], 2, -1).swapaxes(2, 3).reshape(b.shape), first.c)


def integer_operands(instruction: MatrixInstruction, tiles: int, seed: int) -> Tiles:
    """Random bytes, c near the ends of its range."""
    m, n, k = instruction.shape
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(0, 256, (tiles, rows, k)).astype(np.uint8) for rows in (m, n))
    ends = np.array([0, 0x7FFF_0000, 0x8000_0000, 0xFFFF_8000], np.uint32)
    return Tiles(a, b, ends[rng.integers(0, 4, (tiles, m, n))] + rng.integers(0, 1 << 15, (tiles, m, n)).astype(np.uint32))


def record(folder: Path, instruction: MatrixInstruction, run: Run, device: dict[str, str], seed: int = 0) -> Path:
    """Run an instruction and write its tiles."""
    tiles, nibbles = operands_of(instruction, seed)
    ran = run(instruction, tiles, metadata_word(nibbles.astype(np.uint32)))
    return write(folder, RecordedTiles(
        instruction=instruction, tiles=tiles, selection=nibbles, d=ran.d, device=device, machine_code=ran.machine_code,
        sha256=ran.sha256,
    ))  # fmt: skip


def run_on(device: CudaDevice) -> Run:
    """Runs of these instructions on a device."""
    xp = device.xp

    def run(instruction: MatrixInstruction, tiles: Tiles, metadata: Any) -> Ran:
        kernel = kernel_of_instruction(instruction)
        binary = cubin(kernel.source, kernel.target)
        a, b, c = (xp.asarray(array) for array in tiles.arrays())
        words = (xp.asarray(metadata),) if instruction.sparse else ()
        blocks = -(-len(tiles) // kernel.tiles_per_block)
        with cuda_errors(xp):
            function = loaded(xp, binary, ENTRY)  # it holds its module, which must stay until the results are there
            d = unwritten(xp, c.shape, c.dtype)
            arguments = (a, b, c, *words, d, xp.uint32(len(tiles)))
            function((blocks, 1, 1), (kernel.threads, 1, 1), arguments)
            results = xp.asnumpy(d)
        return Ran(results, known_machine_code(binary), hashlib.sha256(binary).hexdigest())

    return run


def main(folder: Path) -> None:
    """Record what runs here and is not recorded yet."""
    device = CudaDevice()
    run = run_on(device)
    folder.mkdir(parents=True, exist_ok=True)
    about = asdict(device.describe()) | device.evidence()
    for instruction in instructions_of(device.arch):
        if not path_of(folder, instruction).exists():
            print(record(folder, instruction, run, about))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
