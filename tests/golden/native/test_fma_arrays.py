"""Multiply-adds of whole arrays, which the additions between instructions are: the reference's on every instruction set."""

import itertools
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from golden.arithmetic.formats import FP32, FP64, Format
from golden.arrays import bits_dtype
from golden.engines.engine import Batch, run
from golden.operations import FMA
from golden.stimulus import OperandShape
from tests.golden.native.native_rows import INSTRUCTION_SETS, class_rows, has_instruction_set, needs_native
from tests.golden.rows import unit

pytestmark = needs_native

FORMATS = {"fp32": FP32, "fp64": FP64}

Codes = Any


def boundaries(operand: Format) -> list[int]:
    """Codes at the ends of each class, of both signs."""
    infinity, normal, one = operand.infinity, 1 << operand.man_bits, operand.encode(1)
    assert infinity is not None
    quiet = infinity | normal >> 1
    positive = [0, 1, normal - 1, normal, one - 1, one, one + 1, infinity - 1, infinity, infinity + 1, quiet, quiet | 5]
    return [code | sign for code in positive for sign in (0, 1 << operand.width - 1)]


@cache
def rows(name: str) -> tuple[tuple[Codes, Codes, Codes], Codes]:
    """a, b, c of every three boundary codes, of the six classes and of sums that nearly cancel; and the reference's d."""
    operand, dtype = FORMATS[name], bits_dtype(FORMATS[name])
    directed = np.array(list(itertools.product(boundaries(operand), repeat=3)), dtype).T
    fma = unit(FMA(a=operand, b=operand, c=operand))
    random = class_rows(OperandShape.of(fma), 300, seed=29)
    a, b, c = (np.concatenate([x, y.ravel()]) for x, y in zip(directed, random[:3], strict=True))
    kind = a.dtype.str.replace("u", "f")
    with np.errstate(all="ignore"):
        near = -(a.view(kind) * b.view(kind)).view(dtype)[-1800:]
    a, b, c = np.append(a, a[-1800:]), np.append(b, b[-1800:]), np.append(c, near)
    return (a, b, c), run("reference", fma.chain_over(1), Batch(a[:, None], b[:, None], c))


def native(name: str, a: Codes, b: Codes, c: Codes) -> Codes:
    fma = unit(FMA(a=FORMATS[name], b=FORMATS[name], c=FORMATS[name]))
    return run("native", fma.chain_over(1), Batch(a[:, None], b[:, None], c))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("instruction_set", INSTRUCTION_SETS)
def test_array_of_multiply_adds_equals_the_reference(
    instruction_set: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_instruction_set(instruction_set):
        pytest.skip(f"this processor has no {instruction_set}")
    monkeypatch.setenv("MMAU_ISA", instruction_set)
    operands, expected = rows(name)
    assert (native(name, *operands) == expected).all()
    for count in (1, 7, 8, 15, 16, 17, 33):  # a vector, and what is left of one
        assert (native(name, *(x[-count:] for x in operands)) == expected[-count:]).all()


def flushed(values: Codes) -> Codes:
    return np.where(np.abs(values) < np.finfo(values.dtype).tiny, np.copysign(0, values), values)


BROKEN: dict[str, Callable[[Codes, Codes, Codes, Codes], Codes]] = {
    "product rounded first": lambda x, y, z, d: x * y + z,
    "subnormal results flushed": lambda x, y, z, d: flushed(d),
    "subnormal operands flushed": lambda x, y, z, d: np.where(flushed(x) == x, d, z),
    "sums of zero positive": lambda x, y, z, d: d + 0,
    "a NaN's payload kept": lambda x, y, z, d: np.where(np.isnan(z), z, d),
}


@pytest.mark.attack("arrays of multiply-adds that round the product, flush, lose the sign of zero or keep a NaN's payload")
@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("name", FORMATS)
def test_rows_tell_wrong_multiply_adds(name: str, broken: str) -> None:
    (a, b, c), expected = rows(name)
    kind = a.dtype.str.replace("u", "f")
    x, y, z, d = (codes.view(kind) for codes in (a, b, c, expected))
    with np.errstate(all="ignore"):
        wrong = BROKEN[broken](x, y, z, d)
    differs = wrong.view(a.dtype) != expected
    assert differs[np.isnan(d) == (broken == "a NaN's payload kept")].any()
