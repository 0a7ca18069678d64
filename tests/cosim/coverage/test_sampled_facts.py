"""Classes of codes as covergroups see them, against golden's own decoding."""

import numpy as np
import pytest

import golden
from cosim.coverage.covergroup import CLASSES, classes
from golden.arithmetic.formats import Cls, Format, IntegerFormat

NAMES = {Cls.ZERO: "0", Cls.SUBNORMAL: "subnormal", Cls.NORMAL: "normal", Cls.INFINITY: "infinity"}


def name_of(operand: Format, code: int) -> str:
    parts = operand.decode(code)
    return "NaN" if parts.cls is Cls.NAN else "+-"[parts.sign] + NAMES[parts.cls]


@pytest.mark.parametrize(
    "operand", [each for each in golden.FORMATS.values() if not isinstance(each, IntegerFormat)], ids=str
)
def test_classes_are_those_of_decode(operand: Format) -> None:
    rng = np.random.default_rng(1)
    codes = np.arange(operand.codes) if operand.width <= 8 else rng.integers(0, operand.codes, 4000, dtype=np.uint64)
    special = [0, 1, operand.negative_zero, operand.max_finite, operand.max_finite | operand.codes >> 1]
    special += [code for code in (operand.infinity, operand.nan) if code is not None]
    codes = np.concatenate([codes.astype(np.uint64), np.array(special, np.uint64)])
    assert [CLASSES[index] for index in classes(operand, codes)] == [name_of(operand, int(code)) for code in codes]
