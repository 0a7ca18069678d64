"""Survivors are proved equal where they are, and nowhere else."""

from dataclasses import replace

import pytest

from cosim.mutation.design import TOP, MutatedUnit
from cosim.mutation.sample import Mutant, mutants_of
from cosim.mutation.schemata import with_schemata
from cosim.mutation.settle import Settlement, settle
from cosim.mutation.survivors import confirmed, expected_result
from golden import Implementation, Unit
from golden.unit import operation_from_table
from rtl.verilog.emit import to_verilog
from rtl.verilog.equivalence import DIFFERENT, EQUAL, UNDECIDED
from rtl.verilog.netlist import read_netlist
from tests.cosim.mutation.units import small_unit


def settled(unit: Unit, module: str, before: str, after: str) -> Settlement:
    """A mutation of one's own, settled."""
    text = to_verilog(unit, TOP)
    plain = read_netlist(text)
    line = next(a for a in plain[module].assignments if a.expression.text == before)
    mutant = Mutant(1, "operator", "step", module, line.target.text.strip(), line.line, before, after)
    modules = read_netlist(with_schemata(text, plain, [mutant]))
    return settle(plain, modules, TOP, mutant, unit.operation)


def test_a_carry_made_by_or_is_the_same_made_by_xor() -> None:
    """A bit that generates a carry does not propagate one."""
    unit = small_unit()
    texts = [each.expression.text for each in read_netlist(to_verilog(unit, TOP))["unit_accumulate"].assignments]
    carry = next(text for text in texts if text.startswith("generated[1] | "))
    found = settled(unit, "unit_accumulate", carry, carry.replace("|", "^"))
    assert (found.verdict, found.how) == (EQUAL, "its module alone")


@pytest.mark.parametrize("stages", [0, 2])
def test_a_fault_comes_with_operands_that_show_it(stages: int) -> None:
    unit = small_unit(stages)
    found = settled(unit, "unit_multiply", "x__sign ^ y__sign", "x__sign | y__sign")
    assert found.verdict == DIFFERENT
    right, wrong = found.outputs["d"]
    assert expected_result(unit, found.inputs) == right != wrong
    assert confirmed(unit, found) == found


def test_what_the_model_does_not_confirm_is_undecided() -> None:
    unit = small_unit()
    found = settled(unit, "unit_multiply", "x__sign ^ y__sign", "x__sign | y__sign")
    right, wrong = found.outputs["d"]
    other = confirmed(unit, replace(found, outputs={"d": (right ^ 1, wrong)}))
    assert other.verdict == UNDECIDED
    assert other.how == f"the solver says d is {right ^ 1:#x} and with the mutation {wrong:#x}, the model {right:#x}"


def test_a_stage_that_waits_for_nothing_is_not_equal() -> None:
    """It differs in when it takes what comes, which no comparison of results can prove to be harmless."""
    unit = small_unit(stages=1)
    found = settled(unit, "unit", "\\$1  | out_ready", "\\$1 ")
    assert (found.verdict, found.how) == (UNDECIDED, "the whole unit, from every state")


def test_an_exponent_of_a_zero_that_nothing_sees_is_equal() -> None:
    """e2m1's products end far above 2^-21."""
    found = settled(
        small_unit(), "unit_addend", "z__zero ? 6'h2b : { z__exp[4], z__exp }", "z__zero ? 6'h2c : { z__exp[4], z__exp }"
    )
    assert (found.verdict, found.how) == (EQUAL, "the whole unit")


CHAINS = Unit(
    name="chains",
    operation=operation_from_table({"operation": "FTZ-EO-FMA", "a": "bf16", "b": "bf16", "c": "fp32", "L": 2}),
    implementation=Implementation(encoding="twos-complement", reduction="adder-tree"),
)
"""Two multiply-adds and two additions: of each fp32 number an adder sees, a zero has the exponent −126 (0x82)."""


@pytest.mark.parametrize(("exponent", "verdict"), [("8'h81", EQUAL), ("8'h83", EQUAL), ("8'h87", DIFFERENT)])
def test_each_adder_of_a_chain_is_settled_by_itself(exponent: str, verdict: str) -> None:
    """The exponent of a zero addend one off, in every adder, costs none of them a bit; five off, it does."""
    before = "z__zero ? 8'h82 : z__exp"
    found = settled(CHAINS, "unit_addend", before, before.replace("8'h82", exponent))
    assert found.verdict == verdict
    assert confirmed(CHAINS, found) == found


def test_mutants_of_a_sample_are_named_in_the_file() -> None:
    mutated = MutatedUnit.of(small_unit(), 10, 0)
    assert [each.number for each in mutated.mutants] == list(range(1, 11))
    assert mutants_of(mutated.plain, TOP, 10, 0) == mutated.mutants
