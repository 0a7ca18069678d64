"""The trace of a dot product gives the engine's d, and its parts hold together by independent arithmetic."""

import json
import random

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import golden
from golden.arithmetic.formats import FP16, FP32
from golden.chains.chain import Chain, product_order, steps_for
from golden.operations import TFDPA
from golden.trace import Rounding, Special, Sum, Trace, trace_of
from tests.golden.distinct_arithmetics import distinct_arithmetic
from tests.golden.inputs import operands
from tests.golden.strategies import cases
from tests.golden.trace.trace_problems import problems


@pytest.mark.slow
@pytest.mark.parametrize("name", golden.OPERATIONS)
@settings(max_examples=10)
@given(data=st.data())
def test_trace_of_random_operations(name: str, data: st.DataObject) -> None:
    check_trace(name, data)


@pytest.mark.long
@pytest.mark.parametrize("name", golden.OPERATIONS)
@settings(max_examples=60)
@given(data=st.data())
def test_trace_of_many_random_operations(name: str, data: st.DataObject) -> None:
    check_trace(name, data)


def check_trace(name: str, data: st.DataObject) -> None:
    """The trace of one case ends in the chain's d, and holds together."""
    operation, drawn = data.draw(cases(name))
    chain = Chain(steps_for(operation, len(drawn.a)))
    note(f"{operation.name} {operation.parameters()}\n{drawn}")
    trace = trace_of("unit", chain, *drawn)
    note(trace.text())
    assert trace.d == chain(*drawn)
    assert problems(trace) == []
    assert json.loads(json.dumps(trace.as_dict()))["d"] == trace.d
    assert trace.html().endswith("</html>\n")


@pytest.mark.slow
def test_trace_of_every_arithmetic_of_the_catalogue() -> None:
    for instruction in distinct_arithmetic():
        rng = random.Random(instruction.name)
        for _ in range(2):
            drawn = operands(rng, instruction.operation, instruction.k, instruction.a.name, instruction.b.name)
            trace = trace_of(instruction.name, instruction.chain, *drawn)
            assert trace.d == instruction.chain(*drawn)
            assert problems(trace) == []


def test_group_that_cancels_sets_e_max() -> None:
    """Its products are zero together, and yet it has an exponent, its scales' (numerics.md, section 5)."""
    instruction = golden.instruction("sm_120", "mma.m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0")
    a, b, ones = np.zeros(64, np.uint8), np.zeros(64, np.uint8), np.full(2, 127, np.uint8)
    a[:2], b[:2] = (2, 10), (2, 2)
    assert largest(instruction.explain(a, b, np.uint32(0x29800000), ones, ones)) == (0, ("group 0",))
    assert largest(instruction.explain(b * 0, b, np.uint32(0), ones, ones)) == (-139, ())


def largest(trace: Trace) -> tuple[int | None, tuple[str, ...]]:
    """e_max of the first step, and who set it."""
    (total,) = (part for part in trace.steps[0].parts if isinstance(part, Sum) and part.exponent == "e_max")
    return total.e, total.set_by


def test_amount_for_lost_bits_makes_no_tie() -> None:
    """-1 and a product that is all cut off: under RD a tiny amount is added, and 1 less that is no tie of its last bits."""
    operation = TFDPA(a=FP16, b=FP16, c=FP32, L=1, F=24, rho="RNE-FP32", e_zero=-132, truncation="RD", sticky=True)
    tiny = np.full(1, 2.0**-24, np.float16)
    trace = golden.Unit(name="sticky", operation=operation).explain(tiny, tiny, np.float32(-1))
    total, rounding = trace.steps[0].parts
    assert isinstance(total, Sum)
    assert isinstance(rounding, Rounding)
    assert (str(total.total), rounding.exact, rounding.amount) == ("-1", total.total, 1)
    assert (rounding.guard, rounding.sticky, rounding.tie, trace.d) == (1, 1, False, 0xBF800000)
    assert "for what alignment cut off, an amount below every bit is added, positive" in trace.text()


def volta_trace() -> Trace:
    """The papers' example: everything but c and one product is cut off."""
    volta = golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32")
    a = np.array([-(2.0**13), -0.5, -0.25, -0.125], np.float16)
    b = np.array([2.0**10, 1, 1, 1], np.float16)
    return volta.explain(a, b, np.float32(2.0**23))


def test_text_of_a_trace() -> None:
    assert volta_trace().text() == TEXT


def test_operation_that_is_traced_is_left_as_it_is() -> None:
    volta = golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32")
    before = dict(vars(type(volta.operation)))
    volta_trace()
    assert dict(vars(type(volta.operation))) == before


