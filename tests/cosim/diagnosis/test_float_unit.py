"""What hand-written floating-point units get wrong is named, one, two or three mistakes at once.

The multiplier and the multiply-add here are written down once more, as a student would: fields of fp16 codes, integers, no
part of the model.
"""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import cosim
import golden
from cosim.diagnosis.explain import Diagnosis
from golden import Operation
from golden.arithmetic.formats import FP16
from golden.operations import ADD, FMA, MUL
from tests.cosim.diagnosis.designs import Design, diagnosis

TIMES: Operation = MUL(a="fp16", b="fp16")  # type: ignore[arg-type]
FUSED: Operation = FMA(a="fp16", b="fp16", c="fp16")  # type: ignore[arg-type]
DIRECTED: Operation = FUSED.changed(rho="RZ-FP16")

INFINITY, NAN, MINUS = 0x7C00, 0x7E00, 0x8000

SENTENCES = {
    "wraps": "an exponent too large or too small wraps modulo 2^5",
    "overflow": "overflow gives 0",
    "underflow": "underflow gives infinity",
    "negative": "a stored exponent below 0 gives infinity",
    "zero-inf": "0 · inf is 0",
    "specials": "infinities and NaNs of a and b are decoded as numbers",
    "carry": "after a carry of rounding the carry stays in the fraction, as its first bit",
    "twice": "subnormal results are rounded twice, first as normal numbers",
    "zero-sign": "a product with a zero factor is +0",
    "subnormals": "subnormals of a and b count as normal numbers with a stored exponent of 0",
    "sticky": "where c is subtracted, its bits below the last place of the product count as a sticky bit of the sum",
    "lost": "where c is subtracted, its bits below the last place of the product are lost",
}  # fmt: skip
"""A mistake, and the sentence that names it."""


def significand(code: int, bugs: set[str]) -> tuple[int, int]:
    """The stored exponent of a finite operand, 1 for subnormals, and its significand."""
    exp, fraction = code >> 10 & 31, code & 0x3FF
    if exp or (fraction and "subnormals" in bugs):
        return exp, fraction | 0x400
    return 1, fraction


def times(bugs: set[str], a: int, b: int) -> int:
    """a·b in fp16, to nearest even."""
    sign = (a ^ b) & MINUS
    low = [code & 0x7FFF for code in (a, b)]
    if "specials" not in bugs and max(low) >= INFINITY:
        if max(low) > INFINITY:
            return NAN
        if min(low) == 0:
            return (0 if "zero-sign" in bugs else sign) if "zero-inf" in bugs else NAN
        return sign | INFINITY
    (e, x), (f, y) = significand(a, bugs), significand(b, bugs)
    if x * y == 0:
        return 0 if "zero-sign" in bugs else sign
    shift = (x * y).bit_length() - 11
    exp = e + f - 25 + shift
    sig = nearest(x * y, shift)
    if sig == 0x800:
        sig, exp = 0x400 | 0x200 * ("carry" in bugs and 0 < exp + 1 < 31), exp + 1
    if "wraps" in bugs and not 0 < exp < 31:
        return sign | (exp % 32) << 10 | sig & 0x3FF
    if exp >= 31:
        return sign | (0 if "overflow" in bugs else INFINITY)
    if exp <= 0 and ("underflow" in bugs or ("negative" in bugs and exp < 0)):
        return sign | INFINITY
    if exp <= 0:
        return sign | (nearest(sig, 1 - exp) if "twice" in bugs else nearest(x * y, 26 - e - f))
    return sign | exp << 10 | sig & 0x3FF


def nearest(value: int, shift: int) -> int:
    """value / 2**shift to nearest even."""
    if shift <= 0:
        return value << -shift
    kept, rest, half = value >> shift, value & (1 << shift) - 1, 1 << shift - 1
    return kept + (rest > half or (rest == half and kept & 1))


def times_plus(bugs: set[str], a: int, b: int, c: int) -> int:
    """a·b + c in fp16, to nearest even; the adder has no place below the product's last one, but a sticky bit."""
    p, z = times(set(), a, b), c
    if "zero-inf" in bugs and p & 0x7FFF > INFINITY and all(FP16.decode(code).cls < 4 for code in (a, b)):
        if z & 0x7FFF < INFINITY:
            a, b = a & MINUS, b & MINUS
        else:
            a, b, p = (a ^ b) & MINUS, 0, 0
    x, y, w = FP16.value(a), FP16.value(b), FP16.value(z)
    if x is None or y is None or w is None:
        return int(FUSED.step([a], [b], z))
    if "zero-sign" in bugs and x * y == 0:
        a, b = 0, 0
    total, grid = x * y + w, Fraction(2) ** (FP16.decode(a).exp + FP16.decode(b).exp - 20)
    kept = abs(w) // grid * grid
    if x * y * w < 0 and kept != abs(w) and bugs & {"sticky", "lost"}:
        total = x * y + (kept if w > 0 else -kept)
        if "sticky" in bugs and total:
            total += (grid if total > 0 else -grid) / 2**20
    if total == 0:
        return MINUS if (a ^ b) & c & MINUS else 0
    return FP16.encode(total) | (MINUS if total < 0 else 0)


def design(compute: Callable[..., int], bugs: set[str]) -> Design:
    """The design with some mistakes."""

    def results(operands: Any, _: Any) -> list[int]:
        rows = zip(operands.a[:, 0].tolist(), operands.b[:, 0].tolist(), operands.c.tolist(), strict=True)
        return [compute(bugs, a, b, c) if compute is times_plus else compute(bugs, a, b) for a, b, c in rows]

    return results


