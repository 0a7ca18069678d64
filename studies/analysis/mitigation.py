"""Section 6.3 of paper 000: a mitigation for each risky design, both measured on the same numbers."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import golden
from golden.formats import BF16, E4M3, FP16, Format
from golden.operations import Operation
from golden.unit import Unit
from mmau.report import markdown
from studies.analysis import PAPER
from studies.analysis.bias import CONFIDENCE, SPREAD, Statistic, Tiles, Values, drawn, native_dtype, results, statistic
from studies.pages import Files, made_by

ROWS = 512
"""Dot products of each measurement."""

LENGTH = 4096
"""Products of each."""

PROMOTED = 128
"""Products between two additions outside the unit (four FP8 instructions of Hopper)."""

TINY = 2.0**-16
"""Standard deviation of operands that are mostly subnormal in FP16, whose smallest normal number is 2^−14."""

TILES = 100

Floats = npt.NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A risky design and its replacement on the same rows: root mean square errors, relative to that of the exact results,
    and the shares of the rows in which the replacement errs less, and more."""

    risky: float
    other: float
    better: float
    worse: float


@dataclass(frozen=True, kw_only=True)
class Mitigation:
    """A mitigation: the risky design, its replacement, and the numbers of the comparison."""

    title: str
    risky: str
    other: str
    numbers: str
    measured: Measured


def operation_of(arch: str, name: str) -> Operation:
    """The operation of an instruction."""
    return golden.instruction(arch, name).operation


def summed(operation: Operation, a: Floats, b: Floats) -> Values:
    """Each row's dot product, from c = 0, all products in one chain of the unit's steps; operands rounded to its formats."""
    x, y = (array.astype(native_dtype(operand)) for array, operand in ((a, operation.a), (b, operation.b)))
    d = Unit(name="unit", operation=operation).dot(x, y, np.zeros(len(a), native_dtype(operation.c)))
    return np.asarray(d).view(native_dtype(operation.d)).astype(np.float64)


def promoted(operation: Operation, a: Floats, b: Floats) -> Values:
    """The same in parts of `PROMOTED` products, each from c = 0, added in fp32 outside the unit."""
    total = np.zeros(len(a), np.float32)
    for start in range(0, a.shape[1], PROMOTED):
        part = slice(start, start + PROMOTED)
        total += summed(operation, a[:, part], b[:, part]).astype(np.float32)
    return total.astype(np.float64)


def exact(a: Floats, b: Floats) -> Values:
    """Each row's dot product, rounded to fp64 once: products of numbers of at most 26 bits are exact in fp64."""
    products = a.astype(np.float64) * b.astype(np.float64)
    return np.array([math.fsum(row) for row in products.tolist()])


def compared(risky: Values, other: Values, truth: Values) -> Measured:
    """The errors of both designs against the exact results."""
    errors = np.abs(risky - truth), np.abs(other - truth)
    scale = float(np.sqrt((truth**2).mean()))
    rms = [float(np.sqrt((error**2).mean())) / scale for error in errors]
    return Measured(
        risky=rms[0], other=rms[1], better=float((errors[1] < errors[0]).mean()), worse=float((errors[1] > errors[0]).mean())
    )


def operands(seed: int, held_by: Format, scale: float = 1.0) -> tuple[Floats, Floats]:
    """Rows of A and columns of B from N(0, scale²), rounded to a format."""
    rng = np.random.default_rng(seed)
    a, b = (scale * rng.standard_normal((ROWS, LENGTH)) for _ in range(2))
    return a.astype(native_dtype(held_by)), b.astype(native_dtype(held_by))


def fp16_output(seed: int) -> Mitigation:
    """FP32 results in the place of FP16 ones."""
    a, b = operands(seed, FP16)
    ways = [summed(operation_of("sm_90", f"mma.m16n8k16.{types}"), a, b) for types in ("f16.f16.f16.f16", "f32.f16.f16.f32")]
    return Mitigation(
        title="FP16 output", risky="Hopper `mma.m16n8k16.f16.f16.f16.f16`", other="Hopper `mma.m16n8k16.f32.f16.f16.f32`",
        numbers="N(0, 1), FP16", measured=compared(ways[0], ways[1], exact(a, b)),
    )  # fmt: skip


