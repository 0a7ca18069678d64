"""The choice of mutants: repeatable, of every kind and step; and the file that holds them all."""

from collections import Counter
from dataclasses import replace

import pytest

from mmau.mutation.mutations import KINDS
from mmau.mutation.sample import mutants_of
from mmau.mutation.schemata import with_schemata
from mmau.mutation.unit_work import TOP, MutatedUnit, check_unchanged
from mmau.prove.netlist.equivalence import DIFFERENT, Side, compare
from mmau.prove.netlist.verilog_text import read_netlist
from rtl.verilog.emit import to_verilog
from tests.mmau.mutation.small_units import small_unit


@pytest.mark.slow
def test_the_same_seed_gives_the_same_mutants_and_another_one_others() -> None:
    modules = read_netlist(to_verilog(small_unit()))
    mutants = mutants_of(modules, TOP, 60, 0)
    assert mutants == mutants_of(modules, TOP, 60, 0)
    assert [each.name for each in mutants] != [each.name for each in mutants_of(modules, TOP, 60, 1)]
    assert [each.number for each in mutants] == list(range(1, 61))
    assert len({(each.line, each.after) for each in mutants_of(modules, TOP, 5000, 0)}) > 1000
    everything = mutants_of(modules, TOP, 5000, 0)
    assert len({(each.line, " ".join(each.after.split())) for each in everything}) == len(everything)


@pytest.mark.slow
def test_every_kind_and_every_step_has_its_share() -> None:
    mutants = mutants_of(read_netlist(to_verilog(small_unit(stages=2))), TOP, 120, 0)
    kinds, steps = (Counter(getattr(each, key) for each in mutants) for key in ("kind", "step"))
    assert set(kinds) == set(KINDS)
    assert set(steps) >= {"top", "decode", "multiply", "max_exp", "align", "accumulate", "normalise", "round", "encode"}
    assert max(kinds.values()) < 40
    assert max(steps.values()) < 40


def test_nothing_to_mutate_is_an_error() -> None:
    modules = read_netlist("module unit(a, b);\n  input a;\n  output b;\nendmodule\n")
    with pytest.raises(ValueError, match=r"^unit has nothing to mutate: no assignment with an operator or a number$"):
        mutants_of(modules, TOP, 1, 0)


def test_a_signal_of_the_name_mutant_is_an_error() -> None:
    text = "module unit(a, mutant);\n  input a;\n  output mutant;\n  assign mutant = ~ a;\nendmodule\n"
    modules = read_netlist(text)
    with pytest.raises(ValueError, match=r"^module unit has a signal mutant already: rename it$"):
        with_schemata(text, modules, mutants_of(modules, TOP, 1, 0))


@pytest.mark.slow
@pytest.mark.parametrize("stages", [0, 2])
def test_the_file_with_all_mutants_is_the_unit_while_none_is_active(stages: int) -> None:
    mutated = MutatedUnit.of(small_unit(stages), 120, 0)
    check_unchanged(mutated)
    assert all(f"mutant == 16'd{number};" in mutated.text for number in range(1, 121))


@pytest.mark.slow
def test_a_file_that_is_not_the_unit_is_refused() -> None:
    """The active value of one mutant is 0, so that it is there when none should be."""
    mutated = MutatedUnit.of(small_unit(), 5, 0)
    wrong = next(
        each.number
        for each in mutated.mutants
        if compare(Side(mutated.plain, TOP), Side(mutated.modules, TOP, {"mutant": each.number}), 20.0).verdict == DIFFERENT
    )
    text = mutated.text.replace(f"16'd{wrong};", "16'd0;")
    with pytest.raises(
        ValueError, match=r"^small: the Verilog with its mutants differs from the original while no mutant is active$"
    ):
        check_unchanged(replace(mutated, text=text))
