"""`python -m studies.answers docs/guides/answers`: write the tables of every page in this folder."""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np

import golden
from golden.arithmetic.format import power_of_two
from golden.files import write_atomically
from mmau.report import markdown
from studies.answers import codes, gpus
from studies.answers.gpus import FP16, Floats, matrices, percent, product
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


K = 1024

TOLERANCES = {
    "`rtol=1e-5, atol=1e-8`, NumPy's default": partial(np.isclose, rtol=1e-5, atol=1e-8),
    "`rtol=1e-3, atol=1e-5`": partial(np.isclose, rtol=1e-3, atol=1e-5),
    "`rtol=0, atol=1e-2`": partial(np.isclose, rtol=0, atol=1e-2),
}


def passes() -> str:
    """A table, by fault, of the share of results with other bits, and of the share that each tolerance refuses."""
    right = product(_hopper(), K)
    rows = []
    for label, wrong in faults().items():
        refused = [percent(~close(wrong, right)) for close in TOLERANCES.values()]
        rows.append([label, percent(wrong.view(np.uint32) != right.view(np.uint32)), *refused])
    return markdown.table(
        ("fault", "results with other bits", *(f"refused by {each}" for each in TOLERANCES)), rows, numbers=(1, 2, 3, 4)
    )


def faults() -> Mapping[str, Floats]:
    """Results of 1,024 products with something wrong, fp16 operands of N(0, 1) and fp32 results."""
    operation = _hopper().operation
    narrow = {
        f"F = {F} in place of 25": golden.Unit(name="faulty", operation=operation.changed(F=F)) for F in (24, 20, 16, 13, 10)
    }
    nearest = {
        "rounded to nearest, not toward zero": golden.Unit(name="faulty", operation=operation.changed(rho="RNE-FP32"))
    }
    results = {label: product(unit, K) for label, unit in (narrow | nearest).items()}
    results["the order of another kernel: split-K, 2 parts"] = product(_hopper(), K, golden.GemmOrder(split_k=2))
    A, B = matrices(K)
    dropped = A.copy()
    dropped[:, -1] = 0
    results["the last of 1,024 products is missing"] = np.asarray(
        golden.gemm(_hopper(), dropped, B, np.zeros((len(A), B.shape[1]), np.float32))
    )
    return results


def _hopper() -> golden.Instruction:
    return golden.instruction(*FP16["Hopper H100"])


Tables = Mapping[str, Callable[[], str]]
"""The tables that there are: name to the function that computes one, as Markdown."""

_TABLE = re.compile(r"^(<!-- table ([\w-]+) -->\n)(.*?)(?=^<!-- end of table -->$)", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"<!-- (?:end of )?table\b")


def names(text: str) -> list[str]:
    """The names of a page's tables, in order.

    Raises:
        ValueError: a mark without its counterpart.
    """
    found = [match[2] for match in _TABLE.finditer(text)]
    marks = len(_MARK.findall(text))
    if marks != 2 * len(found):
        raise ValueError(
            f"a table must stand between `table NAME` and `end of table`, got {marks} marks of {len(found)} tables"
        )
    return found


def with_tables(text: str, tables: Tables) -> str:
    """A page with each table computed anew.

    Raises:
        ValueError: a mark without its counterpart, or a table that nothing computes.
    """
    for name in names(text):
        if name not in tables:
            raise ValueError(f"a table must be one of {', '.join(tables)}; got {name}")
    return _TABLE.sub(lambda found: f"{found[1]}\n{tables[found[2]]()}\n\n", text)


def example() -> str:
    """V100's example by M. Fasi et al.: four products 2^−24, c below 1 and at 1."""
    volta, hopper, cdna1 = (
        golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32"),
        golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32"),
        golden.instruction("gfx908", "v_mfma_f32_16x16x16f16"),
    )
    pairs = [(power_of_two(-12), power_of_two(-12))] * 4
    below = 1 - power_of_two(-24)
    rows = [
        [f"c = {shown(c)}", *(shown(value_of(unit, pairs, c)) for unit in (volta, hopper, cdna1))]
        for c in (below, power_of_two(0))
    ]
    return markdown.table(("four products 2^−24", "Volta", "Hopper", "CDNA1"), rows)


TABLES: Tables = {
    "fp8-kept-bits": kept_bits,
    "fp8-mma-and-wgmma": mma_and_wgmma,
    "gpus-differing": gpus.differing_shares,
    "gpus-exact": gpus.exact_beside_units,
    "gpus-orders": gpus.orders,
    "tolerances": passes,
    "zeros-and-nan": codes.zeros_and_nan,
    "cdna": codes.cdna,
    "rdna": codes.rdna,
    "amx": codes.amx,
    "vortex": codes.vortex,
    "vortex-share": codes.vortex_share,
    "monotonic-example": example,
}


def main(arguments: Sequence[str]) -> None:
    """Write the pages.

    Raises:
        ValueError: wrong arguments, or a page's marks are wrong. OSError: a file cannot be read or written.
    """
    if len(arguments) != 1:
        raise ValueError(f"arguments must be FOLDER, got {len(arguments)}")
    for page in sorted(Path(arguments[0]).glob("*.md")):
        write_atomically(page, with_tables(page.read_text(encoding="utf-8"), TABLES).encode())


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (ValueError, OSError) as error:
        sys.exit(f"studies.answers: {error}")
