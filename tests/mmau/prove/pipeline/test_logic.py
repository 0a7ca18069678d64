"""Construction of Boolean terms."""

from bitwuzla import TermManager

from mmau.prove.netlist.terms import Terms
from mmau.prove.pipeline.logic import Logic


def test_what_is_constant_is_worked_out() -> None:
    logic = Logic(Terms(TermManager()))
    x, y = (logic.bit(logic.terms.free(name, 1)) for name in "xy")
    assert logic.all([x, logic.true, x]) == x
    assert logic.all([x, logic.false]) == logic.false
    assert logic.any([x, logic.true]) == logic.true
    assert logic.no(logic.no(x)) == x
    assert logic.choice(logic.true, x, y) == x
    assert logic.choice(x, y, y) == y
    assert logic.implies(logic.false, x) == logic.true
    assert logic.equal(logic.terms.number(3, 4), 3) == logic.true
    assert logic.all([]) == logic.true
