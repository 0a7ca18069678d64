"""Hypotheses about sparse and integer instructions, tested on recorded tiles.

    python -m studies.sparse_and_integer.hypotheses FOLDER

reads the tiles that `studies.sparse_and_integer` recorded and writes FOLDER/hypotheses.json: how many results each
hypothesis gets wrong. It needs no GPU; the native engine computes, the reference where that is missing.

For a sparse instruction, recorded with every selection, a hypothesis is a length L of T-FDPA steps and what the steps run
over: the selected products alone, or all K with zeros where nothing is selected; F, ρ and e_zero are those of the dense
instruction of the same types. FP8 `mma.sp` on sm_90 becomes two HMMA.SP, as the dense one becomes two HMMA: the operands are
converted to fp16, C is added last, and the hypothesis has an order of the products too. For an integer instruction the
hypothesis is the exact sum, wrapped or saturated.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import golden
from golden import Instruction
from golden.chain import ORDERS, Chain, Order
from golden.comparison import differing
from golden.engines import Batch, run
from golden.files import write_atomically
from golden.operations import TFDPA
from golden.stimulus import Tiles
from hwtests.nvidia.sparse_and_integer import MatrixInstruction, integer_dot, selected
from studies.sparse_and_integer.recorded_tiles import RecordedTiles, read

REPORT = "hypotheses.json"


@dataclass(frozen=True)
class Hypothesis:
    """Steps of `length` over the selected products, or over all K with zeros between them; of FP8 that runs as fp16 work in
    an order of the products, else None."""

    length: int
    over_zeros: bool
    order: Order | None = None

    def __str__(self) -> str:
        products = "all K, zeros where nothing is selected" if self.over_zeros else "the selected products"
        return f"L={self.length} over {products}" + (f", {self.order}" if self.order else "")


def dense(instruction: MatrixInstruction) -> Instruction:
    """The catalogue's instruction of the same types whose k is the stored k."""
    m, n, _ = instruction.shape
    return golden.instruction(
        instruction.arch, f"{instruction.family}.m{m}n{n}k{instruction.stored_k}.{'.'.join(instruction.types)}"
    )


def hypotheses(instruction: MatrixInstruction) -> Iterator[Hypothesis]:
    """Every power of two up to K as the length, over selected products and over all K, in every order there is."""
    orders = ORDERS if dense(instruction).fp16_order is not None else (None,)
    for over_zeros, products in ((False, instruction.stored_k), (True, instruction.shape[2])):
        for length in (1, 2, 4, 8, 16, 32, 64):
            if length <= products:
                yield from (Hypothesis(length, over_zeros, order) for order in orders)


def chain_of(instruction: MatrixInstruction, hypothesis: Hypothesis) -> Chain:
    """The chain that a hypothesis says."""
    chain = dense(instruction).chain
    assert isinstance(chain.operation, TFDPA)
    operation = chain.operation.with_length(hypothesis.length)
    if chain.fp16_order is None:
        return Chain(operation)
    assert hypothesis.order is not None
    return replace(chain, operation=operation, order=hypothesis.order)


def expected(instruction: MatrixInstruction, hypothesis: Hypothesis, tiles: Tiles, positions: tuple[int, ...]) -> Any:
    """The hypothesis' value of every element of D: [tiles, m, n]."""
    if hypothesis.over_zeros:
        group = 2 * len(positions)
        a = np.zeros((*tiles.a.shape[:2], instruction.shape[2] // group, group), tiles.a.dtype)
        a[..., list(positions)] = tiles.a.reshape(*tiles.a.shape[:2], -1, len(positions))
        spread = Tiles(a.reshape(*tiles.a.shape[:2], instruction.shape[2]), tiles.b, tiles.c)
    else:
        spread = Tiles(tiles.a, selected(tiles.b, positions), tiles.c)
    a, b, c, *_ = spread.rows(np)
    k = a.shape[-1]
    d = run(None, chain_of(instruction, hypothesis), Batch(a.reshape(-1, k), b.reshape(-1, k), c.reshape(-1)))
    return d.reshape(c.shape)


def outcome(recorded: RecordedTiles) -> dict[str, Any]:
    """How many results each hypothesis gets wrong, and the ones that get none wrong."""
    wrong = _tested_integer(recorded) if not recorded.instruction.sparse else _tested_sparse(recorded)
    explained = [name for name, count in wrong.items() if not count]
    return {"compared": int(recorded.d.size), "explained_by": explained, "wrong": wrong}


def _tested_sparse(recorded: RecordedTiles) -> dict[str, int]:
    instruction, operation = recorded.instruction, dense(recorded.instruction).operation
    wrong = dict.fromkeys(map(str, hypotheses(instruction)), 0)
    for nibble, positions in instruction.selections.items():
        of_it = recorded.selection == nibble
        tiles = Tiles(recorded.tiles.a[of_it], recorded.tiles.b[of_it], recorded.tiles.c[of_it])
        for hypothesis in hypotheses(instruction):
            differs = differing(recorded.d[of_it], expected(instruction, hypothesis, tiles, positions), operation)
            wrong[str(hypothesis)] += int(differs.sum())
    return wrong


def _tested_integer(recorded: RecordedTiles) -> dict[str, int]:
    a, b, *_ = recorded.tiles.rows(np)
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    wrong = {}
    for name, saturate in (("exact, wrapped", False), ("exact, saturated", True)):
        d = integer_dot(replace(recorded.instruction, saturate=saturate), a, b, recorded.tiles.c)
        wrong[name] = int((recorded.d != d).sum())
    return wrong


def outcomes_of(folder: Path) -> dict[str, dict[str, Any]]:
    """Test every recording of a folder and write the report there.

    Raises:
        ValueError: a file that is no recording of tiles. OSError: it cannot be read or written.
    """
    found = {}
    for path in sorted(folder.glob("*.npz")):
        recorded = read(path)
        about = {"device": recorded.device, "unexpected_code": recorded.unexpected_code}
        found[recorded.instruction.name] = about | outcome(recorded)
    write_atomically(folder / REPORT, (json.dumps(found, indent=1) + "\n").encode())
    return found


if __name__ == "__main__":
    for name, result in outcomes_of(Path(sys.argv[1])).items():
        print(f"{name}: {'; '.join(result['explained_by']) or 'explained by none'}")
        if result["unexpected_code"]:
            print(f"  the kernel lacks the expected machine instructions; it contains {result['unexpected_code']}")
