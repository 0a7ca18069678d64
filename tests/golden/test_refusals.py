"""Public objects refuse what they cannot hold, each with one message: what, the rule, the value received."""

import re
from dataclasses import replace
from typing import Any

import pytest

import golden
from golden.arithmetic.conversion import CONVERSIONS, Conversion
from golden.arithmetic.formats import E4M3, FP16, FP32, UE4M3, UE8M0, Format
from golden.chains.chain import Chain, product_order, steps_for
from golden.operations import TFDPA, FTZAddMul
from golden.stimulus import OperandShape, complete_rows, generate

HOPPER = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
CONVERTED = golden.instruction("sm_90", "mma.m16n8k32.f16.e4m3.e5m2.f16")
STEP = TFDPA(a=FP16, b=FP16, c=FP32, L=16, F=25, rho="RZ-FP32", e_zero=-133)
FIELDS: dict[str, Any] = {"name": "f", "exp_bits": 5, "man_bits": 2, "bias": 15, "specials": "ieee", "storage_bits": 8}

FORMATS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"name": ""}, ValueError, "name of a format must be a non-empty string of printable characters, got ''"),
    ({"exp_bits": -3}, ValueError, "exp_bits of f must be an integer from 1 to 15, got -3"),
    ({"exp_bits": True}, TypeError, "exp_bits of f must be an integer from 1 to 15, got True"),
    ({"exp_bits": 5.0}, TypeError, "exp_bits of f must be an integer from 1 to 15, got 5.0"),
    ({"man_bits": -1}, ValueError, "man_bits of f must be an integer from 0 to 62, got -1"),
    ({"bias": 1 << 15}, ValueError, "bias of f must be an integer from -16384 to 16384, got 32768"),
    ({"bias": "15"}, TypeError, "bias of f must be an integer from -16384 to 16384, got '15'"),
    ({"specials": "ocp"}, ValueError, "specials of f must be one of ieee, fn, fnuz, finite, p3109, merged; got 'ocp'"),
    ({"pad_bits": -1}, ValueError, "pad_bits of f must be an integer from 0 to 62, got -1"),
    ({"signed": 1}, TypeError, "signed of f must be True or False, got 1"),
    ({"subnormals": None}, TypeError, "subnormals of f must be True or False, got None"),
    ({"storage_bits": 12}, ValueError, "storage_bits of f must be 8, 16, 32 or 64, got 12"),
    ({"storage_bits": 8.0}, ValueError, "storage_bits of f must be 8, 16, 32 or 64, got 8.0"),
    ({"man_bits": 3}, ValueError, "storage_bits of f must hold a code's 9 bits, got 8"),
    ({"pad_bits": 1}, ValueError, "storage_bits of f must hold a code's 9 bits, got 8"),
    (
        {"exp_bits": 1, "man_bits": 0, "specials": "finite"}, ValueError,
        "exp_bits + man_bits of f must be at least 2, got 1 + 0",
    ),
    ({"ignored_sign": True}, ValueError, "ignored_sign of f must be False where signed is True, got True"),
    (
        {"man_bits": 0}, ValueError,
        "specials of f may be ieee only with exp_bits ≥ 2 and man_bits ≥ 1, to distinguish NaN and infinity from numbers; "
        "got exp_bits=5, man_bits=0",
    ),
    (
        {"specials": "fnuz", "signed": False}, ValueError,
        "specials of f may be fnuz only with a sign bit, because the code of −0 is NaN; got signed=False",
    ),
    ({"dtype": "float9"}, ValueError, "dtype of f must be the name of a NumPy or ml_dtypes dtype, got 'float9'"),
    ({"dtype": "float16"}, ValueError, "dtype of f must have its 8 storage bits, got float16 of 16"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "error", "message"), FORMATS, ids=lambda value: str(value)[:40])
