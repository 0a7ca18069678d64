"""CVT as a term of its operand (golden/operations/cvt.py)."""

from collections.abc import Mapping
from dataclasses import replace

from golden.arithmetic.specials import quiet_nan
from golden.operations import CVT
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.specification.fused import decoded, subnormals_of
from mmau.prove.specification.numbers import Flag
from mmau.prove.specification.observer import Observer
from mmau.prove.specification.rounded_sums import Rounding
from mmau.prove.specification.step_results import Code, Result, Total
from mmau.prove.specification.steps import addend


def cvt(terms: Terms, operation: CVT, ports: Mapping[str, Bits], observer: Observer) -> Bits:
    """CVT (golden: `CVT.step`): one term, rounded once; with flags above the code."""
    a, d, code = operation.a, operation.d, ports["a"]
    # 1. the exact term
    (x,) = decoded(terms, observer, "x", code, a, 1, subnormals_of(operation))
    term, special = observer.term("addend", *addend(x, a, a.e_min))
    if operation.nar:
        is_nar = Flag(terms, terms.truth(terms.equal(code, terms.number(a.codes >> 1, a.width))))
        special = replace(special, nan=special.nan | is_nar)
    # 2. rounded
    tininess = operation.tininess if operation.flags else None
    rounding = Rounding(
        operation.conversion, "tiny" if operation.flushes_results else "gradual", operation.overflow, tininess=tininess
    )
    finite = rounding.code(Total(term.sign, term.sig), term.exp - term.frac)
    word = observer.code("sum_encode", rounding.result(finite, special))
    result = terms.part(word, d.width - 1, 0)
    # 3. the NaN that is written
    if operation.nan != "quiet":
        nan, otherwise = converted_nan(terms, operation, code), result
        result = terms.choice(special.nan.bits, lambda: nan, lambda: otherwise)
    # 4. flags: NV of a signalling NaN, no DZ, and those of the rounding
    if operation.flags:
        place = a.pad_bits + a.man_bits - 1
        is_quiet = Flag(terms, terms.part(code, place, place)) if a.specials == "ieee" else x.nan
        raised = [terms.number(0, 1), terms.part(word, d.width + 2, d.width)]
        result = terms.joined([(x.nan & ~is_quiet).bits, *raised, result])
    return observer.value("d", Result(Code(result))).code.bits


def converted_nan(terms: Terms, operation: CVT, code: Bits) -> Bits:
    """The code of a NaN in the format of d, made quiet (golden: `specials.converted_nan`)."""
    a, to = operation.a, operation.conversion.rounding_format
    kept, top = min(a.man_bits, to.man_bits) - 1, a.pad_bits + a.man_bits - 1
    sign = terms.part(code, a.width - 1, a.width - 1) if a.signed else terms.number(0, 1)
    exponent = terms.number(quiet_nan(to) >> to.pad_bits + to.man_bits - 1, to.exp_bits + 1)
    parts = [sign, exponent, *([terms.part(code, top - 1, top - kept)] if kept else [])]
    below = to.man_bits - 1 - kept + to.pad_bits
    return terms.joined([*parts, terms.number(0, below)] if below else parts)
