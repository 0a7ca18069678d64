"""The arithmetic of a tile of converted operands beside its datapaths, as terms (golden: `chain.to_fp16`, `ieee.add`)."""

from collections.abc import Mapping

from golden.arithmetic.conversion import conversion
from golden.arithmetic.formats import Format
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.specification.fma import rounded_sum
from mmau.prove.specification.observer import Observer
from mmau.prove.specification.rounded_sums import Rounding
from mmau.prove.specification.step_results import Code, Result, Special, Total
from mmau.prove.specification.steps import addend, decode

TO_FP16 = Rounding(conversion("RNE-FP16"))
"""The rounding of a conversion to fp16, which rounds nothing: fp16 holds every FP8 number."""


def to_fp16(terms: Terms, source: Format, code: Bits) -> Bits:
    """An FP8 code as fp16."""
    x = decode(terms, source, code)
    finite = TO_FP16.code(Total(x.sign, x.sig), x.exp - source.man_bits)
    return TO_FP16.result(finite, Special(x.nan, x.inf & ~x.sign, x.inf & x.sign))


def addition(terms: Terms, d: Format, ports: Mapping[str, Bits], observer: Observer) -> Bits:
    """x + y, rounded once; a sum of zero is +0. Golden's is −0 where both are −0, but x, a result of T-FDPA, never is."""
    pairs = []
    for side in "xy":
        z = observer.value(f"add_decode_{side}", decode(terms, d, ports[side]))
        pairs.append(observer.term(f"add_term_{side}", *addend(z, d, d.e_min)))
    rounding = Rounding(conversion(f"RNE-{d.name.upper()}"), canonical=True)
    code, _ = rounded_sum("add", pairs, rounding, "add_specials", observer)
    return observer.value("d", Result(Code(code))).code.bits
