"""Survivors are proved equal if and only if they are."""

from dataclasses import replace

import pytest

from golden import Implementation, Unit
from golden.units.unit_file import operation_from_table
from mmau.mutation.sample import Mutant
from mmau.mutation.schemata import with_schemata
from mmau.mutation.surviving_mutants import Settlement, settle
from mmau.mutation.unit_work import TOP, confirmed, expected_result
from mmau.prove.netlist.equivalence import DIFFERENT, EQUAL, UNDECIDED
from mmau.prove.netlist.verilog_text import read_netlist
from rtl.verilog.emit import to_verilog
from tests.mmau.mutation.small_units import small_unit


def settled(unit: Unit, module: str, before: str, after: str, port: str = "") -> Settlement:
    """The settlement of a chosen mutation of an assignment, or of the connection of a port, `instance.port`."""
    text = to_verilog(unit, TOP)
    plain = read_netlist(text)
    places = [(a.target.text.strip(), a.line, a.expression.text) for a in plain[module].assignments] + [
        (f"{instance.name}.{each.port}", each.line, each.operand.text)
        for instance in plain[module].instances
        for each in instance.connections
        if each.operand is not None
    ]
    place, line, _ = next(each for each in places if each[2] == before and port in ("", each[0]))
    mutant = Mutant(1, "operator", "step", module, place, line, before, after)
    modules = read_netlist(with_schemata(text, plain, [mutant]))
    return settle(plain, modules, TOP, mutant, unit.operation)


@pytest.mark.slow
def test_a_carry_made_by_or_is_the_same_made_by_xor() -> None:
    """A bit that generates a carry does not propagate one."""
    unit = small_unit()
    texts = [each.expression.text for each in read_netlist(to_verilog(unit, TOP))["unit_accumulate"].assignments]
    carry = next(text for text in texts if text.startswith("generated[1] | "))
    found = settled(unit, "unit_accumulate", carry, carry.replace("|", "^"))
    assert (found.verdict, found.how) == (EQUAL, "its module alone")


@pytest.mark.slow
@pytest.mark.parametrize("stages", [0, 2])
def test_a_fault_comes_with_operands_that_show_it(stages: int) -> None:
    unit = small_unit(stages)
    found = settled(unit, "unit_multiply", "x__sign ^ y__sign", "x__sign | y__sign")
    assert found.verdict == DIFFERENT
    right, wrong = found.outputs["d"]
    assert expected_result(unit, found.inputs) == right != wrong
    assert confirmed(unit, found) == found


@pytest.mark.slow
def test_what_the_model_does_not_confirm_is_undecided() -> None:
    unit = small_unit()
    found = settled(unit, "unit_multiply", "x__sign ^ y__sign", "x__sign | y__sign")
    right, wrong = found.outputs["d"]
    other = confirmed(unit, replace(found, outputs={"d": (right ^ 1, wrong)}))
    assert other.verdict == UNDECIDED
    assert other.how == f"the solver says d is {right ^ 1:#x} and with the mutation {wrong:#x}, the model {right:#x}"


@pytest.mark.slow
def test_a_stage_that_waits_for_nothing_is_not_equal() -> None:
    """It differs in the cycles in which it takes inputs; no comparison of results can prove that to be harmless."""
    unit = small_unit(stages=1)
    found = settled(unit, "unit", "\\$1  | out_ready", "\\$1 ")
    assert (found.verdict, found.how) == (UNDECIDED, "the whole unit, from every state")


PIPELINE = Unit(
    name="pipeline",
    operation=operation_from_table({"operation": "IDPA", "a": "int8", "b": "int8", "c": "int32", "L": 2}),
    implementation=Implementation(stages=2, encoding="twos-complement"),
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "port"),
    [
        ("takes_encode ? sum_accumulate_total : d", "sum_accumulate_total", ""),
        ("in_ready ? c : multiply_c", "c", ""),
        ("in_ready ? multiply_0_prod : multiply_prod_0", "multiply_0_prod", ""),
        ("in_ready ? multiply_1_prod : multiply_prod_1", "takes_encode ? multiply_1_prod : multiply_prod_1", ""),
        ("multiply_c", "c", "sum_accumulate.term_2"),
        ("multiply_prod_0", "multiply_0_prod", "sum_accumulate.term_0"),
    ],
)
def test_a_value_lost_while_it_waits_and_one_read_too_early_are_not_equal(before: str, after: str, port: str) -> None:
    """The stages compute the same values, but of different transfers."""
    found = settled(PIPELINE, TOP, before, after, port)
    assert (found.verdict, found.how) == (UNDECIDED, "the whole unit, from every state")


@pytest.mark.slow
def test_a_mutation_within_a_stage_is_settled_without_registers() -> None:
    """A product as it is, and the other one in its place."""
    for after, verdict in (("multiply_prod_0 ^ 16'h0", EQUAL), ("multiply_prod_1", DIFFERENT)):
        found = settled(PIPELINE, TOP, "multiply_prod_0", after, "sum_accumulate.term_0")
        assert (found.verdict, found.how) == (verdict, "the unit without its registers")


@pytest.mark.slow
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


@pytest.mark.long
@pytest.mark.parametrize(("exponent", "verdict"), [("8'h81", EQUAL), ("8'h83", EQUAL), ("8'h87", DIFFERENT)])
def test_each_adder_of_a_chain_is_settled_by_itself(exponent: str, verdict: str) -> None:
    """The exponent of a zero addend one off, in every adder, costs none of them a bit; five off, it does."""
    before = "z__zero ? 8'h82 : z__exp"
    found = settled(CHAINS, "unit_addend", before, before.replace("8'h82", exponent))
    assert found.verdict == verdict
    assert confirmed(CHAINS, found) == found
