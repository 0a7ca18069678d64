"""Rows whose results show a rule of each unit: zeros and NaN, flushing, rounding down, one's complement, sticky bits."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

import golden
from golden.arithmetic.format import power_of_two
from mmau.report import markdown
from studies.answers.gpus import K, exact_unit, matrices, percent
from studies.answers.rows import Model, Number, code_of, codes_to_code, products_of, shown, value_of

Pairs = Sequence[tuple[Number, Number]]

VORTEX = Path(__file__).parents[2] / "examples" / "units" / "vortex-tfr.toml"

SPECIAL = {
    "Hopper": ("sm_90", "mma.m16n8k16.f32.f16.f16.f32"),
    "CDNA2": ("gfx90a", "v_mfma_f32_16x16x16f16"),
    "CDNA3": ("gfx942", "v_mfma_f32_16x16x16_f16"),
    "RDNA4": ("gfx1201", "v_wmma_f32_16x16x16_f16_w64"),
    "AVX-512": ("x86-avx512", "vdpbf16ps"),
    "AMX": ("x86-amx", "tdpbf16ps.m16n16k32"),
    "Arm": ("aarch64", "bfdot"),
}


def zeros_and_nan() -> str:
    """Codes of d where terms are zeros, NaN or infinite."""
    rows = []
    for label, (arch, name) in SPECIAL.items():
        unit = golden.instruction(arch, name)
        cells = [f"`{special(unit, a, b, c):#010x}`" for a, b, c in _SPECIAL_ROWS.values()]
        fixed = "yes" if unit.operation.nan_is_fixed() else "no"
        rows.append([label, f"`{name}`", *cells, fixed, unit.evidence])
    return markdown.table(("unit", "instruction", *_SPECIAL_ROWS, "NaN code known", "evidence"), rows)


_SPECIAL_ROWS: Mapping[str, tuple[str, str, str]] = {
    "all terms −0": ("-0", "1", "-0"),
    "1 − 1": ("1", "1", "-1"),
    "NaN in a": ("nan", "1", "1"),
    "NaN in c": ("1", "1", "nan"),
    "∞ · 0": ("inf", "0", "1"),
    "∞ − ∞": ("inf", "1", "-inf"),
}
"""a[0], b[0] and c of each row. Other elements are 0; where a[0] is −0, all of a are −0 and all of b 1."""


def special(unit: golden.Instruction, a: str, b: str, c: str) -> int:
    """d as its code, of numbers or special values by name."""
    K = products_of(unit)
    filled = a == "-0"
    elements = [_named(unit.a, a)] + [_named(unit.a, a) if filled else 0] * (K - 1)
    factors = [_named(unit.b, b)] + [_named(unit.b, b) if filled else 0] * (K - 1)
    return codes_to_code(unit, elements, factors, _named(unit.operation.c, c))


def _named(fmt: golden.Format, name: str) -> int:
    match name:
        case "-0":
            return fmt.negative_zero
        case "nan":
            assert fmt.nan is not None
            return fmt.nan
        case "inf" | "-inf":
            return fmt.signed_infinity(int(name == "-inf"))
        case _:
            return fmt.encode(int(name))


def cdna() -> str:
    """Table of CDNA2's flushes and CDNA3's rounding down, beside CDNA1."""
    units: dict[str, Model] = {
        "CDNA1, fp16": golden.instruction("gfx908", "v_mfma_f32_16x16x16f16"),
        "CDNA2, fp16": golden.instruction("gfx90a", "v_mfma_f32_16x16x16f16"),
        "CDNA2, bf16": golden.instruction("gfx90a", "v_mfma_f32_16x16x16bf16_1k"),
        "CDNA3, fp16": golden.instruction("gfx942", "v_mfma_f32_16x16x16_f16"),
    }
    one = Fraction(1)
    inputs: Mapping[str, tuple[Pairs, Number]] = {
        "2^−14 · 2^14": ([(power_of_two(-14), power_of_two(14))], 0),
        "2^−15 · 2^15, subnormal in fp16": ([(power_of_two(-15), power_of_two(15))], 0),
        "c = 2^−130, subnormal in fp32": ([], power_of_two(-130)),
        "1·1 + c, c = −2^−25": ([(one, one)], -power_of_two(-25)),
        "−1·1 + c, c = 2^−25": ([(-one, one)], power_of_two(-25)),
    }
    return _by_input(units, inputs)


def rdna() -> str:
    """A table of one step of RDNA3, one of RDNA4, and the exact sum rounded once."""
    units: dict[str, Model] = {
        "RDNA3": golden.instruction("gfx1100", "v_dot2_f32_f16"),
        "RDNA4": golden.instruction("gfx1201", "v_dot2_f32_f16"),
        "exact, rounded": exact_unit(2),
    }
    inputs: Mapping[str, tuple[Pairs, Number]] = {
        "1·1, c = −1": ([(1, 1), (0, 0)], -1),
        "−1·1, c = 1": ([(-1, 1), (0, 0)], 1),
        "1·1 − 1·1, c = 0": ([(1, 1), (-1, 1)], 0),
        "1·1 + 1·1, c = −2": ([(1, 1), (1, 1)], -2),
        "−2^−14·1, c = 2^−14": ([(-power_of_two(-14), 1), (0, 0)], power_of_two(-14)),
        "3·8 + 8·4, c = 1: one sign": ([(3, 8), (8, 4)], 1),
        "3·8 + 8·4, c = −1": ([(3, 8), (8, 4)], -1),
    }
    return _by_input(units, inputs)


def amx() -> str:
    """Subnormal operands and results on AMX, AVX-512 and Arm, beside Hopper's bf16 instruction."""
    units: dict[str, Model] = {
        "AMX `tdpbf16ps`": golden.instruction("x86-amx", "tdpbf16ps.m16n16k32"),
        "AVX-512 `vdpbf16ps`": golden.instruction("x86-avx512", "vdpbf16ps"),
        "Arm `bfdot`": golden.instruction("aarch64", "bfdot"),
        "Hopper `mma`": golden.instruction("sm_90", "mma.m16n8k16.f32.bf16.bf16.f32"),
    }
    smallest = power_of_two(-126)
    inputs: Mapping[str, tuple[Pairs, Number]] = {
        "2^−126 · 1, the smallest normal number": ([(smallest, 1)], 0),
        "2^−130 · 2^10, a subnormal operand": ([(power_of_two(-130), power_of_two(10))], 0),
        "2^−70 · 2^−60, a subnormal product": ([(power_of_two(-70), power_of_two(-60))], 0),
        "c = 2^−130": ([], power_of_two(-130)),
        "2^−126 · 1 + c, c = −2^−127": ([(smallest, 1)], -power_of_two(-127)),
    }
    return _by_input(units, inputs)