def test_format_refuses(changes: dict[str, Any], error: type[Exception], message: str) -> None:
    assert Format(**FIELDS).name == "f"
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        Format(**(FIELDS | changes))


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        (1.0, TypeError, "fp16 code must be an integer, got 1.0"),
        (True, TypeError, "fp16 code must be an integer, got True"),
        ("1", TypeError, "fp16 code must be an integer, got '1'"),
        (-1, ValueError, "fp16 code must be in 0 … 0xffff, got -0x1"),
        (1 << 16, ValueError, "fp16 code must be in 0 … 0xffff, got 0x10000"),
    ],
)
def test_decode_refuses(code: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        FP16.decode(code)


@pytest.mark.parametrize("value", ["0.5", True])
def test_encode_refuses_what_is_no_number(value: Any) -> None:
    with pytest.raises(TypeError, match=f"^encode takes a number, got {value!r}$"):
        FP16.encode(value)


def test_another_format_of_a_known_name_is_refused() -> None:
    other = Format(name="fp16", exp_bits=4, man_bits=11, bias=7, specials="ieee", storage_bits=16)
    with pytest.raises(ValueError, match=r"^a must be golden's own fp16, got another format of that name$"):
        FTZAddMul(P=2, a=other, b=other, c=FP32)
    assert replace(STEP, a=other).a.man_bits == 11


RZ = CONVERSIONS["RZ-FP32"]
PAIR = "must be rounding_format, or have infinities and its width, exponent and infinity"

MMA = HOPPER.name
ORDER = "must be one of in-order, pairs-of-four, even-odd"
RUN_ORDER = "must be one of in-order, even-odd, pairs-of-four, fours-of-eight, eights-of-sixteen"
EVIDENCE = ", ".join(golden.EVIDENCE)

# Called with types that the type checker would refuse too.
changed: Any = replace
unit: Any = golden.Unit
chain: Any = Chain
converted_chain: Any = Chain.nvidia
operand_shape: Any = OperandShape
stimulus: Any = generate
order_of: Any = product_order
rows_needed: Any = complete_rows

CASES: list[tuple[str, Any, type[Exception], str]] = [
    (
        "mode", lambda: changed(RZ, mode="RX"), ValueError,
        "mode of RZ-FP32 must be one of RZ, RNE, RD, RU, RO, RNA; got 'RX' (did you mean 'RZ' or 'RU' or 'RO'?)",
    ),
    (
        "rounding format", lambda: changed(RZ, rounding_format="fp32"), TypeError,
        "rounding_format of RZ-FP32 must be a Format, got 'fp32'",
    ),
    (
        "formats apart", lambda: changed(RZ, rounding_format=FP16), ValueError,
        f"d of RZ-FP32 {PAIR}; got d=fp32, rounding_format=fp16",
    ),
    (
        "d without a sign", lambda: Conversion("x", "RZ", UE4M3, UE4M3), ValueError,
        "rounding_format of x must be a floating-point format with fields and a sign, got ue4m3",
    ),
    (
        "unit of no operation", lambda: unit(name="u", operation="FMA"), TypeError,
        "operation of a unit must be an Operation, got 'FMA'",
    ),
    (
        "implementation", lambda: unit(name="u", operation=STEP, implementation=4), TypeError,
        "implementation of a unit must be an Implementation, got 4",
    ),
    ("stages", lambda: golden.Implementation(stages=True), TypeError, "stages must be an integer from 0 to 8, got True"),
    ("chain", lambda: chain("T-FDPA"), TypeError, "operation of a chain must be an Operation, got 'T-FDPA'"),
    (
        "order", lambda: converted_chain(CONVERTED.operation, E4M3, E4M3, "odd"), ValueError,
        f"order of a converted chain {ORDER}; got 'odd' (did you mean 'even-odd'?)",
    ),
    (
        "converted format", lambda: converted_chain(CONVERTED.operation, FP16, E4M3, "in-order"), ValueError,
        "[chain] convert takes e4m3 and e5m2 to fp16; got a=fp16, b=e4m3",
    ),
    (
        "converted step", lambda: converted_chain(STEP.changed(c=FP16), E4M3, E4M3, "in-order"), ValueError,
        "[chain] adds in the format of d: c must be fp32, got fp16",
    ),
    ("product order", lambda: order_of("odd", 4), ValueError, f"order {RUN_ORDER}; got 'odd' (did you mean 'even-odd'?)"),
    ("K of steps", lambda: steps_for(STEP, True), TypeError, "K must be an integer, got True"),
    ("K below one", lambda: steps_for(STEP, 0), ValueError, "K must be at least 1, got 0"),
    ("instruction m", lambda: changed(HOPPER, m=0), ValueError, f"m of {MMA} must be an integer from 1 to 1048576, got 0"),
    (
        "instruction n", lambda: changed(HOPPER, n=True), TypeError,
        f"n of {MMA} must be an integer from 1 to 1048576, got True",
    ),
    ("instruction k", lambda: changed(HOPPER, k=24), ValueError, f"k of {MMA} must be a multiple of L=16, got 24"),
    (
        "instruction a", lambda: changed(HOPPER, a=E4M3), ValueError,
        f"a and b of {MMA} must be the formats that its chain takes, fp16 and fp16; got e4m3 and fp16",
    ),
    (
        "evidence", lambda: changed(HOPPER, evidence="hearsay"), ValueError,
        f"evidence of {MMA} must be one of {EVIDENCE}; got 'hearsay'",
    ),
    (
        "instruction's operation", lambda: changed(HOPPER, operation=STEP.changed(F=24)), ValueError,
        f"operation of {MMA} must be that of its chain, got another",
    ),
    ("instruction's chain", lambda: changed(HOPPER, chain=None), TypeError, f"chain of {MMA} must be a Chain, got None"),
    ("instruction's note", lambda: changed(HOPPER, note=None), TypeError, f"note of {MMA} must be a str, got None"),
    (
        "shape's format", lambda: operand_shape(a="fp16", b=FP16, c=FP32, d=FP32, K=4), TypeError,
        "a of an operand shape must be a Format, got 'fp16'",
    ),
    (
        "shape's K", lambda: operand_shape(a=FP16, b=FP16, c=FP32, d=FP32, K=True), TypeError,
        "K must be an integer, got True",
    ),
    (
        "shape's block size", lambda: operand_shape(a=E4M3, b=E4M3, c=FP32, d=FP32, K=4, scale=UE8M0, block_size=0),
        ValueError, "block_size must be at least 1, got 0",
    ),
    ("stimulus of no shape", lambda: stimulus(HOPPER, 5, 0), TypeError, f"shape must be an OperandShape, got {HOPPER!r}"),
    (
        "stimulus' count", lambda: stimulus(OperandShape.of(HOPPER), 5.0, 0), TypeError,
        "count must be an integer, got 5.0",
    ),
    (
        "stimulus' seed", lambda: stimulus(OperandShape.of(HOPPER), 5, False), TypeError,
        "seed must be an integer, got False",
    ),
    ("rows of no shape", lambda: rows_needed(16), TypeError, "shape must be an OperandShape, got 16"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "error", "message"), [pytest.param(*case[1:], id=case[0]) for case in CASES])
def test_public_objects_refuse(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        make()


@pytest.mark.parametrize(
    "name",
    [
        "sm_90!",
        "sm_90\n",
        " sm_90",
        "sm_90_",
        "sm__90",
        "s,m_90",
        "sm_90;gfx942",
        "Hopper™",
        "sm_９０",
        "",
        "../sm_90",
        "h o p p e r",
        "s-m-9-0",
        "9 0",
    ],
)
def test_architecture_with_stray_characters_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"^architecture must be one of sm_70, Volta, .*; got {re.escape(repr(name))}"):
        golden.architecture(name)


@pytest.mark.parametrize("name", ["sm_90", "SM90", "sm-90", "sm 90", "hopper", "HOPPER"])
def test_architecture_is_spelt_in_the_usual_ways(name: str) -> None:
    assert golden.architecture(name) == "sm_90"


@pytest.mark.parametrize("a", [[[1, 2], [3]], 5, None, "fp16"])
def test_operands_that_are_no_arrays_are_refused_in_one_line(a: Any) -> None:
    unit = golden.Unit(name="u", operation=STEP)
    with pytest.raises(TypeError, match=rf"^a must be a NumPy array of uint16 or float16, got {type(a).__name__}$"):
        unit.dot(a, a, a)
