"""T-FDPA on a datapath of several formats, as terms of its operands (golden/operations/t_fdpa.py, of the selected format).

A lane that the selected format does not use is a zero term, whose exponent is never the only largest. The terms of a lane
have the fraction bits of its finest format: significands of other formats get more trailing zeros.
"""

from collections.abc import Mapping, Sequence

from golden.operations import TFDPA
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.specification.fused import truncated_sum
from mmau.prove.specification.numbers import Flag, Number, width_of
from mmau.prove.specification.observer import Observer
from mmau.prove.specification.step_results import Operand, Special, Term
from mmau.prove.specification.steps import Subnormals, addend, combine, decode, multiply


class LaneObserver(Observer):
    """Also receives the significands of a word's products."""

    def pair(self, name: str, x: Number, y: Number) -> None:
        """Two significands, before their product."""


def multi_format(
    terms: Terms, operations: Sequence[TFDPA], number: int, ports: Mapping[str, Bits], observer: LaneObserver
) -> Bits:
    """d for a value of port `format`; for a value that is no index, the sum of c alone.

    Args:
        operations: one per value of the port, as `rtl.designs.multi_format_design.MultiFormatDatapath` takes them.
    """
    first = operations[0]
    word_bits = max(operation.a.width for operation in operations)
    per_word = [word_bits // operation.a.width for operation in operations]
    words, lanes = first.L * first.a.width // word_bits, max(per_word)
    selected = operations[number] if number < len(operations) else None
    used = per_word[number] if selected is not None else 0
    x, y = list[list[Operand]](), list[list[Operand]]()
    if selected is not None:
        x = _elements(terms, "x", ports["a"], selected, number, (words, used), observer)
        y = _elements(terms, "y", ports["b"], selected, number, (words, used), observer)
    subnormals: Subnormals = "±0" if first.flush_inputs else "kept"
    z = observer.value("decode_z", decode(terms, first.c, ports["c"], subnormals))
    pairs = []
    fracs = [
        max(o.product_frac for o, count in zip(operations, per_word, strict=True) if count > lane) for lane in range(lanes)
    ]
    for word in range(words):
        for lane in range(lanes):
            if selected is not None and lane < used:
                observer.pair(f"multiply_{word}", x[word][lane].sig, y[word][lane].sig)
                term, special = multiply(x[word][lane], y[word][lane], selected.product_frac, first.e_zero)
                product = Term(term.sign, term.exp, _placed(term, fracs[lane]), fracs[lane]), special
            else:
                product = _idle(terms, first, fracs[lane], 1 + word * lanes + lane)
            pairs.append(observer.term(f"multiply_{word}_{lane}", *product))
    pairs.append(observer.term("addend", *addend(z, first.c, first.e_zero)))
    special = observer.value("specials", combine([s for _, s in pairs]))
    observer.when(special.finite)
    return truncated_sum(terms, first, [t for t, _ in pairs], special, observer)


def _elements(
    terms: Terms, side: str, vector: Bits, operation: TFDPA, number: int, shape: tuple[int, int], observer: Observer
) -> list[list[Operand]]:
    """The elements of every word in its lanes."""
    fmt = operation.a if side == "x" else operation.b
    subnormals: Subnormals = "±0" if operation.flush_inputs else "kept"
    words, count = shape
    found = []
    for word in range(words):
        lanes = []
        for lane in range(count):
            k = word * count + lane
            code = terms.part(vector, (k + 1) * fmt.width - 1, k * fmt.width)
            name = f"decode_{side}_{word}_{lane}_{fmt}_{number}"
            lanes.append(observer.value(name, decode(terms, fmt, code, subnormals)))
        found.append(lanes)
    return found


def _placed(term: Term, frac: int) -> Number:
    """A product's significand with the lane's fraction bits, in the lane's width."""
    return term.sig.times_two_to(frac - term.frac).loosened(0, (1 << (frac + 2)) - 1)


def _idle(terms: Terms, operation: TFDPA, frac: int, place: int) -> tuple[Term, Special]:
    """A lane without operands: zero, at an exponent not above c's.

    Args:
        place: the place of the lane. Its numbers are slices of constants that no other lane uses: no two lanes are one
            term, and none
            is folded as a constant, so its terms have the same structure as those of the wires that hold them.
    """
    lowest = min(operation.c.e_min, operation.e_zero)

    def constant(value: int, width: int) -> Bits:
        whole = terms.number(place << width | value & ((1 << width) - 1), width + place.bit_length())
        return terms.part(Bits(whole.term, whole.width), width - 1, 0)

    none = Flag(terms, constant(0, 1))
    exp = Number(terms, constant(lowest, width_of(lowest, lowest)), lowest, lowest)
    sig = Number(terms, constant(0, frac + 2), 0, (1 << (frac + 2)) - 1)
    return Term(none, exp, sig, frac), Special(none, none, none)
