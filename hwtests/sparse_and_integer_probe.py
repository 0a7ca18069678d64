"""What sparse and integer instructions compute: their results against every chain that could stand behind them.

    python -m hwtests.sparse_and_integer_probe REPORT.json

runs every instruction of `hwtests.nvidia.sparse_and_integer` that fits this machine's GPU and writes how many results each
hypothesis gets wrong. For a sparse instruction, run with every selection, a hypothesis is a length L of T-FDPA steps and
what the steps run over: the selected products alone, or all K with zeros where nothing is selected; F, ρ and e_zero are
those of the dense instruction of the same types. For an integer instruction the hypothesis is the exact sum, wrapped or
saturated as its name says.
"""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import golden
from golden import Instruction, Unit
from golden.comparison import differing
from golden.files import write_atomically
from golden.operations import TFDPA
from golden.stimulus import Tiles
from hwtests.conform.inputs import random_tiles
from hwtests.nvidia.device import CudaDevice
from hwtests.nvidia.kernel import ENTRY
from hwtests.nvidia.nvrtc import compile_cubin
from hwtests.nvidia.sparse_and_integer import (
    INTEGER,
    SPARSE,
    SPARSE_WGMMA,
    MatrixInstruction,
    integer_dot,
    kernel_of_instruction,
    metadata_word,
    selected,
)

TILES = 600
"""Random tiles for each selection, of all six classes."""

Run = Callable[[MatrixInstruction, Tiles, int], Any]
"""(instruction, tiles with a [tiles, m, stored k] and b [tiles, n, k], metadata word, unused where dense) → NumPy bits of d
[tiles, m, n]."""


@dataclass(frozen=True)
class Hypothesis:
    """Steps of `length` over the selected products, or over all K with zeros between them."""

    length: int
    over_zeros: bool

    def __str__(self) -> str:
        products = "all K, zeros where nothing is selected" if self.over_zeros else "the selected products"
        return f"L={self.length} over {products}"


def dense(instruction: MatrixInstruction) -> Instruction:
    """The catalogue's instruction of the same types whose k is the stored k."""
    m, n, _ = instruction.shape
    return golden.instruction(
        instruction.arch, f"{instruction.family}.m{m}n{n}k{instruction.stored_k}.{'.'.join(instruction.types)}"
    )


def hypotheses(instruction: MatrixInstruction) -> Iterator[Hypothesis]:
    """Every power of two up to K as the length, over selected products and over all K."""
    for over_zeros, products in ((False, instruction.stored_k), (True, instruction.shape[2])):
        yield from (Hypothesis(length, over_zeros) for length in (1, 2, 4, 8, 16, 32, 64) if length <= products)


def expected(instruction: MatrixInstruction, hypothesis: Hypothesis, tiles: Tiles, positions: tuple[int, ...]) -> Any:
    """What the hypothesis gives for every element of D: [tiles, m, n]."""
    operation = dense(instruction).operation
    assert isinstance(operation, TFDPA)
    unit = Unit(name="hypothesis", operation=operation.with_length(hypothesis.length))
    if hypothesis.over_zeros:
        group = 2 * len(positions)
        a = np.zeros((*tiles.a.shape[:2], instruction.shape[2] // group, group), tiles.a.dtype)
        a[..., list(positions)] = tiles.a.reshape(*tiles.a.shape[:2], -1, len(positions))
        spread = Tiles(a.reshape(*tiles.a.shape[:2], instruction.shape[2]), tiles.b, tiles.c)
    else:
        spread = Tiles(tiles.a, selected(tiles.b, positions), tiles.c)
    return unit.dot(*spread.rows(np)[:3])


def random_operands(instruction: MatrixInstruction, tiles: int, seed: int) -> Tiles:
    """Random tiles of the dense instruction, with columns of B as long as the sparse K."""
    base = dense(instruction)
    first, second = (random_tiles(base, np, seed + turn, 0, tiles) for turn in (0, 1))
    b = np.concatenate([first.b, second.b], axis=2)
    # The two halves interleave, so that every group along K has elements of both.
    return Tiles(first.a, b.reshape(*b.shape[:2], 2, -1).swapaxes(2, 3).reshape(b.shape), first.c)


def probe(instruction: MatrixInstruction, run: Run, tiles: int = TILES, seed: int = 0) -> dict[str, Any]:
    """How many results of all selections each hypothesis gets wrong."""
    base, wrong, compared = dense(instruction), dict.fromkeys(hypotheses(instruction), 0), 0
    for nibble, positions in instruction.selections.items():
        operands = random_operands(instruction, tiles, seed)
        got = run(instruction, operands, metadata_word(nibble))
        compared += got.size
        for hypothesis in wrong:
            wrong[hypothesis] += int(
                differing(got, expected(instruction, hypothesis, operands, positions), base.operation).sum()
            )
    explained = [str(hypothesis) for hypothesis, count in wrong.items() if not count]
    return {"compared": compared, "explained_by": explained, "wrong": {str(h): count for h, count in wrong.items()}}


def probe_integer(instruction: MatrixInstruction, run: Run, tiles: int = TILES, seed: int = 0) -> dict[str, Any]:
    """How many results of random bytes, c near the ends of its range, are not the exact sum."""
    m, n, k = instruction.shape
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(0, 256, (tiles, rows, k)).astype(np.uint8) for rows in (m, n))
    ends = np.array([0, 0x7FFF_0000, 0x8000_0000, 0xFFFF_8000], np.uint32)
    c = ends[rng.integers(0, 4, (tiles, m, n))] + rng.integers(0, 1 << 15, (tiles, m, n)).astype(np.uint32)
    operands = Tiles(a, b, c)
    rows = operands.rows(np)
    got = run(instruction, operands, 0)
    wrong = int((got != integer_dot(instruction, np.ascontiguousarray(rows.a), np.ascontiguousarray(rows.b), c)).sum())
    exact = "exact, saturated" if instruction.saturate else "exact, wrapped"
    return {"compared": got.size, "explained_by": [] if wrong else [exact], "wrong": {exact: wrong}}


def run_on(device: CudaDevice) -> Run:
    """Runs of these instructions on a device."""
    xp = device.xp

    def run(instruction: MatrixInstruction, tiles: Tiles, metadata: int) -> Any:
        kernel = kernel_of_instruction(instruction)
        module = xp.cuda.function.Module()
        module.load(compile_cubin(kernel.source, kernel.target))
        a, b, c = (xp.asarray(array) for array in tiles.arrays())
        words = (xp.full(len(tiles), metadata, xp.uint32),) if instruction.sparse else ()
        d = xp.empty_like(c)
        arguments = (a, b, c, *words, d, xp.uint32(len(tiles)))
        blocks = -(-len(tiles) // kernel.tiles_per_block)
        module.get_function(ENTRY)((blocks, 1, 1), (kernel.threads, 1, 1), arguments)
        return xp.asnumpy(d)

    return run


def main(path: str) -> None:
    """Probe what runs here, and write the report."""
    device = CudaDevice()
    run = run_on(device)
    found = {
        instruction.name: probe(instruction, run) for instruction in SPARSE + SPARSE_WGMMA if instruction.arch == device.arch
    }
    found |= {
        instruction.name: probe_integer(instruction, run) for instruction in INTEGER if instruction.arch == device.arch
    }
    report = {"device": vars(device.describe()), "instructions": found}
    write_atomically(path, (json.dumps(report, indent=1) + "\n").encode())
    for name, result in found.items():
        print(f"{name}: {'; '.join(result['explained_by']) or 'explained by none'}")


if __name__ == "__main__":
    main(sys.argv[1])
