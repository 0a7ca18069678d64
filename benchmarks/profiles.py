"""Numeric profiles of paper 001 (W. Sun et al., TPDS 2023, section 8), run on the golden models.

    python -m benchmarks.profiles FOLDER [DRAWS]

Element-wise error of a multiplication a0·b0, of an addition inside the dot product a0·b0 + a1·b1 and of an accumulation
a0·b0 + c0 (its tables 12 to 15), and the relative error of chains of matrix products (its figure 17), against fp32
arithmetic with rounding to nearest. Operands are drawn from the normal distribution (0, 1), either rounded to the type of A
and B before anything is computed (`low`), or as fp32 that only the unit under test sees rounded (`fp32`). The chains of 1000
draws take hours on the reference engine and minutes on the native one.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

import golden
from golden import Instruction
from golden.arrays import bits_dtype, float_dtype
from golden.files import write_atomically
from golden.formats import TF32, Format
from golden.plot import svg

Init = Literal["low", "fp32"]
INITS: tuple[Init, ...] = get_args(Init)
F32 = npt.NDArray[np.float32]

CHAIN_LENGTHS = range(1, 15)

M16N8K8 = tuple(
    f"mma.m16n8k8.{types}" for types in ("f32.bf16.bf16.f32", "f32.f16.f16.f32", "f16.f16.f16.f16", "f32.tf32.tf32.f32")
)
"""The shape that the paper chose, of every type that has it."""

PROFILED = {
    "sm_70": ("mma.m8n8k4.f32.f16.f16.f32", "mma.m8n8k4.f16.f16.f16.f16"),
    "sm_75": ("mma.m16n8k8.f32.f16.f16.f32", "mma.m16n8k8.f16.f16.f16.f16"),
    **dict.fromkeys(("sm_80", "sm_89", "sm_90", "sm_100", "sm_120"), M16N8K8),
    "gfx908": ("v_mfma_f32_16x16x8bf16", "v_mfma_f32_16x16x16f16"),
    "gfx90a": ("v_mfma_f32_16x16x16bf16_1k", "v_mfma_f32_16x16x16f16"),
    "gfx942": ("v_mfma_f32_16x16x16_bf16", "v_mfma_f32_16x16x16_f16", "v_mfma_f32_16x16x8_xf32"),
}  # fmt: skip
"""The instructions of each architecture; n ≥ k, so that a D can be the next A."""

PAPER_001: dict[tuple[str, Init], tuple[float, float, float]] = {
    ("bf16 → fp32", "low"): (0.0, 0.0, 1.89e-8),
    ("bf16 → fp32", "fp32"): (1.29e-3, 1.72e-3, 1.13e-3),
    ("fp16 → fp32", "low"): (0.0, 0.0, 0.0),
    ("fp16 → fp32", "fp32"): (1.59e-4, 2.18e-4, 1.36e-4),
    ("fp16 → fp16", "low"): (1.22e-4, 1.81e-4, 1.81e-4),
    ("fp16 → fp16", "fp32"): (1.94e-4, 2.99e-4, 2.99e-4),
    ("tf32 → fp32", "low"): (0.0, 0.0, 0.0),
    ("tf32 → fp32", "fp32"): (1.59e-4, 2.17e-4, 1.36e-4),
}
"""The A100's mean errors of the paper's tables 12 to 15, against fp32: multiplication, inner product, accumulation."""


@dataclass(frozen=True)
class ElementErrors:
    """Mean absolute errors of the three operations, and of the same against the fp32 result rounded to d."""

    against_fp32: tuple[float, float, float]
    against_rounded: tuple[float, float, float]


def rounded(values: F32, operand: Format) -> npt.NDArray[Any]:
    """fp32 values rounded to nearest even in a format, as its codes."""
    if operand == TF32:
        bits = values.view(np.uint32).astype(np.uint64)
        half = np.uint64((1 << (TF32.pad_bits - 1)) - 1)
        odd = (bits >> np.uint64(TF32.pad_bits)) & np.uint64(1)
        return (bits + half + odd).astype(np.uint32) & np.uint32(~((1 << TF32.pad_bits) - 1) & 0xFFFFFFFF)
    dtype = float_dtype(operand)
    assert dtype is not None
    with np.errstate(over="ignore"):  # a value out of range is to become infinite
        return values.astype(dtype).view(bits_dtype(operand))


def values_of(codes: npt.NDArray[Any], operand: Format) -> F32:
    """Codes as fp32 values, exactly (no format here is wider)."""
    dtype = float_dtype(operand)
    assert dtype is not None
    return codes.view(dtype).astype(np.float32)


def typed(values: F32, operand: Format, init: Init) -> tuple[npt.NDArray[Any], F32]:
    """What the unit gets, as codes, and what the fp32 arithmetic gets."""
    codes = rounded(values, operand)
    return codes, values_of(codes, operand) if init == "low" else values


def element_errors(instruction: Instruction, init: Init, draws: int, seed: int) -> ElementErrors:
    """The three errors of an instruction, averaged over so many draws.

    Raises:
        ValueError: fewer than one draw.
    """
    if draws < 1:
        raise ValueError(f"draws must be at least 1, got {draws}")
    i, rng = instruction, np.random.default_rng(seed)
    normal = rng.standard_normal((5, draws)).astype(np.float32)
    a_codes, a = typed(normal[0:2], i.a, init)
    b_codes, b = typed(normal[2:4], i.b, init)
    # c comes rounded to A's type too where nothing shall be lost on the way, and always in its own format.
    c_start = values_of(rounded(normal[4], i.a), i.a) if init == "low" else normal[4]
    c_codes, c = typed(c_start, i.c, init)
    zero = np.zeros(draws, np.float32)
    cases = [(1, zero, a[0] * b[0]), (2, zero, a[0] * b[0] + a[1] * b[1]), (1, c, a[0] * b[0] + c)]
    plain, again = [], []
    for terms, start, truth in cases:
        a_rows, b_rows = (np.zeros((draws, i.k), codes.dtype) for codes in (a_codes, b_codes))
        a_rows[:, :terms], b_rows[:, :terms] = a_codes[:terms].T, b_codes[:terms].T
        got = values_of(i.dot(a_rows, b_rows, c_codes if start is c else rounded(zero, i.c)), i.d)
        plain.append(_mean_error(got, truth))
        again.append(_mean_error(got, values_of(rounded(truth, i.d), i.d)))
    return ElementErrors((plain[0], plain[1], plain[2]), (again[0], again[1], again[2]))


def _mean_error(got: F32, truth: F32) -> float:
    return float(np.abs(got.astype(np.float64) - truth.astype(np.float64)).mean())


def chain_errors(instruction: Instruction, init: Init, draws: int, seed: int) -> list[float]:
    """Mean relative error (paper 001, equation 1) of D after 1, 2 … products D ← D·B; infinite once one overflowed.

    Raises:
        ValueError: an instruction whose D does not fill the next A.
    """
    i, rng = instruction, np.random.default_rng(seed)
    if i.n < i.k:
        raise ValueError(f"{i.name} has n < k: its D cannot be the next A")
    a_codes, truth = typed(rng.standard_normal((draws, i.m, i.k)).astype(np.float32), i.a, init)
    errors = []
    for _ in CHAIN_LENGTHS:
        b_codes, b = typed(rng.standard_normal((draws, i.n, i.k)).astype(np.float32), i.b, init)
        rows = (draws, i.m, i.n, i.k)
        spread_a, spread_b = np.broadcast_to(a_codes[:, :, None, :], rows), np.broadcast_to(b_codes[:, None, :, :], rows)
        d = values_of(i.dot(spread_a, spread_b, np.zeros(rows[:3], bits_dtype(i.c))), i.d)
        truth = _fp32_product(truth, b)
        errors.append(_relative_error(d, truth))
        a_codes, truth = rounded(np.ascontiguousarray(d[:, :, : i.k]), i.a), truth[:, :, : i.k]
    return errors


def _fp32_product(a: F32, b: F32) -> F32:
    """A·Bᵀ in fp32, one product after another."""
    total = np.zeros((*a.shape[:2], b.shape[1]), np.float32)
    for k in range(a.shape[2]):
        total += a[:, :, None, k] * b[:, None, :, k]
    return total


def _relative_error(d: F32, truth: F32) -> float:
    if not np.isfinite(d).all():
        return float("inf")
    d64, truth64 = d.astype(np.float64), truth.astype(np.float64)
    norms = np.sqrt(((d64 - truth64) ** 2).sum(axis=(1, 2))) / np.sqrt((d64**2).sum(axis=(1, 2)))
    return float(norms.mean())


def types_of(instruction: Instruction) -> str:
    """`bf16 → fp32`."""
    return f"{instruction.a} → {instruction.d}"


def element_table(draws: int, seed: int = 0) -> str:
    """Tables 12 to 15 for every architecture, with the paper's A100 figures on sm_80."""
    lines = [
        f"Mean absolute error against fp32 over {draws} draws, on the golden model (paper 001's A100 in parentheses)",
        "operands: `low`, rounded to the type of A and B first; `fp32`, rounded by the unit alone",
        "",
        f"{'architecture':12} {'types':12} {'init':5} {'multiplication':>22} {'inner product':>22} {'accumulation':>22}",
    ]
    for arch, names in PROFILED.items():
        for name in names:
            instruction = golden.instruction(arch, name)
            for init in INITS:
                found = element_errors(instruction, init, draws, seed).against_fp32
                paper = PAPER_001.get((types_of(instruction), init)) if arch == "sm_80" else None
                cells = [
                    f"{own:.2e}" + (f" ({known:.2e})" if paper is not None else "")
                    for own, known in zip(found, paper or found, strict=True)
                ]
                lines.append(f"{arch:12} {types_of(instruction):12} {init:5} " + " ".join(f"{cell:>22}" for cell in cells))
    return "\n".join(lines) + "\n"


def main(folder: Path, draws: int) -> None:
    """Write elements.txt, and for each architecture chain.csv and chain.svg."""
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / "elements.txt", element_table(draws).encode())
    for arch, names in PROFILED.items():
        series = {}
        for name in names:
            instruction = golden.instruction(arch, name)
            for init in INITS:
                errors = chain_errors(instruction, init, draws, 0)
                series[f"{types_of(instruction)}, {init}"] = list(zip(CHAIN_LENGTHS, errors, strict=True))
        rows = [
            f"{label.replace(', ', ',')},{length},{error:.6e}" for label, line in series.items() for length, error in line
        ]
        write_atomically(folder / f"{arch}.chain.csv", ("types,init,length,error\n" + "\n".join(rows) + "\n").encode())
        finite = {label: [point for point in line if np.isfinite(point[1])] for label, line in series.items()}
        plot = svg(finite, f"{arch}: chain of matrix products, on the model", "products", "relative error")
        write_atomically(folder / f"{arch}.chain.svg", plot.encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1000)
