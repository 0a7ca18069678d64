"""A public report of an RTX 5090: its inputs, drawn anew, and its words, read from a file that is not held here.

The report is tools/tensor_gpu_differential_report.json of cicuvc/nvidia-sass-document at `COMMIT`. That project has no
licence, so that nothing of it is distributed with this one. The facts that its inputs follow from: Python's `random`, seeded
with `SEED`, draws the registers of each run; all 32 lanes of a warp hold the same registers, and D of one lane is reported.
"""

import json
import random
import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import golden

COMMIT = "1fe673fe2f8c78e872d041add3270c2313141852"
REPORT = "tools/tensor_gpu_differential_report.json"
ADDRESS = f"https://raw.githubusercontent.com/cicuvc/nvidia-sass-document/{COMMIT}/{REPORT}"
SEED = 0x7E57C0DE
TRIALS = 6
DRIVER = "590.48.01"

HALVES = (0x3F80, 0xC000, 0x4000, 0x7F80, 0xFF80, 0x7FC0, 0x0001, 0x0000, 0x8000, 0x3C00)
BYTES = (0x7F, 0xFF, 0x7C, 0xFC, 0x00, 0x80)
ZEROS_AND_INFINITIES = (0, 0x80000000, 0x7F800000, 0xFF800000)
NANS = (0x7FC00000, 0x7F800001, 0xFFC00000)
SCALES = (0x7F7F7F7F, 0x80808080, 0x00000000, 0x01010101, 0x7E7E7E7E, 0x7F3F7F3F, 0xFE7F7FFE)


class Run(NamedTuple):
    """One `mma` of the report: operands [4, k] and [4] of the four words that a lane stores."""

    name: str
    instruction: golden.Instruction
    a: npt.NDArray[Any]
    b: npt.NDArray[Any]
    c: npt.NDArray[np.uint32]


def drawn_runs() -> Iterator[Run]:
    """The 48 runs whose formats the catalogue has, in the report's order; draws of the others are skipped."""
    draw = random.Random(SEED)
    for trial in range(TRIALS):
        registers, c = words(draw, half, 2, 6), [addend(draw) for _ in range(4)]
        short = words(draw, half, 2, 3)
        for element, name in (("bf16", "bf16"), ("f16", "f16")):
            yield run(f"hmma_k16_{name}_t{trial}", element, 16, registers, c)
            yield run(f"hmma_k8_{name}_t{trial}", element, 8, short, c)
        registers, c = words(draw, byte, 4, 6), [addend(draw) for _ in range(4)]
        short = words(draw, byte, 4, 3)
        for element in ("e4m3", "e5m2"):
            yield run(f"qmma_k32_{element}_t{trial}", element, 32, registers, c)
            yield run(f"qmma_k16_{element}_t{trial}", element, 16, short, c)
        for _ in range(2):  # of an instruction that was not run
            words(draw, nibble, 8, 6)
            _ = [addend(draw) for _ in range(4)] + [scale(draw) for _ in range(2)]


def words(draw: random.Random, element: Callable[[random.Random], int], parts: int, count: int) -> list[list[int]]:
    """`count` registers of `parts` elements, the lowest one first."""
    return [[element(draw) for _ in range(parts)] for _ in range(count)]


def half(draw: random.Random) -> int:
    """An element of 16 bits: one of ten codes, or the next one."""
    return draw.choice(HALVES) | draw.randint(0, 1)


def byte(draw: random.Random) -> int:
    """An element of 8 bits: any code, some more often."""
    return draw.choice(BYTES) if draw.random() < 0.15 else draw.randint(0, 255)


def nibble(draw: random.Random) -> int:
    """An element of 4 bits."""
    return draw.choice(range(16))


def addend(draw: random.Random) -> int:
    """A code of c in fp32."""
    kind = draw.random()
    if kind < 0.9:
        limit = 1e4 if kind < 0.8 else 1e35
        return int(struct.unpack("<I", struct.pack("<f", draw.uniform(-limit, limit)))[0])
    return draw.choice(ZEROS_AND_INFINITIES if kind < 0.95 else NANS)


def scale(draw: random.Random) -> int:
    """Four scales."""
    return draw.choice(SCALES) if draw.random() < 0.5 else draw.getrandbits(32)


def run(name: str, element: str, k: int, registers: Sequence[Sequence[int]], c: Sequence[int]) -> Run:
    """The run of `mma.m16n8k…`: A's rows g and g + 8 lie in alternate registers, a register holds neighbours of k.

    Args:
        registers: of A, then of B; the four lanes that share a row of A hold the same.
    """
    halves = len(registers) // 3
    of_a, of_b = registers[: 2 * halves], registers[2 * halves :]
    rows = [[code for part in range(halves) for code in [*of_a[2 * part + row]] * 4] for row in range(2)]
    column = [code for part in of_b for code in [*part] * 4]
    instruction = golden.instruction("sm_120", f"mma.m16n8k{k}.f32.{element}.{element}.f32")
    dtype = np.uint16 if element in ("bf16", "f16") else np.uint8
    a, b = np.array([rows[0], rows[0], rows[1], rows[1]], dtype), np.array([column] * 4, dtype)
    return Run(name, instruction, a, b, np.array(c, np.uint32))


def read_words(path: Path) -> dict[str, npt.NDArray[np.uint32]]:
    """The words that the card gave, by the name of the run.

    Raises:
        ValueError: not that report. OSError: it cannot be read.
    """
    report = json.loads(path.read_text(encoding="utf-8"))
    found = report["provenance"]
    if (found["seed"], found["driver_version"]) != (f"0x{SEED:X}", DRIVER) or "RTX 5090" not in found["gpu"][0]:
        raise ValueError(f"{path} must be the report of an RTX 5090 with driver {DRIVER} and seed 0x{SEED:X}")
    return {case["name"]: np.array([int(word, 16) for word in case["gpu"]], np.uint32)
            for case in report["cases"] if "gpu" in case}  # fmt: skip


def differing_words(path: Path) -> dict[str, int]:
    """How many of the four words of each run the model of sm_120 does not return; by both engines.

    Raises:
        ValueError: as `read_words`, or a run is missing.
    """
    recorded = read_words(path)
    counts = {}
    for name, instruction, a, b, c in drawn_runs():
        if name not in recorded or recorded[name].shape != (4,):
            raise ValueError(f"{path} must hold four words of the card for {name}")
        got = [instruction.dot(a, b, c, engine=engine) for engine in ("reference", None)]
        counts[name] = sum(int(np.count_nonzero(d != recorded[name])) for d in got)
    return counts
