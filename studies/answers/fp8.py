"""FP8: how many bits of a sum are kept, and what `mma.sync` does on Hopper."""

from fractions import Fraction

import golden
from golden.format import power_of_two
from mmau.report import markdown
from studies.answers.rows import Model, shown, value_of

UNITS = {
    "Ada `mma`": ("sm_89", "mma.m16n8k32.f32.e4m3.e4m3.f32"),
    "Hopper `wgmma`": ("sm_90", "wgmma.m64n8k32.f32.e4m3.e4m3"),
    "Hopper `mma.sync`": ("sm_90", "mma.m16n8k32.f32.e4m3.e4m3.f32"),
    "Blackwell `tcgen05`": ("sm_100", "tcgen05.m64n8k32.kind::f8f6f4.f32.e4m3.e4m3"),
    "Blackwell `mma.sync`": ("sm_100", "mma.m16n8k32.f32.e4m3.e4m3.f32"),
    "RTX Blackwell `mma`": ("sm_120", "mma.m16n8k32.f32.e4m3.e4m3.f32"),
    "CDNA3 `v_mfma`": ("gfx942", "v_mfma_f32_16x16x32_fp8_fp8"),
}
"""Instructions that multiply e4m3 and give fp32."""

TOP = 14
"""Exponent of the large product, 2^7 · 2^7, which every e4m3 holds."""


def kept_bits() -> str:
    """A table of the smallest product that survives beside a larger one, and of the mantissa bits of c that each unit
    keeps."""
    rows = []
    for label, (arch, name) in UNITS.items():
        unit = golden.instruction(arch, name)
        rows.append([label, f"2^−{kept_below(unit)}", str(kept_of_c(unit)), unit.operation.name, unit.evidence])
    header = ("unit", "smallest product kept, relative to the largest", "bits of c kept", "operation", "evidence")
    return markdown.table(header, rows, numbers=(1, 2))


def kept_below(unit: Model) -> int:
    """How far below the largest product another one may lie and still count, once c has cancelled the larger."""
    n = 0
    while value_of(unit, [_product(TOP), _product(TOP - 1 - n)], -power_of_two(TOP)) == power_of_two(TOP - 1 - n):
        n += 1
    return n


def kept_of_c(unit: Model) -> int:
    """The number of mantissa bits of c that d keeps where all products are 0."""
    return max(n for n in range(24) if value_of(unit, [], 1 + power_of_two(-n)) == 1 + power_of_two(-n))


def mma_and_wgmma() -> str:
    """A table of the same four rows on Hopper's two FP8 instructions and on its FP16 instruction."""
    units = {
        "`wgmma`, FP8": golden.instruction(*UNITS["Hopper `wgmma`"]),
        "`mma.sync`, FP8": golden.instruction(*UNITS["Hopper `mma.sync`"]),
        "`mma.sync`, FP16": golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32"),
    }
    two = power_of_two(-7)
    inputs: dict[str, tuple[list[tuple[Fraction, Fraction]], Fraction]] = {
        "c = 1 + 2^−23, all products 0": ([], 1 + power_of_two(-23)),
        "1·1 + 2^−7·2^−7, c = 0": ([(Fraction(1), Fraction(1)), (two, two)], Fraction(0)),
        "2^−7·2^−7, c = 1": ([(two, two)], Fraction(1)),
        "2^7·2^7 + 2^−4·2^−4 − 2^7·2^7, c = 0": (
            [_product(TOP), (power_of_two(-4), power_of_two(-4)), (-power_of_two(7), power_of_two(7))],
            Fraction(0),
        ),
    }
    rows = [[text, *(shown(value_of(unit, pairs, c)) for unit in units.values())] for text, (pairs, c) in inputs.items()]
    return markdown.table(("input", *units), rows)


def _product(exponent: int) -> tuple[Fraction, Fraction]:
    """Two powers of two of this product, each as near to its square root as e4m3 and e4m3fnuz hold."""
    half = exponent // 2
    return power_of_two(half), power_of_two(exponent - half)