def vortex() -> str:
    """Vortex's fp16 unit, four products, beside Hopper and an exact sum."""
    units: dict[str, Model] = {
        "Vortex TFR": golden.load_unit(VORTEX),
        "Hopper": golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32"),
        "exact, rounded to nearest": exact_unit(4),
    }
    half, tiny = (power_of_two(-10), power_of_two(-14)), (power_of_two(-14), power_of_two(-14))
    inputs: Mapping[str, tuple[Pairs, Number]] = {
        "c = 1, product 2^−24: a tie": ([half], 1),
        "c = 1, products 2^−24 and 2^−28: above the tie": ([half, tiny], 1),
        "c = 1, products 2^−24, 2^−28 and −2^−28: a tie": ([half, tiny, (-power_of_two(-14), power_of_two(-14))], 1),
        "c = 2^−130": ([], power_of_two(-130)),
        "1·1, c = −1": ([(1, 1)], -1),
    }
    return _by_input(units, inputs)


def vortex_share() -> str:
    """How often Vortex's result differs on sums of 16 products of N(0, 1)."""
    A, B = matrices(K)
    zero = np.zeros((len(A), B.shape[1]), np.float32)
    d = golden.gemm(golden.load_unit(VORTEX), A, B, zero)
    others: dict[str, Model] = {
        "Hopper": golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32"),
        "Ampere": golden.instruction("sm_80", "mma.m16n8k16.f32.f16.f16.f32"),
        "exact sums of four products and c, each rounded to nearest": exact_unit(4),
    }
    rows = [[label, percent(golden.gemm(other, A, B, zero) != d)] for label, other in others.items()]
    return markdown.table(("beside", "results with other bits"), rows, numbers=(1,))


def _by_input(units: Mapping[str, Model], inputs: Mapping[str, tuple[Pairs, Number]]) -> str:
    """Rows of inputs, columns of units."""
    rows = [[text, *(_result(unit, pairs, c) for unit in units.values())] for text, (pairs, c) in inputs.items()]
    return markdown.table(("input", *units), rows)


def _result(unit: Model, pairs: Pairs, c: Number) -> str:
    d = unit.operation.d
    code = code_of(unit, pairs, c)
    return "−0" if code == d.negative_zero else shown(value_of(unit, pairs, c))
