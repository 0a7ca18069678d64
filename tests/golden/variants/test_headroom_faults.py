"""Faults of RDNA's models that no operands can show are none."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from golden.arithmetic.formats import FP16
from golden.arithmetic.rounding import Mode
from golden.arithmetic.steps import Term, align
from golden.operations import PSFDPA
from golden.operations.headroom_fdpa import HeadroomFDPA
from golden.variants.faults import headroom_faults
from golden.variants.faulty_steps import with_short_shift


def unit(F: int) -> HeadroomFDPA:
    return PSFDPA(a=FP16, b=FP16, c=FP16, L=2, P=2, F=F, h=2, rho="RNE-FP16", e_zero=-14)


@pytest.mark.parametrize(("F", "is_fault"), [(26, False), (31, False), (32, True), (40, True)])
def test_a_short_shift_of_c_is_a_fault_where_it_does_not_hold_f(F: int, is_fault: bool) -> None:
    names = [name for name, _ in headroom_faults(unit(F))]
    assert ("alignment of c by a shift modulo 32" in names) == is_fault
    assert "alignment of products by a shift modulo 32" in names


def short(term: Term, e_max: int, F: int, mode: Mode) -> int:
    """The alignment of c by 5 bits of its shift amount."""
    return with_short_shift(5, term, e_max, F, mode) if term.frac == FP16.man_bits else align(term, e_max, F, mode)


FAR = ((0x7BFF, 0xFBFF), (0x7BFF, 0x7BFF), 0x0400)
"""Two largest products that cancel, and the smallest normal c: the longest shift of one that is not 0."""

code = st.integers(0, 0xFFFF)


@example(*FAR)
@given(st.tuples(code, code), st.tuples(code, code), code)
def test_a_short_shift_of_c_that_holds_f_changes_no_result(a: tuple[int, int], b: tuple[int, int], c: int) -> None:
    operation = unit(26)
    assert operation.with_steps(align=staticmethod(short)).step(a, b, c) == operation.step(a, b, c)


def test_a_short_shift_of_c_that_does_not_hold_f_is_shown_by_a_far_c() -> None:
    operation = unit(50)
    assert operation.with_steps(align=staticmethod(short)).step(*FAR) != operation.step(*FAR)