def test_specials_say_which_operand_and_rule() -> None:
    volta = golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32")

    def reasons(a: list[int], b: list[int], c: int) -> tuple[str, ...]:
        part = volta.explain(np.array(a, np.uint16), np.array(b, np.uint16), np.uint32(c)).steps[0].parts[0]
        assert isinstance(part, Special)
        return part.reasons

    assert reasons([0, 0x7C01, 0, 0], [0, 0, 0, 0], 0) == ("a[1]·b[1] has a NaN operand",)
    assert reasons([0, 0x7C00, 0, 0], [0, 0, 0, 0], 0) == ("a[1]·b[1] is 0·∞",)
    assert reasons([0, 0x7C00, 0, 0], [0, 0x3C00, 0, 0], 0xFF800000) == ("a[1]·b[1] is +∞", "c is −∞")
    assert reasons([0, 0, 0, 0], [0, 0, 0, 0], 0xFF800000) == ("c is −∞",)


def test_converted_chain_shows_order_and_the_last_addition() -> None:
    hopper = golden.instruction("sm_90", "mma.m16n8k32.f32.e4m3.e4m3.f32")
    ones = np.full(32, 0x38, np.uint8)
    trace = hopper.explain(ones, ones, np.float32(1))
    assert trace.order == tuple(product_order("pairs-of-four", 32))
    assert [step.products for step in trace.steps] == [trace.order[:16], trace.order[16:], ()]
    assert [hex(step.d.code) for step in trace.steps] == ["0x41800000", "0x42000000", "0x42040000"]
    assert trace.steps[0].operands[0].format == FP16


def test_more_than_one_row_is_refused() -> None:
    volta = golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32")
    zeros = np.zeros((2, 4), np.uint16)
    message = r"^explain takes one dot product: a and b must have shape \[4\], got \(2, 4\)$"
    with pytest.raises(ValueError, match=message):
        volta.explain(zeros, zeros, np.zeros(2, np.uint32))


def test_exponents_have_their_operations_words() -> None:
    def words(name: str) -> list[tuple[str, str]]:
        a = np.full(32, 0x40, np.uint8)
        parts = golden.instruction("gfx942", name).explain(a, a, np.float32(1)).steps[0].parts
        return [(part.of, part.exponent) for part in parts if isinstance(part, Sum)]

    groups = [("even products", "e_max"), ("odd products", "e_max"), ("groups", "e_dot"), ("T and c", "e_out")]
    assert words("v_mfma_f32_16x16x32_fp8_fp8") == groups


def test_unit_is_explained_at_any_length() -> None:
    operation = golden.instruction("sm_80", "mma.m16n8k8.f32.f16.f16.f32").operation
    unit = golden.Unit(name="<b>&", operation=operation)
    ones = np.ones(16, np.float16)
    trace = unit.explain(ones, ones, np.float32(0))
    assert len(trace.steps) == 2
    assert "<b>" not in trace.html()
    assert "&lt;b&gt;&amp;" in trace.html()


TEXT = """\
sm_70 mma.m8n8k4.f32.f16.f16.f32: T-FDPA a=fp16, b=fp16, c=fp32, L=4, F=23, rho=RZ-FP32, e_zero=-131, truncation=RZ

step 1 of 1: products 0 … 3
  operand  code        bits                                class   sign  exp  sig
  a[0]     0xf000      1_11100_0000000000                  normal  −     13   0x400
  a[1]     0xb800      1_01110_0000000000                  normal  −     -1   0x400
  a[2]     0xb400      1_01101_0000000000                  normal  −     -2   0x400
  a[3]     0xb000      1_01100_0000000000                  normal  −     -3   0x400
  b[0]     0x6400      0_11001_0000000000                  normal  +     10   0x400
  b[1]     0x3c00      0_01111_0000000000                  normal  +     0    0x400
  b[2]     0x3c00      0_01111_0000000000                  normal  +     0    0x400
  b[3]     0x3c00      0_01111_0000000000                  normal  +     0    0x400
  c        0x4b000000  0_10010110_00000000000000000000000  normal  +     23   0x800000

  products and c
  term       sign  exp  sig       frac  class          exact value
  a[0]·b[0]  −     23   0x100000  20    normal·normal  -1·2^23
  a[1]·b[1]  −     -1   0x100000  20    normal·normal  -1·2^-1
  a[2]·b[2]  −     -2   0x100000  20    normal·normal  -1·2^-2
  a[3]·b[3]  −     -3   0x100000  20    normal·normal  -1·2^-3
  c          +     23   0x800000  23    normal         +1·2^23
  max_exp      e_max = 23, set by a[0]·b[0], c
  align        23 fraction bits at e_max, RZ
  a[0]·b[0]  −  1.00000000000000000000000
  a[1]·b[1]  −  ·.·······················|1    cut -1·2^-1
  a[2]·b[2]  −  ·.·······················|01   cut -1·2^-2
  a[3]·b[3]  −  ·.·······················|001  cut -1·2^-3
  c          +  1.00000000000000000000000
  --------------------------------------------------------
  total      +  ·.·······················      = 0
  normalise    total is zero
  encode       fp32 0x00000000 0_00000000_00000000000000000000000 zero sign=0 exp=-126 sig=0x0 = +0·2^-149
  d            fp32 0x00000000 0_00000000_00000000000000000000000 zero sign=0 exp=-126 sig=0x0 = +0·2^-149
"""