def names_all(found: Diagnosis, bugs: set[str]) -> bool:
    """Whether a single sentence, or several together, are those of the mistakes."""
    expected = {SENTENCES[bug] for bug in bugs}
    if len(bugs) == 1:
        return expected <= {cause.change for cause in found.causes}
    left = found.best[-1].mismatches - found.best[-1].explained
    return {cause.change for cause in found.best} == expected and not left and None not in found.of


@pytest.mark.parametrize("compute", [times, times_plus])
def test_units_without_a_mistake_agree(compute: Any) -> None:
    with pytest.raises(AssertionError, match="the design never differs"):
        diagnosis(TIMES if compute is times else FUSED, design(compute, set()), 3000)


@pytest.mark.slow
@pytest.mark.parametrize(
    "bugs",
    [
        "wraps", "overflow", "underflow", "negative", "zero-inf", "specials", "carry", "twice", "zero-sign", "subnormals",
        "overflow underflow", "zero-inf zero-sign", "wraps zero-sign", "carry negative", "twice carry",
        "subnormals overflow", "overflow underflow carry", "subnormals wraps specials", "zero-sign zero-inf twice",
    ],
)  # fmt: skip
def test_mistakes_of_a_multiplier_are_named(bugs: str) -> None:
    chosen = set(bugs.split())
    found = diagnosis(TIMES, design(times, chosen), 3000)
    assert names_all(found, chosen), found.text()


@pytest.mark.slow
@pytest.mark.parametrize("bugs", ["sticky", "lost", "zero-inf", "sticky zero-sign", "lost zero-sign"])
def test_mistakes_of_a_multiply_add_are_named(bugs: str) -> None:
    chosen = set(bugs.split())
    found = diagnosis(FUSED, design(times_plus, chosen), 3000)
    assert names_all(found, chosen), found.text()


def test_text_counts_what_each_change_leaves() -> None:
    found = diagnosis(TIMES, design(times, {"overflow", "zero-sign"}), 600)
    first, second = found.best
    assert found.lines()[1:] == [
        "  these do together, one after the other:",
        f"  {first.change}: explains {first.explained:,} of {found.mismatches:,}, and breaks no agreeing row",
        f"  then {second.change}: explains {second.explained:,} of {second.mismatches:,} that are left, "
        "and breaks no agreeing row",
    ]
    assert first.mismatches - first.explained == second.mismatches == second.explained
    assert all(line.strip() in str(found.html_body()) for line in found.lines()[1:])
    assert [each["change"] for each in found.as_dict()["best"]] == [first.change, second.change]


@pytest.mark.slow
def test_what_no_change_explains_is_counted() -> None:
    """A wrong bit in some results, beside a mistake that is known."""

    def results(operands: Any, expected: Any) -> list[int]:
        right = design(times, {"overflow"})(operands, expected)
        return [d ^ (a % 7 == 3 and 5) for a, d in zip(operands.a[:, 0].tolist(), right, strict=True)]

    found = diagnosis(TIMES, results, 1500)
    assert SENTENCES["overflow"] in {cause.change for cause in found.best}
    left = found.best[-1].mismatches - found.best[-1].explained
    assert left
    assert found.lines()[-1] == f"  {left:,} are left unexplained"
    assert sum(change is None for change in found.of) == left


VERILOG = Path(__file__).with_name("multiplier.sv")


@pytest.mark.simulator
@pytest.mark.costly
@pytest.mark.attack("designs by hand, in cosim")
@pytest.mark.parametrize("bugs", ["carry", "overflow zero-sign", "subnormals wraps specials"])
def test_mistakes_in_verilog_are_named(bugs: str) -> None:
    chosen = set(bugs.split())
    macros = {f"BUG_{bug.upper().replace('-', '_')}": "" for bug in chosen}
    ports = {"a": ("a",), "b": ("b",), "d": ("d",)}
    dut = cosim.Dut(top="multiplier", sources=(VERILOG,), defines=macros, ports=ports)
    report = cosim.run(golden.Unit(name="times", operation=TIMES), vectors=4000, seed=3, dut=dut)
    assert report.explanation is not None
    assert names_all(report.explanation.diagnoses[""], chosen), report.explanation.diagnoses[""].text()


@pytest.mark.simulator
def test_multiplier_in_verilog_is_right() -> None:
    dut = cosim.Dut(top="multiplier", sources=(VERILOG,), ports={"a": ("a",), "b": ("b",), "d": ("d",)})
    assert cosim.run(golden.Unit(name="times", operation=TIMES), vectors=4000, seed=3, dut=dut).passed


def truncating_sum(operands: Any, operation: Operation) -> list[int]:
    """a + b toward zero, by an adder that cuts what it subtracts below the last place of the larger operand."""
    found = []
    for a, b in zip(operands.a[:, 0].tolist(), operands.b[:, 0].tolist(), strict=True):
        x, y = FP16.value(a), FP16.value(b)
        if x is None or y is None or x * y >= 0:
            found.append(int(operation.step([a], [b], 0)))
            continue
        large, small = sorted((x, y), key=abs, reverse=True)
        grid = Fraction(2) ** (max(FP16.decode(a).exp, FP16.decode(b).exp) - FP16.man_bits)
        total = large + abs(small) // grid * (grid if small > 0 else -grid)
        found.append(FP16.encode(total, "RZ") | (MINUS if total < 0 else 0))
    return found


@pytest.mark.slow
def test_cut_of_either_operand_is_named() -> None:
    add: Operation = ADD(a="fp16", b="fp16", rho="RZ-FP16")  # type: ignore[arg-type]
    found = diagnosis(add, lambda operands, _: truncating_sum(operands, add), 3000)
    cut = "where {} is subtracted, its bits below the last place of {} count as a sticky bit of the sum"
    assert {cause.change for cause in found.best} == {cut.format("a", "b"), cut.format("b", "a")}
    assert None not in found.of
