"""Microscaled vectors of RISC-V's draft: the results are those of its pseudocode on rational numbers."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from golden import Unit
from golden.arithmetic.rounding import Mode
from golden.operations import EFDPA
from golden.stimulus import Operands, OperandShape, generate, rows_of
from golden.units.unit_file import unit_from_table
from mmau import OK
from mmau.analysis.disclosure import FRM, in_mode, reduction_of
from mmau.analysis.microscaling import scale_in, scaled_dot, scaled_shape
from mmau.cli import main
from tests.docs.documents import ROOT
from tests.mmau.analysis.test_disclosure import MX, RTO, RVBNA, XCT, with_sums
from tests.twin.twin_numbers import decode, encode

OF_FP8 = unit_from_table(
    {"name": "x", "operation": "E-FDPA", "L": 8, "a": "e4m3", "b": "e5m2", "c": "fp16", "rho": "RNE-FP16",
     "overflow": "by-mode", "zero": "ieee"}
)  # fmt: skip

WIDE = unit_from_table(
    {"name": "y", "operation": "E-FDPA", "L": 32, "a": "e2m1", "b": "e2m1", "c": "fp32",
     "overflow": "by-mode", "zero": "ieee"}
)  # fmt: skip

UNITS = {"xct": OF_FP8, "shortened": WIDE, "rto": RTO, "frm": with_sums(RTO, node="RNE-e5m10")}


def element(unit: Unit, row: Sequence[Sequence[int]], c: int, group: int, rnd: str, mode: str, block: int) -> int | None:
    """One element as the pseudocode `fp_scaled_gemm` has it; None where a number of it is none, or is zero."""
    form = unit.operation.c.name

    def rounded(value: Fraction, by: str) -> Fraction | None:
        number = decode(form, encode(form, value, by, "by-mode"))
        return number.value if number.kind == "finite" and number.value else None

    names = (unit.a.name, unit.b.name, "ue8m0", "ue8m0")
    numbers = [[decode(name, code) for code in codes] for name, codes in zip(names, row, strict=True)]
    acc = decode(form, c)
    if any(number.kind != "finite" for each in (*numbers, [acc]) for number in each):
        return None
    a, b, *scales = ([number.value for number in each] for each in numbers)
    value: Fraction | None = acc.value
    for start in range(0, len(a), group):
        decoded = [rounded(each[start // block], "RNE") for each in scales]
        scale = None if None in decoded else rounded(decoded[0] * decoded[1], mode)  # type: ignore[operator]
        S: Fraction | None = sum((a[k] * b[k] for k in range(start, start + group)), Fraction(0))
        if S and rnd != "xct":
            S = rounded(S, "RO" if rnd == "rto" else mode)
            S = S and scale and rounded(S * scale, mode)
        elif S:
            S = S * scale if scale else None
        if not S or value is None:
            return None
        value = rounded(value + S, mode)
    return None if value is None else encode(form, value, mode, "by-mode")


@pytest.mark.parametrize("mode", FRM)
@pytest.mark.parametrize("node", ["RO-e8m23", "RNE-e8m23"], ids=["rto", "frm"])
def test_a_unit_with_scales_computes_them_too(node: str, mode: Mode) -> None:
    """Every row, with NaN and infinite scales, and of the least and the largest exponents."""
    scaled = in_mode(with_sums(MX, node=node), mode)
    assert scaled.sums is not None
    plain = replace(scaled, operation=EFDPA(L=1, a=MX.a, b=MX.b, c=MX.c), sums=replace(scaled.sums, scaled=None))
    rows = generate(OperandShape.of(scaled, 64), 1500, seed=7).operands
    got = scaled.dot(*rows)
    assert got.tolist() == scaled_dot(plain, rows, 32).tolist()
    assert got.tolist() != in_mode(scaled, "RU" if mode == "RD" else "RD").dot(*rows).tolist()


@pytest.mark.parametrize("mode", FRM)
@pytest.mark.parametrize("name", UNITS)
def test_rows_are_those_of_the_pseudocode(name: str, mode: Mode) -> None:
    unit, block = in_mode(UNITS[name], mode), 16
    rows = generate(scaled_shape(unit, block), 500, seed=5).operands
    # scales of 2^-7 to 1 and numbers of e5m2 below 2, so that most sums are numbers
    near = {key: (getattr(rows, key) % 8 + 120).astype(np.uint8) for key in ("scale_a", "scale_b")}
    rows, found = rows._replace(b=rows.b & np.uint8(0xBF), **near), reduction_of(unit)
    group = min(found.products, block)
    expected = [
        element(unit, (row.a, row.b, row.scale_a, row.scale_b), row.c, group, found.rnd, mode, block)
        for row in rows_of(rows)
    ]
    pairs = [
        (got, want) for got, want in zip(scaled_dot(unit, rows, block).tolist(), expected, strict=True) if want is not None
    ]
    assert len(pairs) > 100
    assert [got for got, _ in pairs] == [want for _, want in pairs]


def test_rounding_of_partial_sums_and_blocks_matter() -> None:
    rows = generate(scaled_shape(RTO, 16), 2000, seed=5).operands
    near = rows._replace(scale_a=np.full_like(rows.scale_a, 127), scale_b=np.full_like(rows.scale_b, 127))
    results = [scaled_dot(unit, near, 16) for unit in (RTO, UNITS["frm"], OF_FP8, in_mode(RTO, "RZ"))]
    results.append(scaled_dot(RTO, near._replace(scale_a=np.full_like(rows.scale_a, 128)), 16))
    for n, one in enumerate(results):
        assert all((one != other).any() for other in results[:n])


def one_row(a: float, scale_a: int, scale_b: int, c: int = 0x3C00) -> Operands:
    """A row of two blocks of 16 whose first product in each half of the first block is a · 1; the others are zeros."""
    codes, ones = np.zeros((1, 32), np.uint8), np.zeros((1, 32), np.uint8)
    codes[0, [0, 8]], ones[0, [0, 8]] = {1.0: 0x38, -1.0: 0xB8, 0.0: 0}[a], 0x3C
    scales = [np.array([[code, 127]], np.uint8) for code in (scale_a, scale_b)]
    return Operands(codes, ones, np.array([c], np.uint16), *scales)


SPECIAL: list[tuple[float, int, int, Mode, int]] = [
    (1.0, 0xFF, 127, "RNE", 0x7E00),  # a scale that is NaN gives the default NaN
    (0.0, 127, 0xFF, "RNE", 0x7E00),
    (1.0, 254, 127, "RNE", 0x7C00),  # 2^127 is infinite in fp16
    (-1.0, 254, 127, "RNE", 0xFC00),
    (0.0, 254, 127, "RNE", 0x7E00),  # ∞ · 0
    (1.0, 254, 0, "RNE", 0x7E00),  # ∞ · 2^-127, which is 0 in fp16
    (1.0, 0, 127, "RNE", 0x3C00),
    (1.0, 140, 140, "RNE", 0x7C00),  # 2^13 · 2^13
    (1.0, 140, 140, "RZ", 0x7BFF),  # the largest number, plus 1
    (1.0, 128, 127, "RNE", 0x4500),  # 1 + 2 + 2
]


@pytest.mark.parametrize("unit", [OF_FP8, RTO], ids=["xct", "rto"])
@pytest.mark.parametrize(("a", "scale_a", "scale_b", "mode", "expected"), SPECIAL)
def test_special_scales(unit: Unit, a: float, scale_a: int, scale_b: int, mode: Mode, expected: int) -> None:
    assert int(scaled_dot(in_mode(unit, mode), one_row(a, scale_a, scale_b), 16)[0]) == expected


def test_infinite_scale_of_a_sum_that_has_both_signs() -> None:
    """S is summed before it is scaled: 2 − 1 under an infinite scale is infinite, not ∞ − ∞."""
    rows = one_row(1.0, 254, 127)
    rows.a[0, :2], rows.b[0, :2] = (0x40, 0xB8), (0x3C, 0x3C)
    assert int(scaled_dot(OF_FP8, rows, 16)[0]) == 0x7C00


def test_scales_in_the_format_of_c() -> None:
    fp16, fp32 = OF_FP8.operation.c, WIDE.operation.c
    assert [scale_in(fp16, code) for code in (0, 102, 103, 127, 142, 143)] == [0, 0, 1, 0x3C00, 0x7800, 0x7C00]
    assert [scale_in(fp32, code) for code in (0, 1, 254, 255)] == [0x0040_0000, 0x0080_0000, 0x7F00_0000, 0x7FC0_0000]


def test_files_of_vectors(tmp_path: Path) -> None:
    file = str(ROOT / "examples" / "units" / "riscv-fp8-rto.toml")
    assert main.main(["disclose", file, "--block", "16", "--vectors", "3", "-o", str(tmp_path)]) == OK
    row = [int(word, 16) for word in (tmp_path / "riscv-fp8-rto-mx16-rdn.txt").read_text().splitlines()[-1].split()]
    a, b, alpha, beta = (np.array([codes], np.uint8) for codes in (row[:32], row[32:64], row[64:66], row[66:68]))
    rows = Operands(a, b, np.array(row[68:69], np.uint16), alpha, beta)
    assert row[69:] == scaled_dot(in_mode(RTO, "RD"), rows, 16).tolist()
    assert len(list(tmp_path.glob("*.txt"))) == 10


@pytest.mark.parametrize("unit", [RVBNA, XCT, MX], ids=["psm = 1", "W = 1", "scales of its own"])
def test_what_the_draft_leaves_open_is_refused(unit: Unit) -> None:
    rule = "microscaled vectors are of psm = 0, W from 2 on, a C with infinities, and of units without scales of their own"
    with pytest.raises(ValueError, match=f"{rule}; got psm = "):
        scaled_shape(unit, 32)
