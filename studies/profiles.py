"""Numeric profiles of paper 001 (W. Sun et al., TPDS 2023, section 8), run on the golden models.

    python -m studies.profiles FOLDER [DRAWS]

Element-wise error of a multiplication x·y, of an addition inside the dot product x·1 + y·1 and of an accumulation x·1 + y
with y as c (its tables 12 to 15), and the relative error of chains of matrix products (its figure 17), against fp32
arithmetic with rounding to nearest. Operands are drawn from the normal distribution (0, 1), either rounded to the type of A
and B before anything is computed (`low`), or as fp32 that only the unit under test sees rounded (`fp32`). The element-wise
draws are those of the paper's own programs (`studies.normal_draws`); so is c, which those leave in fp32 beside BF16
operands. The chains of 1000 draws take hours on the reference engine and minutes on the native one.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

import golden
from golden import Instruction
from golden.arrays import bits_dtype, float_dtype
from golden.files import write_atomically
from golden.formats import BF16, TF32, Format
from mmau.report.figures import line_plot
from studies.normal_draws import F32, normal_draws
from studies.published_profiles import PAPER_001, Init

INITS: tuple[Init, ...] = get_args(Init)

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

OPERATIONS = ("multiplication", "inner product", "accumulation")
"""The columns of the tables, in the paper's order."""

Errors = tuple[float, float, float]
"""Mean absolute errors of `OPERATIONS`."""


@dataclass(frozen=True)
class ElementErrors:
    """Mean absolute errors of the three operations, and of the same against the fp32 result rounded to d."""

    against_fp32: Errors
    against_rounded: Errors


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
    """The operands of the unit as codes, and those of the fp32 arithmetic."""
    codes = rounded(values, operand)
    return codes, values_of(codes, operand) if init == "low" else values


def initialised(pairs: F32, operand: Format, init: Init) -> F32:
    """Draws as the paper's programs begin with them: `low` rounds to the type of A and B, and truncates to tf32."""
    if init == "fp32":
        return pairs
    if operand == TF32:
        return (pairs.view(np.uint32) & np.uint32(0xFFFFFFFF << TF32.pad_bits & 0xFFFFFFFF)).view(np.float32)
    return values_of(rounded(pairs, operand), operand)


def element_errors(instruction: Instruction, init: Init, pairs: F32) -> ElementErrors:
    """The three errors of an instruction, averaged over pairs of draws.

    Args:
        pairs: x and y of each experiment, [draws, 2], at least one.
    """
    i = instruction
    x, y = initialised(pairs, i.a, init).T
    one, zero = np.ones_like(x), np.zeros_like(x)
    c = pairs[:, 1] if i.a == BF16 else y
    cases = [(x[:, None], y[:, None], zero, x * y), (np.stack([x, y], 1), np.stack([one, one], 1), zero, x + y)]
    cases.append((x[:, None], one[:, None], c, x + c))
    plain, again = [], []
    for a, b, start, truth in cases:
        rows = [np.zeros((len(pairs), i.k), bits_dtype(f)) for f in (i.a, i.b)]
        for row, values, operand in zip(rows, (a, b), (i.a, i.b), strict=True):
            row[:, : values.shape[1]] = rounded(np.ascontiguousarray(values), operand)
        got = values_of(i.dot(rows[0], rows[1], rounded(np.ascontiguousarray(start), i.c)), i.d)
        plain.append(_mean_error(got, truth))
        again.append(_mean_error(got, values_of(rounded(truth, i.d), i.d)))
    return ElementErrors((plain[0], plain[1], plain[2]), (again[0], again[1], again[2]))


def _mean_error(got: F32, truth: F32) -> float:
    return float(np.abs(got.astype(np.float64) - truth.astype(np.float64)).mean())


def chain_errors(instruction: Instruction, init: Init, draws: int) -> list[float]:
    """Mean relative error (paper 001, equation 1) of D after 1, 2 … products D ← D·B; infinite once one overflowed.

    Raises:
        ValueError: an instruction whose D does not fill the next A.
    """
    i, rng = instruction, np.random.default_rng(0)
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


def element_table(draws: int) -> str:
    """Tables 12 to 15 for every architecture, with the paper's A100 figures on sm_80."""
    lines = [
        f"Mean absolute error over the first {draws} pairs that paper 001's programs draw, on the golden model",
        "(the paper's A100 in parentheses)",
        "operands: `low`, rounded to the type of A and B first; `fp32`, rounded by the unit alone",
        "against: fp32 arithmetic, or its result rounded to fp16",
        "",
        f"{'architecture':12} {'types':12} {'init':5} {'against':8}" + "".join(f"{name:>23}" for name in OPERATIONS),
    ]
    pairs = paper_pairs(draws)
    for arch, names in PROFILED.items():
        for name in names:
            instruction = golden.instruction(arch, name)
            for init in INITS:
                found = element_errors(instruction, init, pairs)
                for against, errors in against_of(found, instruction):
                    paper = PAPER_001.get((types_of(instruction), init, against)) if arch == "sm_80" else None
                    cells = [
                        f"{own:.2e}" + (f" ({known})" if known else "")
                        for own, known in zip(errors, paper or ("", "", ""), strict=True)
                    ]
                    label = f"{arch:12} {types_of(instruction):12} {init:5} {against:8}"
                    lines.append(label + "".join(f"{cell:>23}" for cell in cells))
    return "\n".join(lines) + "\n"


def paper_pairs(draws: int = 1000) -> F32:
    """x and y of the paper's experiments, [draws, 2]: every operation begins with the same seed."""
    return normal_draws(2 * draws).reshape(draws, 2)


def against_of(found: ElementErrors, instruction: Instruction) -> list[tuple[str, Errors]]:
    """The errors that the paper has: where results are fp16 also those against the rounded fp32 result."""
    narrow = [(instruction.d.name, found.against_rounded)] if instruction.d.name == "fp16" else []
    return [("fp32", found.against_fp32), *narrow]


def main(folder: Path, draws: int) -> None:
    """Write elements.txt, and for each architecture chain.csv and chain.svg."""
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / "elements.txt", element_table(draws).encode())
    for arch, names in PROFILED.items():
        series = {}
        for name in names:
            instruction = golden.instruction(arch, name)
            for init in INITS:
                errors = chain_errors(instruction, init, draws)
                series[f"{types_of(instruction)}, {init}"] = list(zip(CHAIN_LENGTHS, errors, strict=True))
        rows = [
            f"{label.replace(', ', ',')},{length},{error:.6e}" for label, line in series.items() for length, error in line
        ]
        write_atomically(folder / f"{arch}.chain.csv", ("types,init,length,error\n" + "\n".join(rows) + "\n").encode())
        finite = {label: [point for point in line if np.isfinite(point[1])] for label, line in series.items()}
        plot = line_plot(finite, f"{arch}: chain of matrix products, on the model", "products", "relative error")
        write_atomically(folder / f"{arch}.chain.svg", plot)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1000)
