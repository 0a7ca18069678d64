"""Products and sums that are each rounded by themselves (beside QEMU: test_aarch64_peer)."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import golden
from golden.arithmetic.formats import BF16, FP32, Format
from golden.chains.chain import PAIRED, Chain
from golden.operations import FMA, Operation
from golden.stimulus import OperandShape, generate
from mmau.cli import main

BFDOT, BFMMLA = (golden.instruction("aarch64", name) for name in ("bfdot", "bfmmla"))


def finite(operand: Format, code: int) -> Fraction:
    value = operand.value(code)
    assert value is not None
    return value


def to_odd(x: Fraction) -> Fraction:
    """24 bits, the last of them one where any was lost."""
    if not x:
        return x
    bit = Fraction(2) ** ((abs(x).numerator.bit_length() - abs(x).denominator.bit_length()) - 25)
    while abs(x) >= bit * (1 << 24):
        bit *= 2
    kept = abs(x) // bit
    kept |= kept * bit != abs(x)
    return kept * bit if x > 0 else -kept * bit


def test_rounding_to_odd_by_fractions() -> None:
    """Random normal numbers: no flush, no overflow, nothing but the roundings and their order."""
    rng = np.random.default_rng(5)
    a, b = (
        rng.integers(0x3800, 0x4700, (300, 4)).astype(np.uint16) | rng.integers(0, 2, (300, 4)).astype(np.uint16) << 15
        for _ in "ab"
    )
    c = rng.integers(0x38000000, 0x47000000, 300).astype(np.uint32) | rng.integers(0, 2, 300).astype(np.uint32) << 31
    got = BFMMLA.dot(a, b, c)
    for row in range(300):
        x, y = ([finite(BF16, int(code)) for code in codes[row]] for codes in (a, b))
        d = finite(FP32, int(c[row]))
        for k in (0, 2):
            d = to_odd(d + to_odd(x[k] * y[k] + x[k + 1] * y[k + 1]))
        assert finite(FP32, int(got[row])) == d


@pytest.mark.slow
@pytest.mark.parametrize("instruction", [BFDOT, BFMMLA], ids=lambda i: i.name)
def test_engines_agree_and_traces_end_in_the_same(instruction: golden.Instruction) -> None:
    operands = generate(OperandShape.of(instruction), 2_000, seed=9).operands
    native = instruction.dot(*operands)
    np.testing.assert_array_equal(native, instruction.dot(*operands, engine="reference"))
    special = np.flatnonzero(native & 0x7F800000 == 0x7F800000)[:4]
    assert len(special) == 4
    for row in (*range(0, 2_000, 400), *special):
        trace = instruction.explain(operands.a[row], operands.b[row], operands.c[row])
        assert trace.d == trace.steps[-1].d.code == native[row]
        assert len(trace.steps) == 2 * instruction.k
        assert trace.text()


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_zeros_that_are_all_negative_give_one(engine: str) -> None:
    """A product is rounded as if by itself: to −0 it is added, which changes no product."""
    a, b = np.full((1, 2), 0x8000, np.uint16), np.full((1, 2), 0x3F80, np.uint16)
    c = np.full(1, 0x80000000, np.uint32)
    assert BFDOT.dot(a, b, c, engine=engine).tolist() == [0x80000000]


def test_tiles_are_their_elements() -> None:
    rng = np.random.default_rng(2)
    A, B = rng.integers(0, 1 << 16, (2, 4)).astype(np.uint16), rng.integers(0, 1 << 16, (4, 2)).astype(np.uint16)
    C = rng.integers(0, 1 << 32, (2, 2)).astype(np.uint32)
    expected = [[int(BFMMLA.dot(A[i], B[:, j], C[i, j])) for j in range(2)] for i in range(2)]
    np.testing.assert_array_equal(BFMMLA(A, B, C), np.array(expected, np.uint32))


@pytest.mark.parametrize(
    "operation", [FMA(a=FP32, b=FP32, c=FP32), golden.instruction("x86-avx512", "vdpbf16ps").operation], ids=str
)
def test_operation_of_another_kind_is_refused(operation: Operation) -> None:
    with pytest.raises(ValueError, match=r"^operation of a paired chain must be FMA of bf16 with fp32; got "):
        Chain(operation, PAIRED)


def test_odd_number_of_products_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^K of a paired chain must be even, got 3$"):
        BFDOT.chain([0] * 3, [0] * 3, 0)


@pytest.mark.slow
def test_its_verilog_is_one_multiply_add_and_it_has_no_tile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--arch", "aarch64", "--instr", "bfmmla"]
    assert main.main(["rtl", *where, "-o", str(tmp_path / "u.v")]) == 0
    assert 'name = "multiply-add of aarch64 bfmmla"' in (tmp_path / "u.v").read_text()
    assert main.main(["vectors", *where, "--vectors", "9", "-o", str(tmp_path / "v.txt")]) == 0
    assert "## every product and every sum of two is rounded by itself" in (tmp_path / "v.txt").read_text()
    capsys.readouterr()
    assert main.main(["rtl", *where, "--tile", "2x2"]) == 2
    message = "bfmmla has no tile: its products and sums are rounded by themselves, not in steps"
    assert capsys.readouterr().err == f"mmau rtl: {message}\n"
