"""Operands that inputs choose: signs whose complements stand for negated operands."""

from dataclasses import replace
from random import Random

from bitwuzla import TermManager

from golden.operations import TFDPA
from golden.units.controls import Source
from golden.units.unit import Choice
from mmau.prove.datapath.chosen_operands import complemented, operand, signs_of
from mmau.prove.evaluation import evaluate
from mmau.prove.netlist.terms import Terms
from rtl.designs.ports import step_operands
from rtl.designs.unit_design import as_design
from tests.mmau.prove.provable_units import unit_of


def test_a_negated_operand_is_the_operand_of_complemented_signs() -> None:
    """Of two results side by side; of a port that is also another operand no sign is complemented."""
    terms, random = Terms(TermManager()), Random(1)
    unit = unit_of(TFDPA(a="e2m1", b="e2m1", c="fp16", L=2, F=14, rho="RZ-FP16", e_zero=-20))  # type: ignore[arg-type]
    places = {"a": Source("a", True), "c": Source("c", True)}
    negating, plain = (Choice("", unit, places=each) for each in (places, {}))
    design = as_design(unit)
    pitch = {"a": 8, "b": 8, "c": 16}
    signs = signs_of(design, negating, 2, pitch)
    assert signs == {"a": 0x8888, "c": 0x80008000}
    assert signs_of(design, replace(negating, places={**places, "b": Source("a")}), 2, pitch) == {"c": 0x80008000}
    for port, ones in signs.items():
        bits = terms.free(port, 2 * pitch[port])
        value = random.getrandbits(bits.width)
        other = complemented(terms, bits, ones)
        assert evaluate([other.term], {bits.term: value})[other.term] == value ^ ones
        for low in (0, pitch[port]):
            elements = step_operands(unit.operation)[port]
            negated = operand(terms, negating, port, elements, {port: bits}, low)
            same = operand(terms, plain, port, elements, {port: other}, low)
            found = evaluate([negated.term, same.term], {bits.term: value})
            assert found[negated.term] == found[same.term]