def fp8_cases(seed: int) -> list[Mitigation]:
    """FP8 on Ada and Hopper: the same numbers as FP16, on a later architecture, or added outside in between."""
    a, b = operands(seed, E4M3)
    truth = exact(a, b)
    found = []
    blackwell = summed(operation_of("sm_100", "tcgen05.m64n8k32.kind::f8f6f4.f32.e4m3.e4m3"), a, b)
    for arch, marketing, name in (
        ("sm_89", "Ada", "mma.m16n8k32.f32.e4m3.e4m3.f32"),
        ("sm_90", "Hopper", "wgmma.m64n8k32.f32.e4m3.e4m3"),
    ):
        fp8 = operation_of(arch, name)
        as_fp16 = summed(operation_of(arch, "mma.m16n8k16.f32.f16.f16.f32"), a, b)
        ways: dict[str, Values] = {
            f"the same numbers as FP16, {marketing} `mma.m16n8k16.f32.f16.f16.f32`": as_fp16,
            "Blackwell `tcgen05 … kind::f8f6f4`": blackwell,
            f"sums of {PROMOTED} products added in FP32 outside the unit": promoted(fp8, a, b),
        }
        risky = summed(fp8, a, b)
        found += [
            Mitigation(
                title="FP8 with F = 13 and ρ = RZ-E8M13", risky=f"{marketing} `{name}`", other=other,
                numbers="N(0, 1), E4M3", measured=compared(risky, values, truth),
            )
            for other, values in ways.items()
        ]  # fmt: skip
    return found


def subnormals(seed: int) -> Mitigation:
    """BF16 in the place of FP16 where subnormals count as zeros (the workaround that the paper's section 2.2 tells of)."""
    a, b = operands(seed, FP16, TINY)
    fp16 = summed(operation_of("gfx90a", "v_mfma_f32_16x16x16f16"), a, b)
    as_bf16 = [array.astype(np.float32).astype(native_dtype(BF16)) for array in (a, b)]
    bf16 = summed(operation_of("gfx90a", "v_mfma_f32_16x16x16bf16_1k"), *as_bf16)
    return Mitigation(
        title="input FTZ of FP16", risky="CDNA2 `v_mfma_f32_16x16x16f16`",
        other="operands cast to BF16, CDNA2 `v_mfma_f32_16x16x16bf16_1k`", numbers="N(0, 2^−32), FP16",
        measured=compared(fp16, bf16, exact(a, b)),
    )  # fmt: skip


def bias_without_c(seed: int) -> dict[str, Statistic]:
    """CDNA3's bias where C goes through the unit, and where C = 0 there and is added in FP32 outside."""
    i = golden.instruction("gfx942", "v_mfma_f32_32x32x8_f16")
    tiles = drawn(i, TILES, seed)
    apart = Tiles(tiles.a, tiles.b, np.zeros_like(tiles.c))
    outside = results(i.operation, apart).astype(np.float32) + tiles.c  # one addition in fp32, to nearest
    ways = {"C in the unit": results(i.operation, tiles), "C = 0 in the unit, C added in FP32 outside": outside}
    return {name: statistic(tiles.exact_minus(d)) for name, d in ways.items()}


def page(seed: int) -> Files:
    """The table of mitigations and their effect."""
    cases = [fp16_output(seed), *fp8_cases(seed), subnormals(seed)]
    rows = [
        (
            case.title, case.risky, case.other, case.numbers, f"{case.measured.risky:.2e}", f"{case.measured.other:.2e}",
            f"{case.measured.risky / case.measured.other:,.1f}", f"{case.measured.better:.1%}", f"{case.measured.worse:.1%}",
        )
        for case in cases
    ]  # fmt: skip
    header = (
        "risky design", "instead of", "use", "numbers", "error, risky", "error, instead", "ratio", "rows better",
        "rows worse",
    )  # fmt: skip
    bias = bias_without_c(seed)
    of_bias = [
        (way, f"{one.results:,}", f"{one.mean:+.5f}", f"{one.low:+.5f} … {one.high:+.5f}", "yes" if one.is_biased else "no")
        for way, one in bias.items()
    ]
    text = markdown.document(
        "What helps",
        made_by("analysis-mitigation"),
        f"{PAPER}, section 6.3, advises software what to do about the designs of its table 10, and gives no measurements. "
        f"Here each advice is measured on the golden models: {ROWS} dot products of {LENGTH} products, seed {seed}. The "
        "error is the root mean square of d − exact over that of the exact results; the last columns say in how many rows "
        "the advised way errs less, and more.",
        markdown.table(header, rows),
        "Sums outside the unit are what DeepSeek does on Hopper, and BF16 is PyTorch's workaround on CDNA2 (both in the "
        "paper's section 2.2); the other rows are the advice of section 6.3.",
        "## The bias of CDNA3",
        f"`v_mfma_f32_32x32x8_f16`, A and B from {SPREAD:.0f}·N(0, 1), C from N(0, 1), {TILES} tiles, interval of "
        f"{CONFIDENCE:.0%}, as in [bias.md](bias.md). The paper: set C = 0 and add C elsewhere.",
        markdown.table(("way", "results", "mean of d − exact", "interval", "biased"), of_bias),
    )
    return {"mitigation.md": text.encode()}
