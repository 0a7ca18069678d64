"""Records of additions of two codes of one format: the additions of FTZ-AddMul, and the final addition of a converted
chain."""

from collections.abc import Sequence

from golden.arithmetic import steps
from golden.arithmetic.format import Format
from golden.arithmetic.specials import NAN, addend_special, combine, encode_special
from golden.trace.parts import (
    class_text,
    exact_sum_record,
    infinity_text,
    rounding_record,
    special_record,
)
from golden.trace.records import Operand, Part, Step


def addition_record(title: str, x: int, y: int, operand: Format, d: int, nan: int) -> Step:
    """The record of the final addition of a converted chain, `golden.operations.ieee.add`."""
    names = ("sum of the products", "c")
    return Step(
        title=title,
        products=(),
        operands=tuple(Operand.of(name, code, operand) for name, code in zip(names, (x, y), strict=True)),
        parts=tuple(addition_parts(names, x, y, operand, d, nan)),
        d=Operand.of("d", d, operand),
    )


def addition_parts(names: Sequence[str], x: int, y: int, operand: Format, d: int, nan: int) -> list[Part]:
    """The parts of x + y in one format, rounded to nearest even, as `golden.operations.ieee.add` computes it."""
    p, q = operand.decode(x), operand.decode(y)
    special = combine((addend_special(p), addend_special(q)))
    if special is not None:
        found = [(name, reason) for name, z in zip(names, (p, q), strict=True) if (reason := addend_special(z)) is not None]
        reasons = [(f"{name} is {'NaN' if reason == NAN else infinity_text(reason)}", reason) for name, reason in found]
        return [special_record(" + ".join(names), reasons, special, operand, encode_special(special, operand, nan))]
    terms = [steps.addend(z, operand, operand.e_min) for z in (p, q)]
    total, lsb = steps.exact_sum(terms)
    named = [(name, class_text(z), term) for name, z, term in zip(names, (p, q), terms, strict=True)]
    of = " + ".join(names)
    return [exact_sum_record(of, named, total, lsb), rounding_record(total, lsb, operand, "RNE", operand, d)]
