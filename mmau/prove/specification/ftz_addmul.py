"""FTZ-AddMul as a term of its operands (golden/operations/ftz_addmul.py)."""

from collections.abc import Mapping

from golden.arithmetic.conversion import conversion
from golden.arithmetic.formats import FP32
from golden.operations import FTZAddMul
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.specification.fma import rounded_sum
from mmau.prove.specification.fused import decoded
from mmau.prove.specification.observer import Observer
from mmau.prove.specification.rounded_sums import Rounding
from mmau.prove.specification.step_results import Code, Result, Total
from mmau.prove.specification.steps import addend, decode, multiply

FLUSHED = Rounding(conversion("RNE-FP32"), "subnormal")
"""The rounding of every product and every sum."""


def ftz_addmul(terms: Terms, operation: FTZAddMul, ports: Mapping[str, Bits], observer: Observer) -> Bits:
    """The code of d that FTZ-AddMul gives (golden: `FTZAddMul.step`)."""
    # 1. subnormal elements become +0
    x = decoded(terms, observer, "x", ports["a"], operation.a, operation.length, "+0")
    y = decoded(terms, observer, "y", ports["b"], operation.b, operation.length, "+0")
    # 2. products, each rounded and flushed
    sums = []
    for k, (p, q) in enumerate(zip(x, y, strict=True)):
        product = multiply(p, q, operation.product_frac, operation.product_exp_min)
        term, special = observer.term(f"multiply_{k}", *product)
        finite = FLUSHED.code(Total(term.sign, term.sig), term.exp - term.frac)
        sums.append(observer.code(f"prod_{k}_encode", FLUSHED.result(finite, special)))
    # 3. pairwise sums, down to one
    level = 0
    while len(sums) > 1:
        pairs = enumerate(zip(sums[::2], sums[1::2], strict=True))
        sums = [flushed_add(terms, f"add_{level}_{k}", even, odd, observer) for k, (even, odd) in pairs]
        level += 1
    # 4. accumulate
    d = flushed_add(terms, f"add_{level}_0", ports["c"], sums[0], observer)
    return observer.value("d", Result(Code(d))).code.bits


def flushed_add(terms: Terms, name: str, x: Bits, y: Bits, observer: Observer) -> Bits:
    """FTZ-Add of two codes; only the operand c can be subnormal, and becomes +0 (golden: `ftz_addmul.flushed_add`)."""
    pairs = []
    for side, code in (("x", x), ("y", y)):
        z = observer.value(f"{name}_decode_{side}", decode(terms, FP32, code, "+0"))
        pairs.append(observer.term(f"{name}_term_{side}", *addend(z, FP32, FP32.e_min)))
    code, _ = rounded_sum(name, pairs, FLUSHED, f"{name}_specials", observer)
    return code
